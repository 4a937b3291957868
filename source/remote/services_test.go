package remote_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/source"
	"github.com/memwall/memwall/source/cache"
	"github.com/memwall/memwall/source/remote"
)

// TestModelScope: a repository by its list, files by their sums.
func TestModelScope(t *testing.T) {
	h := newHub(t)
	checkpoint(h, "acme/tiny", 2)
	quants(h, "acme/Tiny-GGUF", "Q4_K_M", "Q8_0")
	var asked atomic.Int64
	scope := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		repo, what, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/api/v1/models/"), "/repo")
		files, ok := h.repos[repo]
		switch {
		case r.URL.Query().Get("Revision") != "master":
			_ = json.NewEncoder(w).Encode(map[string]any{"Code": 10010205001, "Success": false, "Message": "no such revision"})
		case !ok:
			w.WriteHeader(404)
		case what == "/files":
			list := []map[string]any{{"Path": "folder", "Type": "tree"}}
			for name, f := range files {
				list = append(list, map[string]any{"Path": name, "Type": "blob", "Size": f.Length(),
					"Sha256": strings.TrimPrefix(digestOf(f), "sha256:")})
			}
			_ = json.NewEncoder(w).Encode(map[string]any{"Code": 200, "Success": true, "Data": map[string]any{"Files": list}})
		default:
			part(w, r, files[r.URL.Query().Get("FilePath")])
		}
	}))
	defer scope.Close()
	env := func(k string) string {
		return map[string]string{"MODELSCOPE_DOMAIN": hostOf(scope.URL), "HF_TOKEN": "hf_notforthem1234"}[k]
	}
	cache := cache.New(t.TempDir(), 1<<30)
	files := source.New(source.Options{Remote: remote.New(remote.Options{Env: env, Transport: trusting(scope), Cache: cache})})
	for range 2 {
		r, err := files.Model("modelscope:acme/tiny")
		if err != nil || int64(r.Weights.Bytes()) != llamaBytes() || !strings.Contains(r.Provenance, "acme/tiny at master") {
			t.Fatalf("%v, %v", r, err)
		}
	}
	if n := asked.Load(); n != 1+1+2+1 {
		t.Errorf("asked %d times", n)
	}
	if r, err := files.Model("modelscope:acme/Tiny-GGUF:q8_0"); err != nil || r.ID != "Tiny-Q8_0" {
		t.Errorf("%v, %v", r, err)
	}
	if r, err := files.Model(scope.URL + "/models/acme/Tiny-GGUF/file/view/master/Tiny-Q8_0.gguf"); err != nil || r.ID != "Tiny-Q8_0" {
		t.Errorf("%v, %v", r, err)
	}
	_, err := files.Model("modelscope:acme/none")
	refused(t, "no repository", err, memwall.UnknownModel, "acme/none", "folder")
	_, err = files.Model("modelscope:acme/tiny@v3")
	refused(t, "no revision", err, memwall.Remote, "no such revision")
}

// TestURL: files anywhere, those beside them, and their ETags.
func TestURL(t *testing.T) {
	h := newHub(t)
	checkpoint(h, "files/tiny", 2)
	checkpoint(h, "files/alone", 1)
	h.add("files/x", "m-Q4_0.gguf", ggufModel(1<<20))
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	s := setting{cache: cache.New(t.TempDir(), 1<<30), now: func() time.Time { return now }}
	base := h.cdn.URL + "/files/"
	for ref, want := range map[string]string{base + "tiny/" + shard(0, 2): "tiny", base + "alone/model.safetensors": "alone",
		base + "x/m-Q4_0.gguf?signature=hf_secretsecret": "m-Q4_0", base + "tiny/config.json": "tiny"} {
		for range 2 {
			r, err := h.model(ref, s)
			if err != nil {
				t.Fatalf("%s: %v", ref, err)
			}
			if r.ID != want || strings.Contains(r.Provenance, "secret") || !strings.Contains(r.Provenance, hostOf(base)) {
				t.Errorf("%s is %s, from %s", ref, r.ID, r.Provenance)
			}
		}
	}
	h.forget()
	now = now.Add(2 * time.Hour)
	if _, err := h.model(base+"x/m-Q4_0.gguf?signature=hf_secretsecret", s); err != nil || h.requests.Load() != 1 {
		t.Errorf("asked again by ETag: %v, %q", err, h.asked)
	}
	_, err := h.model(base+"x/none.gguf", s)
	refused(t, "no file", err, memwall.Remote, "404", "/files/x/none.gguf")
	_, err = h.model(base, s)
	refused(t, "a folder", err, memwall.BadField, "not the address of a file")
	_, err = h.model(base+"x/model.bin", s)
	if err == nil {
		t.Error("a pickle was read")
	}
}
