package train

import (
	"slices"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/train"
)

// axis is a field of a training plan and the settings to try, which follow from the settings of the axes before. None
// where the field is pinned.
type axis struct {
	field  string
	choose func(s *space, x *site, r *api.Request) []setting
}

// setting writes one choice into a request.
type setting func(*api.Request)

// outerAxes are kinds of runs, and how ranks share the model. What is tried of each is in walk.go.
var outerAxes = []axis{
	{"method", ofWords("method", func(r *api.Request) *string { return &r.Method }, nil)},
	{"framework", ofWords("framework", func(r *api.Request) *string { return &r.Framework }, usualFrameworks)},
	{"optimizer", ofWords("optimizer", func(r *api.Request) *string { return &r.Optimizer }, nil)},
	{"precision", ofWords("precision", func(r *api.Request) *string { return &r.Precision }, nil)},
	{"tp", ofNumbers("tp", func(r *api.Request) *int64 { return &r.TP }, tensorRanks)},
	{"pp", ofNumbers("pp", func(r *api.Request) *int64 { return &r.PP }, pipelineRanks)},
	{"cp", ofNumbers("cp", func(r *api.Request) *int64 { return &r.CP }, contextGroups)},
	{"ep", ofNumbers("ep", func(r *api.Request) *int64 { return &r.EP }, expertGroups)},
	{"sequence_parallel", sequenceParallel},
	{"sharding", ofWords("sharding", func(r *api.Request) *string { return &r.Sharding }, usualShardings)},
	{"offload", offloads},
}

// ofWords is an axis of words: those of a list, else what is usual where nothing is given.
func ofWords(field string, at func(*api.Request) *string,
	usual func(*space, *site, *api.Request) []string) func(*space, *site, *api.Request) []setting {
	return func(s *space, x *site, r *api.Request) (out []setting) {
		words := s.among[field]
		if words == nil && *at(r) == "" && usual != nil {
			words = usual(s, x, r)
		}
		for _, w := range words {
			out = append(out, func(r *api.Request) { *at(r) = w })
		}
		return out
	}
}

// ofNumbers is an axis of numbers where none is given.
func ofNumbers(field string, at func(*api.Request) *int64,
	usual func(*space, *site, *api.Request) []int64) func(*space, *site, *api.Request) []setting {
	return func(s *space, x *site, r *api.Request) (out []setting) {
		numbers := s.numbers(field)
		if numbers == nil && *at(r) == 0 {
			numbers = usual(s, x, r)
		}
		for _, n := range numbers {
			out = append(out, func(r *api.Request) { *at(r) = n })
		}
		return out
	}
}

// numbers of a list that was given for a field; nil without one.
func (t *task) numbers(field string) (out []int64) {
	for _, n := range t.original.Among[field] {
		out = append(out, int64(n))
	}
	return out
}

// usualFrameworks to train with, where none is named: for adapters, and on one device alone, transformers; else the three
// that share a whole model's training in different ways. These keep a copy of the weights in 32 bits, so that none is
// quicker by training less well.
func usualFrameworks(s *space, x *site, r *api.Request) []string {
	grouped := []string{"megatron", "torchtitan"}
	if !s.network.titan || r.VPP > 1 || r.EP > 1 || s.lists("vpp", "ep") {
		grouped = grouped[:1]
	}
	switch adapters := r.Method != "" && r.Method != "full"; {
	case adapters:
		return []string{"transformers"}
	case x.devices == 1 && s.offloads:
		return []string{"transformers", "deepspeed"}
	case x.devices == 1 && len(s.sites) == 1:
		return []string{"transformers"}
	case max(r.TP, r.PP, r.CP, r.EP, r.VPP) > 1 || s.lists("tp", "pp", "cp", "ep", "vpp"):
		return grouped
	}
	return append(grouped, "deepspeed")
}

// lists reports whether any of these fields has a list of numbers.
func (t *task) lists(fields ...string) bool {
	return slices.ContainsFunc(fields, func(f string) bool { return t.original.Among[f] != nil })
}

// grouped frameworks have tensor, pipeline, context and expert groups; others share by data alone.
func grouped(r *api.Request) bool {
	switch f := frameworkOf(r); {
	case f == nil:
		return false
	case r.Method == "qlora":
		return false // 4-bit weights are not cut
	default:
		return slices.Contains([]string{"megatron", "megatron-bridge", "ms-swift-megatron", "megatron-deepspeed", "internevo",
			"torchtitan"}, f.Name)
	}
}

