// Package card collects what lists and cards show about a model, a device or a format: figures of the core, ready to be
// rendered or written as JSON. It computes nothing itself.
//
// models.go, hardware.go and formats.go have one kind each.
package card

import (
	"strings"

	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/ledger"
)

// Fact is a figure with where it comes from; a nil *Fact is unknown.
type Fact struct {
	Value  float64      `json:"value"`
	Unit   string       `json:"unit"`
	Basis  ledger.Basis `json:"basis"`
	Source string       `json:"source,omitempty"`
}

func factOf[T hardware.Quantity](f hardware.Fact[T], unitName string) *Fact {
	if !f.Known {
		return nil
	}
	out := &Fact{Value: float64(f.Value), Unit: unitName, Basis: f.Basis, Source: f.Source}
	if c, ok := hardware.Cite(f.Source); ok {
		out.Source = c.Citation
	}
	return out
}

// matches reports whether every word of a filter stands in one of the names; case, hyphens and spaces do
// not count.
func matches(filter string, names ...string) bool {
	all := fold(strings.Join(names, " | "))
	for _, w := range strings.Fields(filter) {
		if !strings.Contains(all, fold(w)) {
			return false
		}
	}
	return true
}

var folder = strings.NewReplacer("-", "", "_", "", " ", "", ".", "")

func fold(s string) string { return folder.Replace(strings.ToLower(s)) }
