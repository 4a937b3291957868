package llamacpp

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// cacheFormats are the types accepted by -ctk and -ctv (common/arg.cpp, kv_cache_types).
var cacheFormats = []*dtype.Format{dtype.F32, dtype.F16, dtype.BF16, dtype.Q8_0, dtype.Q4_0, dtype.Q4_1, dtype.IQ4_NL, dtype.Q5_0, dtype.Q5_1}

// cacheFormat returns the one with a name, or nil.
func cacheFormat(name string) *dtype.Format {
	f := dtype.FindFormat(name)
	for _, list := range [][]*dtype.Format{cacheFormats, forkFormats} {
		for _, c := range list {
			if c == f {
				return c
			}
		}
	}
	return nil
}

// Check rejects plans that llama.cpp rejects.
func (e Engine) Check(j *engine.Job) error {
	r := e.rules(j)
	for _, check := range []func(*engine.Job, *rules) error{checkModel, checkGroups, checkDevices, checkBackend, checkFork, checkOffload, checkCache, e.checkFlash, e.checkTensor, e.checkContext, checkPlacement, checkFit, checkMain, checkRemote, checkMTP, e.checkHost, checkDraft, e.checkOllama} {
		if err := check(j, &r); err != nil {
			return err
		}
	}
	return nil
}

// impossible returns the error that no such plan can run.
func impossible(field string, value any, fix, format string, args ...any) error {
	return &plan.Problem{Field: field, Value: fmt.Sprint(value), Message: fmt.Sprintf(format, args...), Fix: fix, Impossible: true}
}

// checkModel rejects models that llama.cpp does not load, and encoder-decoders, whose second graph is not described.
func checkModel(j *engine.Job, r *rules) error {
	if v := r.version; absent(j.Model.Family, v) && (!r.forked || absent(j.Model.Family, Latest)) {
		return impossible("engine", "llama.cpp", "--engine transformers or --engine vllm", "llama.cpp has no architecture for %s (%s): no GGUF file of it can be made or loaded", j.Model.ID, j.Model.Family)
	}
	if part := j.Model.Parts[0].Name; part != "decoder" && part != "encoder" {
		return impossible("engine", "llama.cpp", "--engine transformers", "%s reads no text: llama.cpp loads such a model only beside a text model, as mmproj", j.Model.ID)
	}
	return engine.CheckCross(j, "llama.cpp")
}

// checkGroups rejects parallel groups: one process splits layers over all devices.
func checkGroups(j *engine.Job, _ *rules) error {
	p := j.Plan
	for _, g := range []struct {
		field string
		n     int64
	}{{"tp", p.TP}, {"pp", p.PP}, {"ep", p.EP}, {"cp", p.CP}} {
		if g.n > 1 {
			return impossible(g.field, g.n, "split_mode layer or row, with tensor_split", "%s = %d: llama.cpp divides layers among devices by itself", g.field, g.n)
		}
	}
	if p.DP > 1 {
		return impossible("dp", p.DP, "ask for one replica", "dp = %d: a llama.cpp process is one replica; replicas are processes of their own", p.DP)
	}
	return nil
}

func checkDevices(j *engine.Job, _ *rules) error {
	if j.Machine == nil || j.Machine.CPUOnly {
		return nil
	}
	if n := j.Devices(); n > maxDevices {
		return impossible("devices", n, fmt.Sprintf("at most %d devices", maxDevices), "%d devices are more than the %d that llama.cpp can use", n, maxDevices)
	}
	for i := range j.Machine.Groups {
		d := &j.Machine.Groups[i].Device
		if backendOf(d) == nil {
			fix := "a GPU of NVIDIA, AMD, Apple, Intel, Huawei or Moore Threads, or a CPU"
			if d.Vendor == "" {
				fix += "; vendor=nvidia says whose a device of your own is"
			}
			return impossible("hardware", d.ID, fix, "llama.cpp has no backend for %s", d.Name)
		}
	}
	return nil
}

// elsewhere names the tiers that llama.cpp does not support.
var elsewhere = map[string]string{"nvme": "disk", "pool": "a memory pool"}

func checkOffload(j *engine.Job, _ *rules) error {
	o := j.Plan.Offload
	if o == nil {
		return nil
	}
	for _, f := range []struct{ field, value string }{{"offload.weights", o.Weights}, {"offload.kv", o.KV}, {"offload.experts", o.Experts}} {
		if elsewhere[f.value] != "" {
			return impossible(f.field, f.value, "host, with mmap: the system reads mapped weights from disk as they are used", "%s = %s: llama.cpp by itself keeps nothing on %s", f.field, f.value, elsewhere[f.value])
		}
	}
	return nil
}

