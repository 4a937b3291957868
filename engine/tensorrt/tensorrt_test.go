package tensorrt

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/enginetest"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// TestPublicLogs: blocks from what the logs print as free, to two decimals of a GiB. Rows whose rounding
// leaves only one answer are exact.
func TestPublicLogs(t *testing.T) {
	for _, c := range []struct {
		source   string
		free     float64 // GiB
		fraction float64
		perToken unit.Bytes
		block    int64
		blocks   int64
		pool     float64 // GiB, 0 when not printed
	}{
		{"docs/source/reference/memory.md: Llama-2-7B, FP8 cache, H100", 70.48, 0.9, 262144, 64, 4060, 63.44},
		{"docs/source/performance/perf-benchmarking.md, 0.12.0.dev2024073000: GPT-J-6B, FP8 cache, H100", 63.62, 0.99, 229376, 64, 4607,
			62.99},
		{"NVIDIA/TensorRT-LLM#2268, 0.13.0.dev2024082000: Qwen1.5-7B, A100 40 GB", 21.89, 0.9, 524288, 64, 631, 0},
		{"public notes: Llama-3.1-8B, FP8 cache, 32 GB", 17.83, 0.9, 65536, 32, 8219, 16.05},
		{"public notes: Qwen2.5-1.5B, fraction 0.45", 16.25, 0.45, 28672, 64, 4278, 7.31},
		{"DGX Spark playbook, 1.1.0rc3: gpt-oss-120b, PyTorch: 119.70 - 113.65 + 0.56 GiB", 6.61, 0.9, 73728, 32, 2710, 5.95},
	} {
		at := func(free float64) int64 { return blocks(gib(free*c.fraction), c.perToken, c.block) }
		slack := 0.005
		if strings.HasPrefix(c.source, "DGX") {
			slack = 0.015 // three printed figures
		}
		if lo, hi := at(c.free-slack), at(c.free+slack); c.blocks < lo || c.blocks > hi {
			t.Errorf("%s: %d to %d blocks, printed %d", c.source, lo, hi, c.blocks)
		}
		if size := (unit.Bytes(c.blocks*c.block) * c.perToken).GiB(); c.pool > 0 && math.Abs(size-c.pool) > 0.0051 {
			t.Errorf("%s: %.4f GiB, printed %.2f", c.source, size, c.pool)
		}
	}
	// the two rows of the project's own documentation, from the printed figures as they stand
	if n := blocks(gib(70.48*0.9), 262144, 64); n != 4060 {
		t.Errorf("%d blocks, want 4060", n)
	}
	if n := blocks(gib(63.62*0.99), 229376, 64); n != 4607 {
		t.Errorf("%d blocks, want 4607", n)
	}
}

// TestPerToken: bytes of a token that logs print ("kv size is") or that follow from their pools.
func TestPerToken(t *testing.T) {
	for _, c := range []struct {
		model, kv string
		version   engine.Version
		tp        int64
		want      unit.Bytes
	}{
		{"llama-2-7b", "fp8", engine.V(0, 12, 0), 1, 262144},
		{"gpt-oss-120b", "", Latest, 1, 73728}, // sliding layers in full
		{"deepseek-r1", "fp8", Latest, 8, 35136},
		{"llama-3.1-8b", "fp8", Latest, 1, 65536},
		{"llama-3.1-8b", "fp4", Latest, 1, 36864}, // 0.5 + 1/16 byte
		{"qwen2.5-1.5b", "", engine.V(0, 17, 0), 1, 28672},
		{"llama-3.1-70b", "", Latest, 16, 40960}, // one head on every rank
	} {
		r := enginetest.Case{Model: c.model, Version: c.version, Plan: plan.Plan{Context: 4096, KV: c.kv, TP: c.tp, PP: 1, DP: 1}}.Ranks(t,
			Engine{})[0]
		if r.KV.PerToken != c.want {
			t.Errorf("%s in %q at tp %d: %d bytes, want %d", c.model, c.kv, c.tp, r.KV.PerToken, c.want)
		}
	}
}

