package cause

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/diagnose"
	"github.com/memwall/memwall/internal/planner"
	"github.com/memwall/memwall/internal/planner/change"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/internal/stable"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

const (
	now       = "now"
	later     = "later"
	maxFixes  = 8
	shareStep = 100 // shares are in hundredths
	// worthwhile is the divisor of the shortage below which a change's savings are not worth mentioning.
	worthwhile = 20
)

// fixes returns what helps: first what the message's figures call for, then single changes of the plan, each evaluated, with those
// for the next start before larger ones.
func (p *failed) fixes(matches []api.Match) []api.Fix {
	all := append(p.ofMessage(), p.ofPlan()...)
	all = unlessThere(all, ofRow(p.first))
	if p.first.Kind.Weight() != diagnose.NotMemory {
		all = unlessThere(all, p.inWords(matches))
	}
	stable.Sort(all, func(a, b api.Fix) int { return cmp.Compare(btoi(a.When == later), btoi(b.When == later)) })
	return distinct(all)
}

// unlessThere adds verbal fixes for a time that has none with figures.
func unlessThere(all, words []api.Fix) []api.Fix {
	have := map[string]bool{}
	for _, f := range all {
		have[f.When] = true
	}
	for _, w := range words {
		if !have[w.When] {
			all = append(all, w)
		}
	}
	return all
}

// distinct keeps the first of fixes with the same words or effect.
func distinct(all []api.Fix) (out []api.Fix) {
	for _, f := range all {
		same := func(o api.Fix) bool {
			return o.Text == f.Text || len(f.Patch) > 0 && patchKey(o.Patch) == patchKey(f.Patch)
		}
		if !slices.ContainsFunc(out, same) && f.Text != "" {
			out = append(out, f)
		}
	}
	return out[:min(len(out), maxFixes)]
}

func patchKey(p map[string]any) string { return fmt.Sprint(p) }

// ofRow returns the fixes of the message's row.
func ofRow(f *diagnose.Finding) (out []api.Fix) {
	if x := f.Fix; x != nil {
		out = append(out, api.Fix{When: now, Text: x.Now}, api.Fix{When: later, Text: x.Later})
	}
	return out
}

// ofMessage returns the fixes whose figures are in the message.
func (p *failed) ofMessage() (out []api.Fix) {
	f := p.first
	switch f.Kind {
	case diagnose.KVCacheTooSmall:
		return slices.Concat(endOthers(f, f.Requested), fewerSequences(f), shorter(f), raisedShare(f))
	case diagnose.BudgetAboveFree:
		return smallerShare(f)
	case diagnose.DeviceMemory, diagnose.Collectives:
	default:
		return nil
	}
	if f.Overflowed {
		return []api.Fix{{When: now, Text: "the shape of the input that made it: lengths that are not known, or a file and a runtime of " +
			"different versions"}, {When: later, Text: "a runtime of this year, and the model exported anew"}}
	}
	if carvedOut(f) != "" {
		return []api.Fix{{When: now, Text: "a larger share for the GPU: UMA frame buffer size in the BIOS; or a program on Vulkan, which " +
			"takes the system's memory too"}}
	}
	if short, others := missingBytes(f), others(f); short != nil && others >= *short {
		out = append(out, api.Fix{When: now, Text: "end the other processes on " + cmp.Or(f.Device, "the device") +
			": " + lister(f) + " lists them", Saves: &others},
			api.Fix{When: later, Text: "a device of its own for each program"})
	}
	if spare(f) {
		out = append(out, api.Fix{When: now, Text: "more of the host's memory free, and on Windows a larger paging file: the driver " +
			"keeps as much of it behind what it gives"},
			api.Fix{When: later, Text: "the driver's limit for one process, or another driver"})
	}
	if refused(f) {
		out = append(out, api.Fix{When: now, Text: "stop what else uses the device, where " + lister(f) + " lists it; else another driver"},
			api.Fix{When: later, Text: "a driver of this year, or the system without a virtual machine (WSL) between"})
	}
	if fragmented(f) {
		out = append(out, p.pieces()...)
	}
	return append(out, p.lowerShare()...)
}

// listers are the tools that list the processes on a device.
var listers = map[string]string{"hip": "rocm-smi --showpids", "npu": "npu-smi info", "xpu": "xpu-smi ps"}

