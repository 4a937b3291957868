package llamacpp

import (
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
	const widest = 1152 + 2*4304 // the stream, and the inner width before and behind its activation
	if want := unit.Bytes(4*16*4096*4096 + 4*4096*widest); c.Bytes != want || c.Low != 4*4096*widest {
		t.Errorf("%d bytes from %d for an image, want %d", c.Bytes, c.Low, want)
	}
	if it := find(t, items(nil), "mmproj.weights"); !it.Unknown {
		t.Errorf("%d bytes for a projector without a tower", it.Bytes)
	}
}
