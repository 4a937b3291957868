package docs

import (
	"fmt"
	"strings"
	"testing"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/model/catalog/catalogtest"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// Figures that docs/formulas.md states in its text, outside of commands, are computed here again: the text
// must contain what comes out.

func network(t *testing.T, id string) *model.Model {
	t.Helper()
	return catalogtest.Model(t, id)
}

func ask(t *testing.T, r *memwall.Request) *memwall.Answer {
	t.Helper()
	r.Ask = "fit"
	a, err := (&memwall.Asker{Models: memwall.Catalog{}}).Ask(r)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// perToken is the KV cache of one token in KiB, and what override makes of it.
func perToken(t *testing.T, id string, override map[string]plan.Int) int64 {
	t.Helper()
	r := &memwall.Request{Model: id, Override: override}
	r.Engine = "generic"
	return int64(ask(t, r).KV.BytesPerToken / unit.KiB)
}

func adapter(t *testing.T) unit.Bytes {
	t.Helper()
	r := &memwall.Request{Model: "llama-3.1-8b"}
	r.Engine = "generic"
	r.Adapters = []plan.Adapter{{Rank: 16, Targets: []string{"q_proj", "k_proj", "v_proj", "o_proj"}}}
	for _, it := range ask(t, r).Devices[0].Ledger {
		if it.ID == "adapters" {
			return it.Bytes
		}
	}
	return 0
}

// stated are lines of the page as they must be.
func stated(t *testing.T) []string {
	t.Helper()
	llama2, llama3, deepseek := network(t, "llama-2-7b"), network(t, "llama-3.1-8b"), network(t, "deepseek-v3")
	latent := &deepseek.Decoder().Kinds[0]
	var width int64
	latent.Caches(func(c model.Cache) { width = 2 * c.K })
	var expanded int64
	for i := range latent.Ops {
		if a := latent.Ops[i].Attn; a != nil {
			expanded = 2 * a.Heads * (a.Latent.Nope + a.Latent.Rope + a.Latent.V)
		}
	}
	layer := engine.ForwardOf([]engine.KindCount{{Kind: &llama3.Decoder().Kinds[0], Count: 32}}, llama3.Hidden, 1)
	return []string{
		fmt.Sprintf("+ 4,096 = %s.", unit.Count(llama3.Params())),
		fmt.Sprintf("8 × 11,008 + 4 × 32 = %s B per token and layer", unit.Count(llama2.Decoder().Kinds[0].SavedBytes(model.Style{}))),
		fmt.Sprintf("(512 + 64) × 2 = %s", unit.Count(width)),
		fmt.Sprintf("128 × (192 + 128) × 2 = %s B per token and layer, %d times as much", unit.Count(expanded), expanded/width),
		fmt.Sprintf("3 × 14,336 + 3 × 4,096 = %s elements", unit.Count(int64(layer.Elements))),
		fmt.Sprintf("× 16 × 2 B = %s B", unit.Count(int64(adapter(t)))),
		fmt.Sprintf("| Llama 2 7B (MHA) | 32 / 32 | %d |", perToken(t, "llama-2-7b", nil)),
		fmt.Sprintf("| Llama 3.1 8B (GQA) | 32 / 8 | %d |", perToken(t, "llama-3.1-8b", nil)),
		fmt.Sprintf("| the same with one KV head (MQA) | 32 / 1 | %d |", perToken(t, "llama-3.1-8b", map[string]plan.Int{"kv_heads": 1})),
	}
}

// statedBits are the rows of the table of formats, by what each begins with.
func statedBits() map[string]string {
	out := map[string]string{}
	for start, s := range map[string]*dtype.Scheme{
		"bf16, f16": dtype.Of(dtype.BF16), "q8_0": dtype.Of(dtype.Q8_0), "q4_k": dtype.Of(dtype.Q4_K), "q6_k": dtype.Of(dtype.Q6_K),
		"mxfp4": dtype.Of(dtype.MXFP4), "AWQ, groups of 128": dtype.AWQ(128), "NF4, double quantisation": dtype.NF4Double,
	} {
		out["| "+start+" |"] = fmt.Sprintf("| %.4g |", s.Bits())
		if s.Elem == dtype.Q6_K {
			out["| "+start+" |"] = fmt.Sprintf("| %g |", s.Bits())
		}
	}
	return out
}

// TestFiguresInText: figures in the text are those of the program.
func TestFiguresInText(t *testing.T) {
	p := pages(t)["docs/formulas.md"]
	if p == nil {
		t.Fatal("docs/formulas.md is missing")
	}
	text := strings.Join(strings.Fields(p.text()), " ")
	for _, s := range stated(t) {
		if !strings.Contains(text, s) {
			t.Errorf("docs/formulas.md does not say %q", s)
		}
	}
	for start, bits := range statedBits() {
		found := false
		for _, l := range p.lines {
			found = found || strings.HasPrefix(l, start) && strings.HasSuffix(l, bits)
		}
		if !found {
			t.Errorf("docs/formulas.md has no row %q that ends in %q", start, bits)
		}
	}
}
