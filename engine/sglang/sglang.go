// Package sglang models the memory that SGLang reserves: the share of free memory that mem_fraction_static gives to
// weights and pools, and the tokens and recurrent states that the pools hold. There is no profile run: activations and
// CUDA graphs must fit in the rest.
//
// rules.go has the defaults of every version, hybrid.go the models with several kinds of pools, budget.go what a rank
// holds, pool.go the pools.
package sglang

import (
	"fmt"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/plan"
)

// Engine is SGLang.
type Engine struct{}

// Name of the engine.
func (Engine) Name() string { return "sglang" }

// Latest version whose rules are known.
func (Engine) Latest() engine.Version { return Latest }

// followsModelOpt is since when auto is the format that modelopt's configuration states for the cache; which release it came with is from
// memory (srt/model_executor/model_runner.py, configure_kv_cache_dtype).
var followsModelOpt = engine.V(0, 5, 6)

// Defaults as sglang.launch_server has them.
func (Engine) Defaults(j *engine.Job) {
	p := j.Plan
	if p.KV == "" {
		p.KV = engine.ActivationFormat(j.Model).Name
		if j.Checkpoint.Cache == "fp8" && j.Checkpoint.Method == "modelopt" && j.Keeps() && j.Version.AtLeast(followsModelOpt) {
			p.KV = dtype.FP8E4M3.Name
		}
		j.Default("kv", p.KV)
	}
	engine.OneFormat(p)
	engine.DefaultParallel(j, func(tp int64) bool { return cutsKV(j.Model, tp) }, engine.KeepsBlocks(j))
	draftDefaults(j)
	engine.DraftDefaults(j)
	if p.MaxBatchedTokens == 0 {
		p.MaxBatchedTokens = plan.Int(chunkDefault(j))
		j.Default("max_num_batched_tokens", int64(p.MaxBatchedTokens))
	}
	if p.BlockSize == 0 {
		p.BlockSize = plan.Int(pageDefault(j))
	}
	if p.MemFractionStatic == nil && j.Device(0) != nil {
		f := fraction(setupOf(j))
		p.MemFractionStatic = &f
		j.Default("mem_fraction_static", f)
	}
	if p.LowLatency() && p.DispatchTokens == 0 {
		p.DispatchTokens = usualDispatched
		j.Default("dispatch_tokens", int64(p.DispatchTokens))
	}
	engine.EagerNote(j, false)
	engine.SpeechNote(j)
}

func chunkDefault(j *engine.Job) int64 {
	if !chunked(j.Plan) {
		return maxPrefillTokens
	}
	c := classOf(j.Version, reported(j.Device(0)))
	return c.chunk
}

func chunked(p *plan.Plan) bool { return p.ChunkedPrefill == nil || *p.ChunkedPrefill }

// pageDefault is one token, but 64 with the TensorRT-LLM kernels that datacenter Blackwell uses.
func pageDefault(j *engine.Job) int64 {
	if blackwell(j.Device(0)) && j.Version.AtLeast(engine.V(0, 5, 3)) {
		return 64
	}
	return 1
}

func blackwell(d *hardware.Device) bool {
	return d != nil && len(d.Capability) > 2 && d.Capability[:3] == "10."
}

// reported is the memory in MiB as the driver's tool prints it; 0 without a device.
func reported(d *hardware.Device) float64 {
	switch {
	case d == nil:
		return 0
	case d.Reported.Known:
		return d.Reported.Value.MiB()
	}
	return d.Usable.Value.MiB()
}

func setupOf(j *engine.Job) *setup {
	p, d := j.Plan, j.Device(0)
	s := &setup{version: j.Version, mem: reported(d), tp: p.TP, pp: p.PP, dp: 1, chunk: int64(p.MaxBatchedTokens), graphs: graphs(j),
		latent: j.Model.Latent(), rocm: d != nil && d.Vendor == "AMD", speculative: p.DraftModel != "" || j.MTP != nil,
		context: int64(p.Context)}
	if sharesExperts(p) {
		s.tp, s.dp = p.TP*p.DP, p.DP
	}
	if r := dtype.FindRecipe(p.Weights); r != nil {
		s.gguf = r.Store == dtype.GGUF
	}
	if j.Model.Traits.Multimodal {
		s.tower = towerOf(j.Model)
	}
	return s
}

// sharesExperts: data parallel groups whose ranks share experts are groups of attention, within one tensor parallel group.
func sharesExperts(p *plan.Plan) bool { return p.DP > 1 && p.EP > p.TP }

// attentionGroups over which max_running_requests is divided.
func attentionGroups(p *plan.Plan) int64 {
	if sharesExperts(p) {
		return p.DP
	}
	return 1
}

// graphs is the largest batch for which a CUDA graph is captured.
func graphs(j *engine.Job) int64 {
	if e := j.Plan.EnforceEager; e != nil && *e {
		return 0
	}
	if n := int64(j.Plan.GraphBatch); n > 0 {
		return n
	}
	c := classOf(j.Version, reported(j.Device(0)))
	return c.graphs(j.Plan.TP)
}

