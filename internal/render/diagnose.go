package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/diagnose"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/unit"
)

// Diagnose draws what failed and what to do: five lines, followed by their basis.
func Diagnose(a *memwall.Answer, all bool, st term.Style) string {
	p := term.NewPage(st)
	if a.Diagnosed.Kind == diagnose.None {
		writeDiagnosed(p, a)
		return p.String()
	}
	writeDiagnosed(p, a)
	writeCompareNotes(p, a, all)
	return p.String()
}

// writeDiagnosed writes what failed, and the evidence.
func writeDiagnosed(p *term.Page, a *memwall.Answer) {
	if a.Diagnosed.Kind == diagnose.None {
		p.Opening(term.Say("✓ ", term.Bold), term.Say("no out-of-memory message found", term.Bold))
		p.Para(term.Pad(term.Gap), term.Say(fmt.Sprintf("%s read. If one of them is a failure, a report helps: CONTRIBUTING.md",
			term.Plural(int64(a.Diagnosed.Lines), "line", "lines"))))
		return
	}
	writeDiagnosis(p, a)
	writeFailure(p, a)
	writeMatches(p, a)
	writeHeldBy(p, a)
	writeOtherFixes(p, a)
	writeGrowing(p, a)
	writeMessages(p, a)
	if a.ReadAs != "" && a.Model != nil {
		p.Blank()
		p.Para(term.Pad(term.Gap), term.Say(a.ReadAs, term.Dim))
	}
}

// labels of the lines below the first.
func label(word string) term.Text { return term.Say(fmt.Sprintf("  %-9s ", word), term.Dim) }

// writeDiagnosis writes the five lines.
func writeDiagnosis(p *term.Page, a *memwall.Answer) {
	sign := term.Mark{Sign: '✗', Word: "", Ink: term.InkBad}
	switch a.Diagnosed.Kind.Weight() {
	case diagnose.Degraded:
		sign = term.Mark{Sign: '~', Word: "", Ink: term.InkTight}
	case diagnose.NotMemory:
		sign = term.Mark{Sign: '?', Word: "", Ink: term.InkUnknown}
	}
	p.Opening(term.Say(string(sign.Sign)+" ", sign.Ink), term.Say(failed(a), term.Bold))
	p.Para(label("cause"), term.Join(term.Say(a.Diagnosed.Cause), term.Say(" ("+a.Diagnosed.Confidence+")", term.Dim)))
	first := map[string]*memwall.Fix{}
	for i := range a.Diagnosed.Fixes {
		if f := &a.Diagnosed.Fixes[i]; first[f.When] == nil {
			first[f.When] = f
		}
	}
	for _, l := range []struct{ word, when string }{{"now", "now"}, {"tomorrow", "later"}} {
		if f := first[l.when]; f != nil {
			p.Para(label(l.word), fixed(f))
		}
	}
	writeRun(p, a)
}

// writeRun writes the command, or what is needed to produce one.
func writeRun(p *term.Page, a *memwall.Answer) {
	command := a.Diagnosed.Command
	if command == "" && a.Model == nil && slices.ContainsFunc(a.Notes, func(n memwall.Note) bool { return n.Code == "no_model" }) {
		command = "memwall diagnose FILE --model MODEL --on DEVICE"
	}
	if command != "" {
		p.Code(label("run"), command)
	}
}

// fixed formats a fix with its savings.
func fixed(f *memwall.Fix) term.Text {
	x := term.Say(f.Text)
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
		x = term.Join(x, term.Say(": "+strings.Join(more, ", ")))
	}
	return x
}

// titles of kinds.
var failures = map[diagnose.Kind]string{
	diagnose.DeviceMemory: "ran out of memory", diagnose.AllocationLimit: "requested a larger buffer than the driver allows",
	diagnose.KVCacheTooSmall: "has too little room for the KV cache",
	diagnose.BudgetAboveFree: "claims more memory than is free", diagnose.HostMemory: "ran out of host memory",
	diagnose.HostKilled:     "was killed: the host ran out of memory",
	diagnose.ContainerLimit: "was killed at the memory limit of its container",
	diagnose.Killed:         "was killed by signal 9", diagnose.PinnedMemory: "could not pin host memory",
	diagnose.SharedMemory: "ran out of shared memory (/dev/shm)", diagnose.Collectives: "found no room for NCCL's buffers",
	diagnose.KVCacheFull:     "has a full KV cache and keeps running",
	diagnose.MemoryPressure:  "is almost out of device memory and keeps running",
	diagnose.Growth:          "keeps using more memory",
	diagnose.KernelResources: "needs more registers or shared memory than a multiprocessor has: device memory is not short",
	diagnose.ContextLength:   "refused a request that is too long: memory is not short",
	diagnose.DiskFull:        "found the disk full: memory is not short",
	diagnose.LockLimit:       "may not lock memory: memory is not short",
	diagnose.WorkspaceSize:   "has a buffer that is too small: memory is not short",
	diagnose.FixedPool:       "filled a pool of its own: memory is not short",
	diagnose.BadAccess:       "reached outside of its memory: memory is not short",
	diagnose.Disturbed:       "was disturbed while it profiled memory: memory is not short",
	diagnose.LibraryStart:    "could not start a library of the GPU",
	diagnose.Unscheduled:     "found no node for a pod: memory is not short",
}

