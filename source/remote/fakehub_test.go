package remote_test

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/source"
	"github.com/memwall/memwall/source/cache"
	"github.com/memwall/memwall/source/remote"
)

// sized is a file: bytes that may be read from any place.
type sized interface {
	io.ReaderAt
	Length() int64
}

type whole []byte

func (w whole) ReadAt(p []byte, off int64) (int, error) { return bytes.NewReader(w).ReadAt(p, off) }
func (w whole) Length() int64                           { return int64(len(w)) }

// sparseFile is a file whose end takes no memory.
type sparseFile struct {
	io.ReaderAt
	n int64
}

func (s sparseFile) Length() int64 { return s.n }

const commit1 = "1111111111111111111111111111111111111111"

// fakeHub behaves like the hub: small files itself, large ones at a second host that it leads to.
type fakeHub struct {
	t        testing.TB
	hub, cdn *httptest.Server
	latency  time.Duration

	mu       sync.Mutex
	repos    map[string]map[string]sized
	commit   string
	gated    map[string]bool
	token    string // the one that opens gated repositories
	asked    []string
	leaked   []string // requests of the second host that held a token
	requests atomic.Int64
	// spoil may answer a request in place of the hub; true: it did.
	spoil func(w http.ResponseWriter, r *http.Request) bool
}

func newHub(t testing.TB) *fakeHub {
	h := &fakeHub{t: t, repos: map[string]map[string]sized{}, commit: commit1, gated: map[string]bool{}}
	h.hub = httptest.NewTLSServer(http.HandlerFunc(h.serve))
	h.cdn = httptest.NewTLSServer(http.HandlerFunc(h.serveCDN))
	t.Cleanup(h.hub.Close)
	t.Cleanup(h.cdn.Close)
	return h
}

func (h *fakeHub) add(repo, name string, f sized) {
	if h.repos[repo] == nil {
		h.repos[repo] = map[string]sized{}
	}
	h.repos[repo][name] = f
}

func (h *fakeHub) note(r *http.Request) {
	h.requests.Add(1)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked = append(h.asked, r.Host+r.URL.Path+" "+r.Header.Get("Range"))
}

func (h *fakeHub) forget() {
	h.requests.Store(0)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked = nil
}

func (h *fakeHub) serve(w http.ResponseWriter, r *http.Request) {
	h.note(r)
	time.Sleep(h.latency)
	if h.spoil != nil && h.spoil(w, r) {
		return
	}
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	if parts[0] == "api" {
		h.list(w, strings.Join(parts[2:4], "/"), parts[5])
		return
	}
	h.resolve(w, r, strings.Join(parts[:2], "/"), parts[3], strings.Join(parts[4:], "/"))
}