// towerOf finds the vision encoder; a model that is multimodal without one in its description counts as
// ViT-L/14, which is SGLang's own default.
func towerOf(m *model.Model) *tower {
	t := &tower{24, 1024}
	if p := m.Part("vision"); p != nil && len(p.Layers) > 0 && len(p.Pre.Ops) > 0 {
		t.layers, t.width = int64(len(p.Layers)), p.Pre.Ops[len(p.Pre.Ops)-1].Out
	}
	return t
}

// Casts names the format that fp32 weights are loaded in (configs/model_config.py, _get_and_verify_dtype).
func (Engine) Casts(_ engine.Version, family string) string {
	if family == "gemma2" {
		return "bf16"
	}
	return "f16"
}

// cutsKV reports whether key-value heads go evenly over ranks, or ranks over them.
func cutsKV(m *model.Model, tp int64) bool {
	kv := m.Traits.KVHeads
	return kv == 0 || m.Latent() || kv%tp == 0 || tp%kv == 0
}

// Check refuses what SGLang refuses.
func (Engine) Check(j *engine.Job) error {
	if err := engine.CheckParallel(j); err != nil {
		return err
	}
	if p := j.Plan; p.DraftMethod == plan.DraftSuffix {
		return &plan.Problem{Field: "draft_method", Value: plan.DraftSuffix,
			Message: "SGLang finds drafts by n-grams, and not in trees of suffixes", Fix: "ngram, or vllm"}
	}
	if err := engine.CheckDrafts(j); err != nil {
		return err
	}
	for _, check := range []func(*engine.Job) error{engine.CheckRedundant, engine.CheckEvenExperts, engine.CheckDispatch} {
		if err := check(j); err != nil {
			return err
		}
	}
	if err := engine.CheckBlocks(j, "SGLang", "whole experts on each rank"); err != nil {
		return err
	}
	if err := engine.CheckCross(j, "SGLang"); err != nil {
		return err
	}
	p := j.Plan
	if kv := j.Model.Traits.KVHeads; !cutsKV(j.Model, p.TP) {
		return &plan.Problem{Field: "tp", Value: fmt.Sprint(p.TP), Impossible: true,
			Message: fmt.Sprintf("tp = %d neither divides the %d key-value heads of %s nor is a multiple of them", p.TP, kv, j.Model.ID),
			Fix:     fmt.Sprintf("--tp %d", kv)}
	}
	if chunked(p) && p.MaxBatchedTokens%p.BlockSize != 0 {
		return &plan.Problem{Field: "max_num_batched_tokens", Value: fmt.Sprint(p.MaxBatchedTokens), Impossible: true,
			Message: fmt.Sprintf("chunked_prefill_size = %d is not a multiple of the page of %d tokens", p.MaxBatchedTokens, p.BlockSize),
			Fix:     "a multiple of block_size"}
	}
	if f := p.MemFractionStatic; f != nil && *f <= 0 {
		return &plan.Problem{Field: "mem_fraction_static", Value: fmt.Sprint(*f), Impossible: true,
			Message: fmt.Sprintf("mem_fraction_static = %g leaves nothing for weights and pools on this device", *f),
			Fix:     "give mem_fraction_static, or a larger device"}
	}
	if n := j.Plan.DenseTP; n > 1 { // server_args.py: None or 1
		return &plan.Problem{Field: "dense_tp", Value: fmt.Sprint(n), Impossible: true,
			Message: "dense_tp: SGLang cuts dense layers over all ranks or over none", Fix: "--dense-tp 1, or leave dense_tp out"}
	}
	return checkKV(j)
}

// checkKV: --kv-cache-dtype takes auto, bf16, fp8_e5m2, fp8_e4m3 and, later, fp4_e2m1.
func checkKV(j *engine.Job) error {
	p := j.Plan
	f := dtype.FindFormat(p.KV)
	switch f {
	case dtype.BF16, dtype.F16, dtype.F32, dtype.FP8E4M3, dtype.FP8E5M2:
	case dtype.FP4E2M1:
		if j.Version.Before(fp4Cache) {
			return &plan.Problem{Field: "kv", Value: p.KV, Message: fmt.Sprintf("SGLang %s cannot keep its KV cache in %s",
				j.Version, p.KV),
				Fix: "sglang@" + fp4Cache.String() + " or newer, or fp8"}
		}
	default:
		return &plan.Problem{Field: "kv", Value: p.KV, Message: fmt.Sprintf("SGLang cannot keep its KV cache in %s", p.KV),
			Fix: "bf16, fp8 or fp4"}
	}
	if dtype.FindFormat(p.KVV) != f {
		return &plan.Problem{Field: "kv_v", Value: p.KVV, Message: "SGLang keeps keys and values in one format", Fix: "leave kv_v out"}
	}
	return nil
}
