package serving

import (
	"fmt"
	"math"
	"strings"

	"github.com/memwall/memwall/speed"
)

// Formulas returns the formulas, with their numbers, of the parts of the time per token returned by Closed, and of the time to
// first token for that load and for a single user.
func (m *Model) Formulas(l Load) []speed.Formula {
	p := m.loop(l)
	out := m.parts(m.batches(l, &p).decode, &p)
	if others := p.others(); others > 0 {
		out = append(out, stalled(&p))
	}
	alone := m.loop(Load{Users: 1, Prompt: l.Prompt, Output: l.Output})
	return append(out, firstToken("ttft_ms", &p), firstToken("ttft_unloaded_ms", &alone))
}

// writer writes the formula of one part of a step.
type writer struct {
	m      *Model
	stage  int
	p      point
	terms  []string
	inputs []speed.Term
}

// in names a number; those of stages behind the first have the stage in their name.
func (w *writer) in(name string, v float64, origin string) string {
	v = speed.SixDigits(v)
	if w.stage > 0 {
		name = fmt.Sprintf("%s_stage%d", name, w.stage+1)
	}
	for i := range w.inputs {
		if w.inputs[i].Name == name && w.inputs[i].Value == v {
			return name
		}
	}
	for i := range w.inputs {
		if w.inputs[i].Name == name { // of another kernel
			name = fmt.Sprintf("%s_%d", name, len(w.inputs))
			break
		}
	}
	w.inputs = append(w.inputs, speed.Term{Name: name, Value: v, Origin: origin})
	return name
}

// fitted is a coefficient, share one that is at most the datasheet's rate.
func (w *writer) fitted(name string, at int) string {
	return w.in(name, w.m.c[at], "fitted: "+w.m.uses[at].Name)
}

func (w *writer) share(name string, at int) string {
	return w.in(name, share(w.m.c[at]), "fitted: "+w.m.uses[at].Name)
}

func (w *writer) bandwidth() string {
	return w.in("memory_rate", w.m.device.bandwidth, "bytes a second, "+w.m.in.Device.Name)
}

// parts are the formulas of a step's parts, for each token that it yields.
func (m *Model) parts(b speed.Batch, l *loop) (out []speed.Formula) {
	var order []string
	writers := map[string]*writer{}
	of := func(part string) *writer {
		if writers[part] == nil {
			writers[part] = &writer{m: m}
			order = append(order, part)
		}
		return writers[part]
	}
	for i := range m.stages {
		s := &m.stages[i]
		p, kernels := m.point(s, b, 1), 0.0
		s.each(m, &p, 1, func(r execution) {
			t := r.times * r.seconds(r.at, &m.device, m.c)
			if kernels += t; t > 0 {
				w := of(r.part)
				w.stage, w.p = i, *r.at
				w.terms = append(w.terms, w.times(r)+w.fitted("overlap", m.host.overlap)+" × ("+w.kernel(r.law)+")")
			}
		})
		w := of("host")
		w.stage, w.p = i, p
		w.host(s, kernels)
	}
	if s := m.in.Speculation; s != nil && s.Draft != nil {
		w := of("draft")
		w.terms = []string{w.in("drafted", s.Steps, "steps of what drafts") + " × " +
			w.in("draft_step", s.Draft.Step(b)+lent(m, b.Decodes), "seconds of a step of what drafts, with the head that it borrows")}
	}
	for _, part := range order {
		out = append(out, writers[part].formula(part, l))
	}
	return out
}

// times formats how often a step runs a kernel: twice with two batches, less what is hidden of an exchange.
func (w *writer) times(r execution) string {
	text := w.in("times", r.count, "a step") + " × "
	if alone := w.m.times(r.op); r.times != alone {
		text += w.in("halves", r.times/alone, "two batches, slower or hidden beside each other") + " × "
	}
	return text
}

func (w *writer) formula(part string, l *loop) speed.Formula {
	text := "1000 × (" + strings.Join(w.terms, " + ") + ")"
	if l.expected != 1 {
		w.stage = 0
		text += " / " + w.in("expected", l.expected, "tokens that a step yields of a sequence")
	}
	return speed.Formula{Part: part, Text: text, Inputs: w.inputs}
}

func (w *writer) kernel(l law) string {
	switch l := l.(type) {
	case *product:
		return w.product(l)
	case *experts:
		return w.experts(l)
	case *attention:
		return w.attention(l)
	case *scan:
		return w.fitted("floor", l.floor) + " + " + w.in("bytes", dot(&l.decode, &w.p.decode), "states read and written") + " / (" + w.bandwidth() + " × " + w.share("share", l.memory) + ")"
	case *pointwise:
		return w.in("bytes", w.p.tokens*l.perToken+w.p.outputs*l.perOutput, "read and written") + " / (" + w.bandwidth() + " × " + w.fitted("factor", l.memory) + ")"
	case *collective:
		return w.collective(l)
	case *dispatch:
		return w.dispatch(l)
	}
	return ""
}

