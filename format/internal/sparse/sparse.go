// Package sparse is a file for tests that is as long as it likes and takes no memory.
package sparse

import "io"

// File is a file of Len bytes that begins with Head and is zero after it.
type File struct {
	Head []byte
	Len  int64
}

// ReadAt reads as from a file on disk.
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
