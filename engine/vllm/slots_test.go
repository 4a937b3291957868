package vllm

import (
	"testing"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/enginetest"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// TestSparseSlots: with an FP8 cache a layer of DeepSeek V3.2 keeps 656 bytes of a token beside its index key of 132, one of
// V4 584 in its window and for every 4 or 128 tokens; V3 and bf16 keep plain rows.
func TestSparseSlots(t *testing.T) {
	for _, c := range []struct {
		id    string
		slots bool
		want  map[unit.Bytes]bool
	}{
		{"deepseek-v3.2", true, map[unit.Bytes]bool{656: true, 132: true}},
		{"deepseek-v3.2", false, map[unit.Bytes]bool{576: true, 132: true}},
		{"deepseek-v3", true, map[unit.Bytes]bool{576: true}},
		{"deepseek-v4-flash", true, map[unit.Bytes]bool{584: true, 146: true, 5: true, 33: true}},
	} {
		m := enginetest.Case{Model: c.id}.Job(t).Model
		var kinds []engine.KindCount
		m.Decoder().Each(func(k *model.Kind, n int64) { kinds = append(kinds, engine.KindCount{Kind: k, Count: n}) })
		got := map[unit.Bytes]bool{}
		for _, s := range specsOf(kinds, 64, kvBytes{element: 1, slots: c.slots}) {
			got[s.perTok] = true
		}
		for b := range got {
			if !c.want[b] {
				t.Errorf("%s: %d bytes a token, want %v", c.id, b, c.want)
			}
		}
		if len(got) != len(c.want) {
			t.Errorf("%s: %v, want %v", c.id, got, c.want)
		}
	}
}

// TestSparseSlotsAreFP8s: the layout belongs to FP8 caches of versions that have it.
func TestSparseSlotsAreFP8s(t *testing.T) {
	perToken := func(kv string) unit.Bytes {
		_, s := enginetest.Case{Model: "deepseek-v3.2", Hardware: "8xb200", Plan: plan.Plan{Context: 8192, KV: kv}}.Sizer(t, Engine{})
		return s.Size(nil, engine.Load{Context: 8192, Sequences: 1})[0].KV.PerToken
	}
	if got := perToken("fp8"); got != 61*(656+132) {
		t.Errorf("fp8: %d bytes a token", got)
	}
	if got := perToken("bf16"); got != 61*(1152+132) {
		t.Errorf("bf16: %d bytes a token", got)
	}
}
