package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/diagnose"
	"github.com/memwall/memwall/unit"
)

// Diagnose draws what failed and what to do: five lines, then what they rest on.
func Diagnose(a *memwall.Answer, all bool, st Style) string {
	p := newPage(st)
	if a.Diagnosed.Kind == diagnose.None {
		p.diagnosed(a)
		return p.String()
	}
	p.diagnosed(a)
	p.compareNotes(a, all)
	return p.String()
}

// diagnosed is what failed, and what that rests on.
func (p *page) diagnosed(a *memwall.Answer) {
	if a.Diagnosed.Kind == diagnose.None {
		p.opening(say("✓ ", bold), say("no message of memory that ran out", bold))
		p.para(pad(gap), say(fmt.Sprintf("%s read. A message that should have been known is worth a report: CONTRIBUTING.md", plural(int64(a.Diagnosed.Lines), "line", "lines"))))
		return
	}
	p.diagnosis(a)
	p.failure(a)
	p.matches(a)
	p.heldBy(a)
	p.otherFixes(a)
	p.growing(a)
	p.messages(a)
	if a.ReadAs != "" && a.Model != nil {
		p.blank()
		p.para(pad(gap), say(a.ReadAs, dim))
	}
}

// labels of the lines below the first.
func label(word string) text { return say(fmt.Sprintf("  %-9s ", word), dim) }

// diagnosis is the five lines.
func (p *page) diagnosis(a *memwall.Answer) {
	sign := mark{'✗', "", inkBad}
	switch a.Diagnosed.Kind.Weight() {
	case diagnose.Degraded:
		sign = mark{'~', "", inkTight}
	case diagnose.NotMemory:
		sign = mark{'?', "", inkUnknown}
	}
	p.opening(say(string(sign.sign)+" ", sign.ink), say(failed(a), bold))
	p.para(label("cause"), join(say(a.Diagnosed.Cause), say(" ("+a.Diagnosed.Confidence+")", dim)))
	first := map[string]*memwall.Fix{}
	for i := range a.Diagnosed.Fixes {
		if f := &a.Diagnosed.Fixes[i]; first[f.When] == nil {
			first[f.When] = f
		}
	}
	for _, l := range []struct{ word, when string }{{"now", "now"}, {"tomorrow", "later"}} {
		if f := first[l.when]; f != nil {
			p.para(label(l.word), fixed(f))
		}
	}
	p.run(a)
}

// run is the command, or what memwall has to be told to give one.
func (p *page) run(a *memwall.Answer) {
	command := a.Diagnosed.Command
	if command == "" && a.Model == nil && slices.ContainsFunc(a.Notes, func(n memwall.Note) bool { return n.Code == "no_model" }) {
		command = "memwall diagnose FILE --model MODEL --on DEVICE"
	}
	if command != "" {
		p.code(label("run"), command)
	}
}

// fixed is a fix with what it saves.
func fixed(f *memwall.Fix) text {
	x := say(f.Text)
	var more []string
	if f.Saves != nil {
		more = append(more, "−"+f.Saves.String())
	}
	if f.Speed != nil && (*f.Speed < 0.95 || *f.Speed > 1.05) {
		more = append(more, unit.Significant(*f.Speed, 2)+" × the speed")
	}
	if f.Verdict == memwall.DoesNotFit {
		more = append(more, "not enough alone")
	}
	if len(more) > 0 {
		x = join(x, say(": "+strings.Join(more, ", ")))
	}
	return x
}

// titles of kinds.
var failures = map[diagnose.Kind]string{
	diagnose.DeviceMemory: "ran out of memory", diagnose.AllocationLimit: "asked for a larger buffer than the driver gives", diagnose.KVCacheTooSmall: "has too little room for the KV cache",
	diagnose.BudgetAboveFree: "counts on more memory than is free", diagnose.HostMemory: "ran out of host memory", diagnose.HostKilled: "was killed: the host ran out of memory", diagnose.ContainerLimit: "was killed at the memory limit of its container",
	diagnose.Killed: "was killed by signal 9", diagnose.PinnedMemory: "got no page-locked memory", diagnose.SharedMemory: "ran out of shared memory (/dev/shm)", diagnose.Collectives: "found no room for NCCL's buffers",
	diagnose.KVCacheFull: "has a full KV cache and goes on", diagnose.MemoryPressure: "is almost out of device memory and goes on", diagnose.Growth: "keeps taking more memory",
	diagnose.KernelResources: "asks too much of a single processor: not a lack of memory", diagnose.ContextLength: "refused a request that is too long: not a lack of memory", diagnose.DiskFull: "found the disk full: not a lack of memory",
	diagnose.LockLimit: "may not lock memory: not a lack of it", diagnose.WorkspaceSize: "has a buffer that is too small: not a lack of memory", diagnose.FixedPool: "filled a pool of its own: not a lack of memory", diagnose.BadAccess: "reached outside of its memory: not a lack of it",
	diagnose.Disturbed: "was disturbed while it measured: not a lack of memory", diagnose.LibraryStart: "could not start a library", diagnose.Unscheduled: "found no node for a pod: not a lack of memory",
}

