package planner

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine/llamacpp"
	"github.com/memwall/memwall/internal/planner/change"
	"github.com/memwall/memwall/internal/question"
)

// Way is an engine, a layout over devices and a placement: what a search does not order by memory.
type Way struct {
	words  string
	Set    func(*api.Request)
	price  float64
	spills bool // keeps as few layers or experts on the host as possible
}

func (w *Way) name() string {
	if w.spills {
		return w.words + ", spilling"
	}
	return w.words
}

// ways returns the ways to run the model, the requested one first.
func (p *Planner) ways(loose bool) []Way {
	out := []Way{{Set: func(*api.Request) {}}}
	if p.Spillable(p.Question) && (loose || !p.PlacedByHand()) {
		out = append(out, Way{Set: func(*api.Request) {}, spills: true, price: spillPrice(p)})
	}
	out = append(out, p.Layouts()...)
	if names := p.Among["engine"]; len(names) > 1 {
		for _, name := range names[1:] {
			out = append(out, Way{words: name, Set: func(r *api.Request) { r.Engine = name }})
		}
		return out
	}
	if p.single || !p.pinned("weights") && (loose || !p.pinned("engine")) {
		out = append(out, p.otherEngine()...)
	}
	return out
}

// spillPrice returns the price of keeping on the host what the devices cannot hold.
func spillPrice(p *Planner) float64 {
	switch {
	case !p.gguf():
		return slowHost
	case question.UnifiedPool(p.Question.Job.Machine) > 0:
		return sharedHost
	}
	return 0
}

// sharedHost is the price of layers computed by the processor where it shares memory with the GPU: it is easier to grant the GPU
// more memory than to split a model.
const sharedHost = 4

// slowHost is the price of weights on the host of a serving engine, which copies them to the device in every step while all users
// wait.
const slowHost = 30

// Among takes the lists out of a request, leaving each such field with its first value.
func Among(r *api.Request) map[string][]string {
	out := map[string][]string{}
	for _, name := range api.ServingLists {
		v := api.FieldByName(name).Value(r)
		words := strings.Split(strings.ReplaceAll(v.String(), " ", ""), ",")
		if len(words) > 1 {
			out[name] = words
			v.SetString(words[0])
		}
	}
	return out
}

// engineChange is the price of another engine and another file: on a PC card, which llama.cpp is made for, and on a data-center
// card, where people keep their serving engine.
const engineChange, engineChangeOfServers = 12, 30

// priceOfLlamaCpp returns the price of llama.cpp in place of the requested engine.
func priceOfLlamaCpp(q *question.Question) float64 {
	if d := q.Job.Device(0); d != nil && d.Consumer() && q.Engine.Name() != question.TransformersEngine { // own code
		return engineChange
	}
	return engineChangeOfServers
}

// otherEngine returns llama.cpp if the requested engine needs everything on the devices.
func (p *Planner) otherEngine() []Way {
	s := p.Question.Resolved.Spec
	if m := p.Question.Job.Machine; m != nil && m.Devices() > 1 && !m.Groups[0].Device.Consumer() {
		return nil // nobody leaves a serving engine for a single stream on several data-center devices
	}
	if p.gguf() || s == nil || !llamacpp.Loads(s.Family) || lacksFields(&p.Asked, "llama.cpp") {
		return nil
	}
	w, spilling := inLlamaCpp(p, ""), inLlamaCpp(p, "")
	if now := dtype.FindRecipe(p.Question.Request.Weights); now != nil && now.BulkBits() > fourBits {
		spilling = inLlamaCpp(p, usualGGUF[len(usualGGUF)-1])
	}
	holds := func(try Way) bool { return (joint{p}).holds(&change.Setting{Set: try.Set}) }
	if !holds(inLlamaCpp(p, usualGGUF[len(usualGGUF)-1])) && !holds(w) {
		return asWays(w, spilling)
	}
	for _, name := range append([]string{""}, usualGGUF...) {
		if try := inLlamaCpp(p, name); holds(try) {
			w, spilling = try, try
			break
		}
	}
	return asWays(w, spilling)
}

// asWays returns an engine with everything on the devices, and with the remainder on the host.
func asWays(w, spilling Way) []Way {
	spilling.spills = true
	return []Way{w, spilling}
}

// fourBits is the bits of a 4-bit weight with its scales: weights stored so keep their format on the host.
const fourBits = 5

// inLlamaCpp returns the model under llama.cpp, in the given format or as published.
func inLlamaCpp(p *Planner, weights string) Way {
	set := func(r *api.Request) { r.Engine, r.Weights = "llama.cpp", weights }
	if weights == "" {
		return Way{words: "llama.cpp", Set: set, price: priceOfLlamaCpp(p.Question)}
	}
	loss := lossOfWeights(p.Order, p.Question.Request.Weights, weights)
	return Way{words: "llama.cpp, " + weights, Set: set, price: priceOfLlamaCpp(p.Question) + loss}
}

