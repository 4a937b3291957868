package memwall

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall/engine/llamacpp"
)

// way is an engine, a layout over devices, a placement: what a search does not order by bytes.
type way struct {
	words  string
	set    func(*Request)
	price  float64
	spills bool // layers or experts stay on the host, as few as can be
}

func (w *way) name() string {
	if w.spills {
		return w.words + ", spilling"
	}
	return w.words
}

// ways to run the model: what was asked for first.
func (p *planner) ways(loose bool) []way {
	out := []way{{set: func(*Request) {}}}
	if p.spillable(p.q) {
		out = append(out, way{set: func(*Request) {}, spills: true})
	}
	out = append(out, p.layouts()...)
	if names := p.among["engine"]; len(names) > 1 {
		for _, name := range names[1:] {
			out = append(out, way{words: name, set: func(r *Request) { r.Engine = name }})
		}
		return out
	}
	if loose || !p.pinned("engine") {
		out = append(out, p.otherEngine()...)
	}
	return out
}

// choices reads the fields that have a list: what was asked for has its first word.
func (p *planner) choices() {
	p.among = map[string][]string{}
	for _, name := range lists {
		v := FieldByName(name).Value(&p.asked)
		words := strings.Split(strings.ReplaceAll(v.String(), " ", ""), ",")
		if len(words) > 1 {
			p.among[name] = words
			v.SetString(words[0])
		}
	}
}

// engineChange is the price of another program.
const engineChange = 1

// otherEngine is llama.cpp, where the model was to be served by another engine that needs all on devices.
func (p *planner) otherEngine() []way {
	s := p.q.resolved.Spec
	if p.gguf() || s == nil || !llamacpp.Loads(s.Family) || p.pinned("weights") || p.foreign("llama.cpp") {
		return nil
	}
	set := func(r *Request) {
		r.Engine = "llama.cpp"
		r.Weights = ""
	}
	w := way{words: "llama.cpp", set: set, price: engineChange}
	spilling := w
	spilling.spills = true
	return []way{w, spilling}
}

// foreign: the request has fields that an engine does not take.
func (p *planner) foreign(engine string) bool {
	for _, f := range Fields() {
		if f.Engines != nil && !f.OwnedBy(engine) && !f.Value(&p.asked).IsZero() {
			return true
		}
	}
	return p.asked.TP > 1 || p.asked.PP > 1 || p.asked.DP > 1 || p.asked.EP > 1
}

// spillable: the host can hold what devices do not, and nobody said where layers lie.
func (p *planner) spillable(q *question) bool {
	_, llama := q.engine.(llamacpp.Engine)
	return llama && q.job.Machine != nil && !q.job.Machine.CPUOnly && p.asked.GPULayers == nil && p.asked.CPUMoE == nil && p.asked.OverrideTensor == "" && p.asked.TensorSplit == ""
}

// placed leaves the host as little to read as the devices allow; nil where nothing has room.
func (p *planner) placed(r *Request) *Request {
	q, err := p.asker.prepare(r)
	if err != nil {
		return nil
	}
	e, ok := q.engine.(llamacpp.Engine)
	if !ok || !p.spillable(q) {
		return nil
	}
	c, ok := q.bestPlacement(e)
	if !ok || len(c.patch) == 0 {
		return nil
	}
	out, err := Patch(r, c.patch)
	if err != nil {
		return nil
	}
	return out
}

// layouts are other shares of the devices: tensor and pipeline groups, and replicas of them.
func (p *planner) layouts() (out []way) {
	m := p.q.job.Machine
	if p.gguf() || m == nil || p.q.engine.Name() == transformersEngine {
		return nil
	}
	n := int64(m.Devices())
	for tp := int64(1); tp <= min(n, p.q.job.PerNode()); tp++ {
		for pp := int64(1); tp*pp <= n; pp++ {
			if w, ok := p.layout(tp, pp, n); ok {
				out = append(out, w)
			}
		}
	}
	return out
}

func (p *planner) layout(tp, pp, devices int64) (way, bool) {
	r, now := &p.asked, &p.q.request
	dp := devices / (tp * pp)
	if tp*pp*dp != devices || pp > 1 && devices%pp != 0 {
		return way{}, false
	}
	if r.TP > 0 && r.TP != tp || r.PP > 0 && r.PP != pp || r.DP > 0 && r.DP != dp || r.EP > 0 {
		return way{}, false
	}
	if tp == max(1, now.TP) && pp == max(1, now.PP) && dp == max(1, now.DP) {
		return way{}, false
	}
	return way{words: layoutWords(tp, pp, dp), set: func(r *Request) { r.TP, r.PP, r.DP = tp, pp, dp }, price: small}, true
}

func layoutWords(tp, pp, dp int64) string {
	s := fmt.Sprintf("tp %d", tp)
	if pp > 1 {
		s += fmt.Sprintf(", pp %d", pp)
	}
	if dp > 1 {
		s += fmt.Sprintf(", %d replicas", dp)
	}
	return s
}
