package stream

import (
	"fmt"
	"math"
	"strings"

	"github.com/memwall/memwall/speed"
)

// Formula and Term are those of package speed.
type (
	Formula = speed.Formula
	Term    = speed.Term
)

// Formulas are those of the parts that Loop gives.
func (p *Predictor) Formulas(t Test, users int64) []Formula {
	n := float64(max(1, users))
	depth := float64(t.Depth+t.Prompt) + float64(max(1, t.Generated))/2
	w := writer{p: p, n: n, touched: p.work.reads(n), kv: n * p.work.read(depth)}
	return []Formula{w.formula("weights", w.weights), w.formula("kv_cache", w.cache), w.formula("host", w.host)}
}

// writer writes the formulas of a step of n users who go through a share of the experts and read kv bytes of cache.
type writer struct {
	p              *Predictor
	n, touched, kv float64
	inputs         []Term
}

func (w *writer) formula(part string, text func() string) Formula {
	w.inputs = nil
	f := Formula{Part: part, Text: text()}
	f.Inputs = w.inputs
	return f
}

// in names a number; stages behind the first have a number of their own in its name.
func (w *writer) in(name string, stage int, v float64, origin string) string {
	name = strings.NewReplacer("-", "_", " ", "_").Replace(name)
	if stage > 0 {
		name = fmt.Sprintf("%s_%d", name, stage+1)
	}
	for i := range w.inputs {
		if w.inputs[i].Name == name {
			return name
		}
	}
	w.inputs = append(w.inputs, Term{Name: name, Value: v, Origin: origin})
	return name
}

func (w *writer) rate(i int) string {
	s := &w.p.stages[i]
	return w.in("memory_rate", i, s.bandwidth, "bytes a second, "+s.Device.Name)
}

func (w *writer) coefficient(name string, i, at int, origin string) string {
	return w.in(name, i, w.p.values[at], "fitted: "+origin)
}

// sum of a term for each stage, in milliseconds.
func (w *writer) sum(first string, term func(i int) string) string {
	var terms []string
	if first != "" {
		terms = append(terms, first)
	}
	for i := range w.p.stages {
		terms = append(terms, term(i))
	}
	return "1000 × (" + strings.Join(terms, " + ") + ")"
}

func (w *writer) host() string {
	first := w.coefficient("step", 0, w.p.uses.step, "seconds of a step")
	if w.p.eager() {
		first += " + " + w.awaited()
	}
	return w.sum(first, w.launches)
}

func (w *writer) launches(i int) string {
	kernels := w.in("kernels", i, w.p.work.kernels*w.p.stages[i].Dense, "of a step")
	return kernels + " × " + w.coefficient("launch", i, w.p.uses.at[i].launch, "seconds of a kernel beside its work")
}

func (w *writer) cache() string { return w.sum("", w.cached) }

func (w *writer) cached(i int) string {
	share := w.coefficient("cache_factor", i, w.p.uses.at[i].cache, "time of reading the cache, over bytes / memory rate")
	return share + " × " + w.in("cache_bytes", i, w.kv*w.p.stages[i].Dense, "read and written by a step") + " / " + w.rate(i)
}

func (w *writer) weights() string {
	first := ""
	if hops := float64(len(w.p.stages) - 1); hops > 0 {
		first = w.in("hops", 0, hops, "from device to device") + " × " + w.coefficient("hop", 0, w.p.uses.hop, "seconds of a hop")
	}
	return w.sum(first, w.stage)
}

// stage is the time of a stage's weights; where the memory allows no less, it is what cache and host leave of that.
func (w *writer) stage(i int) string {
	s, at := &w.p.stages[i], &w.p.uses.at[i]
	var bytes float64
	var read, unpack, multiply []string
	scattered := w.p.scattered(at)
	for j := range w.p.work.groups {
		g := &w.p.work.groups[j]
		b, e := g.bytes(&s.Stage, w.touched), g.elems(&s.Stage, w.touched)
		if e == 0 {
			continue
		}
		bytes += b
		share := " / " + w.coefficient("share_"+g.format, i, at.read[j], "share of the memory's rate")
		experts := g.experts * w.touched * s.Experts
		read = append(read, w.in("bytes_"+g.format, i, b-experts, "read by a step")+share)
		if experts > 0 {
			read = append(read, w.in("expert_bytes_"+g.format, i, experts, "of experts, read by a step")+" × "+
				w.coefficient("gather", i, at.gather, "time of reading experts, over that of other weights")+share)
		}
		unpack = append(unpack, w.in("numbers_"+g.format, i, e, "unpacked by a step")+" / "+w.coefficient("unpack_"+g.format, i, at.unpack[j], "share of the arithmetic's rate"))
		if w.n > 1 {
			ops := 2 * (w.n - 1) * (g.denseElems*s.Dense + g.headElems*s.Head + g.expertElems*w.p.work.used*s.Experts*scattered)
			multiply = append(multiply, w.in("operations_"+g.format, i, ops, "of the users behind the first")+" / "+w.coefficient("multiply_"+g.format, i, at.multiply[j], "share of the peak"))
		}
	}
	if len(read) == 0 {
		return "0" // more devices than layers
	}
	if w.p.floored(i, w.n, w.touched, w.kv, bytes) {
		return "(" + w.in("bytes", i, bytes, "read by a step") + " + " + w.in("cache_bytes", i, w.kv*s.Dense, "read and written by a step") + ") / " + w.rate(i) + " - " + w.cached(i) + " - " + w.launches(i)
	}
	text := fmt.Sprintf("overlap((%s) / %s, (%s) / %s)", strings.Join(read, " + "), w.rate(i), strings.Join(unpack, " + "), w.in("arithmetic_rate", i, s.alu, "numbers a second"))
	if w.n > 1 {
		text = fmt.Sprintf("hypot(%s, (%s) / %s)", text, strings.Join(multiply, " + "), w.in("peak", i, s.peak, "operations a second"))
	}
	return text
}

