package engine

import (
	"testing"

	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/plan"
)

// TestSegment: what a rank contributes to Mooncake's store is page-locked host memory, with or without a tier of its own.
func TestSegment(t *testing.T) {
	for _, c := range []struct {
		p    plan.Plan
		want []int64
	}{
		{plan.Plan{Serving: plan.Serving{KVStore: "mooncake", KVStoreSegment: 4 << 30}}, []int64{4 << 30}},
		{plan.Plan{Serving: plan.Serving{KVStore: "mooncake", KVStoreSegment: 1 << 30, KVHost: 2 << 30}}, []int64{2 << 30, 1 << 30}},
		{plan.Plan{Serving: plan.Serving{KVStore: "mooncake"}}, nil},
	} {
		items := EvictedItems(&ledger.Book{}, &c.p, 0)
		if len(items) != len(c.want) {
			t.Fatalf("%d items, want %d", len(items), len(c.want))
		}
		for i, item := range items {
			if item.Place != ledger.Pinned || int64(item.Bytes) != c.want[i] {
				t.Errorf("%+v, want %d pinned bytes", item, c.want[i])
			}
		}
	}
	if CheckSegment(&plan.Plan{Serving: plan.Serving{KVStore: "hf3fs", KVStoreSegment: 1}}) == nil {
		t.Error("a segment of a store that is not Mooncake's")
	}
}

// TestSpreadFix: no fix asks for more tensor parallelism than there are devices.
func TestSpreadFix(t *testing.T) {
	for _, c := range []struct {
		ep, ranks, devices int64
		want               string
	}{{8, 4, 8, "--tp 8, or a smaller ep"}, {96, 72, 72, "--ep 72, or 96 devices"}, {8, 1, 1, "leave ep out, or 8 devices"}} {
		if got := spreadFix(c.ep, c.ranks, c.devices); got != c.want {
			t.Errorf("ep %d on %d: %q, want %q", c.ep, c.devices, got, c.want)
		}
	}
}
