package vllm

import (
	"fmt"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/unit"
)

// Sparse attention of DeepSeek keeps an FP8 cache in a layout of its kernels, fp8_ds_mla: the part without positions in
// FP8, its scales, the 64 turned numbers in bf16 (vllm/v1/kv_cache_interface.py, MLAAttentionSpec.real_page_size_bytes).

// sparseSlots is since when: DeepSeek-V3.2 came with it.
var sparseSlots = engine.V(0, 11, 0)

// slot is what a cached row of a layer takes.
type slot struct {
	bytes unit.Bytes
	parts string
}

var (
	slotV32 = slot{512 + 16 + 2*64, "512 in FP8, 4 scales in f32, 64 in bf16"}
	slotV4  = slot{448 + 2*64 + 8, "448 in FP8, 64 in bf16, 8 bytes of scales"}
)

// slotOf gives the layout of a layer's rows, nil when they are plain: the kernels know one shape of each model.
func slotOf(k *model.Kind) *slot {
	for i := range k.Ops {
		a := k.Ops[i].Attn
		switch {
		case a == nil:
		case a.OneKV && a.DimK == 512:
			return &slotV4
		case a.Latent != nil && a.Latent.Rank == 512 && a.Latent.Rope == 64 && (a.Index != nil || a.Chosen > 0):
			return &slotV32
		}
	}
	return nil
}

// put gives a spec of keys and values the layout; one of compressed rows has a slot for every so many tokens.
func (l *slot) put(s *spec, c *model.Cache) {
	if c.Class == model.IndexKV || c.Class == model.StateCache || c.K == 0 {
		return
	}
	every := unit.Bytes(1)
	if c.DimK > c.K {
		every = unit.Bytes(c.DimK / c.K)
	}
	s.perTok = unit.Bytes(unit.CeilDiv(int64(l.bytes), int64(every)))
	s.page = unit.Bytes(s.block) * l.bytes / every
	s.origin = fmt.Sprintf("a slot of %d B: %s", l.bytes, l.parts)
	if every > 1 {
		s.origin += fmt.Sprintf(", for every %d tokens", every)
	}
}
