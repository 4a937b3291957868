// Package packtext unpacks the texts that a program carries compressed: tables that people read and edit, which most questions never
// look into.
package packtext

import (
	"bytes"
	"compress/gzip"
	"io"
)

// Unpack returns the text of data compressed with gzip, as far as it can be read.
func Unpack(data []byte) string {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return ""
	}
	text, _ := io.ReadAll(z) // a damaged pack gives less, and a test compares every pack with its text
	return string(text)
}

// Pack compresses a text, the same each time.
func Pack(text string) []byte {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
	_, _ = io.WriteString(z, text)
	_ = z.Close()
	return b.Bytes()
}
