// Package sparse implements a test file of arbitrary length that takes no memory.
package sparse

import "io"

// File is a file of Len bytes that begins with Head, followed by zeros.
type File struct {
	Head []byte
	Len  int64
}

// ReadAt implements io.ReaderAt.
func (f *File) ReadAt(p []byte, off int64) (int, error) {
	if off >= f.Len {
		return 0, io.EOF
	}
	n := int(min(int64(len(p)), f.Len-off))
	clear(p[:n])
	if off < int64(len(f.Head)) {
		copy(p[:n], f.Head[off:])
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}
