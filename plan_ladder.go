package memwall

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/memwall/memwall/engine/argv"
	"github.com/memwall/memwall/engine/llamacpp"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// ladder is single changes of what was asked for and the best plan of each way that a search found, the cheapest first, each applied
// and asked again. Single changes may change what was given, and say so.
func (p *planner) ladder(found []Candidate) []Candidate {
	out, rungs := firstOfWays(found), p.rungs()
	for i, s := range rungs {
		p.searched(phaseLadder, i, len(rungs), 0, 0, found)
		r := p.asked
		s.set(&r)
		c, ok := p.candidate(&r, s.words)
		if !ok || !p.helps(&c) || slices.ContainsFunc(out, func(o Candidate) bool { return reflect.DeepEqual(o.Plan, c.Plan) }) {
			continue
		}
		c.price = s.price + p.slowdown(&Answer{Speed: c.Speed, Plan: c.Plan})
		out = append(out, c)
	}
	slices.SortStableFunc(out, func(a, b Candidate) int { return cmp.Compare(a.price, b.price) })
	return out
}

// helps: the change mends the plan, or saves a good part of what it is short of; where the plan fits, it makes it
// faster or much smaller.
func (p *planner) helps(c *Candidate) bool {
	d := &p.base.Devices[0]
	least := max(1, -d.Headroom/20)
	if p.base.Verdict == Fits {
		faster := c.SpeedRatio != nil && *c.SpeedRatio > 1.05
		return faster || c.Saves >= d.Needed/20
	}
	return severity[c.Verdict] < severity[p.base.Verdict] || c.Saves >= least
}

// firstOfWays is the best plan of each way to run the model.
func firstOfWays(found []Candidate) (out []Candidate) {
	for i := range found {
		if len(found[i].Patch) == 0 {
			continue // as asked
		}
		if !slices.ContainsFunc(out, func(c Candidate) bool { return c.way == found[i].way }) {
			out = append(out, found[i])
		}
	}
	return out
}

// rungs are all single changes.
func (p *planner) rungs() (out []setting) {
	for _, a := range p.axes(p.q, true, false) {
		out = append(out, a.settings[1:]...)
	}
	out = append(out, p.loads()...)
	for _, w := range p.ways(true) {
		switch {
		case w.words != "" && !w.spills:
			out = append(out, setting{w.words, w.words, w.set, w.price})
		case w.spills && w.words == "":
			if r := p.placed(&p.asked); r != nil {
				out = append(out, setting{p.placedWords(r), "", func(to *Request) { *to = *r }, w.price})
			}
		}
	}
	if e, ok := p.q.engine.(llamacpp.Engine); ok && e.Fits(p.q.job) && p.q.request.Fit != "on" && p.spillable(p.q) {
		out = append(out, setting{"as llama.cpp's own --fit places it", "", func(r *Request) { r.Fit = "on" }, small})
	}
	return append(out, p.more()...)
}

// placedWords says what lies on the host.
func (p *planner) placedWords(r *Request) string {
	var words []string
	if n := r.GPULayers; n != nil && *n >= 0 {
		words = append(words, fmt.Sprintf("%d of %d layers on the device", *n, len(p.q.job.Model.Decoder().Layers)+1))
	}
	if n := r.CPUMoE; n != nil && *n < 0 {
		words = append(words, "all experts on the host")
	}
	if n := r.CPUMoE; n != nil && *n > 0 {
		words = append(words, fmt.Sprintf("experts of %d layers on the host", *n))
	}
	if r.OverrideTensor != "" && len(words) < 2 {
		words = append(words, "some experts on the host")
	}
	if n := r.CPUOffload; n > 0 {
		words = append(words, unit.Bytes(n).String()+" of weights on the host")
	}
	if len(words) == 0 {
		return "layers shared by what devices hold"
	}
	return strings.Join(words, ", ")
}

// lessIsDear is the price of half the context, or half the users.
const lessIsDear = 3

// loads are a context or a number of users that memory allows.
func (p *planner) loads() (out []setting) {
	if n := p.q.maxContext(p.q.job.Load().Sequences); n != nil {
		if c := *n / 1024 * 1024; c >= 1024 && c < int64(p.q.request.Context) {
			words := fmt.Sprintf("context %s → %s", unit.Length(int64(p.q.request.Context)), unit.Length(c))
			out = append(out, setting{words, words, func(r *Request) { r.Context, r.PromptTokens, r.OutputTokens, r.ContextTotal = plan.Int(c), 0, 0, 0 }, lessIsDear * math.Log2(float64(p.q.request.Context)/float64(c))})
		}
	}
	if n, now := p.q.maxSequences(p.q.job.Load().Context), int64(p.q.request.Sequences); n != nil && *n > 0 && *n < now {
		out = append(out, setting{fmt.Sprintf("%s users instead of %s", unit.Count(*n), unit.Count(now)), "", func(r *Request) { r.Sequences = plan.Int(*n) }, lessIsDear * math.Log2(float64(now)/float64(*n))})
	}
	return out
}

// more devices of the same kind: the fewest doublings that hold the plan, else one.
func (p *planner) more() []setting {
	m := p.q.job.Machine
	if m == nil || len(m.Groups) != 1 || m.Node != "" {
		return nil
	}
	once := p.devices(2 * m.Groups[0].Count)
	for n := 2 * m.Groups[0].Count; n <= mostOf(&m.Groups[0].Device); n *= 2 {
		s, r := p.devices(n), p.asked
		s.set(&r)
		if q, ranks, err := p.asker.sized(&r); err == nil && q.verdict(ranks) == Fits {
			return []setting{s}
		}
	}
	return []setting{once}
}

