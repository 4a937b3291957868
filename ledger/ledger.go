// Package ledger keeps the books: items with bytes, bands, a basis, a lifetime and a place, the laws of
// their sums, and the formulas behind them. It knows nothing of models or engines.
//
// item.go has the items and their sums, book.go the recorder that computes a number and remembers how,
// formula.go what it prints, eval.go the check that a printed formula gives the printed number.
package ledger

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall/fault"
)

// Basis says where a number comes from. A larger Basis is a weaker one.
type Basis uint8

const (
	// Exact: read from a file, or fixed by shapes and the engine's rule.
	Exact Basis = iota
	// Derived: a formula of the engine's behaviour.
	Derived
	// Vendor: a datasheet.
	Vendor
	// Measured: fitted to measurements.
	Measured
	// Assumed: a stated constant.
	Assumed
)

var basisNames = [...]string{"exact", "derived", "vendor", "measured", "assumed"}

func (b Basis) String() string { return basisNames[b] }

// MarshalText writes the word.
func (b Basis) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// UnmarshalText reads the word.
func (b *Basis) UnmarshalText(t []byte) error { return unmarshal(b, basisNames[:], t) }

// Life says how long bytes stay.
type Life uint8

const (
	// Persistent: as long as the model is loaded (weights).
	Persistent Life = iota
	// SemiPersistent: from request to request or step to step (KV cache, optimizer state, graphs).
	SemiPersistent
	// Ephemeral: within one step (activations, logits).
	Ephemeral
)

var lifeNames = [...]string{"persistent", "semi_persistent", "ephemeral"}

func (l Life) String() string { return lifeNames[l] }

// MarshalText writes the word.
func (l Life) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads the word.
func (l *Life) UnmarshalText(t []byte) error { return unmarshal(l, lifeNames[:], t) }

// Place says in which memory bytes lie.
type Place uint8

const (
	// Device is the accelerator's own memory.
	Device Place = iota
	// Pinned is page-locked host memory.
	Pinned
	// Host is ordinary host memory.
	Host
	// Mapped is a memory-mapped file: host memory that the system may take back.
	Mapped
	// Disk is NVMe or any other file system.
	Disk
	// Pool is memory beyond the host: CXL, or another machine's.
	Pool
)

var placeNames = [...]string{"device", "pinned", "host", "mapped", "disk", "pool"}

func (p Place) String() string { return placeNames[p] }

// MarshalText writes the word.
func (p Place) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads the word.
func (p *Place) UnmarshalText(t []byte) error { return unmarshal(p, placeNames[:], t) }

func unmarshal[T ~uint8](dst *T, names []string, text []byte) error {
	for i, n := range names {
		if n == string(text) {
			*dst = T(i)
			return nil
		}
	}
	return fault.New(fmt.Sprintf("%q is none of %s", text, strings.Join(names, " ")), "one of "+strings.Join(names, ", "))
}
