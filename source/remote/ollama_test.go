package remote_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/source"
	"github.com/memwall/memwall/source/cache"
	"github.com/memwall/memwall/source/remote"
)

// registry is a registry as Ollama's: manifests itself, blobs at another host. Blobs are asked for side by side, so what
// handlers share is behind mu.
type registry struct {
	mu        sync.Mutex
	manifests map[string][]byte // by name:tag
	blobs     map[string]sized
	asked     []string
	cdn       *httptest.Server
}

// paths are those asked for since the last call.
func (g *registry) paths() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	asked := g.asked
	g.asked = nil
	return asked
}

func (g *registry) set(name string, m []byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.manifests[name] = m
}

func (g *registry) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.asked = append(g.asked, r.URL.Path)
	switch {
	case strings.Contains(r.URL.Path, "/manifests/"):
		name, tag, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v2/"), "/manifests/")
		m, ok := g.manifests[name+":"+tag]
		if !ok || !strings.Contains(r.Header.Get("Accept"), "manifest.v2+json") {
			w.WriteHeader(404)
			io.WriteString(w, `{"errors":[{"code":"MANIFEST_UNKNOWN"}]}`)
			return
		}
		_, _ = w.Write(m)
	case r.Host == strings.TrimPrefix(g.cdn.URL, "https://"):
		part(w, r, g.blobs[strings.TrimPrefix(r.URL.Path, "/")])
	default:
		_, digest, _ := strings.Cut(r.URL.Path, "/blobs/")
		if g.blobs[digest] == nil {
			w.WriteHeader(404)
			return
		}
		w.Header().Set("Location", g.cdn.URL+"/"+digest+"?sig=x")
		w.WriteHeader(307)
	}
}

// digestOf names a blob; of a long file a name that was not computed does as well.
func digestOf(f sized) string {
	sum := sha256.Sum256([]byte(fmt.Sprint(f.Length())))
	if w, ok := f.(whole); ok {
		sum = sha256.Sum256(w)
	}
	return "sha256:" + hex.EncodeToString(sum[:])
}

// manifest adds a model with its layers.
func (g *registry) manifest(name string, layers map[string]sized) {
	var list []map[string]any
	for kind, f := range layers {
		d := digestOf(f)
		g.blobs[d] = f
		list = append(list, map[string]any{"mediaType": "application/vnd.ollama.image." + kind, "digest": d, "size": f.Length()})
	}
	m, _ := json.Marshal(map[string]any{"schemaVersion": 2, "layers": list})
	g.set(name, m)
}

func newRegistry(t *testing.T) (*registry, func(setting) *source.Files) {
	g := &registry{manifests: map[string][]byte{}, blobs: map[string]sized{}}
	main := httptest.NewTLSServer(g)
	g.cdn = httptest.NewTLSServer(g)
	t.Cleanup(main.Close)
	t.Cleanup(g.cdn.Close)
	return g, func(s setting) *source.Files {
		round := moved{"registry.ollama.ai", hostOf(main.URL), trusting(main, g.cdn)}
		env := func(k string) string {
			if k == "MEMWALL_ALLOW_PRIVATE" {
				return hostOf(g.cdn.URL)
			}
			return s.env[k]
		}
		return source.New(
			source.Options{Remote: remote.New(remote.Options{Env: env, Home: s.home, Cache: s.cache, Transport: round, Limits: s.limit})})
	}
}

// moved sends what is for one host to another.
type moved struct {
	from, to string
	round    http.RoundTripper
}

func (m moved) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host == m.from {
		c := r.Clone(r.Context())
		c.URL.Host, c.Host = m.to, m.to
		r = c
	}
	return m.round.RoundTrip(r)
}