func lister(f *diagnose.Finding) string { return cmp.Or(listers[f.Backend], "nvidia-smi") }

// endOthers suggests ending other processes that hold more than the shortage.
func endOthers(f *diagnose.Finding, lacks diagnose.Amount) []api.Fix {
	if !f.Others.Known || !lacks.Known || f.Others.Bytes < lacks.Bytes {
		return nil
	}
	held := f.Others.Bytes
	return []api.Fix{{When: now, Text: "end the other processes on the device: " + lister(f) + " lists them", Saves: &held},
		{When: later, Text: "a device of its own for each program"}}
}

// allocatorSettings are the environment variables of PyTorch's allocators with expandable segments:
// c10/cuda/CUDAAllocatorConfig.cpp (which a HIP build reads under its own name), torch_npu/csrc/core/npu/NPUCachingAllocator.cpp.
var allocatorSettings = map[string]string{"cuda": "PYTORCH_CUDA_ALLOC_CONF", "hip": "PYTORCH_HIP_ALLOC_CONF",
	"npu": "PYTORCH_NPU_ALLOC_CONF"}

// pieces suggests expandable segments, which avoid fragmentation (PyTorch 2.1 and later, except on Windows:
// CUDAAllocatorConfig.cpp).
func (p *failed) pieces() []api.Fix {
	f := p.first
	name := allocatorSettings[f.Backend]
	if name == "" || p.report.FixedSegments {
		return nil
	}
	return []api.Fix{{When: now, Text: name + "=expandable_segments:True, against fragmentation", Saves: known(f.Unallocated)}}
}

// fewerSequences suggests as many sequences as there are blocks of recurrent states, of which each takes one.
func fewerSequences(f *diagnose.Finding) []api.Fix {
	if f.Place != diagnose.Graphs || f.Available <= 0 || f.Available >= f.Needed {
		return nil
	}
	return []api.Fix{{When: now, Text: fmt.Sprintf("max_num_seqs %s → %s", unit.Count(f.Needed), unit.Count(f.Available)),
		Patch: map[string]any{"max_num_seqs": f.Available}}}
}

// raisedShare suggests more than the share at which SGLang reports that weights leave nothing for the cache.
func raisedShare(f *diagnose.Finding) []api.Fix {
	share := math.Ceil(f.Share*shareStep)/shareStep + 1.0/shareStep
	if f.Engine != "sglang" || f.Share == 0 || share > highestShare {
		return nil
	}
	return []api.Fix{{When: now, Text: "--mem-fraction-static " + unit.Fixed(share, 2) + ", as long as nothing else holds the device",
		Patch: map[string]any{"mem_fraction_static": share}}}
}

// highestShare leaves a little of a device for graphs and activations.
const highestShare = 0.96

// shorter suggests the longest sequence that the message says would fit, or that follows from its figures.
func shorter(f *diagnose.Finding) []api.Fix {
	n := f.Longest
	if n == 0 && f.Needed > 0 && f.Requested.Known && f.Free.Known && f.Requested.Bytes > 0 {
		const page = 16
		n = int64(float64(f.Needed)*float64(f.Free.Bytes)/float64(f.Requested.Bytes)) / page * page
	}
	if n <= 0 || n >= f.Needed {
		return nil
	}
	if n < leastContext && n < f.Needed/2 {
		return []api.Fix{{When: now, Text: fmt.Sprintf("weights in fewer bits, or tensor parallelism over more devices: the %s tokens "+
			"that are left room for are too few to serve", unit.Count(n))}}
	}
	x := api.Fix{When: now, Text: fmt.Sprintf("context %s → %s", unit.Count(f.Needed), unit.Count(n)),
		Patch: map[string]any{"context": n}}
	if f.Requested.Known && f.Free.Known {
		x.Saves = missingBytes(f)
	}
	return []api.Fix{x}
}

// leastContext is the shortest useful context: system prompts and tools alone need as much.
const leastContext = 2048

