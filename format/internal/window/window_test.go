package window_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"

	"github.com/memwall/memwall/format/internal/window"
)

// TestWalk reads random files through windows of every small size, in random steps, and compares with the
// bytes themselves.
func TestWalk(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for room := 1; room < 40; room++ {
		data := make([]byte, rng.IntN(200))
		for i := range data {
			data[i] = byte(rng.Uint32())
		}
		walk(t, rng, data, room)
	}
}

func walk(t *testing.T, rng *rand.Rand, data []byte, room int) {
	w := window.New(bytes.NewReader(data), int64(len(data)), room)
	for at := 0; at < len(data); {
		if w.Offset() != int64(at) || w.Left() != int64(len(data)-at) {
			t.Fatalf("at %d: offset %d, left %d", at, w.Offset(), w.Left())
		}
		n := 1 + rng.IntN(min(room, len(data)-at))
		if err := w.Need(n); err != nil || len(w.Bytes()) < n || !bytes.HasPrefix(data[at:], w.Bytes()) {
			t.Fatalf("need %d at %d: %v, % x", n, at, err, w.Bytes())
		}
		step := rng.IntN(2 * room)
		w.Advance(int64(step))
		at += step
	}
}

func TestEnds(t *testing.T) {
	w := window.New(bytes.NewReader([]byte("abc")), 3, 8)
	if err := w.Need(4); err != io.ErrUnexpectedEOF {
		t.Error(err)
	}
	if err := w.Need(3); err != nil || string(w.Bytes()) != "abc" {
		t.Error(err)
	}
	w.Advance(10)
	if err := w.Need(1); err != io.ErrUnexpectedEOF || w.Left() != -7 {
		t.Error(err, w.Left())
	}
}

// A source shorter than it said ends where it ends.
func TestShortSource(t *testing.T) {
	w := window.New(bytes.NewReader([]byte("abc")), 100, 8)
	if err := w.Need(3); err != nil || string(w.Bytes()) != "abc" {
		t.Error(err)
	}
	for range 2 {
		if err := w.Need(4); err != io.ErrUnexpectedEOF {
			t.Error(err)
		}
	}
}

type source func(p []byte, off int64) (int, error)

func (s source) ReadAt(p []byte, off int64) (int, error) { return s(p, off) }

func TestFailingSources(t *testing.T) {
	for name, c := range map[string]struct {
		src  source
		want error
	}{
		"fails":         {func([]byte, int64) (int, error) { return 0, iotest.ErrTimeout }, iotest.ErrTimeout},
		"gives nothing": {func([]byte, int64) (int, error) { return 0, nil }, io.ErrNoProgress},
		"counts wrong":  {func([]byte, int64) (int, error) { return -5, io.EOF }, io.ErrUnexpectedEOF},
		"counts high":   {func(p []byte, _ int64) (int, error) { return len(p) + 5, nil }, nil},
		"late error":    {func(p []byte, _ int64) (int, error) { return len(p), iotest.ErrTimeout }, nil},
	} {
		w := window.New(c.src, 100, 8)
		if err := w.Need(8); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}