func fail(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("X-Error-Code", code)
	w.Header().Set("X-Error-Message", message)
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"error":%q}`, message)
}

func (h *fakeHub) list(w http.ResponseWriter, repo, revision string) {
	files, ok := h.repos[repo]
	switch {
	case !ok:
		fail(w, 401, "RepoNotFound", "Repository not found")
		return
	case revision != "main" && revision != h.commit:
		fail(w, 404, "RevisionNotFound", "Invalid rev id")
		return
	}
	var siblings []map[string]any
	for name, f := range files {
		siblings = append(siblings, sibling(name, f))
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"id": repo, "sha": h.commit, "siblings": siblings})
}

// sibling is a file of a list, with the sums that the hub tells: of large files SHA-256, of others git's.
func sibling(name string, f sized) map[string]any {
	s := map[string]any{"rfilename": name, "size": f.Length()}
	if f.Length() > 1<<26 { // tests of such files download none of them
		return s
	}
	read := func(h hash.Hash) string {
		_, _ = io.Copy(h, io.NewSectionReader(f, 0, f.Length()))
		return hex.EncodeToString(h.Sum(nil))
	}
	if strings.HasSuffix(name, ".json") {
		h := sha1.New()
		fmt.Fprintf(h, "blob %d\x00", f.Length())
		s["blobId"] = read(h)
		return s
	}
	s["lfs"] = map[string]any{"sha256": read(sha256.New()), "size": f.Length()}
	return s
}

func (h *fakeHub) resolve(w http.ResponseWriter, r *http.Request, repo, revision, name string) {
	f, ok := h.repos[repo][name]
	switch {
	case h.repos[repo] == nil:
		fail(w, 401, "RepoNotFound", "Repository not found")
	case h.gated[repo] && r.Header.Get("Authorization") == "":
		fail(w, 401, "GatedRepo", "Access to model "+repo+" is restricted. You must have access to it and be authenticated to access it. "+
			"Please log in.")
	case h.gated[repo] && r.Header.Get("Authorization") != "Bearer "+h.token:
		fail(w, 403, "GatedRepo", "Access to model "+repo+" is restricted and you are not in the authorized list.")
	case revision != "main" && revision != h.commit:
		fail(w, 404, "RevisionNotFound", "Invalid rev id")
	case !ok:
		fail(w, 404, "EntryNotFound", "Entry not found")
	default:
		w.Header().Set("X-Repo-Commit", h.commit)
		if strings.HasSuffix(name, ".json") {
			part(w, r, f)
			return
		}
		w.Header().Set("X-Linked-Size", strconv.FormatInt(f.Length(), 10))
		w.Header().Set("X-Linked-Etag", `"abc"`)
		w.Header().Set("Location", h.cdn.URL+"/"+repo+"/"+name+"?X-Amz-Signature=secret")
		w.WriteHeader(302)
	}
}

func (h *fakeHub) serveCDN(w http.ResponseWriter, r *http.Request) {
	h.note(r)
	if r.Header.Get("Authorization") != "" {
		h.mu.Lock()
		h.leaked = append(h.leaked, r.URL.Path)
		h.mu.Unlock()
	}
	time.Sleep(h.latency)
	if h.spoil != nil && h.spoil(w, r) {
		return
	}
	parts := strings.SplitN(strings.Trim(r.URL.Path, "/"), "/", 3)
	f, ok := h.repos[parts[0]+"/"+parts[1]][parts[2]]
	if !ok {
		w.WriteHeader(404)
		return
	}
	part(w, r, f)
}

// part serves a file as servers do that know of ranges.
func part(w http.ResponseWriter, r *http.Request, f sized) {
	sum := sha256.Sum256([]byte(r.URL.Path))
	etag := `"` + hex.EncodeToString(sum[:8]) + `"`
	w.Header().Set("Etag", etag)
	if r.Header.Get("If-None-Match") == etag {
		w.WriteHeader(304)
		return
	}
	from, to, n := int64(0), f.Length()-1, f.Length()
	status := 200
	if span, ok := strings.CutPrefix(r.Header.Get("Range"), "bytes="); ok {
		a, b, _ := strings.Cut(span, "-")
		from, _ = strconv.ParseInt(a, 10, 64)
		if last, err := strconv.ParseInt(b, 10, 64); err == nil {
			to = min(last, n-1)
		}
		if from >= n {
			w.Header().Set("Content-Range", fmt.Sprintf("bytes */%d", n))
			w.WriteHeader(416)
			return
		}
		status = 206
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, to, n))
	}
	w.Header().Set("Content-Length", strconv.FormatInt(to-from+1, 10))
	w.WriteHeader(status)
	_, _ = io.Copy(w, io.NewSectionReader(f, from, to-from+1))
}

// trusting is a client's transport that trusts the fake hub, and dials it though it is private.
func trusting(servers ...*httptest.Server) http.RoundTripper {
	pool := x509.NewCertPool()
	for _, s := range servers {
		pool.AddCert(s.Certificate())
	}
	return &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, MaxIdleConnsPerHost: 16, DialContext: (&net.Dialer{}).DialContext}
}

// setting is how a test runs.
type setting struct {
	env   map[string]string
	cache *cache.Cache
	home  string
	now   func() time.Time
	limit remote.Limits
}

// finder asks the fake hub.
func (h *fakeHub) finder(s setting) *remote.Finder {
	env := map[string]string{"HF_ENDPOINT": h.hub.URL, "MEMWALL_ALLOW_PRIVATE": hostOf(h.hub.URL) + "," + hostOf(h.cdn.URL)}
	for k, v := range s.env {
		env[k] = v
	}
	if s.limit.Backoff == 0 {
		s.limit.Backoff = time.Millisecond
	}
	return remote.New(remote.Options{Env: func(k string) string { return env[k] }, Home: s.home, Cache: s.cache,
		Transport: trusting(h.hub, h.cdn), Now: s.now, Limits: s.limit})
}

// model asks for a model.
func (h *fakeHub) model(ref string, s setting) (*memwall.Resolved, error) {
	return source.New(source.Options{Remote: h.finder(s)}).Model(ref)
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		panic(err)
	}
	return u.Host
}