func (w *writer) product(g *product) string {
	rows := g.tokens(&w.p)
	work, _ := g.sides(rows, &w.m.device, w.m.c)
	arithmetic := fmt.Sprintf("%s / (%s × %s × %s) × %s", w.in("operations", 2*rows*g.rows*g.cols, "of a product"), w.in("peak", g.peak, "operations a second"), w.share("compute", g.at[2]),
		w.in("filled", fill(rows, g.rows, w.m.device.sms), "share of the tiles and of the last wave that is of use"), w.in("slower", heated(work, w.m.c[g.at[3]])/work, "times as long at the clock that it can keep"))
	text := w.overlapped(g.at[0], arithmetic, g.bytes(rows), w.share("share", g.at[1]))
	if g.quantise {
		text += fmt.Sprintf(" + %s / (%s × %s)", w.in("quantised", g.quantising(rows), "bytes of activations that are quantised"), w.bandwidth(), w.share("quantise", g.at[4]))
	}
	return text
}

// overlapped is floor + overlap(arithmetic, bytes / (memory rate × share)).
func (w *writer) overlapped(floor int, arithmetic string, bytes float64, memory string) string {
	return fmt.Sprintf("%s + overlap(%s, %s / (%s × %s))", w.fitted("floor", floor), arithmetic, w.in("bytes", bytes, "moved"), w.bandwidth(), memory)
}

func (w *writer) experts(e *experts) string {
	touched, rows := e.touched(&w.p, w.m.c), e.chosen(&w.p)
	each := w.in("rows", rows/math.Max(1, touched), fmt.Sprintf("of each of the %.4g experts that are reached", touched))
	arithmetic := fmt.Sprintf("%s / (%s × %s × %s / (%s + %s))", w.in("operations", 2*rows*e.rows*e.cols, "of the chosen experts"), w.in("peak", e.peak, "operations a second"), w.share("compute", e.at.compute),
		each, each, w.fitted("half", e.at.half))
	memory := fmt.Sprintf("min(1, %s × %s)", w.fitted("product_share", e.at.product), w.fitted("kept", e.at.memory))
	return w.in("groups", e.groups, "square root of the experts of a token over 8") + " × " + w.overlapped(e.at.floor, arithmetic, e.bytes(rows, touched), memory)
}

func (w *writer) attention(a *attention) string {
	arithmetic := fmt.Sprintf("%s / (%s × %s)", w.in("operations", a.width*dot(&a.decode, &w.p.decode), "of the queries"), w.in("peak", a.peak, "operations a second"), w.share("compute", a.at.multiply))
	return w.overlapped(a.at.floor, arithmetic, a.weights+dot(&a.read, &w.p.decode), w.share("share", a.at.memory))
}

func (w *writer) collective(l *collective) string {
	bytes := w.p.tokens*l.perToken + w.p.outputs*l.perOutput
	call := w.fitted("call", l.at.call) + " + (" + w.in("ranks", l.ranks, "that take part") + " - 2) × " + w.fitted("peer", l.at.peer)
	if bytes == 0 {
		return call
	}
	sent, rate, ring := w.in("bytes", bytes, "of the activations of a step"), w.in("link_rate", l.rate, "bytes a second, one way"), w.in("ring_share", l.share(l.at.ring, l.at.grow, w.m.c), "fitted: link.ring, link.grow")
	if l.reach > 0 {
		return fmt.Sprintf("%s + %s × %s / (%s × %s)", call, w.in("reach", l.reach, "other ranks that a token goes to"), sent, rate, ring)
	}
	ranks := w.in("ranks", l.ranks, "that take part")
	once := fmt.Sprintf("(%s - 1) × %s / (%s × %s)", ranks, sent, rate, w.in("once_share", l.share(l.at.once, l.at.crowd, w.m.c), "fitted: link.once, link.crowd"))
	around := fmt.Sprintf("(%s + 2 × (%s - 1) / %s × %s / (%s × %s))", w.fitted("start", l.at.start), ranks, ranks, sent, rate, ring)
	return fmt.Sprintf("%s + 1 / overlap(1 / (%s), 1 / %s)", call, once, around)
}

