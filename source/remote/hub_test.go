package remote_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/source/cache"
	"github.com/memwall/memwall/source/remote"
)

// TestHub: a model of several files, from the hub.
func TestHub(t *testing.T) {
	h := newHub(t)
	checkpoint(h, "acme/tiny", 3)
	for _, ref := range []string{"hf:acme/tiny", "acme/tiny", "hf:acme/tiny@main", "hf://acme/tiny@" + commit1, h.hub.URL + "/acme/tiny",
		h.hub.URL + "/acme/tiny/tree/main", "hf:acme/tiny/model.safetensors.index.json"} {
		r, err := h.model(ref, setting{})
		if err != nil {
			t.Errorf("%s: %v", ref, err)
			continue
		}
		if int64(r.Weights.Bytes()) != llamaBytes() || r.Format != "safetensors" || r.ID != "tiny" || r.Hub != "acme/tiny" &&
			!strings.HasSuffix(ref, ".json") {
			t.Errorf("%s: %d bytes of %d, %s, id %s, hub %s", ref, r.Weights.Bytes(), llamaBytes(), r.Format, r.ID, r.Hub)
		}
		for _, want := range []string{"acme/tiny", commit1, "3 safetensors files", "config.json"} {
			if !strings.Contains(r.Provenance, want) {
				t.Errorf("%s: provenance %q lacks %q", ref, r.Provenance, want)
			}
		}
	}
}

// TestGGUF: files of a repository by their quantisation, by their names, and as split sets in folders.
func TestGGUF(t *testing.T) {
	h := newHub(t)
	quants(h, "acme/Tiny-GGUF", "Q4_K_M", "Q8_0", "UD-Q4_K_XL", "BF16", "F16")
	h.add("acme/Tiny-GGUF", "mmproj-F16.gguf", ggufModel(0))
	quants(h, "acme/One-GGUF", "Q5_K_S")
	h.add("acme/Split-GGUF", "IQ2_M/Tiny-IQ2_M-00001-of-00002.gguf", ggufModel(0))
	h.add("acme/Split-GGUF", "IQ2_M/Tiny-IQ2_M-00002-of-00002.gguf", ggufModel(0))
	for ref, want := range map[string]string{
		"acme/Tiny-GGUF:Q4_K_M":                                "Tiny-Q4_K_M",
		"acme/Tiny-GGUF:q8_0":                                  "Tiny-Q8_0",
		"hf:acme/Tiny-GGUF:Q4_K_XL":                            "Tiny-UD-Q4_K_XL",
		"acme/Tiny-GGUF:UD-Q4_K_XL":                            "Tiny-UD-Q4_K_XL",
		"acme/Tiny-GGUF:F16":                                   "Tiny-F16",
		"hf:acme/Tiny-GGUF@main:bf16":                          "Tiny-BF16",
		"hf:acme/Tiny-GGUF/Tiny-Q8_0.gguf":                     "Tiny-Q8_0",
		"hf:acme/Tiny-GGUF@main/Tiny-Q8_0.gguf":                "Tiny-Q8_0",
		"ollama:hf.co/acme/Tiny-GGUF:Q8_0":                     "Tiny-Q8_0",
		"acme/One-GGUF":                                        "One-Q5_K_S",
		h.hub.URL + "/acme/Tiny-GGUF/blob/main/Tiny-Q8_0.gguf": "Tiny-Q8_0",
		h.hub.URL + "/acme/Tiny-GGUF/resolve/main/Tiny-Q8_0.gguf?download=true": "Tiny-Q8_0",
	} {
		r, err := h.model(ref, setting{})
		if err != nil {
			t.Errorf("%s: %v", ref, err)
			continue
		}
		if r.ID != want || r.Format != "gguf" || r.UnknownArch != "" || !strings.Contains(r.Provenance, commit1) ||
			!strings.Contains(r.Provenance, want+".gguf") {
			t.Errorf("%s is %s (%s), from %s; want %s", ref, r.ID, r.Format, r.Provenance, want)
		}
	}
	if _, err := h.model("acme/Split-GGUF:IQ2_M", setting{}); err == nil || !strings.Contains(err.Error(), "Tiny-IQ2_M") {
		t.Errorf("a split set of two equal files: %v", err)
	}
}

