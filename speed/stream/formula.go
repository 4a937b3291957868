package stream

import (
	"fmt"
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
	return w.sum(w.coefficient("step", 0, w.p.uses.step, "seconds of a step"), w.launches)
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
