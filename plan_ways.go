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
	if p.spillable(p.q) && (loose || !p.placedByHand()) {
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

// servingLists are the fields of words whose lists a search for plans to serve goes through.
var servingLists = []string{"engine", "weights", "kv"}

// choices reads the fields that have a list: what was asked for has its first word.
func (p *planner) choices() { p.among = among(&p.asked) }

// among are the lists of a request, whose fields then have their first words.
func among(r *Request) map[string][]string {
	out := map[string][]string{}
	for _, name := range servingLists {
		v := FieldByName(name).Value(r)
		words := strings.Split(strings.ReplaceAll(v.String(), " ", ""), ",")
		if len(words) > 1 {
			out[name] = words
			v.SetString(words[0])
		}
	}
	return out
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

// spillable: the host can hold what devices do not.
func (p *planner) spillable(q *question) bool {
	m := q.job.Machine
	if m == nil || m.CPUOnly {
		return false
	}
	_, llama := q.engine.(llamacpp.Engine)
	return llama || FieldByName("cpu_offload_bytes").OwnedBy(q.engine.Name())
}

// placedByHand: somebody said where layers lie.
func (p *planner) placedByHand() bool {
	r := &p.asked
	return r.GPULayers != nil || r.CPUMoE != nil || r.OverrideTensor != "" || r.TensorSplit != "" || r.CPUOffload > 0
}

// placed leaves the host as little to read as the devices allow; nil where nothing has room, or nothing has to move.
func (p *planner) placed(r *Request) *Request {
	q, err := p.asker.prepare(r)
	if err != nil || !p.spillable(q) {
		return nil
	}
	e, ok := q.engine.(llamacpp.Engine)
	if !ok {
		return hosted(q, r)
	}
	patch, ok := q.bestPlacement(e)
	if !ok || len(patch) == 0 {
		return nil
	}
	out, err := Patch(r, patch)
	if err != nil {
		return nil
	}
	return out
}

// hosted keeps the least weights on the host.
func hosted(q *question, r *Request) *Request {
	n, ok := q.leastHosted()
	if !ok {
		return nil
	}
	out := *r
	out.CPUOffload = n
	return &out
}

// layout is how devices are grouped.
type layout struct{ tp, pp, dp, ep int64 }

// layouts are other shares of the devices: tensor and pipeline groups, replicas of them, and experts of a replica or of
// all shared out among more ranks.
func (p *planner) layouts() (out []way) {
	m := p.q.job.Machine
	if p.gguf() || m == nil || p.q.engine.Name() == transformersEngine {
		return nil
	}
	n := int64(m.Devices())
	for tp := int64(1); tp <= min(n, p.q.job.PerNode()); tp++ {
		for pp := int64(1); tp*pp <= n; pp++ {
			if dp := n / (tp * pp); tp*pp*dp == n {
				for _, ep := range p.expertRanks(tp, pp, dp) {
					out = p.laidOut(out, layout{tp, pp, dp, ep})
				}
			}
		}
	}
	return out
}

// expertRanks are how many ranks may share the experts: those of a tensor group, or all of a stage where the engine has
// replicas attend apart.
func (p *planner) expertRanks(tp, pp, dp int64) []int64 {
	if p.asked.EP > 0 {
		return []int64{p.asked.EP}
	}
	if tp*dp == 1 || pp > 1 || p.q.job.Model.ActiveParams() == p.q.job.Model.Params() {
		return []int64{0}
	}
	return []int64{0, tp * dp}
}

// laidOut adds a layout that nobody ruled out and that is not the one at hand.
func (p *planner) laidOut(out []way, l layout) []way {
	r, now := &p.asked, &p.q.request
	if r.TP > 0 && r.TP != l.tp || r.PP > 0 && r.PP != l.pp || r.DP > 0 && r.DP != l.dp {
		return out
	}
	if l == (layout{max(1, now.TP), max(1, now.PP), max(1, now.DP), r.EP}) {
		return out
	}
	return append(out, way{words: l.words(), set: func(r *Request) { r.TP, r.PP, r.DP, r.EP = l.tp, l.pp, l.dp, l.ep }, price: small})
}

func (l layout) words() string {
	s := fmt.Sprintf("tp %d", l.tp)
	if l.pp > 1 {
		s += fmt.Sprintf(", pp %d", l.pp)
	}
	switch {
	case l.dp > 1 && l.ep > l.tp:
		s += fmt.Sprintf(", dp %d", l.dp)
	case l.dp > 1:
		s += fmt.Sprintf(", %d replicas", l.dp)
	}
	if l.ep > 1 {
		s += fmt.Sprintf(", ep %d", l.ep)
	}
	return s
}