// checkCache checks cache formats, whose blocks must divide the heads.
func checkCache(j *engine.Job, r *rules) error {
	p := j.Plan
	for _, f := range []struct{ field, value string }{{"kv", p.KV}, {"kv_v", p.KVV}} {
		if cacheFormat(f.value) == nil {
			return &plan.Problem{Field: f.field, Value: f.value, Message: fmt.Sprintf("%s = %s: llama.cpp cannot keep its KV cache in that format", f.field, f.value), Fix: "one of " + formatNames(cacheFormats)}
		}
	}
	latent, narrowK, narrowV := headFacts(j.Model, cacheFormat(p.KV), cacheFormat(p.KVV))
	switch {
	case latent && r.latent != latentExpanded && !(r.forked && r.latent == latentOnly) && p.KV != p.KVV:
		return impossible("kv_v", p.KVV, "kv_v = "+p.KV, "kv = %s and kv_v = %s: latent attention keeps keys and values in one format", p.KV, p.KVV)
	case narrowK > 0 && p.Attention != "eager":
		return impossible("kv", p.KV, "kv f16, or attention eager with kv_v f16", "kv = %s: blocks of %d do not divide keys of %d elements", p.KV, cacheFormat(p.KV).BlockElems, narrowK)
	case narrowV > 0 && p.Attention != "eager":
		return impossible("kv_v", p.KVV, "f16", "kv_v = %s: blocks of %d do not divide values of %d elements", p.KVV, cacheFormat(p.KVV).BlockElems, narrowV)
	}
	return nil
}

func formatNames(list []*dtype.Format) string {
	var names []string
	for _, f := range list {
		names = append(names, f.Name)
	}
	return strings.Join(names, ", ")
}

// headFacts returns whether attention is latent, and head widths that blocks do not divide.
func headFacts(m *model.Model, k, v *dtype.Format) (latent bool, narrowK, narrowV int64) {
	m.Decoder().Each(func(kind *model.Kind, _ int64) {
		kind.Caches(func(c model.Cache) {
			latent = latent || c.Class == model.LatentKV
			if !k.Fits(c.DimK) {
				narrowK = c.DimK
			}
			if !v.Fits(c.DimV) {
				narrowV = c.DimV
			}
		})
	})
	return latent, narrowK, narrowV
}

// checkFlash requires flash attention for quantized values.
func (e Engine) checkFlash(j *engine.Job, r *rules) error {
	p := j.Plan
	if p.Attention == "sdpa" {
		return &plan.Problem{Field: "attention", Value: p.Attention, Message: "attention = sdpa is PyTorch's", Fix: "flash, eager or auto"}
	}
	if p.Attention == "flash" && r.version.Before(flashKernels) {
		return impossible("attention", p.Attention, "eager, or a build from b2771 on", "attention = flash: %s has no flash attention", e.versionName(j))
	}
	if cacheFormat(p.KVV).BlockElems > 1 && !e.flash(j, r) {
		return impossible("kv_v", p.KVV, "attention flash, or kv_v f16", "kv_v = %s: quantised values need flash attention", p.KVV)
	}
	return nil
}

// flashKernels is the first build with flash attention (#5021).
var flashKernels = build(2771)

func (e Engine) versionName(j *engine.Job) string { return e.Name() + " " + e.VersionName(j.Version) }

// checkContext allows either context or context_total, at most as many slots as llama.cpp supports, and requires a cell
// for each.
func (e Engine) checkContext(j *engine.Job, r *rules) error {
	p := j.Plan
	if !r.streams && r.version.Before(build(5913)) && p.KVUnified != nil && !*p.KVUnified {
		return impossible("kv_unified", "false", "leave kv_unified out, or a build from b5913 on", "kv_unified = false: %s has one cache for all slots", e.versionName(j))
	}
	if int64(p.Sequences) > r.maxSlots {
		return impossible("sequences", p.Sequences, fmt.Sprintf("at most %d", r.maxSlots), "%s slots are more than the %d that llama.cpp has", unit.Count(int64(p.Sequences)), r.maxSlots)
	}
	s := e.settings(j, r)
	if p.ContextTotal > 0 {
		want := contextOf(p, &s, r)
		if asked := p.PromptTokens + p.OutputTokens; int64(asked) > want {
			return &plan.Problem{Field: "context_total", Value: fmt.Sprint(p.ContextTotal), Fix: "a longer context_total",
				Message: fmt.Sprintf("prompt and output of %d tokens do not fit in the %d of a slot", asked, want)}
		}
		if p.Context > 0 && int64(p.Context) != want {
			return &plan.Problem{Field: "context_total", Value: fmt.Sprint(p.ContextTotal), Fix: "give one of them",
				Message: fmt.Sprintf("context_total = %d gives each of %d slots %d tokens, and context = %d", p.ContextTotal, p.Sequences, want, p.Context)}
		}
	}
	if sh := s.shape(r, j.Load()); sh.cells == 0 {
		return impossible("sequences", p.Sequences, "fewer sequences, or a longer context_total", "%d slots in a context of %d leave none for some", p.Sequences, sh.asked)
	}
	return nil
}