// mostOf a device are as many as anybody adds to hold one model: eight nodes of a data centre, one machine of other cards.
func mostOf(d *hardware.Device) int {
	if strings.HasPrefix(d.Kind, "HBM") {
		return 64
	}
	return 8
}

// devices are so many of the machine's kind: beyond a node a stage in each, within one as the engine shares them.
func (p *planner) devices(n int) setting {
	d, to := &p.q.job.Machine.Groups[0].Device, p.q.ofKind(n)
	tp, pp := int64(0), int64(0)
	if node := int64(d.PerNode.Value); d.PerNode.Known && int64(n) > node && !p.gguf() {
		tp, pp = node, int64(n)/node
	}
	return setting{fmt.Sprintf("%d × %s", n, d.Name), "", func(r *Request) { r.Hardware, r.Devices, r.TP, r.PP, r.DP = to, 0, tp, pp, 0 }, moreDevices}
}

// ofKind names so many devices of the plan's kind, with the same host, link and fabric.
func (q *question) ofKind(n int) string {
	to := manyOf(n, q.job.Machine.Groups[0].Device.ID)
	if device, keys, ok := strings.Cut(q.request.Hardware, ","); ok && !strings.Contains(device, "=") {
		to += "," + keys
	}
	return to
}

// moreDevices is the price of twice as many devices.
const moreDevices = 50

// candidate asks a changed request; ok is false where it is refused or nothing changes.
func (p *planner) candidate(r *Request, words string) (Candidate, bool) {
	q, a, err := p.ask(r)
	if err != nil || len(a.Devices) == 0 {
		return Candidate{}, false
	}
	p.evaluated.Full++
	p.evaluated.Decided++
	if h := a.Host; h != nil && h.Needed > max(spareHost(q.job.Machine), p.onHost) && unifiedPool(q.job.Machine) == 0 {
		return Candidate{}, false // more than a host has beside the system, or than one has that nobody spoke of
	}
	c := Candidate{Change: words, Patch: patchOf(&p.asked, r), Plan: a.Plan, Verdict: a.Verdict, Speed: a.Speed,
		Saves: p.base.Devices[0].Needed - a.Devices[0].Needed, Headroom: a.Devices[0].Headroom, SpeedRatio: faster(p.base.Speed, a.Speed)}
	c.lacks = c.Headroom
	if h := a.Host; h != nil && h.Capacity > 0 {
		c.lacks, c.HostHeadroom = min(c.lacks, h.Headroom), &h.Headroom
	}
	c.Quality = qualityOf(p.q.judged(), p.base.Plan, a.Plan)
	if !p.brief {
		p.furnish(&c, q)
	}
	return c, true
}

// furnish a candidate with what it takes to run it, and what it costs.
func (p *planner) furnish(c *Candidate, q *question) {
	c.Flags = q.flags()
	c.Capacity, c.USDPerHour = p.rented(q)
	c.MaxSequences = q.maxSequences(q.job.Load().Context)
	c.Arguments = added(p.command, c.Flags[q.engine.Name()])
	if c.Speed != nil {
		c.Cost = c.Speed.USDPerMillion
	}
	for name := range c.Patch {
		if f := FieldByName(name); f != nil && !f.Value(&p.asked).IsZero() {
			c.Relaxes = append(c.Relaxes, name)
		}
	}
	slices.Sort(c.Relaxes)
}

// rented are the bytes of all devices of a plan, and what these rent for.
func (p *planner) rented(q *question) (b unit.Bytes, perHour *float64) {
	m := q.job.Machine
	if m == nil {
		return 0, nil
	}
	return m.Memory(), p.asker.perHour(m)
}

// patchOf is the JSON merge patch from one request to another. Whether numbers are explained is no part of a plan.
func patchOf(from, to *Request) map[string]any {
	out := map[string]any{}
	for _, f := range Fields() {
		a, b := f.Value(from), f.Value(to)
		switch {
		case f.Name == "explain", unchanged(a, b):
		case b.IsZero():
			out[f.Name] = nil
		case b.Kind() == reflect.Pointer:
			out[f.Name] = untyped(b.Elem())
		default:
			out[f.Name] = untyped(b)
		}
	}
	return out
}

// unchanged compares two values of a field: what pointers lead to, where they differ.
func unchanged(a, b reflect.Value) bool {
	return a.Comparable() && a.Equal(b) || !plainKinds[a.Kind()] && reflect.DeepEqual(a.Interface(), b.Interface())
}

// plainKinds of values are equal only where Equal says so.
var plainKinds = map[reflect.Kind]bool{reflect.String: true, reflect.Bool: true, reflect.Int64: true, reflect.Float64: true}

// untyped is a value without the name of its type.
func untyped(v reflect.Value) any {
	if v.CanInt() {
		return v.Int()
	}
	return v.Interface()
}

// added are the arguments of a command line that another lacks.
func added(from, to string) string {
	has := map[string]bool{}
	for _, a := range arguments(from) {
		has[a] = true
	}
	var out []string
	for _, a := range arguments(to) {
		if !has[a] {
			out = append(out, a)
		}
	}
	return strings.Join(out, " ")
}

// arguments of a command line: each option with its value; the program and what it loads are none.
func arguments(command string) (out []string) {
	for _, word := range argv.Words(command) {
		switch {
		case strings.HasPrefix(word, "-") && (len(word) > 1 && (word[1] < '0' || word[1] > '9')):
			out = append(out, word)
		case len(out) > 0:
			out[len(out)-1] += " " + word
		}
	}
	return out
}