// smallerShare suggests the largest share of the device that is free.
func smallerShare(f *diagnose.Finding) []api.Fix {
	if !f.Free.Known || !f.Capacity.Known || f.Capacity.Bytes <= 0 {
		return nil
	}
	share := math.Floor(float64(f.Free.Bytes)/float64(f.Capacity.Bytes)*shareStep) / shareStep
	held := f.Capacity.Bytes - f.Free.Bytes
	end := api.Fix{When: now, Text: "stop what else uses the device: " + lister(f) + " lists it", Saves: &held}
	if share < f.Share*enoughShare {
		return []api.Fix{end}
	}
	x := api.Fix{When: now, Text: fmt.Sprintf("gpu_memory_utilization %s → %s", plain(f.Share), plain(share)),
		Patch: map[string]any{"gpu_memory_utilization": share}}
	if saves := f.Requested.Bytes - unit.Bytes(share*float64(f.Capacity.Bytes)); f.Requested.Known && saves > 0 {
		x.Saves = &saves
	}
	return []api.Fix{x, end}
}

// enoughShare is the fraction of the requested share below which the free remainder belongs to another user's device.
const enoughShare = 0.75

func plain(share float64) string {
	if share == 0 {
		return "as it is"
	}
	return unit.Fixed(share, 2)
}

// lowerShare suggests a smaller share for an engine whose share leaves too little for later allocations.
func (p *failed) lowerShare() []api.Fix {
	f, short := p.first, missingBytes(p.first)
	field := map[string]string{"vllm": "gpu_memory_utilization", "sglang": "mem_fraction_static"}[f.Engine]
	if field == "" || short == nil || !f.Capacity.Known || p.fit == nil || f.Place == diagnose.Loading {
		return nil
	}
	v, _ := api.FieldByName(field).Value(&p.fit.Request).Interface().(*float64)
	if v == nil {
		return nil
	}
	less := math.Ceil(float64(*short)/float64(f.Capacity.Bytes)*shareStep)/shareStep + 1.0/shareStep
	share := math.Round((*v-less)*shareStep) / shareStep
	if share <= 0 {
		return nil
	}
	saves := unit.Bytes((*v - share) * float64(f.Capacity.Bytes))
	return []api.Fix{{When: now, Text: fmt.Sprintf("%s %s → %s: a smaller KV pool, and more room beside it", field, plain(*v),
		plain(share)), Saves: &saves, Patch: map[string]any{field: share}}}
}

// startFields are changed by arguments of the next start, without another model file or device.
var startFields = []string{"context", "context_total", "kv", "kv_v", "prompt_tokens", "output_tokens", "sequences", "ubatch",
	"batch_tokens", "gpu_layers", "cpu_moe", "override_tensor", "kv_offload", "fit", "max_num_batched_tokens", "max_num_seqs",
	"gpu_memory_utilization", "mem_fraction_static",
	"enforce_eager", "cpu_offload_bytes", "micro_batch", "accumulation", "global_batch", "recompute", "attention", "tensor_split",
	"swa_full", "sharding"}

// when returns the time at which a patch can be applied.
func when(patch map[string]any) string {
	for field := range maps.Keys(patch) {
		if !slices.Contains(startFields, field) {
			return later
		}
	}
	return now
}

// ofPlan returns single changes of the plan that save memory, evaluated, with the cheapest sufficient ones first.
func (p *failed) ofPlan() (out []api.Fix) {
	if p.first.Device == "host" || p.first.Kind.Weight() == diagnose.NotMemory {
		return nil
	}
	short := missingBytes(p.first)
	for _, s := range p.changes() {
		if s.Saves <= 0 || short != nil && s.Saves < *short/worthwhile {
			continue
		}
		saves := s.Saves
		out = append(out, api.Fix{When: when(s.Patch), Text: s.Change, Saves: &saves, Patch: s.Patch, Verdict: s.Verdict, Speed: s.Speed,
			Quality: s.Quality})
	}
	stable.Sort(out, func(a, b api.Fix) int { return cmp.Compare(enough(&b, short), enough(&a, short)) })
	return out
}

// phaseOf maps places to phases of a training step.
var phaseOf = map[diagnose.Place]string{diagnose.Forward: "forward", diagnose.Attention: "forward", diagnose.MLP: "forward",
	diagnose.Loss: "forward", diagnose.Backward: "backward", diagnose.Optimizer: "optimizer"}

// enough ranks a change: 2 if the plan then fits, 1 if it saves at least the shortage.
func enough(f *api.Fix, short *unit.Bytes) int {
	switch saves := short == nil || *f.Saves >= *short; {
	case saves && f.Verdict != api.DoesNotFit:
		return 2
	case saves:
		return 1
	}
	return 0
}

