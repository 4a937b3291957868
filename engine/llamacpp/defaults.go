package llamacpp

import (
	"cmp"
	"strings"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// Defaults fills in the defaults of llama.cpp's tools (common/common.h), of llama-server and of Ollama
// (llm/llama_server.go, and before 0.30 llama/llama.go).
func (e Engine) Defaults(j *engine.Job) {
	withoutDevices(j)
	p, r := j.Plan, e.rules(j)
	p.TP, p.PP, p.DP, p.CP = max(1, p.TP), max(1, p.PP), max(1, p.DP), max(1, p.CP)
	offload(p)
	cacheDefaults(j, &r)
	text(j, "attention", &p.Attention, "auto")
	b := r.batch
	if e.Program == Ollama {
		b = batches{ollamaBatch, ollamaBatch}
		if e.server(j) {
			b.batch = cmp.Or(int64(p.UBatch), int64(p.BatchTokens), b.batch)
			b.ubatch = b.batch
		} else {
			b.batch *= max(1, int64(p.Sequences)) // runner/llamarunner: num_batch per slot
		}
	}
	if e.Program != Ollama && !j.Model.Remembers() { // tools/server/server-context.cpp: without a cache a text is read in one micro-batch, or refused
		b.batch, b.ubatch = max(b.batch, int64(p.Context)), max(b.ubatch, int64(p.Context))
	}
	number(j, "batch_tokens", &p.BatchTokens, b.batch)
	number(j, "ubatch", &p.UBatch, b.ubatch)
	g := e.givenIn(p)
	if p.GPULayers == nil && used(j) > 0 {
		all := plan.Int(-1)
		p.GPULayers = &all
		j.Default("gpu_layers", "all")
	}
	if p.DraftModel != "" || isOn(p.MTP) {
		number(j, "draft_tokens", &p.DraftTokens, r.drafts)
	}
	flag(j, "kv_unified", &p.KVUnified, !r.streams)
	if j.Model.Caches(func(c model.Cache) bool { return c.Span > 0 }) {
		flag(j, "swa_full", &p.SWAFull, e.Program == Ollama && !e.server(j))
	}
	if p.SplitMode == "" && used(j) > 1 {
		text(j, "split_mode", &p.SplitMode, "layer")
	}
	flag(j, "mmap", &p.Mmap, !isOn(p.Repack))
	flag(j, "kv_offload", &p.KVOffload, true)
	if r.forked {
		flag(j, "fused_moe", &p.FusedMoE, true)
	}
	e.fitDefault(j, &r, g)
	e.lengths(j, &r)
	e.remarks(j)
	forkRemarks(j, &r)
}

// givenIn returns what a plan sets before any default. For Ollama, which cannot express all layers, -1 leaves layers
// open.
func (e Engine) givenIn(p *plan.Plan) given {
	layers := p.GPULayers != nil && (e.Program != Ollama || *p.GPULayers >= 0)
	return given{context: p.Context > 0 || p.ContextTotal > 0, layers: layers, split: p.TensorSplit != "", override: p.OverrideTensor != "" || p.CPUMoE != nil && *p.CPUMoE != 0}
}

// fitDefault leaves --fit off unless requested, although llama.cpp has it on: the command line that runs the plan pins
// what --fit would choose. Ollama's variables cannot pin it, so for Ollama it is on.
func (e Engine) fitDefault(j *engine.Job, r *rules, g given) {
	p := j.Plan
	switch {
	case g.context:
	case e.Program == Ollama:
		number(j, "context", &p.Context, ollamaContext(j))
		parts(p)
		g.context = true
	default:
		p.ContextTotal = fitContext
		if n := j.Model.Context; n > 0 {
			p.ContextTotal = plan.Int(n)
		}
	}
	switch {
	case p.Fit != "" || !r.fits || used(j) == 0:
	case e.Program == Ollama:
		text(j, "fit", &p.Fit, "on")
	default:
		p.Fit = "off"
		j.Note("default_used", "info", "fit", "fit = off by default: a plan is sized as it stands, and its command pins -c, and -ngl where less than 1 GiB stays free; llama.cpp's own --fit, on unless it is told so, moves what is not pinned")
	}
	e.slotContext(j, r)
	e.fit(j, r, g)
}

// ollamaContext returns Ollama's default context, by the memory of all devices (server/routes.go).
func ollamaContext(j *engine.Job) int64 {
	memory := unit.Bytes(0)
	for i := range used(j) {
		if d := usedDevice(j, i); d != nil {
			memory += d.Usable.Value - unit.Bytes(j.Plan.Reserved)
		}
	}
	n := int64(4096)
	switch {
	case memory >= 47*unit.GiB:
		n = 262144
	case memory >= 23*unit.GiB:
		n = 32768
	}
	if trained := j.Model.Context; trained > 0 {
		n = min(n, trained)
	}
	return n
}

// slotContext derives the context of one slot from the total.
func (e Engine) slotContext(j *engine.Job, r *rules) {
	p := j.Plan
	if p.ContextTotal == 0 || p.Context > 0 {
		return
	}
	s := e.settings(j, r)
	p.Context = plan.Int(contextOf(p, &s, r))
	parts(p)
}

// parts sets the default division of the context into prompt and output.
func parts(p *plan.Plan) {
	if p.PromptTokens == 0 {
		p.PromptTokens = max(0, min(p.Context*3/4, p.Context-p.OutputTokens))
	}
	if p.OutputTokens == 0 {
		p.OutputTokens = max(0, p.Context-p.PromptTokens)
	}
}

// offload converts the general offload settings to llama.cpp's.
func offload(p *plan.Plan) {
	o := p.Offload
	if o == nil {
		return
	}
	if o.Weights == "host" && p.GPULayers == nil {
		p.GPULayers = new(plan.Int)
	}
	if o.Experts == "host" && p.CPUMoE == nil {
		all := plan.Int(-1)
		p.CPUMoE = &all
	}
	if o.KV == "host" && p.KVOffload == nil {
		p.KVOffload = new(bool)
	}
}

// cacheDefaults sets the cache formats. Latent caches have no values, so -ctk alone, with f16 values, describes them
// fully.
func cacheDefaults(j *engine.Job, r *rules) {
	p := j.Plan
	text(j, "kv", &p.KV, "f16")
	if p.KVV == "" || j.Model.Latent() && r.latent == latentOnly && p.KVV == "f16" {
		p.KVV = p.KV
	}
}

func text(j *engine.Job, field string, at *string, value string) {
	if *at == "" {
		*at = value
		j.Default(field, value)
	}
}

func number(j *engine.Job, field string, at *plan.Int, value int64) {
	if *at == 0 {
		*at = plan.Int(value)
		j.Default(field, value)
	}
}

func flag(j *engine.Job, field string, at **bool, value bool) {
	if *at == nil {
		*at = &value
		j.Default(field, value)
	}
}

// lengths sets the context of one slot, and rows of logits by program.
func (e Engine) lengths(j *engine.Job, r *rules) {
	p := j.Plan
	e.slotContext(j, r)
	if p.LogitRows == 0 {
		s := e.settings(j, r)
		sh := s.shape(r, j.Load())
		number(j, "logit_rows", &p.LogitRows, sh.outputs)
	}
}

// remarks notes what matters and what a plan may not see.
func (e Engine) remarks(j *engine.Job) {
	p := j.Plan
	if e.server(j) && e.Program == Server && !on(p.KVUnified) {
		j.Note("slots", "info", "sequences", "llama-server by itself starts 4 slots with one cache; -np %d gives each slot a cache of its own", p.Sequences)
	}
	if e.Program == Ollama && !e.server(j) {
		j.Note("ollama_engine", "warn", "engine", "before 0.30 Ollama ran some models (gemma3, gpt-oss, llama4, …) on an engine of its own; these are llama.cpp's rules")
	}
	if n := p.CacheRAM; n != nil && *n < 0 {
		j.Note("cache_ram", "warn", "cache_ram", "--cache-ram -1: prompts of idle slots grow in the host's memory without a bound; none of it is counted")
	}
	if p.SplitMode == "row" {
		j.Note("split_row", "warn", "split_mode", "-sm row cuts matrices in proportion to -ts; the log prints them by the device of their layer (CUDA0_Split)")
	}
	if cutsTensors(j) {
		j.Note("split_tensor", "warn", "split_mode", "-sm tensor cuts every matrix and cache over the devices, and --fit leaves "+
			"such a plan alone; the speed shown is that of whole layers, which it mostly beats")
	}
	if n := remoteDevices(j); n > 0 {
		j.Note("rpc", "warn", "devices", "%d devices of other nodes are reached over RPC: an rpc-server on each node allocates there, and takes some of that node's memory itself", n)
	}
	if n := used(j); n > 1 && p.TensorSplit == "" && unequal(j) {
		j.Note("split_by_free_memory", "info", "tensor_split", "layers are split by the memory that is free when the model loads; -ts pins the split")
	}
	if d := j.Device(0); d != nil && desktop(d) {
		j.Note("desktop", "info", "reserved_bytes", "a desktop uses 0.3 to 0.9 GiB of the card that drives it; --reserve keeps that free")
	}
}

// desktop reports whether a card is made to drive a display.
func desktop(d *hardware.Device) bool {
	for _, line := range []string{"GeForce", "Radeon RX", "Arc"} {
		if strings.HasPrefix(d.Name, line) {
			return true
		}
	}
	return d.Form == "laptop"
}

// unequal reports whether the devices differ.
func unequal(j *engine.Job) bool { return j.Machine != nil && len(j.Machine.Groups) > 1 }
