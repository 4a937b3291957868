package question

import (
	"strings"

	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/unit"
)

// A network that is read from the usual fields alone: what it may differ by from its class, as text decoders of the
// catalog differ that are read so (model/family, TestGeneric): most by norms, few by an MLP of another form.
const genericLow, genericHigh = 0.9, 1.1

// usual marks weights and caches of a network whose architecture no family has as derived, and gives the weights a band.
func usual(items []ledger.Item, how string) {
	for i := range items {
		it := &items[i]
		usual(it.Items, how)
		switch {
		case it.ID == "weights" || strings.HasSuffix(it.ID, ".weights"):
			low, high := unit.Bytes(float64(it.Bytes)*genericLow), unit.Bytes(float64(it.Bytes)*genericHigh)
			*it = it.Band(min(low, it.Low), max(high, it.High))
		case it.ID != "kv_cache":
			continue
		}
		it.Basis, it.Source = max(it.Basis, ledger.Derived), how
	}
}
