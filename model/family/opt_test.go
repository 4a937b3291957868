package family

import (
	"fmt"
	"strings"
	"testing"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model"
)

func optConfig(hidden, layers, heads, inner int64, more string) string {
	return fmt.Sprintf(`{"architectures":["OPTForCausalLM"],"model_type":"opt","hidden_size":%d,"num_hidden_layers":%d,"num_attention_heads":%d,
		"ffn_dim":%d,"max_position_embeddings":2048,"vocab_size":50272,"torch_dtype":"float16"%s}`, hidden, layers, heads, inner, more)
}

func readOPT(t *testing.T, config string) (*model.Model, error) {
	t.Helper()
	c, err := ParseConfig([]byte(config))
	if err != nil {
		t.Fatal(err)
	}
	return FromConfigModel("opt", c)
}

// TestOPTParameters: totals of the published checkpoints, of which the head is the embedding. Sizes are of
// arXiv:2205.01068, table 1.
func TestOPTParameters(t *testing.T) {
	for _, c := range []struct{ hidden, layers, heads, inner, want int64 }{
		{768, 12, 12, 3072, 125_239_296},
		{2048, 24, 32, 8192, 1_315_758_080},
		{4096, 32, 32, 16384, 6_658_473_984},
	} {
		m, err := readOPT(t, optConfig(c.hidden, c.layers, c.heads, c.inner, ""))
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Params(); got != c.want {
			t.Errorf("hidden size %d: %d parameters, want %d", c.hidden, got, c.want)
		}
		if !m.Tied || len(m.Rotary) > 0 || m.Context != 2048 {
			t.Errorf("hidden size %d: tied %v, rotary %v, context %d", c.hidden, m.Tied, m.Rotary, m.Context)
		}
	}
}

// TestOPTPositions: the table of positions has two rows more than the context.
func TestOPTPositions(t *testing.T) {
	m, err := readOPT(t, optConfig(768, 12, 12, 3072, ""))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range m.Decoder().Pre.Ops {
		if o.Role == dtype.PositionEmbd {
			if o.W[0].Rows() != 2050 {
				t.Errorf("%d positions", o.W[0].Rows())
			}
			return
		}
	}
	t.Error("no positions")
}

// TestOPTRefusals: what opt-350m alone has is refused by the name of its field.
func TestOPTRefusals(t *testing.T) {
	for _, more := range []string{`,"word_embed_proj_dim":512`, `,"do_layer_norm_before":false`, `,"layer_norm_elementwise_affine":false`} {
		_, err := readOPT(t, optConfig(1024, 24, 16, 4096, more))
		field := strings.Split(more, `"`)[1]
		if err == nil || !strings.HasPrefix(err.Error(), field+" = ") {
			t.Errorf("%s: %v", more, err)
		}
	}
}
