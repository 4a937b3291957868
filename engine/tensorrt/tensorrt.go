// Package tensorrt models the memory that TensorRT-LLM reserves: weights, the peak of a dry run or the activation
// memory of a built engine, and free_gpu_memory_fraction of the remaining free memory for the KV cache, in blocks of
// tokens.
//
// rules.go has the defaults by version, budget.go what a rank holds.
package tensorrt

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/plan"
)

// Engine is TensorRT-LLM.
type Engine struct{}

// Name of the engine.
func (Engine) Name() string { return "tensorrt-llm" }

// Latest version whose rules are known.
func (Engine) Latest() engine.Version { return Latest }

// Defaults as trtllm-serve has them. The cache is kept in the model's own format; the checkpoint may say
// FP8, which its weights do not tell.
func (Engine) Defaults(j *engine.Job) {
	p := j.Plan
	if p.KV == "" {
		p.KV = engine.ActivationFormat(j.Model).Name
		if j.Checkpoint.Cache != "" && j.Checkpoint.Method == "modelopt" && j.Keeps() {
			p.KV = j.Checkpoint.Cache
		}
		j.Default("kv", p.KV)
		if eightBit(p.Weights) && j.Checkpoint.Cache == "" {
			j.Note("kv_of_checkpoint", "info", "kv",
				"a checkpoint whose hf_quant_config.json says kv_cache_quant_algo FP8 keeps its cache in fp8: give kv = fp8 for it")
		}
	}
	engine.OneFormat(p)
	engine.TakeSlots(j)
	engine.DefaultParallel(j)
	if p.FreeGPUMemoryFraction == nil {
		f := freeFraction
		p.FreeGPUMemoryFraction = &f
		j.Default("free_gpu_memory_fraction", f)
	}
	for _, d := range []struct {
		name  string
		field *plan.Int
		value int64
	}{{"max_num_batched_tokens", &p.MaxBatchedTokens, maxNumTokens}, {"max_num_seqs", &p.MaxSeqs, maxBatchSize},
		{"block_size", &p.BlockSize, engine.At(tokensPerBlock, j.Version).Value}} {
		if *d.field == 0 {
			*d.field = plan.Int(d.value)
			j.Default(d.name, d.value)
		}
	}
	engine.DraftDefaults(j)
	engine.EagerNote(j, false)
	commandNote(j)
}

// eightBit tells the recipes that NVIDIA's ModelOpt writes, which often come with an FP8 cache.
func eightBit(weights string) bool {
	r := dtype.FindRecipe(weights)
	return r != nil && (strings.HasPrefix(r.Name, "fp8") || strings.HasPrefix(r.Name, "nvfp4"))
}

// Check refuses what TensorRT-LLM refuses.
func (Engine) Check(j *engine.Job) error {
	if err := engine.CheckParallel(j); err != nil {
		return err
	}
	if err := engine.CheckDrafts(j); err != nil {
		return err
	}
	for _, check := range []func(*engine.Job) error{engine.CheckSlots, engine.CheckRedundant, engine.CheckEvenExperts} {
		if err := check(j); err != nil {
			return err
		}
	}
	if err := engine.CheckCross(j, "TensorRT-LLM"); err != nil {
		return err
	}
	p := j.Plan
	if d := j.Device(0); d != nil && d.Vendor != "NVIDIA" {
		return &plan.Problem{Field: "engine", Value: "tensorrt-llm", Impossible: true,
			Message: fmt.Sprintf("TensorRT-LLM runs on NVIDIA devices, and %s is one of %s", d.Name, d.Vendor), Fix: "vllm or sglang"}
	}
	if r := dtype.FindRecipe(p.Weights); r != nil && r.Store == dtype.GGUF {
		return &plan.Problem{Field: "weights", Value: p.Weights, Impossible: true,
			Message: fmt.Sprintf("TensorRT-LLM reads no GGUF files, and %s is one of their formats", r.Title),
			Fix:     "fp8, nvfp4, awq or bf16"}
	}
	if b := p.BlockSize; b < 2 || b&(b-1) != 0 {
		return &plan.Problem{Field: "block_size", Value: fmt.Sprint(b), Impossible: true,
			Message: fmt.Sprintf("tokens_per_block = %d is not a power of two from 2", b), Fix: "32 or 64"}
	}
	return checkKV(j)
}

// checkKV: caches in the model's own format, INT8 in built engines, FP8 and NVFP4.
func checkKV(j *engine.Job) error {
	p := j.Plan
	f := dtype.FindFormat(p.KV)
	ok := f == dtype.BF16 || f == dtype.F16 || f == dtype.F32 || f == dtype.FP8E4M3 || f == dtype.FP4E2M1
	if j.Version.Before(pytorchBackend) {
		ok = ok || f == dtype.I8
	}
	if !ok {
		return &plan.Problem{Field: "kv", Value: p.KV, Message: fmt.Sprintf("TensorRT-LLM %s cannot keep its KV cache in %s",
			j.Version, p.KV),
			Fix: "bf16, fp8 or fp4"}
	}
	if dtype.FindFormat(p.KVV) != f {
		return &plan.Problem{Field: "kv_v", Value: p.KVV, Message: "TensorRT-LLM keeps keys and values in one format",
			Fix: "leave kv_v out"}
	}
	return nil
}

// attentionDP: attention in data parallel groups with the experts spread over them is written as dp = ep
// ranks with tp 1.
func attentionDP(p *plan.Plan) bool { return p.TP == 1 && p.DP > 1 && p.EP > 1 }
