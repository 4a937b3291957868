package vllm

import (
	"testing"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/unit"
)

// A hybrid's 4-bit checkpoint may leave its recurrent projections in 16 bits; its MLP is never among them, nor is attention's.
func TestSpared(t *testing.T) {
	tensor := func(r dtype.Role, s *dtype.Scheme, main, local int) engine.WeightTensor {
		out := engine.WeightTensor{Tensor: &model.Tensor{Role: r}, Scheme: s}
		out.Main, out.Local = unit.Bytes(main), unit.Bytes(local)
		return out
	}
	packed := dtype.MXFP4Split
	g := engine.WeightGroup{Count: 3, Tensors: []engine.WeightTensor{
		tensor(dtype.AttnQKV, packed, 1000, 1062), tensor(dtype.FFNUp, packed, 1000, 1062), tensor(dtype.SSMConv, nil, 8, 8),
	}}
	if got := spared(&g); got != 3*(4000-1062) {
		t.Errorf("a recurrent layer: %d", got)
	}
	g.Tensors = g.Tensors[:2]
	if got := spared(&g); got != 0 {
		t.Errorf("a layer of attention: %d", got)
	}
}

// TestShuffledRows: logs of CUTLASS for experts in FP4, 8,192 and 16,384 tokens on an RTX 5090; what neither weights, graphs nor pages
// are of 0.85 of 31.84 GiB.
func TestShuffledRows(t *testing.T) {
	w := widths{hidden: 2816, inner: 2112, gated: true, expert: 704, perToken: 8, shuffled: true} // Gemma 4 26B
	for tokens, logged := range map[int64]float64{8192: 27.07 - 15.77 - 9.08 - 0.2, 16384: 27.07 - 17.89 - 4.58 - 0.26 - 0.2} {
		got := forwardPeak(&ledger.Book{}, &w, tokens, engine.V(0, 20, 2)).V / (1 << 30)
		if got < 0.75*logged || got > logged {
			t.Errorf("%d tokens: %.2f GiB, logged %.2f", tokens, got, logged)
		}
	}
}
