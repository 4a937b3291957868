package family

import (
	"fmt"
	"testing"

	"github.com/memwall/memwall/model"
)

// TestRWKVParameters: the counts that the papers give: 2VD + 13D²L + D(11L + 4) for version 4 (arXiv:2305.13048, table 2),
// 13D²L + 14DL + 4D + 2DV for Eagle and 13D²L + 464DL + 4D + 2DV for Finch up to 3B (arXiv:2404.05892, appendix).
func TestRWKVParameters(t *testing.T) {
	for _, c := range []struct {
		kind    string
		d, l, v int64
		perDL   int64
	}{{"rwkv", 768, 12, 50277, 11}, {"rwkv5", 2048, 24, 65536, 14}, {"rwkv5", 4096, 32, 65536, 14}, {"rwkv6", 2048, 24, 65536, 464}, {"rwkv6", 2560, 32, 65536, 464}} {
		m := readModel(t, fmt.Sprintf(`{"model_type":%q,"hidden_size":%d,"num_hidden_layers":%d,"vocab_size":%d}`, c.kind, c.d, c.l, c.v))
		if want := 13*c.d*c.d*c.l + c.perDL*c.d*c.l + 4*c.d + 2*c.d*c.v; m.Params() != want {
			t.Errorf("%+v: %d parameters, want %d", c, m.Params(), want)
		}
	}
}

// TestRWKVStates: a matrix for every head, or three numbers for every channel; and of the last token what both branches mix.
func TestRWKVStates(t *testing.T) {
	for kind, want := range map[string]int64{"rwkv": 3 * 128, "rwkv5": 128 * 64, "rwkv6": 128 * 64} {
		m := readModel(t, fmt.Sprintf(`{"model_type":%q,"hidden_size":128,"num_hidden_layers":2,"vocab_size":256}`, kind))
		var state, shift int64
		m.Decoder().Each(func(k *model.Kind, n int64) {
			k.Caches(func(c model.Cache) { state, shift = state+n*c.StateElems, shift+n*c.ConvElems })
		})
		if state != 2*want || shift != 2*2*128 {
			t.Errorf("%s keeps %d and %d elements", kind, state, shift)
		}
	}
}
