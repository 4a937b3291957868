package card

import (
	"testing"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/unit"
)

// Every model of the catalog has a row and a card that agree.
func TestModels(t *testing.T) {
	rows := Models("")
	if len(rows) != len(catalog.IDs()) {
		t.Fatalf("%d rows of %d models", len(rows), len(catalog.IDs()))
	}
	for _, r := range rows {
		c, err := ModelOf(memwall.Catalog{}, r.ID)
		if err != nil {
			t.Errorf("%s: %v", r.ID, err)
			continue
		}
		if c.Parameters != r.Parameters || c.KVPerToken != r.KVPerToken || r.Parameters < 1e7 || r.Active > r.Parameters ||
			r.Attention == "" {
			t.Errorf("%+v and %+v", r, c.ModelRow)
		}
		layers := int64(0)
		for _, k := range c.Layers {
			layers += k.Count
		}
		if layers < 1 || len(c.Weights) < 5 || c.Source == "" {
			t.Errorf("%s: %+v", r.ID, c)
		}
		published := 0
		for i, w := range c.Weights {
			if w.Published {
				published++
			}
			if i > 0 && w.Bytes > c.Weights[i-1].Bytes {
				t.Errorf("%s: weights out of order: %+v", r.ID, c.Weights)
			}
		}
		if published != 1 && c.Native != "" {
			t.Errorf("%s: %d formats are the published one", r.ID, published)
		}
	}
}

// Figures that anyone can check: 2 × layers × KV heads × head dimension × 2 bytes, and the published size.
func TestModelFigures(t *testing.T) {
	for _, c := range []struct {
		id        string
		perToken  unit.Bytes
		attention string
	}{
		{"llama-3.1-8b", 2 * 32 * 8 * 128 * 2, "GQA 32/8"},
		{"llama-3.1-70b", 2 * 80 * 8 * 128 * 2, "GQA 64/8"},
		{"deepseek-v3", 61 * 576 * 2, "MLA 576"},
		{"gemma-2b", 2 * 18 * 1 * 256 * 2, "MQA 8/1"},
		{"bge-m3", 0, "encoder: every token reads every other"},
		{"whisper-base", 2 * 6 * 8 * 64 * 2, "MHA 8, 6 × cross-attention"},
		{"gemma-3-27b", 2 * 10 * 16 * 128 * 2, "GQA 32/16, 52 × window 1k"},
	} {
		m, err := ModelOf(memwall.Catalog{}, c.id)
		if err != nil || m.KVPerToken != c.perToken || m.Attention != c.attention {
			t.Errorf("%s: %v, %s, %v", c.id, m.KVPerToken, m.Attention, err)
		}
	}
	m, err := ModelOf(memwall.Catalog{}, "llama-3.1-70b")
	if err != nil || len(m.Caches) != 2 || m.Caches[0].Bytes != 8192*m.KVPerToken {
		t.Errorf("%+v, %v", m.Caches, err)
	}
	if _, err := ModelOf(memwall.Catalog{}, "lama"); err == nil {
		t.Error("a card of lama")
	}
}

func TestHardware(t *testing.T) {
	h, err := HardwareOf(memwall.Catalog{}, "h100")
	if err != nil {
		t.Fatal(err)
	}
	if h.ID != "h100-sxm-80gb" || h.Sweep.Value < 0.02 || h.Sweep.Value > 0.03 || h.Ridge.Value < 290 || h.Ridge.Value > 300 ||
		len(h.Rents) == 0 || len(h.Notes) == 0 {
		t.Errorf("%+v", h)
	}
	verdicts := map[string]memwall.Verdict{}
	for _, x := range h.Holds {
		verdicts[x.Words] = x.Verdict
	}
	if verdicts["8B bf16"] != memwall.Fits || verdicts["70B bf16"] != memwall.DoesNotFit {
		t.Errorf("holds %v", verdicts)
	}
	for _, r := range Devices("") {
		if r.ID == "" || r.Name == "" || r.Memory == nil && r.Bandwidth == nil {
			t.Errorf("%+v", r)
		}
	}
	if n := NodeOf("p5.48xlarge"); n == nil || n.Devices != 8 || len(n.Rents) == 0 {
		t.Errorf("%+v", n)
	}
	if len(Devices("h100")) < 2 || len(Devices("nothing like it")) != 0 || len(Nodes("")) != 0 || len(Nodes("h100")) == 0 {
		t.Error("filters")
	}
}

func TestFormats(t *testing.T) {
	f := FormatOf("bfloat16")
	if f == nil || f.Bits != 16 || f.PerBillion != 2_000_000_000 || f.Float.Exponent != 8 || f.Beside == nil || f.Beside.Name != "f16" ||
		f.Native == "" {
		t.Errorf("%+v", f)
	}
	r := RecipeOf("Q4_K - Medium")
	if r == nil || r.Name != "q4_k_m" || len(r.On) != len(examples) {
		t.Errorf("%+v", r)
	}
	for _, r := range Recipes("") {
		if r.Bits <= 0 || r.Bits > 64 || len(r.On) != 1 {
			t.Errorf("%+v", r)
		}
	}
	plain, blocks := Formats("")
	if len(plain) < 8 || len(blocks) < 20 {
		t.Errorf("%d and %d", len(plain), len(blocks))
	}
	if FormatOf("q9") != nil || RecipeOf("q9") != nil || NoFormat("awqq").Hint == "" {
		t.Error("q9 is something")
	}
	for _, u := range dtype.Uses() {
		if c := FormatOf(u.Format.Name); c == nil || c.StoredBy != u.StoredBy {
			t.Errorf("%s: %+v", u.Format.Name, c)
		}
	}
}
