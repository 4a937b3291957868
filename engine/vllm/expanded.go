package vllm

import (
	"fmt"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/unit"
)

// latentCaches is the first version that caches latents (#12601). Those before cached the keys and values of every
// head, all padded to one width (vllm/model_executor/models/deepseek_v2.py).
var latentCaches = engine.V(0, 7, 1)

// paddedHead is the width to which they were padded, the next one that attention kernels knew.
const paddedHead = 256

// expand makes the spec of a latent one of keys and values of every head, where the kind's attention has a latent.
func (s *spec) expand(k *model.Kind, element float64) {
	for i := range k.Ops {
		a := k.Ops[i].Attn
		if a == nil || a.Latent == nil || s.class != model.LatentKV {
			continue
		}
		s.class = model.FullKV
		s.perTok = unit.Bytes(2 * float64(a.Heads*paddedHead) * element)
		s.page = unit.Bytes(s.block) * s.perTok
		s.origin = fmt.Sprintf("2 × %d heads × %d, padded, × %g B", a.Heads, paddedHead, element)
	}
}
