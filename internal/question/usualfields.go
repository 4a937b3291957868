package question

import (
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/model/family"
	"github.com/memwall/memwall/unit"
)

// usual marks weights and caches of an unknown architecture as derived, and gives the weights a relative band. If the
// text part is of a known family its cache is exact; if the network was inferred from a file's tensors its weights are.
func usual(items []ledger.Item, r *api.Resolved) {
	how, s, byTensors := r.Derived, r.Spec, r.Format == "gguf"
	for i := range items {
		it := &items[i]
		usual(it.Items, r)
		switch {
		case byTensors && it.ID != "kv_cache":
			continue
		case byTensors:
		case it.ID == "weights" || strings.HasSuffix(it.ID, ".weights"):
			bytes := float64(it.Bytes)
			*it = it.Band(min(unit.Bytes(bytes*(1-max(s.UnsureBelow, min(s.Unsure, family.Unsure)))), it.Low),
				max(unit.Bytes(bytes*(1+s.Unsure)), it.High))
		case it.ID != "kv_cache" || s.Unsure < family.Unsure:
			continue
		}
		it.Basis, it.Source = max(it.Basis, ledger.Derived), how
	}
}