// TestRefused: what each answer of the hub means, and what helps.
func TestRefused(t *testing.T) {
	h := newHub(t)
	checkpoint(h, "acme/tiny", 1)
	checkpoint(h, "acme/gated", 1)
	quants(h, "acme/Tiny-GGUF", "Q4_K_M", "Q8_0")
	h.gated["acme/gated"], h.token = true, "hf_thetokenthatopens"
	for _, c := range []struct {
		ref, token, code string
		says             []string
	}{
		{"acme/none", "", memwall.UnknownModel, []string{"acme/none", "HF_TOKEN"}},
		{"acme/none", "hf_sometokenofmine", memwall.UnknownModel, []string{"acme/none", "token"}},
		{"hf:acme/tiny@v9", "", memwall.UnknownModel, []string{"no revision v9"}},
		{"hf:acme/gated", "", memwall.Remote, []string{"acme/gated is gated", h.hub.URL + "/acme/gated", "HF_TOKEN"}},
		{"hf:acme/gated", "hf_anothertoken", memwall.Remote, []string{"acme/gated is gated", "this token", "fine-grained"}},
		{"hf:acme/tiny/other.gguf", "", memwall.UnknownModel, []string{"other.gguf"}},
		{"hf:acme/tiny/confi.json", "", memwall.UnknownModel, []string{"confi.json", "did you mean: config.json"}},
		{"acme/Tiny-GGUF", "", memwall.UnknownModel, []string{"2 GGUF models", "Q4_K_M, Q8_0", "acme/Tiny-GGUF:Q4_K_M"}},
		{"acme/Tiny-GGUF:Q3_K_M", "", memwall.UnknownModel, []string{"no Q3_K_M", "did you mean: acme/Tiny-GGUF:Q4_K_M"}},
		{"acme/tiny:Q4_K_M", "", memwall.UnknownModel, []string{"no GGUF file", "--weights"}},
		{"hf:a/../b", "", memwall.BadField, []string{"hf:org/name"}},
		{"hf:acme/tiny@a/../../b", "", memwall.BadField, []string{"revision"}},
		{"https://me:secret@host/x.gguf", "", memwall.BadField, []string{"password"}},
		{"s3://bucket/x", "", memwall.BadField, []string{"s3"}},
		{"hf:", "", memwall.BadField, []string{"no repository"}},
	} {
		_, err := h.model(c.ref, setting{env: map[string]string{"HF_TOKEN": c.token}})
		refused(t, c.ref, err, c.code, c.says...)
		if c.token != "" && err != nil && strings.Contains(err.Error(), c.token) {
			t.Errorf("%s: the token is shown: %v", c.ref, err)
		}
	}
	if r, err := h.model("hf:acme/gated", setting{env: map[string]string{"HF_TOKEN": h.token}}); err != nil || r.Weights == nil {
		t.Errorf("with the token: %v", err)
	}
	if len(h.leaked) > 0 {
		t.Errorf("the token went to another host: %v", h.leaked)
	}
}

// refused checks an error: its code, and what message and hint say together.
func refused(t *testing.T, what string, err error, code string, says ...string) {
	t.Helper()
	var e *memwall.Error
	if !errors.As(err, &e) {
		t.Errorf("%s: %v", what, err)
		return
	}
	if e.Code != code || e.Hint == "" || e.Field == "" {
		t.Errorf("%s: code %s, want %s: %+v", what, e.Code, code, e)
	}
	for _, s := range says {
		if !strings.Contains(e.Message+" "+e.Hint, s) {
			t.Errorf("%s: %q, fix %q, lacks %q", what, e.Message, e.Hint, s)
		}
	}
}