// frameworkOf a request; nil where none is named or it is not known.
func frameworkOf(r *api.Request) *train.Framework {
	name, _, _ := strings.Cut(r.Framework, "@")
	if name == "" {
		return nil
	}
	return train.FindFramework(name)
}

// megatronLike frameworks have chunks of stages and zero1 alone.
func megatronLike(r *api.Request) bool {
	f := frameworkOf(r)
	return f != nil && strings.Contains(f.Name, "megatron") || f != nil && f.Name == "internevo"
}

// one setting where the framework has no such groups.
func groupSizes(r *api.Request, sizes []int64) []int64 {
	if !grouped(r) {
		return []int64{1}
	}
	return sizes
}

func tensorRanks(_ *space, x *site, r *api.Request) []int64 {
	return groupSizes(r, divisors(x.devices, x.perNode))
}

// mostStages of a pipeline that are tried.
const mostStages = 64

func pipelineRanks(s *space, x *site, r *api.Request) []int64 {
	return groupSizes(r, divisors(x.devices/max(1, r.TP), min(mostStages, s.network.layers)))
}

func contextGroups(_ *space, x *site, r *api.Request) []int64 {
	return groupSizes(r, divisors(x.devices/max(1, r.TP*r.PP), contextRanks(int64(r.SequenceLength))))
}

// contextRanks are worth trying where sequences are long.
func contextRanks(sequence int64) int64 {
	switch {
	case sequence >= 65536:
		return 16
	case sequence >= 16384:
		return 4
	}
	return 1
}

// expertGroups share the experts of a layer, where there are any.
func expertGroups(s *space, x *site, r *api.Request) []int64 {
	if s.network.experts <= 1 || !grouped(r) {
		return nil
	}
	return divisors(gcd(s.network.experts, x.devices/max(1, r.PP)), mostStages)
}

// sequenceParallel with tensor groups, or without, where the framework leaves it open.
func sequenceParallel(_ *space, _ *site, r *api.Request) (out []setting) {
	f := frameworkOf(r)
	if r.SequenceParallel != nil || r.TP <= 1 || f == nil || f.SequenceParallel {
		return nil
	}
	for _, on := range []bool{true, false} {
		if !on && r.EP > 1 && megatronLike(r) {
			continue // Megatron's experts need it
		}
		out = append(out, func(r *api.Request) { r.SequenceParallel = &on })
	}
	return out
}

// usualShardings of a framework, where replicas have anything to share: those that the rest of the plan goes with.
func usualShardings(_ *space, x *site, r *api.Request) []string {
	f := frameworkOf(r)
	if f == nil || megatronLike(r) {
		return nil
	}
	sharers := x.devices / max(1, r.TP*r.PP) // replicas and the ranks of their context groups
	titan := f.Name == "torchtitan"
	var out []string
	switch {
	case f.Name == "deepspeed" && r.PP > 1:
		return []string{"zero1"}
	case f.Name == "deepspeed":
		return []string{"zero1", "zero2", "zero3"}
	case sharers == 1 && titan:
		return []string{"none"}
	case sharers == 1:
		return nil
	case titan && max(r.TP, r.PP, r.CP, r.EP) > 1:
		out = []string{"fsdp2"} // its DDP goes with no other groups
	case titan, f.Name == "torchtune":
		out = []string{"ddp", "fsdp2"}
	default:
		out = []string{"ddp", "fsdp"}
	}
	if nodes, replicas := int64(x.machine.Nodes), x.replicas(r); nodes > 1 && replicas > nodes && replicas%nodes == 0 {
		out = append(out, "hsdp")
	}
	return out
}

// offloads keep states on the host, where nothing else fits.
func offloads(s *space, _ *site, r *api.Request) (out []setting) {
	if !s.offloads || r.Offload != nil {
		return nil
	}
	switch {
	case r.Sharding == "zero3":
		out = append(out, offloaded(plan.Offload{Optimizer: "host"}), offloaded(plan.Offload{Optimizer: "host", Params: "host"}))
	case strings.HasPrefix(r.Sharding, "fsdp"):
		out = append(out, offloaded(plan.Offload{Optimizer: "host", Params: "host"}))
	case strings.HasPrefix(r.Sharding, "zero"), megatronLike(r):
		out = append(out, offloaded(plan.Offload{Optimizer: "host"}))
	}
	return append(out, offloaded(plan.Offload{Activations: "host"}))
}

func offloaded(o plan.Offload) setting { return func(r *api.Request) { r.Offload = &o } }

// divisors of n, at most so many.
func divisors(n, most int64) (out []int64) {
	for d := int64(1); d <= min(n, most); d++ {
		if n%d == 0 {
			out = append(out, d)
		}
	}
	return out
}
