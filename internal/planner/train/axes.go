package train

import (
	"slices"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/train"
	"github.com/memwall/memwall/train/config"
)

// axis is a field of a training plan and the settings to try, which depend on the settings of earlier axes. A pinned field has
// none.
type axis struct {
	field  string
	choose func(s *space, x *site, r *api.Request) []setting
}

// setting writes one choice into a request.
type setting func(*api.Request)

// outerAxes are the kinds of runs and how ranks share the model. walk.go has what is tried for each.
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
	{"fused_loss", fusedLoss},
	{"offload", offloads},
}

// ofWords returns an axis of words: those listed, else the usual ones if nothing is given.
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

// ofNumbers returns an axis of numbers if none is given.
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

// numbers returns the list of numbers given for a field; nil if there is none.
func (t *task) numbers(field string) (out []int64) {
	for _, n := range t.original.Among[field] {
		out = append(out, int64(n))
	}
	return out
}

// usualFrameworks returns the frameworks to try if none is named: those of reinforcement learning whose engines share the devices,
// transformers for adapters and single devices, else the three that shard full training in different ways. All of these keep an FP32
// copy of the weights, so that none is faster by training less accurately.
func usualFrameworks(s *space, x *site, r *api.Request) []string {
	groups := max(r.TP, r.PP, r.CP, r.EP, r.VPP) > 1 || s.lists("tp", "pp", "cp", "ep", "vpp")
	generates := train.Generates(r.Objective)
	switch adapters := r.Method != "" && r.Method != "full"; {
	case generates && groups:
		return []string{"slime"}
	case generates && adapters && x.devices == 1:
		return []string{"verl", "unsloth"}
	case generates:
		return []string{"verl", "nemo-rl"}
	case adapters && x.devices == 1 && s.fused:
		return []string{"transformers", "unsloth"}
	case adapters:
		return []string{"transformers"}
	case x.devices == 1 && s.offloads:
		return []string{"transformers", "deepspeed"}
	case x.devices == 1 && len(s.sites) == 1:
		return []string{"transformers"}
	case groups:
		return s.grouping(r)
	}
	return s.thatHave(r.Objective, append(s.grouping(r), "deepspeed"))
}

// grouping returns the frameworks with tensor and pipeline groups.
func (s *space) grouping(r *api.Request) []string {
	if !s.network.titan || r.VPP > 1 || r.EP > 1 || s.lists("vpp", "ep") {
		return []string{"megatron"}
	}
	return []string{"megatron", "torchtitan"}
}

// thatHave returns the frameworks with settings for an objective, if it is named.
func (s *space) thatHave(objective string, names []string) []string {
	if objective == "" {
		return names
	}
	return slices.DeleteFunc(names, func(name string) bool { return !config.Has(name, "objective", objective) })
}

// lists reports whether any of the fields has a list of numbers.
func (t *task) lists(fields ...string) bool {
	return slices.ContainsFunc(fields, func(f string) bool { return t.original.Among[f] != nil })
}

// grouped reports whether the framework has tensor, pipeline, context and expert groups; others are data parallel only.
func grouped(r *api.Request) bool {
	switch f := frameworkOf(r); {
	case f == nil:
		return false
	case r.Method == "qlora":
		return false // 4-bit weights are not sharded
	default:
		return slices.Contains([]string{"megatron", "megatron-bridge", "ms-swift-megatron", "megatron-deepspeed", "internevo",
			"torchtitan"}, f.Name)
	}
}

// frameworkOf returns the framework of a request; nil if it is not given or unknown.
func frameworkOf(r *api.Request) *train.Framework {
	name, _, _ := strings.Cut(r.Framework, "@")
	if name == "" {
		return nil
	}
	return train.FindFramework(name)
}

// megatronLike reports whether the framework has virtual pipeline stages and only zero1.
func megatronLike(r *api.Request) bool {
	f := frameworkOf(r)
	return f != nil && strings.Contains(f.Name, "megatron") || f != nil && f.Name == "internevo"
}

// groupSizes returns the sizes to try; a single setting if the framework has no such groups.
func groupSizes(r *api.Request, sizes []int64) []int64 {
	if !grouped(r) {
		return []int64{1}
	}
	return sizes
}

func tensorRanks(_ *space, x *site, r *api.Request) []int64 {
	return groupSizes(r, divisors(x.devices, x.perNode))
}

// mostStages is the most pipeline stages tried.
const mostStages = 64

func pipelineRanks(s *space, x *site, r *api.Request) []int64 {
	return groupSizes(r, divisors(x.devices/max(1, r.TP), min(mostStages, s.network.layers)))
}

func contextGroups(_ *space, x *site, r *api.Request) []int64 {
	return groupSizes(r, divisors(x.devices/max(1, r.TP*r.PP), contextRanks(int64(r.SequenceLength))))
}

// contextRanks returns the most context-parallel ranks worth trying for a sequence length.
func contextRanks(sequence int64) int64 {
	switch {
	case sequence >= 65536:
		return 16
	case sequence >= 16384:
		return 4
	}
	return 1
}

// expertGroups returns the expert-parallel sizes to try, if the model has experts.
func expertGroups(s *space, x *site, r *api.Request) []int64 {
	if s.network.experts <= 1 || !grouped(r) {
		return nil
	}
	return divisors(gcd(s.network.experts, x.devices/max(1, r.PP)), mostStages)
}

// sequenceParallel tries tensor groups with and without sequence parallelism, if the framework leaves it open.
func sequenceParallel(_ *space, _ *site, r *api.Request) (out []setting) {
	f := frameworkOf(r)
	if r.SequenceParallel != nil || r.TP <= 1 || f == nil || f.SequenceParallel {
		return nil
	}
	for _, on := range []bool{true, false} {
		if !on && r.EP > 1 && megatronLike(r) {
			continue // required by Megatron's experts
		}
		out = append(out, func(r *api.Request) { r.SequenceParallel = &on })
	}
	return out
}

// usualShardings returns the framework's sharding modes that are compatible with the rest of the plan, if there is anything to
// shard over.
func usualShardings(_ *space, x *site, r *api.Request) []string {
	f := frameworkOf(r)
	if f == nil || megatronLike(r) {
		return nil
	}
	sharers := x.devices / max(1, r.TP*r.PP) // data-parallel and context-parallel ranks
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
		out = []string{"fsdp2"} // its DDP is incompatible with other groups
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

// fusedLoss computes head and loss in chunks if nothing else fits.
func fusedLoss(s *space, _ *site, r *api.Request) []setting {
	if !s.fused || r.FusedLoss != nil || r.Framework == "unsloth" { // which computes its loss in chunks as it comes
		return nil
	}
	yes := true
	return []setting{func(r *api.Request) { r.FusedLoss = &yes }}
}

// offloads keeps states on the host if nothing else fits.
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

// divisors returns the divisors of n up to most.
func divisors(n, most int64) (out []int64) {
	for d := int64(1); d <= min(n, most); d++ {
		if n%d == 0 {
			out = append(out, d)
		}
	}
	return out
}
