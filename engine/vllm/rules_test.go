package vllm

import (
	"strings"
	"testing"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/enginetest"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// ordered holds that a table's rows stand in order, say where they come from, and hold from their own version
// up to the next row's.
func ordered[T comparable](t *testing.T, name string, rows []engine.Since[T]) {
	t.Helper()
	for i, r := range rows {
		if strings.TrimSpace(r.Source) == "" {
			t.Errorf("%s, row %d has no source", name, i)
		}
		if got := engine.At(rows, r.From); got.Value != r.Value || got.From != r.From {
			t.Errorf("%s: %s gives the row of %s", name, r.From, got.From)
		}
		if i == 0 {
			continue
		}
		before := engine.V(r.From.Major, r.From.Minor, r.From.Patch-1)
		if r.From.Patch == 0 {
			before = engine.V(r.From.Major, r.From.Minor-1, 99)
		}
		if got := engine.At(rows, before); got.From != rows[i-1].From || !r.From.AtLeast(rows[i-1].From) || r.From == rows[i-1].From {
			t.Errorf("%s: %s gives the row of %s, want that of %s", name, before, got.From, rows[i-1].From)
		}
		if r.Value == rows[i-1].Value {
			t.Errorf("%s: the row of %s changes nothing", name, r.From)
		}
		if Latest.Before(r.From) {
			t.Errorf("%s: the row of %s is newer than the latest version", name, r.From)
		}
	}
}

func TestTables(t *testing.T) {
	ordered(t, "utilization", utilization)
	ordered(t, "nonTorch", nonTorch)
	ordered(t, "firstGroup", firstGroup)
	ordered(t, "attentionScalars", attentionScalars)
	ordered(t, "secondRunner", secondRunner)
}

// TestOutside: every row of memory outside torch is taken, by one device and by several, and ROCm has its own.
func TestOutside(t *testing.T) {
	for _, c := range []struct {
		version engine.Version
		on      string
		tp, pp  int64
		want    string
	}{
		{engine.V(0, 4, 0), "h100", 1, 1, "outside_torch.v0.one"}, {engine.V(0, 6, 4), "h100", 2, 1, "outside_torch.v0.many"},
		{engine.V(0, 6, 5), "h100", 1, 1, "outside_torch.v0.6.5.one"}, {engine.V(0, 6, 6), "h100", 2, 1, "outside_torch.v0.6.5.many"},
		{engine.V(0, 7, 3), "h100", 1, 1, "outside_torch.v0.7.one"}, {engine.V(0, 7, 0), "h100", 2, 1, "outside_torch.v0.7.many"},
		{engine.V(0, 8, 5), "h100", 1, 1, "outside_torch.v1.one"}, {engine.V(0, 9, 1), "h100", 2, 1, "outside_torch.v1.many"},
		{engine.V(0, 9, 2), "h100", 1, 1, "outside_torch.v1.0.9.2.one"},
		{engine.V(0, 10, 2), "h100", 2, 1, "outside_torch.v1.0.11.nvls"}, {engine.V(0, 10, 2), "l40s", 2, 1, "outside_torch.v1.0.9.2.many"},
		{engine.V(0, 11, 0), "h100", 1, 1, "outside_torch.v1.0.11.one"}, {engine.V(0, 24, 0), "h100", 2, 1, "outside_torch.v1.0.11.nvls"},
		{engine.V(0, 12, 0), "r9700", 1, 1, "outside_torch.rocm.one"}, {engine.V(0, 7, 0), "r9700", 2, 1, "outside_torch.rocm.many"},
		{engine.V(0, 27, 1), "gb10", 1, 1, "outside_torch.unified"}, {engine.V(0, 27, 1), "gb10", 2, 1, "outside_torch.unified"},
		{engine.V(0, 19, 0), "h100", 1, 2, "outside_torch.v1.0.11.many"}, {engine.V(0, 19, 0), "h100-pcie-80gb", 2, 1, "outside_torch.v1.0.11.many"},
		{engine.V(0, 19, 0), "l40s", 4, 1, "outside_torch.v1.0.11.many"}, {engine.V(0, 19, 0), "h200", 8, 1, "outside_torch.v1.0.11.nvls"},
	} {
		d := enginetest.Case{Model: "opt-125m", Hardware: c.on, Version: Latest}.Job(t).Device(0)
		if got := OutsideName(c.version, d, c.tp, c.pp); got != c.want {
			t.Errorf("%s on %s, tp %d, pp %d: %s, want %s", c.version, c.on, c.tp, c.pp, got, c.want)
		}
	}
}

// TestFitted: the table of fitted constants holds names that rules ask for, and bands around their values.
func TestFitted(t *testing.T) {
	known := map[string]bool{wholeGraphs.Name: true, rocmGraphs.Name: true, rocmOutsideOne.Name: true, rocmOutsideMany.Name: true, rocmLoading.Name: true, unifiedOutside.Name: true, piecesOne.Name: true, piecesLatent.Name: true, piecesNCCL.Name: true}
	for _, tr := range []traits{{datacenter: true}, {sm120: true}, {}} {
		known[graphPiece(&tr).Name] = true
	}
	for _, r := range nonTorch {
		known[r.Value.one.Name], known[r.Value.many.Name], known[r.Value.nvls.Name] = true, true, true
	}
	for name, c := range fitted() {
		if !known[name] {
			t.Errorf("no rule asks for %s", name)
		}
		if c.Low > c.Value || c.High < c.Value || c.Rows < 3 {
			t.Errorf("%+v", c)
		}
	}
	for _, bad := range []string{"a\t1\t2\t3", "a\tx\t1\t2\t3", "a\t1\t1\t2\tmany"} {
		if _, err := parseConstant(bad); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}

// TestSteps: max_num_seqs and max_num_batched_tokens of vllm serve (vllm/engine/arg_utils.py).
func TestSteps(t *testing.T) {
	h100, a100, l4, gb10 := device(t, "h100"), device(t, "a100-sxm-80gb"), device(t, "l4"), device(t, "gb10")
	for _, c := range []struct {
		version      engine.Version
		on           traits
		length       int64
		chunked      bool
		seqs, tokens int64
	}{
		{engine.V(0, 6, 3), h100, 4096, true, 256, 4096},     // V0: a prompt goes whole through a step
		{engine.V(0, 6, 3), h100, 1024, true, 256, 2048},     // and a step has at least 2,048
		{engine.V(0, 5, 3), h100, 131072, true, 256, 131072}, // whole before 0.5.4
		{engine.V(0, 6, 4), h100, 131072, true, 256, 512},    // above 32k in pieces of 512
		{engine.V(0, 6, 5), h100, 131072, true, 256, 2048},   // of 2,048 since 2024-11-22
		{engine.V(0, 8, 0), l4, 8192, true, 1024, 2048},      // 1,024 everywhere in the first V1 releases
		{engine.V(0, 8, 3), h100, 8192, true, 1024, 8192},
		{engine.V(0, 8, 4), l4, 8192, true, 256, 2048},
		{engine.V(0, 12, 0), h100, 8192, true, 1024, 8192},
		{engine.V(0, 24, 0), a100, 8192, true, 256, 2048}, // A100 is left out by name
		{engine.V(0, 24, 0), gb10, 8192, true, 256, 2048}, // NVML does not tell its memory
		{engine.V(0, 24, 0), l4, 8192, false, 256, 8192},  // without chunks a prompt must fit
	} {
		seqs, tokens := steps(c.version, c.on, c.length, c.chunked)
		if seqs != c.seqs || tokens != c.tokens {
			t.Errorf("vLLM %s, %d tokens: %d sequences, %d tokens a step, want %d and %d", c.version, c.length, seqs, tokens, c.seqs, c.tokens)
		}
	}
}

func device(t *testing.T, name string) traits {
	t.Helper()
	m, _, err := hardware.Parse(name, 0)
	if err != nil {
		t.Fatal(err)
	}
	return traitsOf(&m.Groups[0].Device)
}

// TestTraits: what a device's capability decides.
func TestTraits(t *testing.T) {
	for _, c := range []struct {
		name string
		want traits
	}{
		{"h100", traits{hopper: true, nvls: true, datacenter: true, large: true}}, {"h200", traits{hopper: true, nvls: true, datacenter: true, large: true}},
		{"a100-sxm-80gb", traits{datacenter: true, marlinFP8: true}}, {"b200", traits{sm100: true, datacenter: true, large: true}},
		{"rtx-4090", traits{}}, {"rtx-3090", traits{marlinFP8: true}}, {"t4", traits{marlinFP8: true}}, {"rtx-5090", traits{sm120: true}},
		{"rtx-pro-6000-blackwell", traits{sm120: true, large: true}}, {"mi300x", traits{rocm: true, large: true}}, {"r9700", traits{rocm: true}},
	} {
		got := device(t, c.name)
		if got.total < unit.GiB {
			t.Errorf("%s has %s", c.name, got.total)
		}
		got.total = 0
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// TestCaptureSizes: how many batch sizes have graphs, as logs count them while they capture: 64 sequences 19,
// 32 sequences 11, 128 sequences 35, and gpt-oss 83.
func TestCaptureSizes(t *testing.T) {
	for _, c := range []struct {
		version      engine.Version
		family       string
		seqs, tokens int64
		want         int64
	}{
		{engine.V(0, 12, 0), "llama", 64, 2048, 19}, {engine.V(0, 12, 0), "llama", 32, 2048, 11}, {engine.V(0, 12, 0), "llama", 128, 2048, 35},
		{engine.V(0, 12, 0), "llama", 256, 2048, 51}, {engine.V(0, 12, 0), "llama", 256, 256, 35}, {engine.V(0, 12, 0), "gpt-oss", 64, 2048, 83},
		{engine.V(0, 10, 2), "llama", 256, 2048, 67}, {engine.V(0, 11, 0), "llama", 1024, 8192, 67}, {engine.V(0, 12, 0), "llama", 1, 2048, 2},
	} {
		if got := captureSizes(c.version, c.family, 0, c.seqs, c.tokens); got != c.want {
			t.Errorf("vLLM %s, %s with %d sequences, %d tokens: %d sizes, want %d", c.version, c.family, c.seqs, c.tokens, got, c.want)
		}
	}
}

// TestSampler: bytes of a logit, by path and version. Where they differ a log has said which.
func TestSampler(t *testing.T) {
	for _, c := range []struct {
		requests    int64
		flash, rocm bool
		want        float64
	}{{1024, false, false, 38}, {128, false, true, 38}, {127, false, false, 50}, {64, false, true, 70}, {256, true, false, 14}} {
		if got, _ := bytesPerLogit(c.requests, c.flash, c.rocm); got != c.want {
			t.Errorf("%+v: %g", c, got)
		}
	}
	w := &widths{hidden: 4096, vocab: 128256}
	for _, c := range []struct {
		model string
		v     engine.Version
		seqs  int64
		per   float64
	}{
		{"llama-3.1-8b", engine.V(0, 15, 9), 256, 38}, {"llama-3.1-8b", engine.V(0, 16, 0), 256, 14}, {"llama-3.1-8b", engine.V(0, 16, 0), 7, 50},
		{"llama-3.1-8b", engine.V(0, 24, 0), 64, 14}, {"llama-3.1-8b", engine.V(0, 6, 4), 64, 50}, {"llama-3.1-8b", engine.V(0, 25, 0), 64, 2},
		{"qwen3-30b-a3b", engine.V(0, 28, 0), 64, 14}, {"qwen3-30b-a3b", engine.V(0, 29, 0), 64, 2},
	} {
		p := plan.Plan{Context: 4096, Serving: plan.Serving{MaxSeqs: plan.Int(c.seqs), MaxBatchedTokens: 2048}}
		z := &sizer{job: enginetest.Case{Model: c.model, Hardware: "h100", Version: c.v, Plan: p}.Job(t)}
		k, why := perLogit(z.job, false)
		want := c.per*float64(c.seqs)*128256 + 2*2048*4096
		if got := samplerPeak(nil, w, c.seqs, 2048, k, why).V; got != want {
			t.Errorf("%s, vLLM %s, %d requests: %.0f bytes, want %.0f", c.model, c.v, c.seqs, got, want)
		}
	}
}
