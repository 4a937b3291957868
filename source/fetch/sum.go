package fetch

import (
	"crypto/sha1" //nolint:gosec // what git names its blobs by
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"strings"
)

// Sum is what a file must add up to, as services tell it: of its bytes, or as git names a blob. The zero Sum is none.
type Sum struct {
	kind string
	hex  string
}

// SHA256 of the bytes, in hex; none for what is no such sum.
func SHA256(hex string) Sum { return sumOf("sha256", hex, 2*sha256.Size) }

// GitBlob is the name of a file in git: SHA-1 over "blob SIZE", a zero byte and the bytes.
func GitBlob(hex string) Sum { return sumOf("git", hex, 2*sha1.Size) }

func sumOf(kind, text string, digits int) Sum {
	if _, err := hex.DecodeString(text); err != nil || len(text) != digits {
		return Sum{}
	}
	return Sum{kind, strings.ToLower(text)}
}

// Hex is the sum as it is written; "" for none.
func (s Sum) Hex() string { return s.hex }

// hash starts the sum of a file of so many bytes; nil for none. A blob of git needs its size beforehand.
func (s Sum) hash(size int64) hash.Hash {
	switch {
	case s.kind == "sha256":
		return sha256.New()
	case s.kind == "git" && size >= 0:
		h := sha1.New() //nolint:gosec // git's own
		_, _ = fmt.Fprintf(h, "blob %d\x00", size)
		return h
	}
	return nil
}

// reached is what a hash came to.
func (s Sum) reached(h hash.Hash) Sum { return Sum{s.kind, hex.EncodeToString(h.Sum(nil))} }

// SumError is a file that is not what was promised. It has been removed.
type SumError struct{ Want, Got Sum }

func (e *SumError) Error() string {
	return fmt.Sprintf("its %s is %.12s… and should be %.12s…", e.Want.kind, e.Got.hex, e.Want.hex)
}

// Short is a word for a version that a name of a file can hold.
func Short(version string) string {
	const digits = 8
	sum := sha256.Sum256([]byte(version))
	return hex.EncodeToString(sum[:])[:digits]
}
