package fetch

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// from serves a text from a place on, cut after some bytes of each answer; 0: whole.
func from(text string, cut int) func(context.Context, int64) (*Part, error) {
	return func(_ context.Context, from int64) (*Part, error) {
		rest := text[from:]
		if cut > 0 && len(rest) > cut {
			return &Part{io.NopCloser(io.MultiReader(strings.NewReader(rest[:cut]), broken{})), from}, nil
		}
		return &Part{io.NopCloser(strings.NewReader(rest)), from}, nil
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

const text = "what is long enough to be cut a few times"

func asked(t *testing.T) *File {
	sum := sha256.Sum256([]byte(text))
	to := filepath.Join(t.TempDir(), "a", "x")
	return &File{Name: "x", To: to, Size: int64(len(text)), Sum: SHA256(hex.EncodeToString(sum[:])), Open: from(text, 0)}
}

func kept(t *testing.T, f *File) {
	t.Helper()
	got, err := os.ReadFile(f.To)
	if err != nil || string(got) != text {
		t.Errorf("kept %q, %v", got, err)
	}
	if left, _ := filepath.Glob(f.To + "*.part"); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

// TestKeep: a file comes whole however often it is cut, as long as more comes each time.
func TestKeep(t *testing.T) {
	for _, cut := range []int{0, 1, 7, len(text)} {
		f := asked(t)
		f.Open = from(text, cut)
		told := int64(0)
		if err := (How{Told: func(_ *File, n int64) { told = n }}).Keep(t.Context(), f); err != nil {
			t.Errorf("cut after %d: %v", cut, err)
		}
		kept(t, f)
		if told != f.Size {
			t.Errorf("told %d", told)
		}
		f.Open = func(context.Context, int64) (*Part, error) { return nil, errors.New("asked for what lies here") }
		if err := (How{}).Keep(t.Context(), f); err != nil {
			t.Error(err)
		}
	}
}

// TestWholeAlone: a server that sends whole files alone is read from the start again; a size or a sum that nobody knows is not checked.
func TestWholeAlone(t *testing.T) {
	f := asked(t)
	n := 0
	f.Open = func(context.Context, int64) (*Part, error) {
		n++
		if n == 1 {
			return &Part{io.NopCloser(io.MultiReader(strings.NewReader("what is"), broken{})), 0}, nil
		}
		return &Part{io.NopCloser(strings.NewReader(text)), 0}, nil
	}
	if err := (How{Tries: 2}).Keep(t.Context(), f); err != nil {
		t.Error(err)
	}
	kept(t, f)

	f = asked(t)
	f.Size, f.Sum = -1, Sum{}
	if err := (How{}).Keep(t.Context(), f); err != nil {
		t.Error(err)
	}
	kept(t, f)
}

// TestVersions: a part of one state of a file without a sum is not taken for the start of another.
func TestVersions(t *testing.T) {
	f := asked(t)
	f.Sum, f.Version, f.Open = Sum{}, `"1"`, from(text, 5)
	ctx, stop := context.WithCancel(t.Context())
	err := How{Tries: 9, Told: func(_ *File, n int64) { stop() }}.Keep(ctx, f)
	var cut *CutError
	if !errors.As(err, &cut) || cut.Kept != 5 || !errors.Is(err, context.Canceled) {
		t.Fatalf("%v", err)
	}
	if n, whole := f.Here(); n != 5 || whole {
		t.Errorf("%d lie here", n)
	}
	f.Version, f.Open = `"2"`, from(strings.ToUpper(text), 0)
	if err := (How{}).Keep(t.Context(), f); err != nil {
		t.Error(err)
	}
	if got, _ := os.ReadFile(f.To); string(got) != strings.ToUpper(text) {
		t.Errorf("%q is of both", got)
	}
}

// TestRefused: what is wrong is said, and a file that is not what it should be does not stay.
func TestRefused(t *testing.T) {
	refusal := errors.New("gone")
	for name, c := range map[string]struct {
		open func(context.Context, int64) (*Part, error)
		is   func(error) bool
	}{
		"another sum": {from(strings.ToUpper(text), 0), func(err error) bool { _, ok := errors.AsType[*SumError](err); return ok }},
		"too long":    {from(text+"!", 0), func(err error) bool { return strings.Contains(err.Error(), "more than the 41 bytes") }},
		"elsewhere": {func(context.Context, int64) (*Part, error) {
			return &Part{io.NopCloser(strings.NewReader(text)), 3}, nil
		},
			func(err error) bool { return strings.Contains(err.Error(), "those from 3 on") }},
		"refused": {func(context.Context, int64) (*Part, error) { return nil, &RefusedError{refusal} },
			func(err error) bool { return errors.Is(err, refusal) }},
		"nothing": {func(context.Context, int64) (*Part, error) { return &Part{io.NopCloser(broken{}), 0}, nil },
			func(err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) }},
		"short": {from(text[:9]+"", 0), func(err error) bool { return strings.Contains(err.Error(), "cut after 9 of 41") }},
	} {
		f := asked(t)
		f.Open = c.open
		if name == "short" {
			f.Open = func(_ context.Context, at int64) (*Part, error) {
				return &Part{io.NopCloser(strings.NewReader(text[at:9])), at}, nil
			}
		}
		if err := (How{}).Keep(t.Context(), f); err == nil || !c.is(err) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(f.To); err == nil {
			t.Errorf("%s: it lies there all the same", name)
		}
		f.Open = from(text, 0)
		if err := (How{}).Keep(t.Context(), f); err != nil {
			t.Errorf("%s, then well: %v", name, err)
		}
		kept(t, f)
	}
}

// TestFull: a disk that takes no more is said to be full.
func TestFull(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("this system has no device that is always full")
	}
	f := asked(t)
	if err := os.MkdirAll(filepath.Dir(f.To), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/full", f.part()); err != nil {
		t.Fatal(err)
	}
	if err := (How{Tries: 3}).Keep(t.Context(), f); !errors.Is(err, ErrFull) {
		t.Errorf("%v", err)
	}
}

// TestHeld: a file that is held is not written.
func TestHeld(t *testing.T) {
	f := asked(t)
	if err := os.MkdirAll(filepath.Dir(f.To), 0o700); err != nil {
		t.Fatal(err)
	}
	held, err := os.Create(f.part())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = held.Close() }()
	if err := hold(held); err != nil {
		t.Fatal(err)
	}
	if err := (How{}).Keep(t.Context(), f); !errors.Is(err, ErrHeld) {
		t.Errorf("%v", err)
	}
}

// TestSums: git's name of an empty file and of a word, as git gives them; what is not a sum is none.
func TestSums(t *testing.T) {
	for text, want := range map[string]string{
		"": "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391", "hello\n": "ce013625030ba8dba906f756967f9e9ca394464a",
	} {
		s := GitBlob(want)
		h := s.hash(int64(len(text)))
		_, _ = io.Copy(h, bytes.NewBufferString(text))
		if got := s.reached(h); got != s {
			t.Errorf("%q: %s", text, got.Hex())
		}
	}
	for _, bad := range []string{"", "xyz", strings.Repeat("0", 63), strings.Repeat("g", 64)} {
		if SHA256(bad) != (Sum{}) {
			t.Errorf("%q is a sum", bad)
		}
	}
}

// TestRoom: where a folder does not lie yet, its disk is asked.
func TestRoom(t *testing.T) {
	dir := t.TempDir()
	n, known := Room(filepath.Join(dir, "not", "yet"))
	if m, also := Room(dir); known != also || known && (n <= 0 || fmt.Sprint(m)[0] == '-') {
		t.Errorf("%d %v and %d %v", n, known, m, also)
	}
}
