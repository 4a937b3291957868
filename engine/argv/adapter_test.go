package argv_test

import (
	"strings"
	"testing"

	"github.com/memwall/memwall/engine/argv"
	"github.com/memwall/memwall/plan"
)

// TestRankOf: ranks as names of adapters have them, and figures that are none.
func TestRankOf(t *testing.T) {
	for name, want := range map[string]plan.Int{
		"my-adapter-r32.gguf": 32, "x/lora-r16": 16, "y/rank_64": 64, "sql=org/qwen3-lora_rank=8": 8, "LoRA-R128.gguf": 128, "lora_r8": 8,
		`D:\loras\style-rank16.gguf:0.8`: 16,
		"":                               0, "adapter.gguf": 0, "llama-3-8b-lora.gguf": 0, "deepseek-r1.gguf": 0, "r9999.gguf": 0, "rank-999": 0, "super8": 0,
		"tier16": 0, strings.Repeat("r", 5000): 0,
	} {
		if got := argv.RankOf(name); got != want {
			t.Errorf("%.60q: %d, not %d", name, got, want)
		}
	}
	l := &argv.Launch{}
	for range 300 {
		argv.Adapter(l, "--lora", "a-r8.gguf")
	}
	argv.Adapter(l, "--lora", "token=hf_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")
	if len(l.Plan.Adapters) != 256 || len(l.Unknown) != 45 || strings.Contains(l.Unknown[44], "hf_aaa") {
		t.Errorf("%d adapters, %d unread: %q", len(l.Plan.Adapters), len(l.Unknown), l.Unknown[len(l.Unknown)-1])
	}
}
