package fetch

import (
	"context"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"time"
)

// writing is a part that grows.
type writing struct {
	file *File
	part *os.File
	sum  hash.Hash // nil: there is none
	here int64
	told func(*File, int64)
	last time.Time
}

// begin takes up the part that lies here.
func begin(f *File, part *os.File, told func(*File, int64)) (*writing, error) {
	w := &writing{file: f, part: part, told: told}
	size, err := part.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	if !f.resumes() || f.Size >= 0 && size > f.Size {
		size = 0
	}
	err = w.from(size)
	return w, err
}

// from keeps the first bytes of the part and drops the rest. What is kept is summed again: only bytes that lie here count.
func (w *writing) from(n int64) error {
	w.here, w.sum = n, w.file.Sum.hash(w.file.Size)
	end, err := w.part.Seek(0, io.SeekEnd)
	if err == nil && end != n {
		err = w.part.Truncate(n)
	}
	if err != nil {
		return err
	}
	if w.sum != nil {
		_, err = io.Copy(w.sum, io.NewSectionReader(w.part, 0, n))
	}
	return errors.Join(err, w.at(n))
}

// at is where the next byte goes.
func (w *writing) at(n int64) error {
	_, err := w.part.Seek(n, io.SeekStart)
	return err
}

// attempt reads what a server sends once. ended: the file is whole.
func (w *writing) attempt(ctx context.Context) (ended bool, err error) {
	if w.here == w.file.Size {
		return true, nil
	}
	p, err := w.file.Open(ctx, w.here)
	if err != nil {
		return false, err
	}
	defer func() { _ = p.Body.Close() }() // what was read is what counts
	if p.From != w.here {
		if p.From != 0 {
			return false, &RefusedError{fmt.Errorf("the server was asked for the bytes from %d on, and sends those from %d on",
				w.here, p.From)}
		}
		if err := w.from(0); err != nil {
			return false, err
		}
	}
	if err := w.copy(p.Body); err != nil {
		return false, err
	}
	if w.file.Size >= 0 && w.here < w.file.Size {
		return false, errShort(w.here, w.file.Size)
	}
	return true, nil
}

// copy writes what is read, and no more than the file has.
func (w *writing) copy(r io.Reader) error {
	buffer := make([]byte, 1<<20)
	for {
		n, err := r.Read(buffer)
		if w.file.Size >= 0 && w.here+int64(n) > w.file.Size {
			return &RefusedError{fmt.Errorf("the server sends more than the %d bytes that were promised", w.file.Size)}
		}
		if wrote := w.write(buffer[:n]); wrote != nil {
			return wrote
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

func (w *writing) write(b []byte) error {
	n, err := w.part.Write(b)
	w.here += int64(n)
	if w.sum != nil {
		_, _ = w.sum.Write(b[:n]) // a hash takes all
	}
	if err != nil && full(err) {
		return ErrFull
	}
	w.tell()
	return err
}

// tell says how far it is, some times a second.
func (w *writing) tell() {
	const every = 250 * time.Millisecond
	if now := time.Now(); w.told != nil && (now.Sub(w.last) >= every || w.here == w.file.Size) {
		w.last = now
		w.told(w.file, w.here)
	}
}

// kept is what another try finds.
func (w *writing) kept() int64 {
	if !w.file.resumes() {
		return 0
	}
	return w.here
}

// check compares what came with what was promised.
func (w *writing) check() error {
	if w.sum == nil {
		return nil
	}
	if got := w.file.Sum.reached(w.sum); got != w.file.Sum {
		return &SumError{Want: w.file.Sum, Got: got}
	}
	return nil
}
