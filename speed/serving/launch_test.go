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
