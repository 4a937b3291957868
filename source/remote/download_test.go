package remote_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/source/remote"
)

// blob is a file of random bytes.
func blob(n int) whole {
	b := make(whole, n)
	c := rand.NewChaCha8([32]byte{1})
	_, _ = c.Read(b)
	return b
}

// shelved is a hub with a repository of two GGUF files and a checkpoint, and a folder of the hub's cache.
type shelved struct {
	*fakeHub
	dir  string
	file whole
}

func newShelf(t *testing.T) *shelved {
	s := &shelved{newHub(t), t.TempDir(), blob(3 << 20)}
	s.add("acme/tiny-GGUF", "tiny-Q4_K_M.gguf", s.file)
	s.add("acme/tiny-GGUF", "tiny-Q8_0.gguf", blob(100))
	for name, n := range map[string]int{
		"config.json": 200, "tokenizer.json": 4000, "model.safetensors": 1 << 20, "pytorch_model.bin": 1 << 20,
		"original/consolidated.00.pth": 9, "README.md": 10, ".gitattributes": 5, "demo.png": 7,
	} {
		s.add("acme/tiny", name, blob(n))
	}
	return s
}

func (s *shelved) get(ctx context.Context, ref string) (string, error) {
	f := s.finder(setting{env: map[string]string{"HF_HUB_CACHE": s.dir}})
	return f.Download(ctx, ref, remote.Downloading{Folder: filepath.Join(s.dir, "own")})
}

// spoilt lets the second server answer once in a way of its own.
func (s *shelved) spoilt(times int, how func(w http.ResponseWriter, r *http.Request)) {
	s.spoil = func(w http.ResponseWriter, r *http.Request) bool {
		if "https://"+r.Host != s.cdn.URL || times == 0 {
			return false
		}
		times--
		how(w, r)
		return true
	}
}

// cutAfter sends some bytes of the part that was asked for, and hangs up.
func (s *shelved) cutAfter(n int) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, r *http.Request) {
		part(&cutWriter{ResponseWriter: w, left: n}, r, s.file)
		panic(http.ErrAbortHandler)
	}
}

type cutWriter struct {
	http.ResponseWriter
	left int
}

func (c *cutWriter) Write(b []byte) (int, error) {
	if len(b) > c.left {
		n, _ := c.ResponseWriter.Write(b[:c.left])
		c.ResponseWriter.(http.Flusher).Flush()
		c.left = 0
		return n, errors.New("cut")
	}
	c.left -= len(b)
	return c.ResponseWriter.Write(b)
}

// parts that lie below a folder.
func parts(t *testing.T, dir string) (out []string) {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, "*", "blobs", "*.part"))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func sameFile(t *testing.T, name string, want whole) {
	t.Helper()
	got, err := os.ReadFile(name)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s: %d bytes of %d, %v", name, len(got), len(want), err)
	}
}

// TestDownload: a file lies in the hub's cache as the hub's own tools keep it, is found there the next time, and needs no network then.
func TestDownload(t *testing.T) {
	s := newShelf(t)
	at, err := s.get(t.Context(), "hf:acme/tiny-GGUF:Q4_K_M")
	if err != nil {
		t.Fatal(err)
	}
	sameFile(t, at, s.file)
	if want := filepath.Join(s.dir, "models--acme--tiny-GGUF", "snapshots", commit1, "tiny-Q4_K_M.gguf"); at != want {
		t.Errorf("it lies at %s and not at %s", at, want)
	}
	if to, err := os.Readlink(at); runtime.GOOS != "windows" && (err != nil || !strings.HasPrefix(to, "../../blobs/")) {
		t.Errorf("it leads to %s, %v", to, err)
	}
	if ref, err := os.ReadFile(filepath.Join(s.dir, "models--acme--tiny-GGUF", "refs", "main")); string(ref) != commit1 {
		t.Errorf("main is at %s, %v", ref, err)
	}
	s.forget()
	if again, err := s.get(t.Context(), "hf:acme/tiny-GGUF:Q4_K_M"); again != at || err != nil || s.requests.Load() != 0 {
		t.Errorf("again: %s, %v with %d requests", again, err, s.requests.Load())
	}
	if len(s.leaked) > 0 || len(parts(t, s.dir)) > 0 {
		t.Errorf("leaked %v, left %v", s.leaked, parts(t, s.dir))
	}
}

// TestDownloadCheckpoint: of a checkpoint come the tensors once and what engines read beside them.
func TestDownloadCheckpoint(t *testing.T) {
	s := newShelf(t)
	at, err := s.get(t.Context(), "hf:acme/tiny")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	all, err := os.ReadDir(at)
	for _, e := range all {
		names = append(names, e.Name())
	}
	if got := strings.Join(names, " "); err != nil || got != "README.md config.json model.safetensors tokenizer.json" {
		t.Errorf("%s holds %s, %v", at, got, err)
	}
}

