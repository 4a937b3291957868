package vllm

import (
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/unit"
)

// The activation peak of the profile run: max(sampler, forward) + cuBLAS workspace. In nearly every
// default configuration the sampler decides: it sorts the logits of max_num_seqs dummy requests.
// vllm/v1/worker/gpu_model_runner.py (profile_run), vllm/v1/sample/ops/topk_topp_sampler.py.

// widths are what one rank's layers hold at their widest.
type widths struct {
	hidden   int64
	inner    int64 // dense FFN
	gated    bool
	expert   int64 // one expert's FFN
	perToken int64 // experts that a token uses
	vocab    int64
	shuffled bool // vLLM's own CUTLASS kernels for experts in FP4
}

func widthsOf(m *model.Model, kinds []engine.KindCount) widths {
	w := widths{hidden: m.Hidden}
	if m.Samples() {
		w.vocab = m.Vocab
	}
	for _, k := range kinds {
		for i := range k.Kind.Ops {
			o := &k.Kind.Ops[i]
			switch {
			case o.Kind == model.Glu && o.Rows == model.PerChoice:
				w.expert, w.perToken = max(w.expert, o.Out), o.Moe.Used
			case o.Kind == model.Glu && o.Scan == nil && o.Unit == 0:
				w.inner, w.gated = max(w.inner, o.Out), true
			case o.Kind == model.Act && o.Rows == model.PerToken:
				w.inner = max(w.inner, o.Out)
			}
		}
	}
	return w
}

// bytesPerLogit is what the sampler allocates for each logit of a dummy request.
//
//	sort, 128 requests or more: 2 logits + 4 fp32 + 4+8 sorted + 8 index + 12 radix temporaries
//	sort, fewer: torch sorts all segments at once: 2+4+12 + (8+8+4+12)
//	FlashInfer: 2 + 4 + 4 + 4
func bytesPerLogit(requests int64, flashInfer, rocm bool) (float64, string) {
	switch {
	case flashInfer:
		return flashInferLogit, "FlashInfer sampler: 2 + 4 + 4 + 4"
	case requests >= 128:
		return 38, "torch sort: 2 + 4 + 12 + 8 + 12"
	case rocm:
		return 70, "torch sort on ROCm (fitted)"
	}
	return 50, "torch sort, under 128 requests: 2 + 4 + 12 + 32"
}

const flashInferLogit, greedyLogit = 14, 2

// leastPerLogit is what the sampler takes of a logit where the machine's choice is the smaller one, which no plan says: until Triton's
// kernel came FlashInfer samples where it is installed, and nothing is sorted (v1/sample/ops/topk_topp_sampler.py); from 0.20 on
// VLLM_USE_V2_MODEL_RUNNER=1 runs any model with the second runner. 0: there is no choice.
func leastPerLogit(v engine.Version, rocm bool) float64 {
	switch {
	case v.AtLeast(engine.V(0, 20, 0)):
		return greedyLogit
	case !rocm && v.AtLeast(v1Default) && v.Before(tritonSampler):
		return flashInferLogit
	}
	return 0
}

var (
	tritonSampler = engine.V(0, 16, 0) // native top-k, top-p kernel (2026-02-17)
)

// perLogit is the cost of the plan's dummy requests. Those of the second runner are greedy: nothing is sorted, and no logit is copied in
// float32 (_dummy_sampler_run of v1/worker/gpu/model_runner.py).
func perLogit(job *engine.Job, rocm bool) (float64, string) {
	v, n := job.Version, min(int64(job.Plan.MaxSeqs), int64(job.Plan.MaxBatchedTokens))
	if second(v, job.Model) {
		return greedyLogit, "greedy requests: bf16"
	}
	return bytesPerLogit(n, v.AtLeast(tritonSampler) && n >= 8, rocm)
}

// samplerPeak: k × requests × vocabulary, beside the forward output of T tokens.
func samplerPeak(b *ledger.Book, w *widths, seqs, tokens int64, k float64, why string) ledger.Num {
	n := min(seqs, tokens)
	logits := b.Mul(b.In("bytes_per_logit", k, why), b.Int("requests", n, "min(max_num_seqs, max_num_batched_tokens)"),
		b.Int("vocabulary", w.vocab, "model"))
	return b.Add(logits, output(b, w, tokens))
}

func output(b *ledger.Book, w *widths, tokens int64) ledger.Num {
	return b.Mul(b.Lit(2), b.Int("batched_tokens", tokens, "max_num_batched_tokens"), b.Int("hidden", w.hidden, "model"))
}

// forwardPeak: the FFN of one layer for T tokens: gate and up, their product, layer input and residual.
// Fused experts: csrc of fused_moe.py: T × experts used × (max(2 × inner, hidden) + inner), and inputs. CUTLASS in FP4 sorts the rows of
// each expert into copies: what enters, what leaves, and that by its weight (fused_moe/experts/cutlass_moe.py, run_cutlass_moe_fp4).
func forwardPeak(b *ledger.Book, w *widths, tokens int64, v engine.Version) ledger.Num {
	t := b.Int("batched_tokens", tokens, "max_num_batched_tokens")
	h := b.Int("hidden", w.hidden, "model")
	dense := b.Lit(0)
	if w.inner > 0 {
		parts, streams := 2.0, 2.0
		if w.gated {
			parts = 3
		}
		if v.Before(v1Default) {
			streams = 3 // eager: the residual has a copy
		}
		row := b.Add(b.Mul(b.Lit(parts), b.Int("ffn", w.inner, "model, this rank")), b.Mul(b.Lit(streams), h))
		dense = b.Mul(b.Lit(2), t, row)
	}
	if w.expert == 0 {
		return dense
	}
	const chunk = 32768 // VLLM_FUSED_MOE_CHUNK_SIZE, until 2026-03
	rows := b.Min(t, b.Lit(chunk))
	e := b.Int("expert_ffn", w.expert, "model, this rank")
	wide := b.Add(b.Max(b.Mul(b.Lit(2), e), h), e)
	if w.shuffled {
		wide = b.Add(wide, b.Mul(b.Lit(3), h))
	}
	moe := b.Add(b.Mul(b.Lit(2), rows, b.Int("experts_used", w.perToken, "model"), wide), b.Mul(b.Lit(8), t, h))
	return b.Max(dense, moe)
}

// indexedPrompts is where an indexer gathers the keys of the prompts of a step: room for forty of full length
// (vllm/v1/attention/backends/mla/indexer.py, get_max_prefill_buffer_size).
func indexedPrompts(b *ledger.Book, key unit.Bytes, length int64) ledger.Num {
	return b.Mul(b.In("prompts", 40, "of full length"), b.Int("length", length, "max_model_len"),
		b.Size("index_key", key, "FP8 with its scales"))
}

// workspace of cuBLAS, allocated by the first product inside the profile run.
func workspace(hopper bool) unit.Bytes {
	if hopper {
		return 32 * unit.MiB
	}
	return 8*unit.MiB + 128*unit.KiB
}