// TestOllamaRegistry: the file of a name, with what stands beside it.
func TestOllamaRegistry(t *testing.T) {
	g, files := newRegistry(t)
	g.manifest("library/tiny:1b", map[string]sized{"model": ggufModel(1 << 20), "params": whole(`{"num_ctx":16384,"stop":["x"]}`), "projector": ggufModel(0), "adapter": sparseFile{strings.NewReader(""), 1 << 20}, "license": whole("text")})
	g.manifest("library/tiny:latest", map[string]sized{"model": ggufModel(0)})
	g.manifest("me/mine:mlx", map[string]sized{"tensor": ggufModel(0)})
	cache := cache.New(t.TempDir(), 1<<30)
	for range 2 {
		r, err := files(setting{cache: cache}).Model("ollama:tiny:1b")
		if err != nil {
			t.Fatal(err)
		}
		if r.Format != "gguf" || r.ID != "tiny:1b" || !strings.Contains(r.Provenance, "registry.ollama.ai/library/tiny:1b at sha256:") {
			t.Errorf("%s, %s, %s", r.ID, r.Format, r.Provenance)
		}
		for _, code := range []string{"ollama_parameters", "projector_beside", "adapter_beside"} {
			if !noted(r, code) {
				t.Errorf("no note %s: %v", code, r.Notes)
			}
		}
	}
	if asked := g.paths(); len(asked) != 1+2*2 {
		t.Errorf("asked %d times, the second time from the cache: %q", len(asked), asked)
	}
	_, err := files(setting{cache: cache}).Projector("ollama:tiny:1b/projector")
	refused(t, "a projector that is none", err, memwall.BadFile, "is a model and no projector")
	_, err = files(setting{cache: cache}).Projector("ollama:tiny:latest/projector")
	refused(t, "no projector", err, memwall.Unsupported, "no projector")
	if r, err := files(setting{}).Model("ollama:tiny"); err != nil || r.ID != "tiny:latest" {
		t.Errorf("latest: %v", err)
	}
	_, err = files(setting{}).Model("ollama:tiny:70b")
	refused(t, "no such tag", err, memwall.UnknownModel, "tiny:70b", "ollama.com/library")
	_, err = files(setting{}).Model("ollama:me/mine:mlx")
	refused(t, "tensors", err, memwall.Unsupported, "tensor by tensor")
	_, err = files(setting{}).Model("ollama:a/b/c/d")
	refused(t, "no name", err, memwall.BadField, "ollama:llama3.1:8b")
	for _, bad := range []string{`{`, `{"layers":[{"mediaType":"application/vnd.ollama.image.model","digest":"sha256:../../etc","size":1}]}`, `{"layers":[{"digest":"sha256:` + strings.Repeat("a", 64) + `","size":-1}]}`} {
		g.set("library/bad:latest", []byte(bad))
		_, err := files(setting{}).Model("ollama:bad")
		refused(t, bad, err, memwall.Remote, "manifest")
	}
}

// TestOllamaAway: where the registry does not answer, the catalog's model stands in, and the note says why.
func TestOllamaAway(t *testing.T) {
	_, files := newRegistry(t)
	r, err := files(setting{env: map[string]string{"HF_HUB_OFFLINE": "1"}}).Model("ollama:llama3.1:8b")
	if err != nil || r.ID != "llama-3.1-8b" || !noted(r, "ollama_name") {
		t.Errorf("%v, %v", r, err)
	}
}

// TestOllamaStore: the store of this machine comes first; what is not whole in it comes from the registry.
func TestOllamaStore(t *testing.T) {
	g, files := newRegistry(t)
	model := ggufModel(0)
	g.manifest("library/tiny:1b", map[string]sized{"model": model, "params": whole(`{"num_ctx":2048}`), "projector": sparseFile{strings.NewReader(""), 5}})
	home := t.TempDir()
	store := filepath.Join(home, ".ollama", "models")
	write(t, filepath.Join(store, "manifests", "registry.ollama.ai", "library", "tiny", "1b"), string(g.manifests["library/tiny:1b"]))
	data := make([]byte, model.n)
	_, _ = model.ReadAt(data, 0)
	blob := filepath.Join(store, "blobs", strings.Replace(digestOf(model), ":", "-", 1))
	write(t, blob, string(data[:len(data)-1]))
	r, err := files(setting{home: home}).Model("ollama:tiny:1b")
	if err != nil || strings.Contains(r.Provenance, "store") || len(g.paths()) == 0 {
		t.Errorf("half of the blob: %v", err)
	}
	write(t, blob, string(data))
	write(t, filepath.Join(store, "blobs", strings.Replace(digestOf(whole(`{"num_ctx":2048}`)), ":", "-", 1)), `{"num_ctx":2048}`)
	for _, s := range []setting{{home: home}, {env: map[string]string{"OLLAMA_MODELS": store}},
		{home: home, env: map[string]string{"HF_HUB_OFFLINE": "1"}}} {
		r, err = files(s).Model("ollama:tiny:1b")
		asked := g.paths()
		if err != nil || len(asked) > 0 || !strings.Contains(r.Provenance, "Ollama's store") || !noted(r, "ollama_parameters") ||
			!noted(r, "projector_beside") {
			t.Errorf("the store: %v, %v, asked %q", r, err, asked)
		}
	}
}