// TestFractionIsOfWhatIsFree: a tenth of what weights and activations leave stays free.
func TestFractionIsOfWhatIsFree(t *testing.T) {
	for _, f := range []float64{0.5, 0.9, 1} {
		c := enginetest.Case{Model: "llama-3.1-8b", Hardware: "h100",
			Plan: plan.Plan{Context: 8192, Serving: plan.Serving{FreeGPUMemoryFraction: &f}}}
		j, s := c.Sizer(t, Engine{})
		r := s.Size(nil, j.Load())[0]
		held := ledger.Sum(r.Items).Bytes - r.KV.Needed
		total := j.Device(0).Usable.Value
		if want := unit.Bytes(f * float64(total-held)); r.KV.Pool-want > 1 || want-r.KV.Pool > 1 {
			t.Errorf("fraction %g: a pool of %d, want %d", f, r.KV.Pool, want)
		}
	}
}

// TestActivationsCoverPublicLog: gpt-oss-120b took 0.85 GiB inside torch for 8,192 tokens (1.1.0rc3, 64
// sequences).
func TestActivationsCoverPublicLog(t *testing.T) {
	r := enginetest.Case{Model: "gpt-oss-120b", Hardware: "h200", Version: engine.V(1, 1, 0),
		Plan: plan.Plan{Context: 131072, Serving: plan.Serving{MaxSeqs: 64}}}.Ranks(t, Engine{})[0]
	it := ledger.Find(r.Items, "activations")
	t.Logf("%.2f GiB, %.2f to %.2f", it.Bytes.GiB(), it.Low.GiB(), it.High.GiB())
	if it.Low.GiB() > 0.85 || it.High.GiB() < 0.85 || it.Basis != ledger.Derived {
		t.Errorf("%s, %s to %s", it.Bytes, it.Low, it.High)
	}
}

// TestStates are reserved for all sequences that a step may have, with a remark when they are many.
func TestStates(t *testing.T) {
	j, s := enginetest.Case{Model: "nemotron-h-8b", Hardware: "h100",
		Plan: plan.Plan{Context: 8192, Serving: plan.Serving{MaxSeqs: 512}}}.Sizer(t, Engine{})
	one := s.Size(nil, engine.Load{Context: 8192, Sequences: 1})[0]
	many := s.Size(nil, engine.Load{Context: 8192, Sequences: 100})[0]
	a, b := ledger.Find(one.Items, "state"), ledger.Find(many.Items, "state")
	if a == nil || a.Bytes != b.Bytes || a.Bytes != 512*s.(*sizer).ranks[0].state {
		t.Errorf("states %v and %v", a, b)
	}
	if n := j.Notes[len(j.Notes)-1]; n.Code != "states_reserved" || n.Field != "max_num_seqs" {
		t.Errorf("%+v", n)
	}
}

// TestAttentionDP: with dp = ep ranks the experts are spread and the attention is whole on each.
func TestAttentionDP(t *testing.T) {
	spread := enginetest.Case{Model: "deepseek-v3", Hardware: "8xh200",
		Plan: plan.Plan{Context: 4096, Sequences: 8, TP: 1, PP: 1, DP: 8, EP: 8}}
	j, s := spread.Sizer(t, Engine{})
	cut := enginetest.Case{Model: "deepseek-v3", Hardware: "8xh200",
		Plan: plan.Plan{Context: 4096, Sequences: 8, TP: 8, PP: 1, DP: 1}}.Ranks(t, Engine{})[0]
	dp := s.Size(nil, j.Load())[0]
	a, b := ledger.Find(dp.Items, "weights").Bytes, ledger.Find(cut.Items, "weights").Bytes
	if a <= b || a > 2*b {
		t.Errorf("%s with attention data parallel, %s with tensor parallel", a, b)
	}
	if dp.KV.Needed*8 != cut.KV.Needed {
		t.Errorf("caches of %d and %d bytes", dp.KV.Needed, cut.KV.Needed)
	}
	if got := (Engine{}).Command(j); !strings.Contains(got, "--tp_size 8 --ep_size 8") ||
		!strings.Contains(got, "\nenable_attention_dp: true\n") {
		t.Error(got)
	}
}

