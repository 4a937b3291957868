// Package ledger keeps the accounts of memory: items with bytes, bands, a basis, a lifetime and a place, the rules for
// summing them, and the formulas behind them. It knows nothing of models or engines.
//
// item.go has the items and their sums, book.go the recorder that computes a number and remembers how, formula.go the
// printed form, and eval.go the check that a printed formula evaluates to the printed number.
package ledger

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall/fault"
)

// Basis says where a number comes from. Larger values are weaker.
type Basis uint8

const (
	// Exact: read from a file, or determined by shapes and the engine's own rule.
	Exact Basis = iota
	// Derived: a formula that models the engine's behaviour.
	Derived
	// Vendor: taken from a datasheet.
	Vendor
	// Measured: fitted to measurements.
	Measured
	// Assumed: a documented constant.
	Assumed
)

var basisNames = [...]string{"exact", "derived", "vendor", "measured", "assumed"}

func (b Basis) String() string { return basisNames[b] }

// MarshalText implements encoding.TextMarshaler.
func (b Basis) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (b *Basis) UnmarshalText(t []byte) error { return unmarshal(b, basisNames[:], t) }

// Life says how long memory stays allocated.
type Life uint8

const (
	// Persistent: for as long as the model is loaded (weights).
	Persistent Life = iota
	// SemiPersistent: across requests or steps (KV cache, optimizer state, graphs).
	SemiPersistent
	// Ephemeral: within one step (activations, logits).
	Ephemeral
)

var lifeNames = [...]string{"persistent", "semi_persistent", "ephemeral"}

func (l Life) String() string { return lifeNames[l] }

// MarshalText implements encoding.TextMarshaler.
func (l Life) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (l *Life) UnmarshalText(t []byte) error { return unmarshal(l, lifeNames[:], t) }

// Place says which memory holds the bytes.
type Place uint8

const (
	// Device is the accelerator's own memory.
	Device Place = iota
	// Pinned is page-locked host memory.
	Pinned
	// Host is ordinary host memory.
	Host
	// Mapped is a memory-mapped file: host memory that the operating system may reclaim.
	Mapped
	// Disk is NVMe or any other file system.
	Disk
	// Pool is memory beyond the host: attached over CXL, or on another machine.
	Pool
)

var placeNames = [...]string{"device", "pinned", "host", "mapped", "disk", "pool"}

func (p Place) String() string { return placeNames[p] }

// MarshalText implements encoding.TextMarshaler.
func (p Place) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
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