// checkPlacement parses -ts and -ot.
func checkPlacement(j *engine.Job, r *rules) error {
	if n := j.Plan.CPUMoE; n != nil && *n < -1 {
		return &plan.Problem{Field: "cpu_moe", Value: fmt.Sprint(*n), Message: fmt.Sprintf("cpu_moe = %d is not a number of layers", *n), Fix: "a number from 0, or -1 for all layers"}
	}
	if _, err := layoutOf(j, r); err != nil {
		return err
	}
	_, err := moverOf(j, r)
	return err
}

// checkFit rejects --fit for builds without it, and invalid margins.
func checkFit(j *engine.Job, r *rules) error {
	p := j.Plan
	for _, f := range []struct {
		field, value string
		given        bool
	}{{"fit", p.Fit, p.Fit != ""}, {"fit_target", p.FitTarget, p.FitTarget != ""}, {"fit_ctx", fmt.Sprint(p.FitContext), p.FitContext > 0}} {
		if f.given && !r.fits {
			return impossible(f.field, f.value, "leave it out, or a build from b7407 on", "%s = %s: this build has no --fit", f.field, f.value)
		}
	}
	_, err := fitMargins(p.FitTarget, max(1, used(j)))
	return err
}

// checkMain requires -mg to name a device if only that one is used (src/llama.cpp, llama_model_load_from_file_impl).
func checkMain(j *engine.Job, _ *rules) error {
	n := j.Plan.MainGPU
	if n == nil || j.Machine == nil || j.Machine.CPUOnly || j.Plan.SplitMode != "none" {
		return nil
	}
	if int64(*n) >= j.Devices() {
		return impossible("main_gpu", *n, fmt.Sprintf("0 to %d", j.Devices()-1), "main_gpu = %d: invalid value for main_gpu (available devices: %d)", *n, j.Devices())
	}
	return nil
}

// checkHost checks what only llama-server keeps on the host, by build.
func (e Engine) checkHost(j *engine.Job, r *rules) error {
	p := j.Plan
	for _, f := range []struct {
		field string
		value *plan.Int
		known bool
	}{{"cache_ram", p.CacheRAM, r.cacheRAM > 0}, {"ctx_checkpoints", p.Checkpoints, r.checks.count > 0}} {
		if f.value != nil && (!e.server(j) || !f.known) {
			return impossible(f.field, *f.value, "leave it out, or --engine llama-server", "%s = %d: %s has no such setting", f.field, *f.value, e.versionName(j))
		}
	}
	return nil
}

// checkDraft rejects draft settings without a draft model, and drafting for a model that does not generate.
func checkDraft(j *engine.Job, _ *rules) error {
	p := j.Plan
	for _, f := range []struct {
		field, value string
		given        bool
	}{{"draft_kv", p.DraftKV, p.DraftKV != "" && !isOn(p.MTP)}, {"draft_kv_v", p.DraftKVV, p.DraftKVV != "" && !isOn(p.MTP)}, {"draft_gpu_layers", intText(p.DraftLayers), p.DraftLayers != nil}} {
		if f.given && p.DraftModel == "" {
			return &plan.Problem{Field: f.field, Value: f.value, Message: fmt.Sprintf("%s = %s, and there is no draft model", f.field, f.value), Fix: "draft_model too"}
		}
	}
	for _, f := range []struct{ field, value string }{{"draft_kv", p.DraftKV}, {"draft_kv_v", p.DraftKVV}} {
		if f.value != "" && cacheFormat(f.value) == nil {
			return &plan.Problem{Field: f.field, Value: f.value, Message: fmt.Sprintf("%s = %s: llama.cpp cannot keep its KV cache in that format", f.field, f.value), Fix: "one of " + formatNames(cacheFormats)}
		}
	}
	return engine.CheckTarget(j)
}

func intText(n *plan.Int) string {
	if n == nil {
		return ""
	}
	return fmt.Sprint(*n)
}
