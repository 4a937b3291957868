package serving_test

import (
	"testing"

	"github.com/memwall/memwall/shard"
	"github.com/memwall/memwall/speed"
)

// TestGraphedPrompts: the end of a prompt whose beginning is cached costs the others next to nothing where graphs hold such a step, and
// the launches of all kernels where they do not; a longer prompt costs the same with both.
func TestGraphedPrompts(t *testing.T) {
	in := plan(t, "llama-3.1-8b", "bf16", "h100-sxm-80gb", shard.Parallel{TP: 1})
	launched := compile(t, in)
	in.GraphTokens = 512
	graphed := compile(t, in)
	decode := speed.Batch{Decodes: 8, Context: 700}
	with := func(tokens int64) speed.Batch {
		b := decode
		b.Prefill, b.Prompts, b.Finished, b.Cached = tokens, 1, 1, 1024-tokens
		return b
	}
	bare, end := launched.Step(decode), with(16)
	if got := graphed.Step(end); got < bare || got > 1.2*bare {
		t.Errorf("a graphed step with a short prompt takes %g s, %g without it", got, bare)
	}
	if got := launched.Step(end); got < 1.2*bare {
		t.Errorf("a launched step with a short prompt takes %g s, %g without it", got, bare)
	}
	if a, b := graphed.Step(with(600)), launched.Step(with(600)); a != b {
		t.Errorf("600 tokens take %g s where graphs hold 512, %g without graphs", a, b)
	}
}

// TestEager: without graphs a step takes at least what the host takes to launch its kernels: a small model's is several times as long,
// one that waits for its memory much longer is hardly longer, and a longer prompt is what it was.
func TestEager(t *testing.T) {
	slower := func(id, recipe string, b speed.Batch) float64 {
		in := plan(t, id, recipe, "h100-sxm-80gb", shard.Parallel{TP: 1})
		graphs := compile(t, in).Step(b)
		in.Eager = true
		return compile(t, in).Step(b) / graphs
	}
	one := speed.Batch{Decodes: 1, Context: 100}
	if small := slower("qwen3-0.6b", "bf16", one); small < 3 {
		t.Errorf("an eager step of a small model takes %g times as long", small)
	}
	if large := slower("qwen3-32b", "bf16", one); large < 1 || large > 1.5 {
		t.Errorf("an eager step of a large model takes %g times as long", large)
	}
	if prompt := slower("qwen3-32b", "bf16", speed.Batch{Prefill: 8000, Prompts: 1, Finished: 1}); prompt != 1 {
		t.Errorf("an eager prompt takes %g times as long", prompt)
	}
}