// EngineTitles are display names of engines.
var EngineTitles = map[string]string{
	"pytorch": "PyTorch", "vllm": "vLLM", "sglang": "SGLang", "tensorrt-llm": "TensorRT-LLM", "tensorrt": "TensorRT",
	"tgi": "TGI", "ollama": "Ollama",
	"deepspeed": "DeepSpeed", "jax": "JAX", "mlx": "MLX", "kubernetes": "A container", "linux": "A process", "docker": "A container",
	"ray": "A task of Ray", "nccl": "NCCL", "triton": "A Triton kernel", "cuda": "A CUDA kernel", "tensorflow": "TensorFlow",
	"neuron": "Neuron", "numpy": "NumPy", "transformers": "Transformers", "fsdp": "FSDP", "megatron": "Megatron", "paddle": "Paddle",
	"onnxruntime": "ONNX Runtime", "comfyui": "ComfyUI", "diffusion": "The pipeline", "ctranslate2": "CTranslate2",
	"cuda.jl": "CUDA.jl", "cupy": "CuPy", "lmcache": "LMCache", "tritonserver": "Triton", "colab": "Colab", "kaggle": "Kaggle",
	"slurm": "A Slurm job", "windows": "Windows", "lm-studio": "LM Studio", "lmdeploy": "LMDeploy",
	"exllama": "ExLlama", "": "A program", "lsf": "An LSF job", "pbs": "A PBS job", "condor": "An HTCondor job", "yarn": "An executor",
	"node": "Node.js", "java": "Java", "r": "R", "jetson": "Jetson", "tt-metal": "TT-Metal", "mindspore": "MindSpore",
}

// drivers are what ran out in programs that run on PyTorch.
var (
	drivers = map[string]string{"cuda": "CUDA", "hip": "HIP", "xpu": "XPU", "npu": "NPU", "mps": "MPS"}
	onTorch = map[string]bool{"transformers": true, "fsdp": true, "deepspeed": true, "megatron": true, "torchtune": true,
		"torchtitan": true, "axolotl": true, "unsloth": true, "llama-factory": true}
)