// floored reports whether a stage takes as long as the memory needs at least.
func (p *Predictor) floored(i int, n, touched, kv, bytes float64) bool {
	s := &p.stages[i]
	least := (bytes + kv*s.Dense) / s.bandwidth
	return bytes > float64(s.Device.L2.Value) && p.stageStep(i, n, touched, kv, p.values) <= least*(1+1e-12)
}

// scattered is how many operations experts cost over those counted.
func (p *Predictor) scattered(at *stageUses) float64 {
	if p.work.moe == nil {
		return 1
	}
	return p.values[at.scatter]
}

// FirstToken is the formula of the time of a prompt, in milliseconds.
func (p *Predictor) FirstToken(t Test) Formula {
	n, u := float64(t.Prompt), float64(p.in.UBatch)
	q := prompted{writer{p: p}, n, math.Ceil(n / u), p.work.touched(math.Min(n, u)), math.Min(n, u) * p.work.used, p.work.attention(n, float64(t.Depth))}
	text := ""
	for i := range p.stages {
		if text != "" {
			text += " + "
		}
		text += q.stage(i)
	}
	if left := p.overlap(q.steps, p.values); left != 1 {
		text = "(" + text + ") × " + q.in("overlap", 0, left, "of devices that work one behind the other")
	}
	text = "1000 × (" + q.coefficient("step", 0, p.uses.step, "seconds of a step") + " + " + text + ")"
	return Formula{Part: "ttft_unloaded_ms", Text: text, Inputs: q.inputs}
}

// prompted writes the formula of a prompt of n tokens in so many steps, whose experts are touched and see so many tokens each.
type prompted struct {
	writer
	n, steps, touched, each, attention float64
}

// stage is what stagePrefill computes.
func (q *prompted) stage(i int) string {
	p := q.p
	s, at := &p.stages[i], &p.uses.at[i]
	by, on := s, at
	if s.lends >= 0 {
		by, on = &p.stages[s.lends], &p.uses.at[s.lends]
	}
	scattered, origin := 1.0, "of the prompt"
	if p.work.moe != nil {
		scattered, origin = p.values[on.scatter]*(1+p.values[on.tile]/q.each), "of the prompt, those of few tokens an expert dearer"
	}
	var multiply, read []string
	var flops, bytes float64
	for j := range p.work.groups {
		g := &p.work.groups[j]
		dense, experts := 2*q.n*g.denseElems*s.Dense+2*g.headElems*s.Head, 2*q.n*g.expertElems*p.work.used*s.Experts
		b := q.steps*(g.dense*s.Dense+g.experts*q.touched*s.Experts) + g.head*s.Head
		flops, bytes = flops+dense+experts, bytes+b
		if dense+experts > 0 {
			multiply = append(multiply, q.in("prompt_operations_"+g.format, i, dense+experts*scattered, origin)+" / "+
				q.coefficient("multiply_"+g.format, i, on.multiply[j], "share of the peak"))
		}
		if b > 0 {
			read = append(read, q.in("prompt_bytes_"+g.format, i, b, "read in all steps")+" / "+q.coefficient("share_"+g.format, i, at.read[j], "share of the memory's rate"))
		}
	}
	if len(read) == 0 {
		return "0" // more devices than layers
	}
	moved := "(" + strings.Join(read, " + ") + ") / " + q.rate(i)
	if s.lends >= 0 {
		moved = "max(" + moved + ", " + q.in("lent_bytes", i, bytes, "over the link") + " / " + q.in("link_rate", i, by.link, "bytes a second") + ")"
	}
	peak, attention := q.in("peak", i, by.peak, "operations a second"), q.in("attention", i, q.attention*s.Dense, "operations of attention")
	return fmt.Sprintf("max(hypot((%s) / %s, %s) + %s × %s × %s + %s / (%s × %s), (%s + %s) / %s)", strings.Join(multiply, " + "), peak, moved,
		q.in("steps", 0, q.steps, "of ubatch tokens"), q.in("kernels", i, p.work.kernels*s.Dense, "of a step"),
		q.coefficient("prepare", i, on.prepare, "seconds of a kernel"), attention, q.coefficient("attend", i, on.attend, "share of the peak"), peak,
		q.in("prompt_operations", i, flops, "of the prompt"), attention, peak)
}