// host is what the engine's own code takes, and launches where kernels are quicker than these.
func (w *writer) host(s *stage, kernels float64) {
	h := &w.m.host
	w.terms = append(w.terms, w.in("small", s.small, "kernels that only pass through memory")+" × "+w.fitted("small_kernel", h.small), w.fitted("step", h.step),
		w.in("sequences", float64(w.p.batch.Decodes), "of a step")+" × "+w.fitted("sequence", h.request))
	if w.m.in.Eager {
		w.terms = append(w.terms, fmt.Sprintf("overlap(%[1]s, %[2]s × %[3]s × %[4]s) - %[1]s", w.in("kernels", kernels, "seconds of all kernels"), w.in("launches", s.launches, "of a step"),
			w.fitted("launch", h.eager), w.fitted("host", h.launch)))
	}
}

// stalled is what the prompts of the others add to the time of a token.
func stalled(p *loop) speed.Formula {
	w := &writer{}
	text := fmt.Sprintf("1000 × (%s × (1 - %s) + %s × %s / 2) × (%s - 1) / %s", w.stall(p), w.together(p), w.crowded(p), w.together(p),
		w.in("batch", p.batch, "sequences of a step"), w.in("gaps", math.Max(1, p.output-1), "tokens behind the first"))
	return speed.Formula{Part: "prompts_of_others", Text: text, Inputs: w.inputs}
}

func (w *writer) stall(p *loop) string {
	return w.in("stall", p.stall(), "seconds that a prompt holds the others up")
}

func (w *writer) crowded(p *loop) string {
	return w.in("crowded", p.crowded(), "the same of a prompt in a burst, with others in its step")
}

func (w *writer) together(p *loop) string {
	return w.in("together", p.together, "share of requests that start in a burst")
}

// queue formats the wait for others' prompts: those arriving meanwhile, and those that started together.
func (w *writer) queue(p *loop) string {
	rho := w.in("rho", p.rho(), "share of the time that prompts take")
	return fmt.Sprintf("0.5 × %s × %s / (1 - %s) × (1 - %s) + %s × (%s + %s - 2) / 2 × %s", w.stall(p), rho, rho, w.together(p), w.together(p),
		w.in("batch", p.batch, "sequences of a step"), w.in("each", float64(p.each), "prompts of a burst in one step"), w.crowded(p))
}

// firstToken is the time to the first token.
func firstToken(name string, p *loop) speed.Formula {
	w := &writer{}
	text := fmt.Sprintf("1000 × (%s + %s + (%s / 2 × (%s - 1) / %s + %s + %s) × %s + %s + %s", w.in("front", p.front, "fitted: before the first step"), w.in("reading", p.reading, "of the prompt's tokens by the server"), w.in("wait", p.wait, "fitted: steps of others under way"),
		w.in("batch", p.batch, "sequences of a step"), w.in("batch", p.batch, "sequences of a step"),
		w.in("admit", p.admit, "steps until the scheduler looks for requests"), w.in("joined", p.joined, "steps until others have joined"), w.in("step", p.decode, "seconds"),
		w.in("prompt", p.prompt(), "seconds of the prompt's own steps"), w.queue(p))
	if p.users > p.batch {
		text += fmt.Sprintf(" + (%s - %s) / %s × %s", w.in("users", p.users, "of a replica"), w.in("room", p.batch, "sequences that the caches hold"), w.in("room", p.batch, "sequences that the caches hold"), w.in("life", p.life(), "seconds of a request"))
	}
	if p.held > 0 {
		text += fmt.Sprintf(" + %s × %s", w.in("held", p.held, "tokens that are sent with the first"), w.in("token", p.perToken(), "seconds"))
	}
	return speed.Formula{Part: name, Text: text + ")", Inputs: w.inputs}
}

// Formulas returns the formulas of the parts of the time per token, and of the time to first token.
func (p *Pools) Formulas(l Load) []speed.Formula {
	q, decode := p.loop(l)
	out := p.decode.parts(decode, &loop{expected: q.expected})
	alone, _ := p.loop(Load{Users: 1, Prompt: l.Prompt, Output: l.Output})
	return append(out, q.formula("ttft_ms"), alone.formula("ttft_unloaded_ms"))
}

func (q *queue) formula(name string) speed.Formula {
	w := &writer{}
	text := fmt.Sprintf("1000 × max(%s + %s + %s, %s)", w.in("prompt", q.own, "seconds of the prompt's own steps"), w.in("queue", q.wait(), "seconds of the prompts before it"), w.in("handed", q.handed, "seconds of the router and of caches on their way"),
		w.in("room", q.unheld(), "seconds until the caches have room"))
	return speed.Formula{Part: name, Text: text, Inputs: w.inputs}
}