// TestSlots: places beyond the experts hold copies, whose weights each rank has a share of; the file says them again.
func TestSlots(t *testing.T) {
	weights := func(slots plan.Int) (*engine.Job, unit.Bytes) {
		j, s := enginetest.Case{Model: "deepseek-v3", Hardware: "8xh200", Plan: plan.Plan{Context: 4096, TP: 1, PP: 1, DP: 8, EP: 8,
			Serving: plan.Serving{ExpertSlots: slots, EngineArgs: []string{"moe_config.backend=WIDEEP", "a.b=1,2", "--odd"}}}}.Sizer(t, Engine{})
		return j, ledger.Find(s.Size(nil, j.Load())[0].Items, "weights").Bytes
	}
	_, none := weights(256)
	j, some := weights(288)
	// 58 layers of experts with three matrices of 7168 by 2048 in blocks of 128 by 128 with a scale in fp32
	if got, want := some-none, unit.Bytes(58*4*3*(7168*2048+4*7168*2048/128/128)); got != want {
		t.Errorf("four copies on a rank take %d bytes, want %d", got, want)
	}
	if got := (Engine{}).Command(j); j.Plan.RedundantExperts != 32 || !strings.HasSuffix(got, " --odd --extra_llm_api_options /tmp/trtllm.yaml") ||
		!strings.Contains(got, "\nmoe_config: {load_balancer: {num_slots: 288}, backend: WIDEEP}\na: {b: [1,2]}\n") {
		t.Error(got)
	}
}

// TestLaws over kinds of models, machines and versions.
func TestLaws(t *testing.T) {
	for _, model := range []string{"llama-3.1-8b", "deepseek-v3", "gpt-oss-20b", "gemma-3-27b", "qwen3-next-80b-a3b", "mamba2-2.7b",
		"mixtral-8x7b"} {
		for _, on := range []string{"h100", "8xh200", "2xrtx-4090", ""} {
			for _, v := range []engine.Version{engine.V(0, 12, 0), engine.V(0, 18, 0), Latest} {
				j, s := enginetest.Case{Model: model, Hardware: on, Version: v, Plan: plan.Plan{Context: 9001, Sequences: 5}}.Sizer(t,
					Engine{})
				b := &ledger.Book{}
				for _, r := range s.Size(b, j.Load()) {
					enginetest.CheckRank(t, b, &r)
				}
				enginetest.CheckMonotone(t, s)
			}
		}
	}
}

// TestDefaults by version.
func TestDefaults(t *testing.T) {
	for _, c := range []struct {
		version engine.Version
		block   plan.Int
	}{{engine.V(0, 12, 0), 64}, {engine.V(0, 17, 0), 64}, {engine.V(1, 0, 0), 32}, {Latest, 32}} {
		j := enginetest.Case{Model: "llama-3.1-8b", Hardware: "h100", Version: c.version}.Job(t)
		Engine{}.Defaults(j)
		if p := j.Plan; p.BlockSize != c.block || *p.FreeGPUMemoryFraction != 0.9 || p.MaxBatchedTokens != 8192 || p.MaxSeqs != 2048 {
			t.Errorf("%s: %+v", c.version, p.Serving)
		}
	}
	j := enginetest.Case{Model: "llama-3.1-8b", Hardware: "h100", Version: Latest, Plan: plan.Plan{Weights: "fp8"}}.Job(t)
	Engine{}.Defaults(j)
	found := false
	for _, n := range j.Notes {
		found = found || n.Code == "kv_of_checkpoint"
	}
	if !found {
		t.Errorf("no remark on the cache of an FP8 checkpoint: %v", j.Notes)
	}
}