// engineTitles are names as people write them.
var engineTitles = map[string]string{
	"pytorch": "PyTorch", "vllm": "vLLM", "sglang": "SGLang", "tensorrt-llm": "TensorRT-LLM", "tgi": "TGI", "ollama": "Ollama", "deepspeed": "DeepSpeed", "jax": "JAX", "mlx": "MLX", "kubernetes": "A container", "linux": "A process", "docker": "A container",
	"ray": "A task of Ray", "nccl": "NCCL", "triton": "A Triton kernel", "cuda": "A CUDA kernel", "tensorflow": "TensorFlow", "neuron": "Neuron", "numpy": "NumPy", "transformers": "Transformers", "fsdp": "FSDP", "megatron": "Megatron", "paddle": "Paddle", "onnxruntime": "ONNX Runtime", "slurm": "A Slurm job", "windows": "Windows", "lm-studio": "LM Studio", "": "A program",
}

// drivers are what ran out for programs that run on PyTorch.
var (
	drivers = map[string]string{"cuda": "CUDA", "hip": "HIP", "xpu": "XPU", "npu": "NPU", "mps": "MPS"}
	onTorch = map[string]bool{"transformers": true, "fsdp": true, "deepspeed": true, "megatron": true, "torchtune": true, "torchtitan": true, "axolotl": true, "unsloth": true, "llama-factory": true}
)

// failed is the first line: what ran out, how much, where.
func failed(a *memwall.Answer) string {
	name, ok := engineTitles[a.Diagnosed.Engine]
	if !ok {
		name = a.Diagnosed.Engine
	}
	if driver := drivers[a.Diagnosed.Backend]; driver != "" && a.Diagnosed.Kind == diagnose.DeviceMemory && (onTorch[a.Diagnosed.Engine] || a.Diagnosed.Engine == "pytorch") {
		name = driver
	}
	s := name + " " + failures[a.Diagnosed.Kind]
	if a.Diagnosed.Engine == "slurm" && a.Diagnosed.Kind == diagnose.ContainerLimit {
		s = name + " was killed at its memory limit"
	}
	if w := map[diagnose.Place]string{diagnose.Loss: "the loss", diagnose.Backward: "the backward pass", diagnose.Optimizer: "the optimizer's step", diagnose.Loading: "loading", diagnose.Graphs: "graph capture", diagnose.Profiling: "its profile run", diagnose.Attention: "attention", diagnose.Sampler: "the sampler"}[a.Diagnosed.Place]; w != "" && a.Diagnosed.Kind == diagnose.DeviceMemory {
		s += " in " + w
	}
	var figures []string
	if a.Diagnosed.Requested != nil && a.Diagnosed.Kind != diagnose.KernelResources {
		figures = append(figures, a.Diagnosed.Requested.String()+" asked for")
	}
	if a.Diagnosed.Free != nil {
		free := a.Diagnosed.Free.String()
		if a.Diagnosed.Requested != nil && len(figures) > 0 {
			free = strings.TrimSuffix(free, " GiB")
		}
		figures = append(figures, free+" free")
	}
	if len(figures) > 0 {
		s += ": " + strings.Join(figures, ", ")
	}
	if a.Diagnosed.Device != "" && a.Diagnosed.Device != "host" && !strings.Contains(s, a.Diagnosed.Device) {
		s += " on " + a.Diagnosed.Device
	}
	return s
}

