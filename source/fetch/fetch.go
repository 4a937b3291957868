// Package fetch downloads whole files: resumable, verified by checksum, one process at a time. It knows no services and
// sends no requests itself.
//
// Keep handles one file. attempt.go is a single download attempt, sum.go verifies the result; holding and room query
// the system.
package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// Part is a stretch of a file that a server sends.
type Part struct {
	Body io.ReadCloser
	// From is its first byte: what was asked for, or 0 from a server that sends whole files alone.
	From int64
}

// File is one that is to be kept.
type File struct {
	Name string // for people
	To   string // the path that it gets once it is whole
	Size int64  // bytes; -1: not known, and then it is whole when the server ends
	Sum  Sum    // none: its size alone is checked
	// Version tells one state of a file without a sum from the next, such as its ETag; "" for none: such a part is not taken up again.
	Version string
	// Open asks for the bytes from a place on.
	Open func(ctx context.Context, from int64) (*Part, error)
}

// How files are kept.
type How struct {
	// Tries without a byte more, before it is given up; 0: 4.
	Tries int
	// Pause before the next; it grows with each.
	Pause time.Duration
	// Told is told how much of the file lies here; nil: nobody is.
	Told func(f *File, here int64)
}

const (
	partEnd     = ".part"
	ownersAlone = 0o600
	foldersMode = 0o755
)

// Faults that have a next step of their own.
var (
	// ErrHeld: another process keeps the same file.
	ErrHeld = errors.New("another process fetches it")
	// ErrFull: the disk took no more.
	ErrFull = errors.New("the disk is full")
)

// CutError is a file that did not come whole. What came is kept and taken up again, unless Kept is 0.
type CutError struct {
	Kept int64
	Part string // where it lies
	err  error
}

func (e *CutError) Error() string { return e.err.Error() }
func (e *CutError) Unwrap() error { return e.err }

// part is where a file lies until it is whole.
func (f *File) part() string {
	if f.Sum == (Sum{}) && f.Version != "" {
		return f.To + "." + Short(f.Version) + partEnd
	}
	return f.To + partEnd
}

// Here is how much of a file lies here already: all of it, a part, or nothing.
func (f *File) Here() (bytes int64, whole bool) {
	if info, err := os.Stat(f.To); err == nil && info.Mode().IsRegular() && (f.Size < 0 || info.Size() == f.Size) {
		return info.Size(), true
	}
	if info, err := os.Stat(f.part()); err == nil && f.resumes() {
		return info.Size(), false
	}
	return 0, false
}

// resumes: only a part that can be told from that of another state of the file is taken up.
func (f *File) resumes() bool { return f.Sum != (Sum{}) || f.Version != "" }

// Keep brings a file to its path. It appears there whole and checked, or not at all.
func (h How) Keep(ctx context.Context, f *File) error {
	if _, whole := f.Here(); whole {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(f.To), foldersMode); err != nil {
		return err
	}
	part, err := os.OpenFile(f.part(), os.O_RDWR|os.O_CREATE, ownersAlone)
	if err != nil {
		return err
	}
	defer func() { _ = part.Close() }() // it has been synced, or is taken up again
	if err := hold(part); err != nil {
		return err
	}
	if _, whole := f.Here(); whole { // it was, since this process looked
		_ = os.Remove(f.part()) // it is empty, or has been renamed
		return nil
	}
	return h.complete(ctx, f, part)
}

// complete brings the rest of a part, and gives it its name.
func (h How) complete(ctx context.Context, f *File, part *os.File) error {
	w, err := begin(f, part, h.Told)
	if err != nil {
		return err
	}
	if err := h.rest(ctx, w); err != nil {
		return &CutError{Kept: w.kept(), Part: part.Name(), err: err}
	}
	if err := w.check(); err != nil {
		return errors.Join(err, os.Remove(part.Name()))
	}
	return named(part, f.To)
}

// named gives a part its name while it is still held; Windows renames no open file.
func named(part *os.File, to string) error {
	if err := part.Sync(); err != nil {
		return err
	}
	if os.Rename(part.Name(), to) == nil {
		return nil
	}
	if err := part.Close(); err != nil {
		return err
	}
	return os.Rename(part.Name(), to)
}

// rest reads until the file is whole, or nothing more comes.
func (h How) rest(ctx context.Context, w *writing) error {
	tries := max(h.Tries, 1)
	for idle := 0; ; {
		before := w.here
		ended, err := w.attempt(ctx)
		switch {
		case err == nil && ended:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case final(err):
			return err
		case w.here > before:
			idle = 0
		default:
			idle++
		}
		if idle >= tries {
			return err
		}
		if !pause(ctx, h.Pause<<idle) {
			return context.Cause(ctx)
		}
	}
}

func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// RefusedError is what a server says that asking again does not change.
type RefusedError struct{ Err error }

func (e *RefusedError) Error() string { return e.Err.Error() }
func (e *RefusedError) Unwrap() error { return e.Err }

func final(err error) bool {
	_, refused := errors.AsType[*RefusedError](err)
	_, own := errors.AsType[*os.PathError](err)
	return refused || own || errors.Is(err, ErrFull)
}

// Room is how many bytes a disk still takes where a folder lies, or will; false where that cannot be told.
func Room(dir string) (int64, bool) {
	for {
		if _, err := os.Stat(dir); err == nil {
			return room(dir)
		}
		up := filepath.Dir(dir)
		if up == dir {
			return 0, false
		}
		dir = up
	}
}

// errShort is a file that ended before the size that was promised.
func errShort(here, size int64) error {
	return fmt.Errorf("the connection was cut after %d of %d bytes", here, size)
}
