// Package format holds what the codecs of model files share: an error that names the byte, and detection of file types.
// The codecs are in the packages below it, gguf and safetensors among them.
//
// The model codecs read headers only, through a small buffer, from any io.ReaderAt, and trust no number in a file
// unless the file's size confirms it. See error.go first, then gguf/gguf.go.
package format

import (
	"strconv"

	"github.com/memwall/memwall/unit"
)

// Error is an error in a file, with its place and value; the caller adds the file name.
type Error struct {
	Offset int64  // byte offset of the error, or NoOffset
	Field  string // what was being read: "general.alignment", "tensor output.weight"
	Text   string // what was found, and why it is invalid
	Fix    string // what to do about it
	// More reports that nothing is wrong yet but the header extends beyond the available bytes; reading may succeed with
	// more of the file.
	More bool
}

// NoOffset is the offset of an error that has no single position.
const NoOffset = -1

// FetchAgain is the fix for inconsistent files.
const FetchAgain = "the file is damaged or cut short; fetch it again"

// Error formats the place and the problem: "byte 24: a name of 68,719,476,736 bytes in a file of 9.1 MB".
func (e *Error) Error() string {
	if e.Offset == NoOffset {
		return e.Text
	}
	return "byte " + unit.Count(e.Offset) + ": " + e.Text
}

// Size formats a file size in decimal units, as download pages do: 9.1 MB.
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

// Quote quotes a name from a file, escaped and truncated for display on a terminal.
func Quote(name string) string {
	const most = 96
	if len(name) > most {
		return strconv.QuoteToASCII(name[:most]) + "…"
	}
	return strconv.QuoteToASCII(name)
}
