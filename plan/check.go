package plan

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Problem describes what is wrong with a field of a plan.
type Problem struct {
	Field, Value, Message, Fix string
	// Impossible reports that the value is well formed but no such plan can run.
	Impossible bool
	// Lacking reports that such a plan may run, but its memory use is not described here.
	Lacking bool
}

func (p *Problem) Error() string { return p.Message }

// Bounds on counts, so that no request causes work in proportion to a number in it.
const (
	MaxContext   = 1 << 30
	MaxSequences = 1 << 24
	// MaxSamples is the most answers to one prompt that vLLM accepts (VLLM_MAX_N_SEQUENCES, vllm/sampling_params.py).
	MaxSamples = 1 << 14
	MaxRanks   = 1 << 20
	// MaxTokens bounds context × sequences.
	MaxTokens = 1 << 40
)

func bad(field string, value any, message, fix string) *Problem {
	return &Problem{Field: field, Value: fmt.Sprint(value), Message: fmt.Sprintf("%s = %v %s", field, value, message), Fix: fix}
}

// Check rejects values that are out of range for every engine. The error is a *Problem.
func (p *Plan) Check() error {
	for _, c := range []struct {
		field string
		value int64
		max   int64
	}{
		{"context", int64(p.Context), MaxContext}, {"context_total", int64(p.ContextTotal), MaxContext},
		{"sequences", int64(p.Sequences), MaxSequences}, {"prompt_tokens", int64(p.PromptTokens), MaxContext},
		{"output_tokens", int64(p.OutputTokens), MaxContext},
		{"tp", p.TP, MaxRanks}, {"pp", p.PP, MaxRanks}, {"ep", p.EP, MaxRanks}, {"dp", p.DP, MaxRanks}, {"cp", p.CP, MaxRanks},
		{"images", int64(p.Images), 1 << 16}, {"reserved_bytes", int64(p.Reserved), 1 << 50},
		{"draft_tokens", int64(p.DraftTokens), 1 << 10},
		{"batch_tokens", int64(p.BatchTokens), MaxContext}, {"ubatch", int64(p.UBatch), MaxContext},
		{"logit_rows", int64(p.LogitRows), MaxContext}, {"fit_ctx", int64(p.FitContext), MaxContext},
		{"attn_max_batch", int64(p.AttnMaxBatch), MaxRanks},
		{"max_num_batched_tokens", int64(p.MaxBatchedTokens), MaxContext}, {"max_num_seqs", int64(p.MaxSeqs), MaxSequences},
		{"samples", int64(p.Samples), MaxSamples}, {"block_size", int64(p.BlockSize), 1 << 20},
		{"cuda_graph_max_bs", int64(p.GraphBatch), 1 << 20}, {"dcp", p.DCP, 1 << 20}, {"dense_tp", p.DenseTP, 1 << 20},
		{"redundant_experts", int64(p.RedundantExperts), 1 << 12}, {"expert_slots", int64(p.ExpertSlots), 1 << 13},
		{"kv_pool_tokens", int64(p.KVPoolTokens), MaxTokens},
		{"dispatch_tokens", int64(p.DispatchTokens), 1 << 20},
		{"stream_interval", int64(p.StreamInterval), 1 << 20}, {"scheduler_recv_interval", int64(p.RecvInterval), 1 << 20},
		{"batch_wait_timeout_iters", int64(p.BatchWait), 1 << 20},
		{"kv_cache_memory_bytes", int64(p.KVCacheMemory), 1 << 50}, {"cpu_offload_bytes", int64(p.CPUOffload), 1 << 50},
		{"kv_host_bytes", int64(p.KVHost), 1 << 50}, {"kv_tier_disk_bytes", int64(p.KVTierDisk), 1 << 50},
		{"kv_store_bytes", int64(p.KVStoreSize), 1 << 50},
		{"kv_store_segment_bytes", int64(p.KVStoreSegment), 1 << 50},
	} {
		switch {
		case c.value < 0:
			return bad(c.field, c.value, "is negative", "give a number from 1")
		case c.value > c.max:
			return bad(c.field, c.value, fmt.Sprintf("is more than %d", c.max), "give a smaller number")
		}
	}
	if n := int64(p.Context) * int64(p.Sequences); n > MaxTokens || n > MaxTokens/max(1, int64(p.Samples)) {
		return bad("sequences", int64(p.Sequences), fmt.Sprintf("of %d tokens each are more than %d tokens at once", p.Context,
			int64(MaxTokens)), "fewer sequences, or a shorter context")
	}
	if r := p.KVHostRatio; r != nil && !(*r > 0 && *r <= 1<<10) {
		return &Problem{Field: "kv_host_ratio", Value: fmt.Sprint(*r),
			Message: fmt.Sprintf("kv_host_ratio = %g is not a multiple of a pool", *r), Fix: "a number above 0, such as 2"}
	}
	if err := p.checkDrafts(); err != nil {
		return err
	}
	if err := p.checkPools(); err != nil {
		return err
	}
	return p.checkLayers()
}

