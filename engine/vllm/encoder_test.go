package vllm

import (
	"math"
	"testing"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/enginetest"
	"github.com/memwall/memwall/plan"
)

// TestEncoders: what logs say of models that see and hear. Whisper in V0: 10.45 and 2.62 GiB of activations for 256 and 64
// sequences. Qwen3.5 9B on an L40S with 0.19.0: 17.66 GiB loaded, 20.27 left; 4B with 0.22.0: 8.61 loaded, and of 22.2 GiB 11.11 left
// beside 0.64 for graphs, which is 1.84 for activations and the driver.
func TestEncoders(t *testing.T) {
	for _, c := range []struct {
		model, hardware  string
		version          engine.Version
		context, seqs    plan.Int
		loaded, activity float64
	}{
		{"whisper-large-v3-turbo", "h100", engine.V(0, 7, 3), 448, 256, 0, 10.45},
		{"whisper-large-v3", "rtx-4090", engine.V(0, 7, 3), 448, 64, 2.88, 2.62},
		{"qwen3.5-9b", "l40s", engine.V(0, 19, 0), 262144, 256, 17.66, 1.93},
		{"qwen3.5-4b", "l40s", engine.V(0, 22, 0), 1024, 256, 8.61, 1.73},
	} {
		r := enginetest.Case{Model: c.model, Hardware: c.hardware, Version: c.version, Plan: plan.Plan{Context: c.context, Serving: plan.Serving{MaxSeqs: c.seqs, MaxBatchedTokens: 8192}}}.Ranks(t, Engine{})[0]
		if got := find(r.Items, "activations").Bytes.GiB(); math.Abs(got-c.activity) > 0.09 {
			t.Errorf("%s: activations of %.3f GiB, logged %.2f", c.model, got, c.activity)
		}
		if got := loaded(&r).mid.GiB(); c.loaded > 0 && math.Abs(got-c.loaded) > 0.02 {
			t.Errorf("%s: %.4f GiB loaded, logged %.2f", c.model, got, c.loaded)
		}
	}
}

// TestClips: a video is profiled that is as long as requests leave room for. A log of 0.23.0 says a budget of 114,688 tokens for a video
// and a pool of -14.28 GiB of 0.22 x 79.19, beside 15.67 loaded and 0.53 for graphs; logs of 0.9 and 0.10 say 98,304.
func TestClips(t *testing.T) {
	yes := true
	for _, c := range []struct {
		version engine.Version
		context plan.Int
		noVideo *bool
		want    int64
	}{
		{engine.V(0, 23, 0), 128000, nil, 114688}, {engine.V(0, 10, 2), 128000, nil, 114688}, {engine.V(0, 10, 0), 128000, nil, 98304},
		{engine.V(0, 23, 0), 40000, nil, 32768}, {engine.V(0, 23, 0), 8192, nil, 16384}, {engine.V(0, 9, 0), 40000, nil, 16384},
		{engine.V(0, 23, 0), 128000, &yes, 16384},
	} {
		p := plan.Plan{Context: c.context, Serving: plan.Serving{NoVideo: c.noVideo}}
		_, z := enginetest.Case{Model: "qwen2.5-vl-7b", Hardware: "h100", Version: c.version, Plan: p}.Sizer(t, Engine{})
		if got := z.(*sizer).ranks[0].encoder.item.tokens; got != c.want {
			t.Errorf("%v, %d tokens: an item of %d, want %d", c.version, c.context, got, c.want)
		}
	}
	p := plan.Plan{Context: 128000, Serving: plan.Serving{MaxSeqs: 256, MaxBatchedTokens: 2048}}
	r := enginetest.Case{Model: "qwen2.5-vl-7b", Hardware: "h100", Version: engine.V(0, 23, 0), Plan: p}.Ranks(t, Engine{})[0]
	it, logged := find(r.Items, "activations"), 0.22*79.19-15.67-0.53-0.2+14.28
	if low, high := it.Low.GiB(), it.High.GiB(); logged < low || logged > high || it.Bytes.GiB() < 0.9*logged {
		t.Errorf("activations of %.2f GiB (%.2f-%.2f), logged %.2f", it.Bytes.GiB(), low, high, logged)
	}
}

// TestItems: the encoder's budget holds as many of the largest items, and at least one.
func TestItems(t *testing.T) {
	for _, c := range []struct {
		model        string
		tokens, seqs plan.Int
		want         int64
	}{
		{"qwen3.5-9b", 2048, 256, 1}, {"qwen3.5-9b", 32768, 32, 2}, {"qwen3.5-9b", 65536, 8, 4}, // lines of logs: 1, 2 and 4 image items
		{"qwen3.5-9b", 65536, 3, 3},
		{"gemma-3-12b", 8192, 64, 32},
		{"gemma-4-e4b", 2048, 256, 1}, {"gemma-4-31b", 8192, 1024, 3}, {"gemma-4-26b-a4b", 16384, 2, 6}, // lines of logs: videos
	} {
		_, z := enginetest.Case{Model: c.model, Hardware: "h200", Version: engine.V(0, 22, 0), Plan: plan.Plan{Context: 16384, Serving: plan.Serving{MaxSeqs: c.seqs, MaxBatchedTokens: c.tokens}}}.Sizer(t, Engine{})
		if got := z.(*sizer).ranks[0].encoder.items(z.(*sizer)); got != c.want {
			t.Errorf("%s, %d tokens, %d sequences: %d items, want %d", c.model, c.tokens, c.seqs, got, c.want)
		}
	}
}
