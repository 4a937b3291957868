// Package unit defines the quantities that memwall computes with: bytes, floating-point operations, seconds, rates,
// energy and money, with parsing and formatting.
//
// The unit is part of the type, never of a name, and decimal and binary prefixes are never mixed: GB is 10^9 bytes, GiB
// is 2^30. Start with Bytes and ParseBytes; print.go decides how many digits a number deserves.
package unit

import "math"

// Bytes is an exact number of bytes.
type Bytes int64

// Binary and decimal multiples of a byte.
const (
	KiB Bytes = 1 << (10 * (iota + 1))
	MiB
	GiB
	TiB
	PiB
)

const (
	KB Bytes = 1000
	MB       = 1000 * KB
	GB       = 1000 * MB
	TB       = 1000 * GB
	PB       = 1000 * TB
)

// GiB returns the size in units of 2^30 bytes.
func (b Bytes) GiB() float64 { return float64(b) / float64(GiB) }

// MiB returns the size in units of 2^20 bytes.
func (b Bytes) MiB() float64 { return float64(b) / float64(MiB) }

// Seconds is a duration. It is a float because predicted times are never exact.
type Seconds float64

// FLOPs is a number of floating-point operations; a multiply-add counts as two.
type FLOPs float64

// FLOPRate is a rate in floating-point operations per second.
type FLOPRate float64

// ByteRate is a rate in bytes per second.
type ByteRate float64

// Watts is power.
type Watts float64

// USD is money.
type USD float64

// Transfer returns the time to move b bytes at rate r.
func (b Bytes) Transfer(r ByteRate) Seconds { return Seconds(float64(b) / float64(r)) }

// CeilDiv returns a/b rounded up, for a >= 0 and b > 0.
func CeilDiv(a, b int64) int64 {
	if a <= 0 {
		return 0
	}
	return (a-1)/b + 1
}

// PadUp returns a rounded up to a multiple of b, for a >= 0 and b > 0.
func PadUp(a, b int64) int64 { return CeilDiv(a, b) * b }

// MulOK returns the product of two non-negative numbers and reports whether it did not overflow.
func MulOK(a, b int64) (int64, bool) {
	if a == 0 || b == 0 {
		return 0, true
	}
	if a < 0 || b < 0 || a > math.MaxInt64/b {
		return 0, false
	}
	return a * b, true
}