// checkLayers checks the numbers of layers, where -1 means all layers or no bound.
func (p *Plan) checkLayers() error {
	for _, c := range []struct {
		field string
		value *Int
		least Int
		what  string
	}{
		{"gpu_layers", p.GPULayers, -1, "layers"}, {"cpu_moe", p.CPUMoE, -1, "layers"}, {"draft_gpu_layers", p.DraftLayers, -1, "layers"},
		{"cache_ram", p.CacheRAM, -1, "MiB"}, {"ctx_checkpoints", p.Checkpoints, 0, "checkpoints"}, {"main_gpu", p.MainGPU, 0, "a device"},
		{"mla", p.MLA, 0, "a mode"},
	} {
		n := c.value
		if n == nil || *n >= c.least && *n <= MaxRanks {
			continue
		}
		fix := "a number from 0"
		if c.least < 0 {
			fix += ", or -1 for all of it"
		}
		return bad(c.field, int64(*n), "is not a number of "+c.what, fix)
	}
	return p.checkShares()
}

func (p *Plan) checkShares() error {
	for _, c := range []struct {
		field string
		value *float64
	}{
		{"gpu_memory_utilization", p.GPUMemoryUtilization}, {"mem_fraction_static", p.MemFractionStatic},
		{"free_gpu_memory_fraction", p.FreeGPUMemoryFraction}, {"acceptance", p.Acceptance},
	} {
		if c.value == nil {
			continue
		}
		if x := *c.value; math.IsNaN(x) || x <= 0 || x > 1 {
			return bad(c.field, x, "is not a share", "give a number above 0 and at most 1")
		}
	}
	return p.checkWords()
}

func (p *Plan) checkWords() error {
	for _, c := range []struct{ field, value, allowed string }{
		{"attention", p.Attention, "auto flash sdpa eager"}, {"draft_method", p.DraftMethod, DraftNGram + " " + DraftSuffix},
		{"split_mode", p.SplitMode, "layer row tensor none"}, {"fit", p.Fit, "on off"},
		{"moe_backend", p.MoEBackend, "auto trtllm cutlass deepgemm triton marlin"},
		{"linear_backend", p.LinearBackend, "auto marlin"},
		{"all2all", p.All2All, DeepEP + " " + DeepEPNormal + " " + DeepEPLowLatency},
		{"offload.weights", p.offload().Weights, "none host nvme pool"}, {"offload.kv", p.offload().KV, "none host nvme pool"},
		{"offload.experts", p.offload().Experts, "none host nvme pool"},
	} {
		if c.value != "" && !slices.Contains(strings.Fields(c.allowed), c.value) {
			return bad(c.field, c.value, "is not known", "one of "+strings.ReplaceAll(c.allowed, " ", ", "))
		}
	}
	_, err := p.Loads(1)
	return err
}

func (p *Plan) offload() Offload {
	if p.Offload == nil {
		return Offload{}
	}
	return *p.Offload
}

// Ranks returns the number of devices that the plan uses: the parallel groups of all its workers.
func (p *Plan) Ranks() int64 {
	if d := p.Disaggregated; d != nil {
		one, prompter := p.Worker(), p.Prompter()
		return max(1, int64(d.Prefill))*prompter.Ranks() + max(1, int64(d.Decode))*one.Ranks()
	}
	n := int64(1)
	for _, x := range []int64{p.TP, p.PP, p.DP, p.CP} {
		n *= max(1, x)
	}
	return n
}
