package llamacpp

import (
	"math"
	"testing"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/model/family"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// find an item by its id.
func find(t *testing.T, items []ledger.Item, id string) ledger.Item {
	t.Helper()
	for _, it := range items {
		if it.ID == id {
			return it
		}
	}
	t.Fatalf("no item %s", id)
	return ledger.Item{}
}

// TestDraft: a draft model adds, at every place, what it would take alone with a slot's context for each
// slot; llama-server reserves rows of logits for what is drafted.
func TestDraft(t *testing.T) {
	for _, devices := range []int{0, 1, 2} {
		job := func(id string) *engine.Job {
			return jobOf(t, id, "q4_k_m", cards(t, devices), Latest, small(func(p *plan.Plan) { p.Context, p.Sequences = 4096, 3 }))
		}
		j, alone := job("llama-3.1-8b"), job("llama-3.2-1b")
		j.Plan.DraftModel, j.Draft = "llama-3.2-1b", &engine.Job{Model: alone.Model, Weights: alone.Weights, Plan: &plan.Plan{}}
		ranks := sizerOf(t, Engine{Server}, j).Size(nil, j.Load())
		want := sizerOf(t, Engine{Server}, alone).Size(nil, alone.Load())
		for i := range ranks {
			for id := range draftParts {
				if a, b := bytesOf(ranks[i].Items, "draft."+id), bytesOf(want[i].Items, id); a != b {
					t.Errorf("%d devices, device %d: %d bytes of draft.%s, alone %d", devices, i, a, id, b)
				}
				if a, b := bytesOf(ranks[i].Host, "draft."+id), bytesOf(want[i].Host, id); a != b {
					t.Errorf("%d devices, host: %d bytes of draft.%s, alone %d", devices, a, id, b)
				}
			}
			if bytesOf(ranks[i].Items, "draft.driver", "draft.other") > 0 {
				t.Errorf("%d devices: the draft model has a driver of its own", devices)
			}
		}
		if c := find(t, ranks[0].Items, "draft.compute"); c.High <= c.Bytes || c.Basis != ledger.Derived {
			t.Errorf("%d devices: the draft model's compute buffer is %d to %d, %s, for contexts that may be one or three", devices, c.Bytes, c.High, c.Basis)
		}
		if int64(j.Plan.LogitRows) != 3*(1+int64(j.Plan.DraftTokens)) {
			t.Errorf("%d rows of logits", j.Plan.LogitRows)
		}
	}
}

// TestAdapters: rank × (inputs + outputs) of each matrix, where the matrix is; without a format between f16
// and f32.
func TestAdapters(t *testing.T) {
	size := func(ngl int64, a ...plan.Adapter) (device, host ledger.Item) {
		j := jobOf(t, "llama-3.1-8b", "q4_k_m", cards(t, 1), Latest, small(func(p *plan.Plan) { p.Adapters, p.GPULayers = a, layers(ngl) }))
		ranks := sizerOf(t, Engine{CLI}, j).Size(nil, j.Load())
		if ngl > 0 {
			device = find(t, ranks[0].Items, "adapters")
		}
		if ngl < 33 {
			host = find(t, ranks[0].Host, "adapters")
		}
		return device, host
	}
	// q: 4096 and 4096, v: 4096 and 1024
	const each = 16 * (4096 + 4096 + 4096 + 1024)
	attention := plan.Adapter{Rank: 16, Targets: []string{"q_proj", "v_proj"}, Format: "fp16"}
	if d, _ := size(33, attention); d.Bytes != 32*2*each || d.Basis != ledger.Exact {
		t.Errorf("%d bytes, %s, want %d", d.Bytes, d.Basis, 32*2*each)
	}
	d, h := size(9, attention) // 8 layers and the head
	if d.Bytes != 8*2*each || h.Bytes != 24*2*each || h.Place != ledger.Host {
		t.Errorf("%d bytes on the device and %d on the host, want %d and %d", d.Bytes, h.Bytes, 8*2*each, 24*2*each)
	}
	attention.Format = ""
	if d, _ := size(33, attention, attention); d.Bytes != 2*32*4*each || d.Low != d.Bytes/2 || d.Basis != ledger.Derived {
		t.Errorf("%d bytes from %d, %s, want %d", d.Bytes, d.Low, d.Basis, 2*32*4*each)
	}
}

// TestProjector: matrices in f16, vectors in f32, and the scores of an image's patches; a model whose tower is
// not known leaves a projector unknown.
func TestProjector(t *testing.T) {
	items := func(vision *model.Part) []ledger.Item {
		j := jobOf(t, "gemma-3-4b", "q4_k_m", cards(t, 1), Latest, small(func(p *plan.Plan) { p.MMProj = "mmproj.gguf" }))
		j.Vision = vision
		return sizerOf(t, Engine{Server}, j).Size(nil, j.Load())[0].Items
	}
	e, err := catalog.Find("gemma-3-4b")
	if err != nil {
		t.Fatal(err)
	}
	published, err := e.Spec()
	if err != nil {
		t.Fatal(err)
	}
	tower := published.Model("x").Part(family.PartVision) // SigLIP: 16 heads, width 1,152, 4,096 patches
	all := items(tower)
	w, c := find(t, all, "mmproj.weights"), find(t, all, "mmproj.compute")
	elems := unit.Bytes(tower.Params())
	if w.Bytes < 2*elems || w.Bytes > 2*elems+elems/5 || w.Low >= elems*6/5 || w.High != 4*elems {
		t.Errorf("%d bytes from %d to %d for %d parameters", w.Bytes, w.Low, w.High, elems)
	}
	if want := unit.Bytes(4 * 4096 * (6*1152 + 3*14*14)); c.Bytes != want || c.Low >= want || c.High <= want {
		t.Errorf("%d bytes from %d to %d for an image, want %d", c.Bytes, c.Low, c.High, want)
	}
	if it := find(t, items(nil), "mmproj.weights"); !it.Unknown {
		t.Errorf("%d bytes for a projector without a tower", it.Bytes)
	}
}

// TestImages: compute buffers that llama.cpp reports of projectors, in MiB: with flash attention and without.
func TestImages(t *testing.T) {
	qwen := engine.Projector{Hidden: 1152, Heads: 16, Image: 768, Patch: 16, Merge: 2, Kind: "qwen3vl_merger", Out: 5120}
	older := engine.Projector{Hidden: 1280, Heads: 16, Image: 560, Patch: 14, Merge: 2, Kind: "qwen2vl_merger"}
	deep, windows := qwen, older
	deep.Deep, deep.Out, windows.Kind = 3, 4096, "qwen2.5vl_merger"
	const issues = "https://github.com/gpustack/gguf-parser-go/issues/44" // ROCm, -fa on and off
	for _, c := range []struct {
		file       engine.Projector
		flash, off float64
		source     string
	}{
		{engine.Projector{Hidden: 1152, Heads: 16, Image: 896, Patch: 14, Kind: "gemma3"}, 121.25, 1132, "https://github.com/ggml-org/llama.cpp/pull/16837"},
		{qwen, 248.10, 0, "the log of a server with the projector of Qwen3.6 27B, 2026-05"},
		{deep, 372.08, 0, "https://github.com/ggml-org/llama.cpp/issues/18181"},
		{older, 267, 4598, issues},
		{windows, 705, 4872, issues},
	} {
		for attention, want := range map[string]float64{"flash": c.flash, "eager": c.off} {
			j := jobOf(t, "gemma-3-4b", "q4_k_m", cards(t, 1), Latest, small(func(p *plan.Plan) { p.MMProj, p.Attention = "mmproj.gguf", attention }))
			c.file.Bytes = 851251104
			j.Projector = &c.file
			all := sizerOf(t, Engine{Server}, j).Size(nil, j.Load())[0].Items
			if w := find(t, all, "mmproj.weights"); w.Bytes != c.file.Bytes || w.Basis != ledger.Exact {
				t.Errorf("%s: %d bytes of weights, %s", c.file.Kind, w.Bytes, w.Basis)
			}
			it := find(t, all, "mmproj.compute")
			got := float64(it.Bytes) / float64(unit.MiB)
			if want > 0 && (math.Abs(got/want-1) > 0.07 || want < 0.99*float64(it.Low)/float64(unit.MiB) || want > 1.01*float64(it.High)/float64(unit.MiB)) {
				t.Errorf("%s, %s: %.2f MiB from %v to %v, measured %.2f (%s)", c.file.Kind, attention, got, it.Low, it.High, want, c.source)
			}
		}
	}
}