// failure are the figures of the message.
func (p *page) failure(a *memwall.Answer) {
	tb := &table{sides: []side{left, decimal}}
	tb.row(say("GiB, by the message", dim), say(""))
	n := 0
	for _, f := range []struct {
		name string
		b    *unit.Bytes
	}{{"asked for", a.Diagnosed.Requested}, {"free", a.Diagnosed.Free}, {"short", a.Diagnosed.Short}, {"held by the program", a.Diagnosed.Allocated}, {"kept without use", a.Diagnosed.Unallocated}, {"all of the process", a.Diagnosed.InUse}, {"other processes", a.Diagnosed.Others}, {"limit", a.Diagnosed.Limit}, {"the device", a.Diagnosed.Total}} {
		if f.b != nil {
			n++
			tb.row(say(f.name), say(unit.Fixed(f.b.GiB(), 2)))
		}
	}
	if n > 2 {
		p.blank()
		p.add(tb)
	}
}

// matches are allocations of that size, where there are several.
func (p *page) matches(a *memwall.Answer) {
	if len(a.Diagnosed.Matches) < 2 {
		return
	}
	p.blank()
	p.line(pad(gap), say("of that size in this plan", dim))
	for i := range a.Diagnosed.Matches {
		m := &a.Diagnosed.Matches[i]
		p.para(pad(2*gap), join(say(m.Name), say("  "+m.Formula, dim)))
	}
}

// heldBy is what the plan holds by memwall's count.
func (p *page) heldBy(a *memwall.Answer) {
	if len(a.Diagnosed.Ledger) == 0 || a.Diagnosed.Device == "host" || len(a.Devices) == 0 {
		return
	}
	d := &a.Devices[0]
	p.blank()
	tb := &table{sides: []side{left, decimal, decimal}}
	tb.row(say("GiB, by memwall", dim), say(""), say("±", dim))
	for i := range a.Diagnosed.Ledger {
		it := &a.Diagnosed.Ledger[i]
		if it.Bytes == 0 && !it.Unknown {
			continue
		}
		tb.banded(it.Name, banded{it.Bytes, it.Low, it.High}, plain)
	}
	tb.banded("needed", needed(d), bold)
	if d.Usable > 0 {
		tb.banded("may use", banded{d.Usable, d.Usable, d.Usable}, plain)
	}
	p.add(tb)
}

// banded is a row of a size with its band.
func (tb *table) banded(name string, b banded, i ink) {
	band := ""
	if !b.exact() {
		band = b.band()
	}
	tb.row(say(name, i), say(gib(b.v, b.decimals()), i), say(strings.TrimPrefix(band, "±"), dim))
}

// otherFixes are those beside the first two.
func (p *page) otherFixes(a *memwall.Answer) {
	seen := map[string]bool{}
	first := true
	for i := range a.Diagnosed.Fixes {
		f := &a.Diagnosed.Fixes[i]
		if !seen[f.When] {
			seen[f.When] = true
			continue
		}
		if first {
			p.blank()
			p.line(pad(gap), say("also", dim))
			first = false
		}
		p.para(pad(2*gap), fixed(f))
	}
}

// growing is the path of memory that keeps growing.
func (p *page) growing(a *memwall.Answer) {
	if len(a.Diagnosed.Frees) == 0 {
		return
	}
	p.blank()
	for _, g := range a.Diagnosed.Grows {
		p.para(pad(gap), say(fmt.Sprintf("%s rises from %s to %s over %s prints, %s each time", g.Name, g.From, g.To, unit.Count(g.Samples), g.Each)))
	}
	p.line(pad(gap), say("what gives it back, and what does not", dim))
	for i := range a.Diagnosed.Frees {
		p.para(pad(2*gap), fixed(&a.Diagnosed.Frees[i]))
	}
}

// messages are all that the text holds, where it holds more than one.
func (p *page) messages(a *memwall.Answer) {
	if len(a.Diagnosed.Found) == 1 && a.Diagnosed.Found[0].Times == 1 {
		return
	}
	p.blank()
	p.line(pad(gap), say("messages, the first cause first", dim))
	for i := range a.Diagnosed.Found {
		f := &a.Diagnosed.Found[i]
		x := fmt.Sprintf("line %s  %s", unit.Count(int64(f.Line)), strings.ReplaceAll(string(f.Kind), "_", " "))
		if f.Engine != "" {
			x += ", " + f.Engine
		}
		if f.Requested != nil {
			x += ", " + f.Requested.String()
		}
		if f.Times > 1 {
			x += fmt.Sprintf(", %d times", f.Times)
		}
		p.para(pad(2*gap), say(x))
	}
	if a.Diagnosed.MoreFound > 0 {
		p.para(pad(2*gap), say(fmt.Sprintf("and %d more", a.Diagnosed.MoreFound)))
	}
}
