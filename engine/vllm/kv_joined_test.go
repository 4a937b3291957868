package vllm

import (
	"testing"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/unit"
)

// sparse are DeepSeek V3.2's layers: a latent and an index key in each.
func sparse(layers int64) []spec {
	return []spec{
		{class: model.LatentKV, block: 64, page: 64 * 1152, perTok: 1152, layers: layers},
		{class: model.IndexKV, block: 64, page: 64 * 132, perTok: 132, layers: layers},
	}
}

// TestJoinedGroup: layers of two widths that keep every token are one group, whose page is a page of each.
func TestJoinedGroup(t *testing.T) {
	g, err := group(sparse(61), engine.V(0, 24, 0), 64)
	if err != nil {
		t.Fatal(err)
	}
	const perToken = 61 * (1152 + 132)
	if g.total() != 1 || g.size != 1 || g.page() != 64*perToken || g.perToken() != perToken || g.padded {
		t.Errorf("%+v", g)
	}
	if n := g.perRequest(8192, 2048); n != 128 {
		t.Errorf("%d blocks for 8,192 tokens", n)
	}
	half := g.stage(sparse(30))
	if half.page() != 64*30*(1152+132) || half.size != 1 {
		t.Errorf("a stage of 30 layers: %+v", half)
	}
	if _, err := group(sparse(61), engine.V(0, 10, 0), 64); err == nil {
		t.Error("before 0.11 pages of two sizes had no pool")
	}
}

// TestPaddedIndex: beside windows, pages of index keys are padded, and the result says so.
func TestPaddedIndex(t *testing.T) {
	specs := []spec{
		{class: model.WindowKV, span: 128, block: 64, page: 64 * 1024, perTok: 1024, layers: 43},
		{class: model.LatentKV, block: 64, page: 64 * 256, perTok: 256, layers: 21},
		{class: model.IndexKV, block: 64, page: 64 * 33, perTok: 33, layers: 21},
	}
	g, err := group(specs, engine.V(0, 24, 0), 64)
	if err != nil || !g.padded || g.joined {
		t.Fatalf("%+v, %v", g, err)
	}
	for _, s := range g.specs {
		if s.page != 64*1024 || s.class == model.IndexKV && unit.Bytes(s.block)*33 > s.page {
			t.Errorf("%+v", s)
		}
	}
}