// TestTokenFile: the token where the hub's own tools keep it.
func TestTokenFile(t *testing.T) {
	h := newHub(t)
	checkpoint(h, "acme/gated", 1)
	h.gated["acme/gated"], h.token = true, "hf_thetokenthatopens"
	dir := t.TempDir()
	write(t, filepath.Join(dir, "token"), h.token+"\n")
	for name, s := range map[string]setting{
		"HF_TOKEN_PATH": {env: map[string]string{"HF_TOKEN_PATH": filepath.Join(dir, "token")}},
		"HF_HOME":       {env: map[string]string{"HF_HOME": dir}},
	} {
		if _, err := h.model("hf:acme/gated", s); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := h.model("hf:acme/gated",
		setting{env: map[string]string{"HF_HOME": dir, "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1"}}); err == nil {
		t.Error("the token was sent though it must not be")
	}
}

func write(t testing.TB, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestRoundTrips: a file that is named costs the redirect and one part; what is kept costs nothing while it holds.
func TestRoundTrips(t *testing.T) {
	h := newHub(t)
	h.add("acme/Tiny-GGUF", "Tiny-Q4_K_M.gguf", ggufModel(8<<20))
	checkpoint(h, "acme/tiny", 2)
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	s := setting{cache: cache.New(t.TempDir(), 1<<30), now: func() time.Time { return now }}
	for _, c := range []struct {
		ref         string
		cold, later int64
	}{
		{"hf:acme/Tiny-GGUF/Tiny-Q4_K_M.gguf", 2, 0},
		{"acme/Tiny-GGUF:Q4_K_M", 1, 0}, // the list; the file is kept by its commit
		{"acme/tiny", 1 + 1 + 2*2 + 1, 0},
		{"hf:acme/tiny@" + commit1, 0, 0},
	} {
		for i, want := range []int64{c.cold, c.later} {
			h.forget()
			if _, err := h.model(c.ref, s); err != nil {
				t.Fatalf("%s: %v", c.ref, err)
			}
			if got := h.requests.Load(); got != want {
				t.Errorf("%s, time %d: %d requests, want %d: %q", c.ref, i+1, got, want, h.asked)
			}
		}
	}
	now = now.Add(2 * time.Hour) // the branch may have moved; files of the commit have not
	h.forget()
	if _, err := h.model("acme/tiny", s); err != nil || h.requests.Load() != 1 {
		t.Errorf("two hours later: %d requests, %v", h.requests.Load(), err)
	}
	h.commit = strings.Repeat("2", 40)
	now = now.Add(2 * time.Hour)
	r, err := h.model("acme/tiny", s)
	if err != nil || !strings.Contains(r.Provenance, h.commit) {
		t.Errorf("after a push: %v, %v", r, err)
	}
}

// TestOffline: what is kept answers, and what is missing is named.
func TestOffline(t *testing.T) {
	h := newHub(t)
	checkpoint(h, "acme/tiny", 2)
	cache := cache.New(t.TempDir(), 1<<30)
	if _, err := h.model("acme/tiny", setting{cache: cache}); err != nil {
		t.Fatal(err)
	}
	h.forget()
	off := map[string]string{"HF_HUB_OFFLINE": "1", "HF_HOME": "/nowhere"}
	late := func() time.Time { return time.Now().Add(1000 * time.Hour) }
	if _, err := h.model("acme/tiny", setting{cache: cache, env: off, now: late}); err != nil {
		t.Errorf("offline, from the cache: %v", err)
	}
	_, err := h.model("acme/other", setting{cache: cache, env: off})
	refused(t, "offline, not kept", err, memwall.Remote, "HF_HUB_OFFLINE", "acme/other", "/nowhere/hub", cache.Dir())
	if h.requests.Load() != 0 {
		t.Errorf("offline, and the hub was asked: %q", h.asked)
	}
	h.hub.Close()
	r, err := h.model("acme/tiny", setting{cache: cache, now: late, limit: remote.Limits{Tries: 1}})
	if err != nil {
		t.Fatalf("nobody answers, and all is kept: %v", err)
	}
	if !noted(r, "remote_kept") {
		t.Errorf("what is kept was used without a word: %v", r.Notes)
	}
}

func noted(r *memwall.Resolved, code string) bool {
	for _, n := range r.Notes {
		if n.Code == code {
			return true
		}
	}
	return false
}

// TestHubCache: the hub's own cache is read first; what it lacks comes from the hub, or is named.
func TestHubCache(t *testing.T) {
	h := newHub(t)
	checkpoint(h, "acme/tiny", 2)
	dir := t.TempDir()
	repo := filepath.Join(dir, "models--acme--tiny")
	write(t, filepath.Join(repo, "refs", "main"), commit1)
	put := func(name string) {
		f := h.repos["acme/tiny"][name]
		data := make([]byte, f.Length())
		if _, err := f.ReadAt(data, 0); err != nil && f.Length() > 0 && err.Error() != "EOF" {
			t.Fatal(err)
		}
		write(t, filepath.Join(repo, "blobs", name), string(data))
		link := filepath.Join(repo, "snapshots", commit1, name)
		if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join("..", "..", "blobs", name), link); err != nil {
			if runtime.GOOS != "windows" {
				t.Fatal(err)
			}
			t.Skip("Windows lets administrators alone make links, and the hub's cache has copies there")
		}
	}
	for _, n := range []string{"config.json", "model.safetensors.index.json", shard(0, 2)} {
		put(n)
	}
	env := map[string]string{"HF_HUB_CACHE": dir}
	if r, err := h.model("acme/tiny", setting{env: env}); err != nil || h.requests.Load() == 0 || strings.Contains(r.Provenance, "cache") {
		t.Errorf("with a file missing, online: %v", err)
	}
	off := map[string]string{"HF_HUB_CACHE": dir, "HF_HUB_OFFLINE": "yes"}
	_, err := h.model("acme/tiny", setting{env: off})
	refused(t, "with a file missing, offline", err, memwall.BadFile, shard(1, 2), repo, "HF_HUB_OFFLINE")
	put(shard(1, 2))
	h.forget()
	for _, e := range []map[string]string{env, off} {
		r, err := h.model("acme/tiny", setting{env: e})
		if err != nil || h.requests.Load() != 0 {
			t.Fatalf("whole: %v, requests %q", err, h.asked)
		}
		if int64(r.Weights.Bytes()) != llamaBytes() || !strings.Contains(r.Provenance, commit1+" in the hub's cache") ||
			!noted(r, "hub_cache") {
			t.Errorf("whole: %d bytes, %s, %v", r.Weights.Bytes(), r.Provenance, r.Notes)
		}
	}
}
