package memwall

import (
	"errors"
	"strings"
	"testing"

	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

func whatIf(model string, changes map[string]plan.Int) (*Answer, error) {
	return asker().Ask(&Request{Ask: "fit", Model: model, Hardware: "8xh200", Override: changes,
		Plan: plan.Plan{Engine: "generic", TP: 1, Context: 4096, Sequences: 2}})
}

// TestOverrides: what each change makes of the parameters and of the cache of Llama 3.1 8B (32 layers, width 4,096, 32 heads
// of 128, 8 KV heads, FFN of 14,336), and of DeepSeek V2 Lite (27 layers, 64 experts of 1,408), counted by hand.
func TestOverrides(t *testing.T) {
	const llama, ds = 8_030_261_248, 15_706_484_224
	const layers, h, heads, dim, ffn = 32, 4096, 32, 128, 14336
	const kv = 2 * 2 * dim * layers // bytes of keys and values of one KV head of all layers
	const attention = 2*h*heads*dim + 2*h*8*dim
	for _, c := range []struct {
		model      string
		changes    map[string]plan.Int
		parameters int64
		perToken   unit.Bytes
	}{
		{"llama-3.1-8b", map[string]plan.Int{"kv_heads": 32}, llama + layers*2*h*24*dim, 32 * kv},
		{"llama-3.1-8b", map[string]plan.Int{"kv_heads": 1}, llama - layers*2*h*7*dim, kv},
		{"llama-3.1-8b", map[string]plan.Int{"head_dim": 64}, llama - layers*attention/2, 4 * kv},
		{"llama-3.1-8b", map[string]plan.Int{"heads": 64}, llama + layers*2*h*heads*dim, 8 * kv},
		{"llama-3.1-8b", map[string]plan.Int{"ffn": 1000}, llama - layers*3*h*(ffn-1000), 8 * kv},
		{"llama-3.1-8b", map[string]plan.Int{"layers": 16}, llama - 16*(attention+3*h*ffn+2*h), 4 * kv},
		{"llama-3.1-8b", map[string]plan.Int{"vocab": 256}, llama - 2*h*128_000, 8 * kv},
		// MLA: queries of 128 + 64, a latent of 512 with its norm and 64 numbers that turn, and what makes keys and values of it.
		{"llama-3.1-8b", map[string]plan.Int{"latent": 512, "rope": 64},
			llama + layers*(h*heads*(dim+64)+h*(512+64)+512+heads*512*2*dim+h*heads*dim-attention), 2 * layers * (512 + 64)},
		{"llama-3.1-8b", map[string]plan.Int{"experts": 8, "experts_used": 2}, llama + layers*(7*3*h*ffn+8*h), 8 * kv},
		{"deepseek-v2-lite", map[string]plan.Int{"experts": 32}, ds - 26*32*(3*2048*1408+2048), 2 * 27 * 576},
		{"deepseek-v2-lite", map[string]plan.Int{"expert_ffn": 704}, ds - 26*64*3*2048*704, 2 * 27 * 576},
		{"deepseek-v2-lite", map[string]plan.Int{"latent": 256}, ds - 27*256*(2048+1+16*(128+128)), 2 * 27 * 320},
		{"deepseek-v2-lite", map[string]plan.Int{"rope": 32}, ds - 27*32*2048*(16+1), 2 * 27 * 544},
		{"deepseek-v2-lite", map[string]plan.Int{"heads": 8}, ds - 27*8*(2048*192+512*256+128*2048), 2 * 27 * 576},
	} {
		a, err := whatIf(c.model, c.changes)
		if err != nil {
			t.Errorf("%s %v: %v", c.model, c.changes, err)
			continue
		}
		if a.Model.Parameters != c.parameters || a.KV.BytesPerToken != c.perToken {
			t.Errorf("%s %v: %d parameters, %d bytes per token; want %d, %d", c.model, c.changes, a.Model.Parameters, a.KV.BytesPerToken,
				c.parameters, c.perToken)
		}
	}
}

// TestOverrideWindow: a window limits what every layer keeps, also where no layer had one.
func TestOverrideWindow(t *testing.T) {
	all, err := whatIf("llama-3.1-8b", nil)
	if err != nil {
		t.Fatal(err)
	}
	some, err := whatIf("llama-3.1-8b", map[string]plan.Int{"window": 1024})
	if err != nil {
		t.Fatal(err)
	}
	if some.KV.NeededBytes*4 != all.KV.NeededBytes || some.Model.Parameters != all.Model.Parameters {
		t.Errorf("%d bytes of a window of 1,024, %d of 4,096 tokens", some.KV.NeededBytes, all.KV.NeededBytes)
	}
}

// TestOverrideExperts: the experts that a token uses change what is active, not what is stored.
func TestOverrideExperts(t *testing.T) {
	six, err := whatIf("deepseek-v2-lite", nil)
	if err != nil {
		t.Fatal(err)
	}
	two, err := whatIf("deepseek-v2-lite", map[string]plan.Int{"experts_used": 2})
	if err != nil {
		t.Fatal(err)
	}
	if d := six.Model.ActiveParameters - two.Model.ActiveParameters; d != 26*4*3*2048*1408 || six.Model.Parameters != two.Model.Parameters {
		t.Errorf("%d active parameters less", d)
	}
}

// TestOverrideRotary: the table of cosines and sines that vLLM holds beside the weights is as wide as what turns.
func TestOverrideRotary(t *testing.T) {
	beside := func(changes map[string]plan.Int) unit.Bytes {
		a, err := asker().Ask(&Request{Ask: "fit", Model: "deepseek-v2-lite", Hardware: "h100", Override: changes,
			Plan: plan.Plan{Engine: "vllm"}})
		if err != nil {
			t.Fatal(err)
		}
		return a.Devices[0].Sum("weights") - a.Model.WeightsBytes
	}
	const positions = 163840
	if d := beside(nil) - beside(map[string]plan.Int{"rope": 32}); d != positions*32*2 {
		t.Errorf("%d bytes less", d)
	}
	for id, want := range map[string]int64{"qwen3-8b": 64, "deepseek-v2-lite": 64, "pythia-410m": 16, "llama-3.1-8b": 64} {
		e, err := catalog.Find(id)
		if err != nil {
			t.Fatal(err)
		}
		spec, err := e.Spec()
		if err != nil {
			t.Fatal(err)
		}
		if err := question.Override(spec, map[string]plan.Int{"head_dim": plan.Int(64)}); err != nil {
			t.Fatal(err)
		}
		if got := spec.Source.Rotary[0].Dim; got != want {
			t.Errorf("%s with heads of 64: %d of them turn, want %d", id, got, want)
		}
		for _, table := range spec.Tables {
			if table.Rows != want/2 {
				t.Errorf("%s: %s has %d factors", id, table.Role, table.Rows)
			}
		}
	}
}

// TestOverridePrediction: layers that predict further tokens change with the others.
func TestOverridePrediction(t *testing.T) {
	a, err := whatIf("deepseek-v3", nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := whatIf("deepseek-v3", map[string]plan.Int{"experts": 128})
	if err != nil {
		t.Fatal(err)
	}
	if d := a.Model.ParametersMTP - b.Model.ParametersMTP; d != 128*(3*7168*2048+7168)+128 {
		t.Errorf("%d parameters of prediction less", d)
	}
}

// TestOverrideIsAssumed: with every engine the weights of a changed network are assumed, the answer says what was changed,
// and gives no command that would run another network.
func TestOverrideIsAssumed(t *testing.T) {
	for _, e := range Engines() {
		for _, changes := range []map[string]plan.Int{nil, {"ffn": 8192, "kv_heads": 4}} {
			a, err := asker().Ask(&Request{Ask: "fit", Model: "llama-3.1-8b", Hardware: "h100", Override: changes,
				Plan: plan.Plan{Engine: e, Context: 4096}})
			if err != nil {
				t.Errorf("%s: %v", e, err)
				continue
			}
			changed := len(changes) > 0
			if it := itemOf(a.Devices[0].Ledger, "weights"); it == nil || (it.Basis == ledger.Assumed) != changed || changed &&
				it.Source != "what if ffn=8192,kv_heads=4" {
				t.Errorf("%s, %v: %+v", e, changes, it)
			}
			if hasText(a, "what if ffn=8192,kv_heads=4: the network is Llama 3.1 8B's but for that") != changed || changed &&
				len(a.Flags) > 0 {
				t.Errorf("%s, %v: %+v, %v", e, changes, a.Notes, a.Flags)
			}
		}
	}
}

func itemOf(items []Item, id string) *Item {
	for i := range items {
		if items[i].ID == id {
			return &items[i]
		}
	}
	return nil
}

// TestOverrideFaults: a change that reaches nothing is refused, with what would.
func TestOverrideFaults(t *testing.T) {
	for _, c := range []struct {
		model         string
		changes       map[string]plan.Int
		field         string
		message, hint string
	}{
		{"llama-3.1-8b", map[string]plan.Int{"latent": 512}, "override.latent", "changes nothing: no layer of the model has that part",
			"latent=512,rope=64"},
		{"llama-3.1-8b", map[string]plan.Int{"rope": 64}, "override.rope", "changes nothing", "latent=512,rope=64"},
		{"llama-3.1-8b", map[string]plan.Int{"experts": 8}, "override.experts", "changes nothing", "experts=8,experts_used=2"},
		{"llama-3.1-8b", map[string]plan.Int{"expert_ffn": 8}, "override.expert_ffn", "changes nothing", "leave it out"},
		{"llama-3.1-8b", map[string]plan.Int{"expert": 8}, "override.expert", "is not known", "did you mean experts"},
		{"llama-3.1-8b", map[string]plan.Int{"experts": 2, "experts_used": 3}, "override", "more than the 2 experts", "other numbers"},
		{"deepseek-v2-lite", map[string]plan.Int{"kv_heads": 1}, "override.kv_heads", "changes nothing", "latent= changes its rank"},
		{"deepseek-v2-lite", map[string]plan.Int{"window": 128}, "override.window", "changes nothing", "leave it out"},
		{"mamba-2.8b", map[string]plan.Int{"kv_heads": 1}, "override.kv_heads", "changes nothing", ""},
		{"mamba-2.8b", map[string]plan.Int{"heads": 4}, "override.heads", "changes nothing", ""},
		{"vit-base-patch16-224", map[string]plan.Int{"layers": 4}, "override.layers", "changes nothing", "leave it out"},
	} {
		_, err := whatIf(c.model, c.changes)
		e, ok := errors.AsType[*Error](err)
		if !ok || e.Code != BadField || e.Field != c.field || !strings.Contains(e.Message, c.message) || !strings.Contains(e.Hint, c.hint) {
			t.Errorf("%s %v: %+v", c.model, c.changes, err)
		}
	}
}
