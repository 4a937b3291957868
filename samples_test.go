package memwall

import (
	"testing"

	"github.com/memwall/memwall/plan"
)

// sampledFit is what eight prompts of 6,000 tokens keep with answers of 2,192.
func sampledFit(t *testing.T, engine string, samples plan.Int, cached *bool) *Answer {
	t.Helper()
	r := &Request{Ask: "fit", Model: "llama-3.1-8b", Hardware: "h100"}
	r.Engine, r.Sequences, r.Context, r.PromptTokens, r.OutputTokens, r.Samples, r.PrefixCache = engine, 8, 8192, 6000, 2192, samples, cached
	a, err := Ask(r)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestSamplesShareTheirPrompt: answers beyond the first keep all but the whole blocks of the prompt (16 tokens with vLLM, 1 with SGLang, 32
// with TensorRT-LLM), and all of it without a prefix cache.
func TestSamplesShareTheirPrompt(t *testing.T) {
	const perToken, off = 128 << 10, false
	for engine, block := range map[string]int64{"vllm": 16, "sglang": 1, "tensorrt-llm": 32} {
		one, four := sampledFit(t, engine, 0, nil), sampledFit(t, engine, 4, nil)
		want := 4*int64(one.KV.NeededBytes) - 8*3*(5999/block*block)*perToken
		if int64(four.KV.NeededBytes) != want {
			t.Errorf("%s: %d bytes for four answers each, want %d", engine, four.KV.NeededBytes, want)
		}
		cached := off
		if apart := sampledFit(t, engine, 4, &cached).KV.NeededBytes; apart != 4*one.KV.NeededBytes {
			t.Errorf("%s without a prefix cache: %d bytes, want %d", engine, apart, 4*one.KV.NeededBytes)
		}
		if *four.KV.MaxSequences >= *one.KV.MaxSequences || *four.KV.MaxSequences <= *one.KV.MaxSequences/4 {
			t.Errorf("%s holds %d users with four answers, %d with one", engine, *four.KV.MaxSequences, *one.KV.MaxSequences)
		}
	}
}

// TestSamplesSlowEachOther: four answers of eight users decode like 32 users, and the first tokens are those of eight prompts.
func TestSamplesSlowEachOther(t *testing.T) {
	one, four := sampledFit(t, "vllm", 0, nil).Speed, sampledFit(t, "vllm", 4, nil).Speed
	if *four.Decode >= *one.Decode || *four.Total <= *one.Total || *four.TTFT != *one.TTFT {
		t.Errorf("decode %g of %g, total %g of %g, ttft %g of %g", *four.Decode, *one.Decode, *four.Total, *one.Total, *four.TTFT, *one.TTFT)
	}
}
