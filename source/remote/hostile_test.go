package remote_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/source/remote"
)

const tinyGGUF = "hf:acme/Tiny-GGUF/Tiny-Q4_K_M.gguf"

// spoiled are servers that lie, hang and send without end, and what is said of each. onCDN: the second host does it.
var spoiled = []struct {
	name, ref, code string
	spoil           func(h *fakeHub, w http.ResponseWriter, r *http.Request) bool
	says            []string
}{
	{"circles", tinyGGUF, memwall.Remote, everywhere(func(h *fakeHub, w http.ResponseWriter, r *http.Request) {
		to := h.hub.URL
		if r.Host == hostOf(h.hub.URL) {
			to = h.cdn.URL
		}
		http.Redirect(w, r, to+r.URL.Path, http.StatusFound)
	}), []string{"circles"}},
	{"redirects without end", tinyGGUF, memwall.Remote, everywhere(func(h *fakeHub, w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.Path+"x", http.StatusFound)
	}), []string{"without end"}},
	{"a redirect to nowhere", tinyGGUF, memwall.Remote,
		everywhere(func(h *fakeHub, w http.ResponseWriter, r *http.Request) { w.WriteHeader(302) }), []string{"nowhere"}},
	{"a redirect off encryption", tinyGGUF, memwall.Remote, everywhere(func(h *fakeHub, w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http"+strings.TrimPrefix(h.cdn.URL, "https")+"/x", http.StatusFound)
	}), []string{"from https to http"}},
	{"a redirect to this machine", tinyGGUF, memwall.Remote, everywhere(func(h *fakeHub, w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "https://127.0.0.1:1/x", http.StatusFound)
	}), []string{"private address 127.0.0.1", "MEMWALL_ALLOW_PRIVATE=127.0.0.1:1"}},
	{"a redirect to a cloud's own data", tinyGGUF, memwall.Remote, everywhere(func(h *fakeHub, w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "https://169.254.169.254/latest/meta-data", http.StatusFound)
	}), []string{"169.254.169.254"}},
	{"another part", tinyGGUF, memwall.Remote, onCDN(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Range", "bytes 5-104/200000")
		w.WriteHeader(206)
		_, _ = w.Write(make([]byte, 100))
	}), []string{"was asked for bytes 0 to"}},
	{"a part of nothing", tinyGGUF, memwall.Remote, onCDN(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(206) }),
		[]string{"does not say which"}},
	{"a length of another file", tinyGGUF, memwall.Remote, onCDN(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Range", "bytes 0-99/999999999999")
		w.Header().Set("Content-Length", "100")
		w.WriteHeader(206)
		_, _ = w.Write(make([]byte, 100))
	}), []string{"999999999999 bytes"}},
	{"no length", tinyGGUF, memwall.Remote, onCDN(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(200)
		w.(http.Flusher).Flush()
		_, _ = w.Write(make([]byte, 100))
	}), []string{"how long"}},
	{"an empty file", tinyGGUF, memwall.Remote, onCDN(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Range", "bytes */0")
		w.WriteHeader(416)
	}), []string{"416"}},
	{"cut each time", tinyGGUF, memwall.Remote, onCDN(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "1000")
		w.Header().Set("Content-Range", "bytes 0-999/"+strconv.FormatInt(ggufModel(0).n, 10))
		w.WriteHeader(206)
		panic(http.ErrAbortHandler)
	}), []string{"cut"}},
	{"silence", tinyGGUF, memwall.Remote, onCDN(func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }),
		[]string{"no answer in time"}},
	{"stops in the middle", tinyGGUF, memwall.Remote, onCDN(func(w http.ResponseWriter, r *http.Request) {
		n := ggufModel(0).n
		w.Header().Set("Content-Range", fmt.Sprintf("bytes 0-%d/%d", n-1, n))
		w.Header().Set("Content-Length", strconv.FormatInt(n, 10))
		w.WriteHeader(206)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}), []string{"the transfer stopped"}},
	{"too busy", tinyGGUF, memwall.Remote, everywhere(func(h *fakeHub, w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "300")
		w.WriteHeader(429)
	}), []string{"too often", "after 5m0s", "HF_TOKEN"}},
	{"down", tinyGGUF, memwall.Remote, everywhere(func(h *fakeHub, w http.ResponseWriter, r *http.Request) { w.WriteHeader(503) }),
		[]string{"503"}},
	{"another commit", "hf:acme/Tiny-GGUF@" + commit1 + "/Tiny-Q4_K_M.gguf", memwall.Remote,
		everywhere(func(h *fakeHub, w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Repo-Commit", strings.Repeat("3", 40))
			part(w, r, ggufModel(0))
		}), []string{commit1, strings.Repeat("3", 40)}},
	{"a list that is none", "acme/tiny", memwall.Remote, everywhere(func(h *fakeHub, w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "<html>log in to the wifi</html>")
	}), []string{"cannot be read"}},
	{"a list without end", "acme/tiny", memwall.Remote, everywhere(func(h *fakeHub, w http.ResponseWriter, r *http.Request) {
		for range 65 {
			_, _ = w.Write(make([]byte, 1<<20))
		}
	}), []string{"more than 64 MiB"}},
	{"files outside", "acme/tiny", memwall.UnknownModel, everywhere(func(h *fakeHub, w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"sha":%q,"siblings":[{"rfilename":"../../config.json"},{"rfilename":"/etc/config.json"}]}`, commit1)
	}), []string{"acme/tiny"}},
	{"what a terminal obeys", tinyGGUF, memwall.Remote, everywhere(func(h *fakeHub, w http.ResponseWriter, r *http.Request) {
		fail(w, 418, "", "\u202ehf_abcdefghijklmnop")
	}), []string{"418"}},
}

func everywhere(f func(h *fakeHub, w http.ResponseWriter, r *http.Request)) func(*fakeHub, http.ResponseWriter, *http.Request) bool {
	return func(h *fakeHub, w http.ResponseWriter, r *http.Request) bool { f(h, w, r); return true }
}

func onCDN(f func(w http.ResponseWriter, r *http.Request)) func(*fakeHub, http.ResponseWriter, *http.Request) bool {
	return func(h *fakeHub, w http.ResponseWriter, r *http.Request) bool {
		if r.Host != hostOf(h.cdn.URL) {
			return false
		}
		f(w, r)
		return true
	}
}

// TestSpoiled: every one is an error that says what happened, soon and in little memory.
func TestSpoiled(t *testing.T) {
	for _, c := range spoiled {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := newHub(t)
			quants(h, "acme/Tiny-GGUF", "Q4_K_M")
			checkpoint(h, "acme/tiny", 1)
			h.spoil = func(w http.ResponseWriter, r *http.Request) bool { return c.spoil(h, w, r) }
			_, err := h.model(c.ref, setting{limit: remote.Limits{Answer: time.Second, Stall: time.Second, Tries: 2}})
			refused(t, c.name, err, c.code, c.says...)
			if err != nil && strings.ContainsAny(err.Error(), "\u202e") || err != nil && strings.Contains(err.Error(), "hf_abc") {
				t.Errorf("%q is shown", err)
			}
		})
	}
}

// TestHostileHeader: a header that claims gigabytes is refused before they are fetched.
func TestHostileHeader(t *testing.T) {
	h := newHub(t)
	head := append([]byte("GGUF\x03\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00"),
		[]byte("\x01\x00\x00\x00\x00\x00\x00\x00k\x08\x00\x00\x00\x00\x00\x00\x30\x00\x00\x00\x00")...)
	h.add("acme/Big-GGUF", "big.gguf", sparseFile{io.NewSectionReader(zeros(head), 0, 1<<40), 1 << 40})
	sent := int64(0)
	h.spoil = func(w http.ResponseWriter, r *http.Request) bool { sent++; return false }
	_, err := h.model("acme/Big-GGUF", setting{})
	refused(t, "a string of 800 MB", err, memwall.Remote, "128 MiB")
	if sent > 8 {
		t.Errorf("%d requests", sent)
	}
	h.add("acme/tiny", "model.safetensors", sparseFile{io.NewSectionReader(zeros([]byte{0xff, 0xe0, 0xf5, 5, 0, 0, 0, 0, '{'}), 0, 1<<40),
		1 << 40})
	if _, err = h.model("acme/tiny", setting{}); err == nil {
		t.Error("a header of 100 MB of nothing was read")
	}
}

// zeros is a file that begins with some bytes and goes on with zeros.
type zeros []byte

func (z zeros) ReadAt(p []byte, off int64) (int, error) {
	clear(p)
	if off < int64(len(z)) {
		copy(p, z[off:])
	}
	return len(p), nil
}

// TestMended: what passes is tried again, and a cut transfer goes on where it ended.
func TestMended(t *testing.T) {
	h := newHub(t)
	h.add("acme/Tiny-GGUF", "Tiny-Q4_K_M.gguf", ggufModel(1<<20))
	n, starts := 0, []string{}
	h.spoil = func(w http.ResponseWriter, r *http.Request) bool {
		n++
		switch {
		case n == 1:
			w.WriteHeader(503)
		case n == 2:
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(429)
		case r.Host == hostOf(h.cdn.URL) && len(starts) == 0:
			starts = append(starts, r.Header.Get("Range"))
			f := ggufModel(1 << 20)
			w.Header().Set("Content-Range", fmt.Sprintf("bytes 0-%d/%d", f.n-1, f.n))
			w.Header().Set("Content-Length", strconv.FormatInt(f.n, 10))
			w.WriteHeader(206)
			_, _ = io.CopyN(w, io.NewSectionReader(f, 0, f.n), 300_000)
			panic(http.ErrAbortHandler)
		default:
			if r.Host == hostOf(h.cdn.URL) {
				starts = append(starts, r.Header.Get("Range"))
			}
			return false
		}
		return true
	}
	r, err := h.model(tinyGGUF, setting{})
	if err != nil || r.UnknownArch != "" {
		t.Fatal(err)
	}
	if len(starts) != 2 || !strings.HasPrefix(starts[0], "bytes=0-") || strings.HasPrefix(starts[1], "bytes=0-") {
		t.Errorf("parts asked for: %q", starts)
	}
}

// TestWindows: a header longer than the first part is read in more, each larger, from the address that the redirect
// gave.
func TestWindows(t *testing.T) {
	h := newHub(t)
	h.add("acme/Tiny-GGUF", "Tiny-Q4_K_M.gguf", ggufModel(40<<20))
	if _, err := h.model(tinyGGUF, setting{}); err != nil {
		t.Fatal(err)
	}
	if len(h.asked) != 3 {
		t.Errorf("asked %q", h.asked)
	}
}

// TestExpired: the address that a redirect gave runs out in the middle, and another is asked for.
func TestExpired(t *testing.T) {
	h := newHub(t)
	h.add("acme/Tiny-GGUF", "Tiny-Q4_K_M.gguf", ggufModel(40<<20))
	n := 0
	h.spoil = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Host == hostOf(h.cdn.URL) {
			n++
		}
		if n == 2 && r.Host == hostOf(h.cdn.URL) {
			w.WriteHeader(403)
			return true
		}
		return false
	}
	if _, err := h.model(tinyGGUF, setting{}); err != nil {
		t.Fatal(err)
	}
}

// TestNoRanges: a server that sends the whole file is read as far as the header goes.
func TestNoRanges(t *testing.T) {
	h := newHub(t)
	f := ggufModel(1 << 20)
	h.add("acme/Tiny-GGUF", "Tiny-Q4_K_M.gguf", f)
	h.spoil = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Host != hostOf(h.cdn.URL) {
			return false
		}
		r.Header.Del("Range")
		part(w, r, f)
		return true
	}
	if _, err := h.model(tinyGGUF, setting{}); err != nil {
		t.Fatal(err)
	}
}

// TestChanged: parts of two files are no file.
func TestChanged(t *testing.T) {
	h := newHub(t)
	f := ggufModel(40 << 20)
	h.add("acme/Tiny-GGUF", "Tiny-Q4_K_M.gguf", f)
	n := 0
	h.spoil = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Host != hostOf(h.cdn.URL) {
			return false
		}
		n++
		part(etags{w, n}, r, f)
		return true
	}
	_, err := h.model(tinyGGUF, setting{})
	refused(t, "changed", err, memwall.Remote, "changed while it was read")
}

type etags struct {
	http.ResponseWriter
	n int
}

func (e etags) WriteHeader(status int) {
	e.Header().Set("Etag", fmt.Sprintf(`"%d"`, e.n))
	e.ResponseWriter.WriteHeader(status)
}

func (e etags) ReadFrom(r io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{e.ResponseWriter}, r)
}

// TestPlainHub: over http no token is sent, and only a host that is allowed is asked.
func TestPlainHub(t *testing.T) {
	var auth bytes.Buffer
	f := remote.New(remote.Options{Env: func(k string) string {
		return map[string]string{"HF_ENDPOINT": "http://hub.example", "HF_TOKEN": "hf_neverinplaintext"}[k]
	}, Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		auth.WriteString(r.Header.Get("Authorization"))
		return &http.Response{StatusCode: 404, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("")), Request: r}, nil
	})})
	if _, err := f.Find("hf:acme/tiny"); err == nil || auth.Len() > 0 {
		t.Errorf("%v, sent %q", err, auth.String())
	}
	_, err := f.Find("http://elsewhere.example/x.gguf")
	refused(t, "http", err, memwall.Remote, "not encrypted", "MEMWALL_ALLOW_PRIVATE=elsewhere.example:80")
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
