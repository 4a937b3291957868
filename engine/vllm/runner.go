package vllm

import (
	"strings"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/model"
)

// vLLM has two model runners: v1/worker/gpu_model_runner.py, and since 2026 v1/worker/gpu/model_runner.py, whose profile run takes other
// things into account. Which models the second one runs by default (VllmConfig.use_v2_model_runner) grew from release to release.

// reach says which models the second runner has by default.
type reach uint8

const (
	none        reach = iota
	qwenDense         // Qwen3ForCausalLM
	denseModels       // neither a mixture of experts nor recurrent
	denseAndV4        // and DeepSeek V4
	allModels
)

var secondRunner = []engine.Since[reach]{
	{From: engine.V(0, 0, 0), Value: none, Source: "vllm/v1/worker/gpu_model_runner.py"},
	{From: engine.V(0, 22, 0), Value: qwenDense, Source: "vllm/config/vllm.py, DEFAULT_V2_MODEL_RUNNER_ARCHITECTURES (#39337)"},
	{From: engine.V(0, 25, 0), Value: denseModels, Source: "vllm/config/vllm.py, _is_default_v2_model_runner_model (#44443, 2026-07-02)"},
	{From: engine.V(0, 27, 0), Value: denseAndV4, Source: "vllm/config/vllm.py, DEFAULT_V2_MODEL_RUNNER_ARCHITECTURES (#51768)"},
	{From: engine.V(0, 29, 0), Value: allModels, Source: "vllm/config/vllm.py, use_v2_model_runner (#53183)"},
}

// second reports whether the second runner serves the model.
func second(v engine.Version, m *model.Model) bool {
	dense := !mixture(m) && !m.Recurrent()
	switch engine.At(secondRunner, v).Value {
	case qwenDense:
		return m.Arch == "Qwen3ForCausalLM"
	case denseModels:
		return dense
	case denseAndV4:
		return dense || strings.HasPrefix(m.Arch, "DeepseekV4")
	case allModels:
		return true
	}
	return false
}

func mixture(m *model.Model) (found bool) {
	m.Decoder().Each(func(k *model.Kind, _ int64) {
		for i := range k.Ops {
			found = found || k.Ops[i].Rows == model.PerChoice
		}
	})
	return found
}

// What the second runner learnt after it was the default.
var (
	secondSeesEncoders = engine.V(0, 26, 0) // EncoderRunner.profile_encoder (#47985)
	secondSizesGraphs  = engine.V(0, 29, 0) // profile_cudagraph_memory returned 0 (#49224) until it captured all graphs (#53306, 2026-08-24)
)

// rocmSizesGraphs: the estimate was skipped on ROCm (determine_available_memory) until it asked torch for free memory (#44825).
var rocmSizesGraphs = engine.V(0, 24, 0)

// setsGraphsAside reports whether the budget loses an estimate for graphs. What does not lies beside the budget and may find no room.
func setsGraphsAside(job *engine.Job, rocm bool) bool {
	v := job.Version
	switch {
	case v.Before(graphsInBudget), rocm && v.Before(rocmSizesGraphs):
		return false
	case second(v, job.Model):
		return v.AtLeast(secondSizesGraphs)
	}
	return true
}

// aheadOfTime is the first release of which a first start is reported to leave less than the next (#54122, #54383): Inductor's autotuning
// inside the profile run counts as activations.
var aheadOfTime = engine.V(0, 25, 0)

// compilePeak is the peak of a first start: the kernel that reads the embedding is tried on a copy of it, beside what it writes. Logs of
// first starts: Qwen3 8B 1.18 GiB (1.16 of them the embedding), Qwen2.5 3B 0.67 (0.58), Qwen2.5 0.5B 0.25 (0.25); of next ones 0.19
// and 0.22.
func compilePeak(b *ledger.Book, p *prepared, job *engine.Job) ledger.Num {
	if job.Version.Before(aheadOfTime) || eager(job.Plan) || !p.pl.Pre {
		return ledger.Num{}
	}
	return b.Add(b.Size("token_embedding", p.embedding, "as the rank stores it"), output(b, &p.w, int64(job.Plan.MaxBatchedTokens)))
}
