package stream_test

import (
	"testing"

	"github.com/memwall/memwall/speed/stream"
)

// measured are tokens a second of all users together, of llama-batched-bench (build 7946) behind prompts of 512
// tokens on a DGX Spark: ggml-org/llama.cpp, benches/dgx-spark/dgx-spark.md. No coefficient was fitted to those of
// several users.
var measured = []struct {
	model, recipe string
	users         int64
	rate          float64
}{
	{"gpt-oss-20b", "mxfp4_moe", 1, 80.1}, {"gpt-oss-20b", "mxfp4_moe", 8, 271.8}, {"gpt-oss-20b", "mxfp4_moe", 32, 681.5},
	{"gpt-oss-120b", "mxfp4_moe", 1, 57.1}, {"gpt-oss-120b", "mxfp4_moe", 8, 159.2}, {"gpt-oss-120b", "mxfp4_moe", 32, 353.3},
	{"qwen3-30b-a3b", "q8_0", 1, 58.4}, {"qwen3-30b-a3b", "q8_0", 8, 153.4}, {"qwen3-30b-a3b", "q8_0", 32, 346.5},
}

// TestSeveralUsers: what several users were measured to get lies in the band.
func TestSeveralUsers(t *testing.T) {
	for _, x := range measured {
		l := predictor(t, input(t, x.model, x.recipe, "gb10", "cuda")).Loop(stream.Test{Depth: 512, Generated: 32}, x.users)
		got := l.Step.Inverse().Times(float64(x.users))
		t.Logf("%s, %d users: %.1f (%.1f to %.1f), measured %.1f", x.model, x.users, got.Mid, got.Low, got.High, x.rate)
		if x.rate < got.Low || x.rate > got.High {
			t.Errorf("%s, %d users: %.1f (%.1f to %.1f), measured %.1f", x.model, x.users, got.Mid, got.Low, got.High, x.rate)
		}
	}
}

// TestUsersShare: one user's step is that of a single stream; more users get more together and less each.
func TestUsersShare(t *testing.T) {
	for _, on := range [][2]string{{"rtx-4090", "cuda"}, {"m4-max-40-core", "metal"}, {"epyc-9654", "cpu"}} {
		for _, id := range models {
			p := predictor(t, input(t, id, "q4_k_m", on[0], on[1]))
			test := stream.Test{Prompt: 512, Generated: 64}
			was := p.Loop(test, 1)
			if one := p.Predict(test); one.Decode != was.PerToken || one.TTFT != was.First {
				t.Errorf("%s on %s: one user gets %v, a single stream %v", id, on[0], was.PerToken, one.Decode)
			}
			for _, n := range []int64{2, 4, 8, 32, 128} {
				l := p.Loop(test, n)
				if l.Step.Mid < was.Step.Mid || l.PerToken.Mid < was.PerToken.Mid || l.Throughput.Mid < was.Throughput.Mid*0.98 || l.BandwidthFraction > 1.0001 {
					t.Errorf("%s on %s, %d users: %+v, fewer had %+v", id, on[0], n, l, was)
				}
				was = l
			}
		}
	}
}
