// Package format holds what the codecs of model files share: the error that names the byte, and the test
// of what a file looks like. The codecs are the packages below it: gguf and safetensors.
//
// Both read headers only, through a small buffer, from any io.ReaderAt, and take every number in the file
// for a lie until the file's own size bears it out. Open error.go first, then gguf/gguf.go.
package format

import (
	"strconv"

	"github.com/memwall/memwall/unit"
)

// Error is a fault in a file. It names the place and the value; the caller adds the name of the file.
type Error struct {
	Offset int64  // byte of the file where the fault lies; NoOffset when it lies at no single byte
	Field  string // what was being read: "general.alignment", "tensor output.weight"
	Text   string // what is there and why it cannot be
	Fix    string // what to do about it
	// More: nothing is wrong yet, but the header goes on beyond the bytes at hand. With more bytes of the
	// same file the reading may succeed.
	More bool
}

// NoOffset is the offset of a fault that lies at no single byte.
const NoOffset = -1

// FetchAgain is the fix for files that contradict themselves.
const FetchAgain = "the file is damaged or cut short; fetch it again"

// Error prints the place and the fault: "byte 24: a name of 68,719,476,736 bytes in a file of 9.1 MB".
func (e *Error) Error() string {
	if e.Offset == NoOffset {
		return e.Text
	}
	return "byte " + unit.Count(e.Offset) + ": " + e.Text
}

// Size prints the size of a file in decimal units, as download pages do: 9.1 MB.
func Size(n int64) string {
	if n < 1000 {
		return unit.Count(n) + " bytes"
	}
	x, prefix := float64(n)/1000, 0
	for x >= 999.95 && prefix < len(prefixes)-1 {
		x, prefix = x/1000, prefix+1
	}
	return strconv.FormatFloat(x, 'f', 1, 64) + " " + prefixes[prefix:prefix+1] + "B"
}

const prefixes = "kMGTPE"

// Quote prints a name out of a file so that it can harm no terminal and fill no screen.
func Quote(name string) string {
	const most = 96
	if len(name) > most {
		return strconv.QuoteToASCII(name[:most]) + "…"
	}
	return strconv.QuoteToASCII(name)
}