// TestRefusals name the field, the value and the fix.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name, field string
		test        enginetest.Case
	}{
		{"vendor", "engine", enginetest.Case{Model: "llama-3.1-8b", Hardware: "mi300x"}},
		{"file", "weights", enginetest.Case{Model: "llama-3.1-8b", Hardware: "h100", Plan: plan.Plan{Weights: "q4_k_m"}}},
		{"block", "block_size", enginetest.Case{Model: "llama-3.1-8b", Hardware: "h100",
			Plan: plan.Plan{Serving: plan.Serving{BlockSize: 48}}}},
		{"format", "kv", enginetest.Case{Model: "llama-3.1-8b", Hardware: "h100", Plan: plan.Plan{KV: "int8"}}},
		{"two formats", "kv_v", enginetest.Case{Model: "llama-3.1-8b", Hardware: "h100", Plan: plan.Plan{KV: "fp8", KVV: "bf16"}}},
		{"slots", "expert_slots", enginetest.Case{Model: "deepseek-v3", Hardware: "8xh200", Plan: plan.Plan{TP: 8, EP: 8, Serving: plan.Serving{ExpertSlots: 200}}}},
		{"no experts", "expert_slots", enginetest.Case{Model: "llama-3.1-8b", Hardware: "h100", Plan: plan.Plan{Serving: plan.Serving{ExpertSlots: 8}}}},
		{"uneven slots", "redundant_experts", enginetest.Case{Model: "deepseek-v3", Hardware: "8xh200", Plan: plan.Plan{TP: 8, EP: 8, Serving: plan.Serving{ExpertSlots: 290}}}},
		{"heads", "tp", enginetest.Case{Model: "llama-3.1-8b", Hardware: "8xh100", Plan: plan.Plan{TP: 5}}},
	} {
		c.test.Version = Latest
		j := c.test.Job(t)
		Engine{}.Defaults(j)
		err := Engine{}.Check(j)
		var p *plan.Problem
		if !errors.As(err, &p) || p.Field != c.field || p.Value == "" || p.Fix == "" || p.Message == "" {
			t.Errorf("%s: %#v", c.name, err)
		}
	}
	old := enginetest.Case{Model: "llama-3.1-8b", Hardware: "h100", Version: engine.V(0, 12, 0), Plan: plan.Plan{KV: "int8"}}
	if _, s := old.Sizer(t, Engine{}); s == nil {
		t.Error("a built engine refuses an INT8 cache")
	}
}

// TestCommand has only what differs from the defaults.
func TestCommand(t *testing.T) {
	half := 0.5
	j, _ := enginetest.Case{Model: "llama-3.1-70b", Hardware: "4xh100",
		Plan: plan.Plan{Context: 16384, KV: "fp8", Serving: plan.Serving{FreeGPUMemoryFraction: &half, MaxSeqs: 64}}}.Sizer(t, Engine{})
	want := "trtllm-serve llama-3.1-70b --tp_size 4 --max_batch_size 64 --max_seq_len 16384 --kv_cache_free_gpu_memory_fraction 0.5 " +
		"--kv_cache_dtype fp8"
	if got := (Engine{}).Command(j); got != want {
		t.Errorf("%s", got)
	}
	for _, c := range []struct {
		plan       plan.Plan
		want, note string
	}{
		{plan.Plan{Context: 4096, TP: 2, DP: 2}, "trtllm-serve llama-3.1-70b --tp_size 2 --max_seq_len 4096",
			"run the command 2 times, each on its own devices"},
		{plan.Plan{Context: 4096, Serving: plan.Serving{BlockSize: 64}},
			"cat > /tmp/trtllm.yaml <<'EOF'\nkv_cache_config: {tokens_per_block: 64}\nEOF\ntrtllm-serve llama-3.1-70b --tp_size 4 " +
				"--max_seq_len 4096 --extra_llm_api_options /tmp/trtllm.yaml", "max_num_seqs = 2048 by default"},
	} {
		j, _ := enginetest.Case{Model: "llama-3.1-70b", Hardware: "4xh100", Plan: c.plan}.Sizer(t, Engine{})
		if got := (Engine{}).Command(j); got != c.want || j.Notes[len(j.Notes)-1].Text != c.note {
			t.Errorf("%q, %+v", got, j.Notes[len(j.Notes)-1])
		}
	}
}

// TestPrints: blocks, tokens and bytes of the log say the same.
func TestPrints(t *testing.T) {
	r := enginetest.Case{Model: "qwen3-8b", Hardware: "h100", Plan: plan.Plan{Context: 8192}}.Ranks(t, Engine{})[0]
	n := enginetest.Print(&r, "Number of blocks in KV cache primary pool")
	k := enginetest.Print(&r, "max tokens in paged KV cache")
	g := enginetest.Print(&r, "Allocated for max tokens in paged KV cache")
	if n == nil || k == nil || g == nil || k.Value != 32*n.Value || math.Abs(g.Value-k.Value*float64(r.KV.PerToken)/(1<<30)) > 1e-9 {
		t.Errorf("%+v", r.Prints)
	}
}

func BenchmarkSize(b *testing.B) {
	_, s := enginetest.Case{Model: "deepseek-v3", Hardware: "8xh200", Plan: plan.Plan{Context: 8192}}.Sizer(b, Engine{})
	b.ReportAllocs()
	for i := range b.N {
		s.Size(nil, engine.Load{Context: int64(4096 + i&4095), Sequences: 4})
	}
}