// TestDownloadResumes: what came before a cut is taken up where it ended, in one run and in the next.
func TestDownloadResumes(t *testing.T) {
	s := newShelf(t)
	s.spoilt(1, s.cutAfter(1<<20))
	at, err := s.get(t.Context(), "hf:acme/tiny-GGUF:Q4_K_M")
	if err != nil {
		t.Fatal(err)
	}
	sameFile(t, at, s.file)

	s = newShelf(t)
	ctx, stop := context.WithCancel(t.Context())
	s.spoilt(1, func(w http.ResponseWriter, r *http.Request) {
		part(&cutWriter{ResponseWriter: w, left: 1 << 20}, r, s.file)
		for len(parts(t, s.dir)) == 0 { // until some of it lies there
			time.Sleep(time.Millisecond)
		}
		time.Sleep(50 * time.Millisecond)
		stop()
		<-r.Context().Done()
	})
	_, err = s.get(ctx, "hf:acme/tiny-GGUF:Q4_K_M")
	if err == nil || !strings.Contains(err.Error(), "interrupted") || !strings.Contains(memwall.AsError(err).Hint, "are kept, and the") {
		t.Fatalf("interrupted: %v", err)
	}
	left := parts(t, s.dir)
	if len(left) != 1 {
		t.Fatalf("what came is not kept: %v", left)
	}
	info, err := os.Stat(left[0])
	if err != nil || info.Size() == 0 {
		t.Fatal(info, err)
	}
	s.forget()
	at, err = s.get(t.Context(), "hf:acme/tiny-GGUF:Q4_K_M")
	if err != nil {
		t.Fatal(err)
	}
	sameFile(t, at, s.file)
	for _, asked := range s.asked {
		if strings.Contains(asked, "bytes=0-") {
			t.Errorf("it was asked for from its start again: %s", asked)
		}
	}
}

// TestDownloadRefuses: what is not as it was promised leaves nothing behind that could be taken for it.
func TestDownloadRefuses(t *testing.T) {
	const ref = "hf:acme/tiny-GGUF:Q4_K_M"
	type answering func(s *shelved, w http.ResponseWriter, r *http.Request)
	serving := func(f whole) answering {
		return func(_ *shelved, w http.ResponseWriter, r *http.Request) { part(w, r, f) }
	}
	page := func(_ *shelved, w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<p>")) }
	abort := func(*shelved, http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	for name, c := range map[string]struct {
		how  answering
		says string
	}{
		"another file of the size": {serving(make(whole, 3<<20)), "its sha256 is"},
		"a longer one":             {serving(blob(4 << 20)), "says that the file has 4194304 bytes"},
		"a page":                   {page, "has 3 bytes"},
		"nothing":                  {abort, "did not come whole"},
		"gone":                     {func(_ *shelved, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(410) }, "410 Gone"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShelf(t)
			s.spoilt(-1, func(w http.ResponseWriter, r *http.Request) { c.how(s, w, r) })
			_, err := s.get(t.Context(), ref)
			if told := memwall.AsError(err); err == nil || !strings.Contains(told.Message, c.says) || told.Hint == "" {
				t.Fatalf("%v", err)
			}
			s.spoil = nil
			at, err := s.get(t.Context(), ref)
			if err != nil {
				t.Fatal(err)
			}
			sameFile(t, at, s.file)
		})
	}
}

// TestDownloadTwice: two at once do not write one file.
func TestDownloadTwice(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" && runtime.GOOS != "windows" {
		t.Skip("files are not held on this system")
	}
	s := newShelf(t)
	begun, end := make(chan bool), make(chan bool)
	s.spoilt(1, func(w http.ResponseWriter, r *http.Request) {
		begun <- true
		<-end
		part(w, r, s.file)
	})
	first := make(chan error)
	go func() {
		_, err := s.get(t.Context(), "hf:acme/tiny-GGUF:Q4_K_M")
		first <- err
	}()
	<-begun
	_, err := s.get(t.Context(), "hf:acme/tiny-GGUF:Q4_K_M")
	if told := memwall.AsError(err); err == nil || !strings.Contains(told.Message, "another process fetches tiny-Q4_K_M.gguf") {
		t.Errorf("the second: %v", err)
	}
	close(end)
	if err := <-first; err != nil {
		t.Error(err)
	}
}

// TestDownloadAnywhere: a folder that cannot be written, and files of other services.
func TestDownloadAnywhere(t *testing.T) {
	s := newShelf(t)
	if err := os.WriteFile(filepath.Join(s.dir, "models--acme--tiny-GGUF"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := s.get(t.Context(), "hf:acme/tiny-GGUF:Q4_K_M")
	if err == nil || !strings.Contains(err.Error(), "cannot be written") || !strings.Contains(memwall.AsError(err).Hint, "HF_HOME") {
		t.Errorf("a file in the way: %v", err)
	}
	s.spoil = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/at/x.gguf" {
			return false
		}
		part(w, r, s.file)
		return true
	}
	at, err := s.get(t.Context(), s.cdn.URL+"/at/x.gguf")
	if err != nil {
		t.Fatal(err)
	}
	sameFile(t, at, s.file)
	if !strings.HasPrefix(at, filepath.Join(s.dir, "own")) {
		t.Errorf("it lies at %s", at)
	}
	if _, err := s.get(t.Context(), s.cdn.URL+"/at/config.json"); err == nil {
		t.Error("of a checkpoint at an address nobody knows the other files")
	}
}
