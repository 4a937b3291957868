package family

import (
	"testing"

	"github.com/memwall/memwall/model"
)

// TestStripedHyena: Evo's published size of 6.45 billion, and states of two rows of three projections and eight complex
// numbers a channel in its 29 long convolutions.
func TestStripedHyena(t *testing.T) {
	m := readModel(t, `{"architectures":["StripedHyenaModelForCausalLM"],"attn_layer_idxs":[8,16,24],"hidden_size":4096,"inner_mlp_size":10928,"num_layers":32,"num_attention_heads":32,"proj_groups":1,
		"short_filter_length":3,"short_filter_bias":true,"state_size":8,"hyena_filter_groups":1,"vocab_size":512,"tie_embeddings":true,"qkv_proj_bias":false,"max_seqlen":8192}`)
	if got := m.Params(); got/1e7 != 645 {
		t.Errorf("%d parameters", got)
	}
	const h = 4096
	state, caches := int64(0), int64(0)
	m.Decoder().Each(func(k *model.Kind, n int64) {
		k.Caches(func(c model.Cache) {
			if c.Scan == nil {
				caches += n
				return
			}
			state += n * (c.StateElems + c.ConvElems)
		})
	})
	if caches != 3 || state != 29*(2*3*h+2*8*h) {
		t.Errorf("%d layers with keys and values, %d numbers of state, want %d", caches, state, 29*(2*3*h+2*8*h))
	}
}

// TestLongConvolutionKeeps: per channel and token of one sequence in training, a layer's convolution keeps its input (2 bytes), the
// spectra of input (16: all points of an FFT of twice the tokens) and filter (8), and fp32 exponentials of its eight poles. Two
// sequences share the filter's, and frozen weights keep the filter's spectrum and the input alone.
func TestLongConvolutionKeeps(t *testing.T) {
	m := readModel(t, `{"architectures":["StripedHyenaModelForCausalLM"],"attn_layer_idxs":[1],"hidden_size":512,"inner_mlp_size":1024,"num_layers":2,"num_attention_heads":4,"proj_groups":1,
		"short_filter_length":3,"short_filter_bias":true,"state_size":8,"hyena_filter_groups":1,"vocab_size":512,"tie_embeddings":true,"qkv_proj_bias":false,"max_seqlen":8192}`)
	kept := func(s model.Style) (n int64) {
		m.Decoder().Each(func(k *model.Kind, _ int64) { n += k.Saved(s)[model.Scan] })
		return n / 512
	}
	for want, s := range map[int64]model.Style{2 + 16 + 8 + 4*8: {}, 2 + 16 + (8+4*8)/2: {Sequences: 2}, 2 + 8: {Frozen: true}} {
		if got := kept(s); got != want {
			t.Errorf("%+v: %d bytes a channel and token, want %d", s, got, want)
		}
	}
}