// failed returns the first line: what ran out, how much, where.
func failed(a *memwall.Answer) string {
	name, ok := EngineTitles[a.Diagnosed.Engine]
	if !ok {
		name = a.Diagnosed.Engine
	}
	if driver := drivers[a.Diagnosed.Backend]; driver != "" && a.Diagnosed.Kind == diagnose.DeviceMemory &&
		(onTorch[a.Diagnosed.Engine] || a.Diagnosed.Engine == "pytorch") {
		name = driver
	}
	s := name + " " + failures[a.Diagnosed.Kind]
	if strings.HasSuffix(name, " job") && a.Diagnosed.Kind == diagnose.ContainerLimit {
		s = name + " was killed at its memory limit"
	}
	if w := map[diagnose.Place]string{diagnose.Loss: "the loss", diagnose.Backward: "the backward pass",
		diagnose.Optimizer: "the optimizer's step", diagnose.Loading: "loading", diagnose.Graphs: "graph capture",
		diagnose.Profiling: "its profile run", diagnose.Attention: "attention",
		diagnose.Sampler: "the sampler"}[a.Diagnosed.Place]; w != "" && a.Diagnosed.Kind == diagnose.DeviceMemory {
		s += " in " + w
	}
	var figures []string
	if a.Diagnosed.Requested != nil && a.Diagnosed.Kind != diagnose.KernelResources {
		figures = append(figures, a.Diagnosed.Requested.String()+" requested")
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

// writeFailure writes the figures of the message.
func writeFailure(p *term.Page, a *memwall.Answer) {
	tb := &term.Table{Sides: []term.Side{term.Left, term.Decimal}}
	tb.Row(term.Say("GiB, from the message", term.Dim), term.Say(""))
	n := 0
	for _, f := range []struct {
		name string
		b    *unit.Bytes
	}{{"requested", a.Diagnosed.Requested}, {"free", a.Diagnosed.Free}, {"short", a.Diagnosed.Short},
		{"allocated", a.Diagnosed.Allocated}, {"reserved, unallocated", a.Diagnosed.Unallocated},
		{"whole process", a.Diagnosed.InUse}, {"other processes", a.Diagnosed.Others}, {"limit", a.Diagnosed.Limit},
		{"device total", a.Diagnosed.Total}} {
		if f.b != nil {
			n++
			tb.Row(term.Say(f.name), term.Say(unit.Fixed(f.b.GiB(), 2)))
		}
	}
	if n > 2 {
		p.Blank()
		p.Add(tb)
	}
}

// writeMatches writes the allocations of that size, if there are several.
func writeMatches(p *term.Page, a *memwall.Answer) {
	if len(a.Diagnosed.Matches) < 2 {
		return
	}
	p.Blank()
	p.Line(term.Pad(term.Gap), term.Say("allocations of that size in this plan", term.Dim))
	for i := range a.Diagnosed.Matches {
		m := &a.Diagnosed.Matches[i]
		p.Para(term.Pad(2*term.Gap), term.Join(term.Say(m.Name), term.Say("  "+m.Formula, term.Dim)))
	}
}

// writeHeldBy writes what the plan holds according to its ledger.
func writeHeldBy(p *term.Page, a *memwall.Answer) {
	if len(a.Diagnosed.Ledger) == 0 || a.Diagnosed.Device == "host" || len(a.Devices) == 0 {
		return
	}
	d := &a.Devices[0]
	p.Blank()
	tb := &term.Table{Sides: []term.Side{term.Left, term.Decimal, term.Decimal}}
	tb.Row(term.Say("GiB, predicted", term.Dim), term.Say(""), term.Say("±", term.Dim))
	for i := range a.Diagnosed.Ledger {
		it := &a.Diagnosed.Ledger[i]
		if it.Bytes == 0 && !it.Unknown {
			continue
		}
		writeBanded(tb, it.Name, term.Banded{Mid: it.Bytes, Low: it.Low, High: it.High}, term.Plain)
	}
	writeBanded(tb, "needed", term.Needed(d), term.Bold)
	if d.Usable > 0 {
		writeBanded(tb, "may use", term.Banded{Mid: d.Usable, Low: d.Usable, High: d.Usable}, term.Plain)
	}
	p.Add(tb)
}

// writeBanded is a row of a size with its band.
func writeBanded(tb *term.Table, name string, b term.Banded, i term.Ink) {
	band := ""
	if !b.Exact() {
		band = b.Band()
	}
	tb.Row(term.Say(name, i), term.Say(term.GiB(b.Mid, b.Decimals()), i), term.Say(strings.TrimPrefix(band, "±"), term.Dim))
}

// writeOtherFixes writes the fixes after the first two.
func writeOtherFixes(p *term.Page, a *memwall.Answer) {
	seen := map[string]bool{}
	first := true
	for i := range a.Diagnosed.Fixes {
		f := &a.Diagnosed.Fixes[i]
		if !seen[f.When] {
			seen[f.When] = true
			continue
		}
		if first {
			p.Blank()
			p.Line(term.Pad(term.Gap), term.Say("also", term.Dim))
			first = false
		}
		p.Para(term.Pad(2*term.Gap), fixed(f))
	}
}

// writeGrowing writes the path of memory that keeps growing.
func writeGrowing(p *term.Page, a *memwall.Answer) {
	if len(a.Diagnosed.Frees) == 0 {
		return
	}
	p.Blank()
	for _, g := range a.Diagnosed.Grows {
		p.Para(term.Pad(term.Gap),
			term.Say(fmt.Sprintf("%s rises from %s to %s over %s prints, %s each time", g.Name, g.From, g.To, unit.Count(g.Samples),
				g.Each)))
	}
	p.Line(term.Pad(term.Gap), term.Say("what frees it, and what does not", term.Dim))
	for i := range a.Diagnosed.Frees {
		p.Para(term.Pad(2*term.Gap), fixed(&a.Diagnosed.Frees[i]))
	}
}

// writeMessages writes all messages in the text, if there are several.
func writeMessages(p *term.Page, a *memwall.Answer) {
	if len(a.Diagnosed.Found) == 1 && a.Diagnosed.Found[0].Times == 1 {
		return
	}
	p.Blank()
	p.Line(term.Pad(term.Gap), term.Say("messages, root cause first", term.Dim))
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
		p.Para(term.Pad(2*term.Gap), term.Say(x))
	}
	if a.Diagnosed.MoreFound > 0 {
		p.Para(term.Pad(2*term.Gap), term.Say(fmt.Sprintf("and %d more", a.Diagnosed.MoreFound)))
	}
}