func (p *failed) changes() []api.Suggestion {
	switch {
	case p.train != nil:
		return p.train.Changes(p.base, phaseOf[p.first.Place])
	case p.fit == nil || len(p.base.Devices) == 0 || p.base.Devices[0].Usable == 0:
		return nil
	case len(p.base.Suggestions) > 0:
		return p.base.Suggestions
	}
	var out []api.Suggestion
	for _, c := range planner.PlannerNear(p.fit, p.base).Ladder(nil) {
		out = append(out, api.Suggestion{Change: c.Change, Patch: c.Patch, Saves: c.Saves, Verdict: c.Verdict, Speed: c.SpeedRatio,
			Quality: c.Quality})
	}
	return out
}

// command returns the command of the plan with the first fix that has a patch, else of the plan as it was.
func (p *failed) command(fixes []api.Fix) string {
	for i := range fixes {
		if f := &fixes[i]; f.Patch == nil && f.When == now && strings.HasPrefix(f.Text, "PYTORCH_") {
			return firstWord(f.Text)
		} else if f.Patch != nil && p.sayable(f) {
			return p.patched(f)
		}
	}
	return ""
}

// sayable reports whether every field of the patch has a flag of this program.
func (p *failed) sayable(f *api.Fix) bool {
	for name := range f.Patch {
		if field := api.FieldByName(name); p.train != nil && (field == nil || field.Flag == "") {
			return false
		}
	}
	return true
}

// firstWord returns an assignment at the start of a text.
func firstWord(text string) string {
	word, _, _ := strings.Cut(text, " ")
	return strings.TrimSuffix(word, ",")
}

// patched returns the plan's command line with a fix; without a plan, the engine's own flag.
func (p *failed) patched(f *api.Fix) string {
	if p.base == nil {
		return engineCommand(p.first.Engine, f)
	}
	asked := *p.plan
	if p.described && p.train != nil {
		asked.Hardware = "" // the device is only known by size
	}
	if asked.Devices == 1 {
		asked.Devices = 0
	}
	r, err := api.Patch(&asked, f.Patch)
	if err != nil {
		return ""
	}
	if p.train != nil {
		return CommandLine(r)
	}
	q, err := change.SameModelEnv(p.fit).Prepare(r)
	if err != nil {
		return ""
	}
	for _, name := range slices.Sorted(maps.Keys(q.Flags())) {
		return q.Flags()[name]
	}
	return ""
}

// engineFlags are the engines' flags for fields that a message alone can set.
var engineFlags = map[string]map[string]string{
	"vllm":   {"context": "--max-model-len", "gpu_memory_utilization": "--gpu-memory-utilization", "max_num_seqs": "--max-num-seqs"},
	"sglang": {"context": "--context-length", "mem_fraction_static": "--mem-fraction-static"},
}

// engineCommand returns an engine's own command line with a fix; "" if the engine has no flag for it.
func engineCommand(engine string, f *api.Fix) string {
	for field, value := range f.Patch {
		if name := engineFlags[engine][field]; name != "" {
			return fmt.Sprintf("%s … %s %v", map[string]string{"vllm": "vllm serve",
				"sglang": "python -m sglang.launch_server"}[engine], name, value)
		}
	}
	return ""
}

// CommandLine returns this program's command that asks a request.
func CommandLine(r *api.Request) string {
	parts := []string{"memwall", r.Ask, r.Model}
	for i := range api.Fields() {
		f := &api.Fields()[i]
		v := f.Value(r)
		if f.Flag == "" || v.IsZero() {
			continue
		}
		parts = append(parts, "--"+f.Flag+" "+flagValue(f, change.Untyped(pointed(v))))
	}
	return strings.Join(parts, " ")
}

func flagValue(f *api.Field, v any) string {
	if n, ok := v.(int64); ok && f.Unit == "length" {
		return unit.Length(n)
	}
	if list, ok := v.([]string); ok {
		return strings.Join(list, ",")
	}
	if over, ok := v.(map[string]plan.Int); ok {
		return question.Overridden(over)
	}
	s := fmt.Sprint(v)
	if strings.ContainsAny(s, " \t'\"$;&|<>()") {
		return "'" + strings.ReplaceAll(s, "'", "") + "'"
	}
	return s
}

// pointed dereferences pointers.
func pointed(v reflect.Value) reflect.Value {
	if v.Kind() == reflect.Pointer {
		return v.Elem()
	}
	return v
}
