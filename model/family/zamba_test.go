package family

import (
	"testing"

	"github.com/memwall/memwall/model"
)

const zambaTiny = `{"model_type":"zamba2","hidden_size":64,"num_hidden_layers":6,"num_attention_heads":4,"n_mamba_heads":4,"mamba_d_state":16,"intermediate_size":256,"adapter_rank":8,
	"vocab_size":256,"num_mem_blocks":2,"layers_block_type":["mamba","hybrid","hybrid","mamba","hybrid","hybrid"]}`

// TestSharedBlocks: a block is held once and read by each layer that uses it; what a use adds is its own.
func TestSharedBlocks(t *testing.T) {
	m := readModel(t, zambaTiny)
	d := m.Decoder()
	owned := func(layer int) int64 { return d.Kinds[d.Layers[layer]].Params() }
	const q, block = 128 * 128, 128 + 3*128*128 + 64*128 + 64 + 3*256*64
	const use = 64*8 + 8*512 + 64*64
	plain := owned(0)
	for layer, want := range []int64{plain, plain + block + use, plain + block + use, plain, plain + use, plain + use} {
		if got := owned(layer); got != want {
			t.Errorf("layer %d holds %d parameters, want %d", layer, got, want)
		}
	}
	var kv, states int64
	d.Each(func(k *model.Kind, n int64) {
		k.Caches(func(c model.Cache) {
			kv += n * (c.K + c.V)
			if c.Class == model.StateCache {
				states += n
			}
		})
	})
	if kv != 4*2*128 || states != 6 || !m.Traits.Hybrid || m.Traits.Heads != 4 {
		t.Errorf("caches of %d elements a token and %d states, %+v", kv, states, m.Traits)
	}
	of := func(layer int) *model.Tensor {
		for _, o := range d.Kinds[d.Layers[layer]].Ops {
			if o.Kind == model.Linear && o.W[0].Elems() == q {
				return o.W[0]
			}
		}
		return nil
	}
	if of(1) == nil || of(1) != of(4) || of(1) == of(2) || of(2) != of(5) {
		t.Error("layers do not read the blocks in turn")
	}
}

// TestLocalLayers: GPT-Neo's list of patterns is unrolled, and one that does not give the layers is refused.
func TestLocalLayers(t *testing.T) {
	const neo = `{"model_type":"gpt_neo","hidden_size":64,"num_layers":4,"num_heads":4,"vocab_size":256,"attention_types":`
	m := readModel(t, neo+`[[["global","local"],2]]}`)
	windows := 0
	m.Decoder().Each(func(k *model.Kind, n int64) {
		k.Caches(func(c model.Cache) {
			if c.Span == 256 {
				windows += int(n)
			}
		})
	})
	if windows != 2 {
		t.Errorf("%d layers with a window", windows)
	}
	for _, bad := range []string{`[[["global"],3]]`, `[[["global"],"x"]]`, `[3]`, `[[["global"],1000000]]`} {
		c, err := ParseConfig([]byte(neo + bad + "}"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := FromConfig(c); err == nil {
			t.Errorf("%s is read", bad)
		}
	}
}

// TestOpenMoE: every other layer has experts and a further MLP behind them, with a norm; gates have twice the rows.
func TestOpenMoE(t *testing.T) {
	m := readModel(t, `{"architectures":["OpenMoeForCausalLM"],"intermediate_size":64,"hidden_size":32,"num_hidden_layers":4,"head_dim":16,"num_attention_heads":4,"vocab_size":256,"hidden_act":"swiglu",
		"num_experts":8,"topk":2,"gated":true,"moe_layer_interval":2}`)
	const attention, mlp = 4 * 32 * 64, 4 * 32 * 64
	want := int64(2*256*32 + 32 + 4*(attention+2*32+mlp) + 2*(32+8*32+8*mlp))
	if got := m.Params(); got != want {
		t.Errorf("%d parameters, want %d", got, want)
	}
}