// lacksFields reports whether a request has fields that an engine does not support.
func lacksFields(r *api.Request, engine string) bool {
	return r.Foreign(engine) != nil || r.TP > 1 || r.PP > 1 || r.DP > 1 || r.EP > 1
}

// Spillable reports whether the host can hold what the devices cannot.
func (p *Planner) Spillable(q *question.Question) bool {
	m := q.Job.Machine
	if m == nil || m.CPUOnly {
		return false
	}
	_, llama := q.Engine.(llamacpp.Engine)
	return llama || api.FieldByName("cpu_offload_bytes").OwnedBy(q.Engine.Name())
}

// PlacedByHand reports whether the request places layers explicitly.
func (p *Planner) PlacedByHand() bool {
	r := &p.Asked
	return r.GPULayers != nil || r.CPUMoE != nil || r.OverrideTensor != "" || r.TensorSplit != "" || r.CPUOffload > 0
}

// Placed returns the request with the placement that reads the least from the host; nil if none fits or none is needed.
func (p *Planner) Placed(r *api.Request) *api.Request {
	q, err := p.env.Prepare(r)
	if err != nil || !p.Spillable(q) {
		return nil
	}
	e, ok := q.Engine.(llamacpp.Engine)
	if !ok {
		return hosted(q, r)
	}
	patch, ok := bestPlacement(q, e)
	if !ok || len(patch) == 0 {
		return nil
	}
	out, err := api.Patch(r, patch)
	if err != nil {
		return nil
	}
	return out
}

// hosted returns the request with the fewest weights on the host.
func hosted(q *question.Question, r *api.Request) *api.Request {
	n, ok := leastHosted(q)
	if !ok {
		return nil
	}
	out := *r
	out.CPUOffload = n
	return &out
}

// Layout is a grouping of devices into parallel ranks.
type Layout struct{ TP, PP, DP, EP int64 }

// Layouts returns other groupings of the devices: tensor and pipeline groups, their replicas, and experts shared among the ranks of
// a replica or of all.
func (p *Planner) Layouts() (out []Way) {
	m := p.Question.Job.Machine
	if p.gguf() || m == nil || p.Question.Engine.Name() == question.TransformersEngine {
		return nil
	}
	n := int64(m.Devices())
	for tp := int64(1); tp <= min(n, p.Question.Job.PerNode()); tp++ {
		for pp := int64(1); tp*pp <= n; pp++ {
			if dp := n / (tp * pp); tp*pp*dp == n {
				for _, ep := range p.expertRanks(tp, pp, dp) {
					out = p.addLayout(out, Layout{tp, pp, dp, ep})
				}
			}
		}
	}
	return out
}

// expertRanks returns the numbers of ranks that may share the experts: a tensor group or, if the engine supports data-parallel
// attention, a whole stage.
func (p *Planner) expertRanks(tp, pp, dp int64) []int64 {
	if p.Asked.EP > 0 {
		return []int64{p.Asked.EP}
	}
	if tp*dp == 1 || pp > 1 || p.Question.Job.Model.ActiveParams() == p.Question.Job.Model.Params() {
		return []int64{0}
	}
	return []int64{0, tp * dp}
}

// addLayout adds a layout unless it is ruled out or is the current one.
func (p *Planner) addLayout(out []Way, l Layout) []Way {
	r, now := &p.Asked, &p.Question.Request
	if r.TP > 0 && r.TP != l.TP || r.PP > 0 && r.PP != l.PP || r.DP > 0 && r.DP != l.DP {
		return out
	}
	if l == (Layout{max(1, now.TP), max(1, now.PP), max(1, now.DP), r.EP}) {
		return out
	}
	return append(out, Way{words: l.Words(), Set: func(r *api.Request) { r.TP, r.PP, r.DP, r.EP = l.TP, l.PP, l.DP, l.EP },
		price: p.priceOfLayout(l)})
}

// pipelined is the price of pipeline stages within a node connected by NVLink: each token passes all stages in turn, and engines
// are tuned for tensor parallelism there (docs.vllm.ai, parallelism and scaling).
const pipelined = 6

func (p *Planner) priceOfLayout(l Layout) float64 {
	if m := p.Question.Job.Machine; l.PP > 1 && l.TP*l.PP <= p.Question.Job.PerNode() && m.Intra.Name != "PCIe" {
		return pipelined
	}
	return otherLayout
}

// otherLayout is the price of regrouping the same devices; changing a number within the existing layout comes first.
const otherLayout = 5 * change.PriceNearlyFree

// Words describes a layout: tp 2, pp 4.
func (l Layout) Words() string {
	s := fmt.Sprintf("tp %d", l.TP)
	if l.PP > 1 {
		s += fmt.Sprintf(", pp %d", l.PP)
	}
	switch {
	case l.DP > 1 && l.EP > l.TP:
		s += fmt.Sprintf(", dp %d", l.DP)
	case l.DP > 1:
		s += fmt.Sprintf(", %d replicas", l.DP)
	}
	if l.EP > 1 {
		s += fmt.Sprintf(", ep %d", l.EP)
	}
	return s
}
