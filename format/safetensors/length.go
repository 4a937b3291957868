package safetensors

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/memwall/memwall/format"
	"github.com/memwall/memwall/unit"
)

// Limits of the reference reader (N_LEN and MAX_HEADER_SIZE of safetensors/src/tensor.rs).
const (
	lengthBytes = 8
	maxHeader   = 100_000_000
)

// HeaderLength reads the length of the JSON text from the first 8 bytes of a file of the given size.
func HeaderLength(r io.ReaderAt, have, size int64) (int64, error) {
	head, err := first(r, min(have, size))
	switch {
	case err != nil:
		return 0, err
	case len(head) < lengthBytes && have < size:
		return 0, &Error{Offset: max(0, have), Field: "header length", More: true, Fix: "read more of the file",
			Text: fmt.Sprintf("the header goes on beyond the %d bytes at hand", max(0, have))}
	}
	// Files of other types are recognized first, since their length would be meaningless.
	if kind := format.Detect(head); kind != format.Safetensors && kind != format.Unknown {
		return 0, &Error{Offset: 0, Field: "header length", Fix: kind.Fix(), Text: "this is " + kind.Is() + ", not safetensors"}
	}
	if len(head) < lengthBytes {
		return 0, &Error{Offset: size, Field: "header length", Fix: format.FetchAgain,
			Text: "the file ends in the middle of its header length"}
	}
	return checkLength(binary.LittleEndian.Uint64(head), size)
}

func checkLength(n uint64, size int64) (int64, error) {
	long := &Error{Offset: 0, Field: "header length", Fix: format.FetchAgain}
	switch {
	case n > uint64(size-lengthBytes):
		long.Text = fmt.Sprintf("a header of %s bytes in a file of %s", grouped(n), format.Size(size))
	case n > maxHeader:
		long.Text = fmt.Sprintf("a header of %s bytes; at most %s are allowed", grouped(n), unit.Count(maxHeader))
	case n < 2:
		long.Text = fmt.Sprintf("a header of %d bytes; the shortest is {}", n)
	default:
		return int64(n), nil
	}
	return 0, long
}

// first reads the bytes that Detect needs, or all there are.
func first(r io.ReaderAt, have int64) ([]byte, error) {
	head := make([]byte, max(0, min(have, format.DetectBytes)))
	n, err := r.ReadAt(head, 0)
	if n = max(0, min(n, len(head))); n == len(head) || errors.Is(err, io.EOF) {
		return head[:n], nil
	}
	if err == nil {
		err = io.ErrNoProgress
	}
	return nil, fmt.Errorf("byte 0: reading the header length: %w", err)
}

// grouped formats an unsigned number with thousands separators.
func grouped(n uint64) string {
	if n <= math.MaxInt64 {
		return unit.Count(int64(n))
	}
	return unit.Count(int64(n/1000)) + fmt.Sprintf(",%03d", n%1000)
}
