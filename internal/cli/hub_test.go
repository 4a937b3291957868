package cli_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/memwall/memwall/format/gguf/gguftest"
	"github.com/memwall/memwall/format/safetensors/safetensorstest"
)

// remoteFiles are what scripts about models far away work with: a repository of checkpoints and one of GGUF files below hub/,
// and a store of Ollama below store/.
func remoteFiles(dir string) error {
	tiny := gguftest.Tiny.Builder().File()
	model := make([]byte, tiny.Len)
	if _, err := tiny.ReadAt(model, 0); err != nil && err != io.EOF {
		return err
	}
	const config = `{"architectures":["LlamaForCausalLM"],"model_type":"llama","hidden_size":256,"intermediate_size":512,"num_attention_heads":4,"num_key_value_heads":2,"num_hidden_layers":2,"vocab_size":512,"max_position_embeddings":4096,"torch_dtype":"bfloat16","rms_norm_eps":1e-5}`
	sum := sha256.Sum256(model)
	digest := hex.EncodeToString(sum[:])
	manifest, err := json.Marshal(map[string]any{"schemaVersion": 2, "layers": []map[string]any{
		{"mediaType": "application/vnd.ollama.image.model", "digest": "sha256:" + digest, "size": len(model)},
		{"mediaType": "application/vnd.ollama.image.projector", "digest": "sha256:" + digest, "size": len(model)},
	}})
	if err != nil {
		return err
	}
	for name, data := range map[string][]byte{
		"hub/acme/tiny/config.json":                              []byte(config),
		"hub/acme/whole/config.json":                             []byte(config),
		"hub/acme/whole/model.safetensors":                       checkpoint(),
		"hub/acme/Tiny-GGUF/Tiny-Q4_K_M.gguf":                    model,
		"hub/acme/Tiny-GGUF/Tiny-Q8_0.gguf":                      model,
		"hub/acme/Tiny-GGUF/mmproj-Tiny-f16.gguf":                model,
		"store/manifests/registry.ollama.ai/library/tiny/latest": manifest,
		"store/blobs/sha256-" + digest:                           model,
	} {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, data, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// checkpoint are the tensors of the configuration.
func checkpoint() []byte {
	b := &safetensorstest.Builder{}
	add := func(name string, shape ...int64) { b.Tensor(name+".weight", "BF16", 16, shape...) }
	add("model.embed_tokens", 512, 256)
	add("lm_head", 512, 256)
	add("model.norm", 256)
	for i := range 2 {
		at := fmt.Sprintf("model.layers.%d.", i)
		add(at+"input_layernorm", 256)
		add(at+"post_attention_layernorm", 256)
		add(at+"self_attn.q_proj", 256, 256)
		add(at+"self_attn.o_proj", 256, 256)
		add(at+"self_attn.k_proj", 128, 256)
		add(at+"self_attn.v_proj", 128, 256)
		add(at+"mlp.gate_proj", 512, 256)
		add(at+"mlp.up_proj", 512, 256)
		add(at+"mlp.down_proj", 256, 512)
	}
	f := b.File()
	out := make([]byte, f.Len)
	_, _ = f.ReadAt(out, 0) // of memory
	return out
}

const commit = "1111111111111111111111111111111111111111"

// hubServer serves the folders below hub/ as the hub does: lists and small files itself, large ones at a second address.
type hubServer struct {
	dir, far string
	token    string   // without which repositories are gated
	mood     []string // cut, damages, lies
}

// hub [gated TOKEN | cut | damages | lies] starts a hub and lets HF_ENDPOINT lead to it; hub gone ends the last.
func hub(ts *testscript.TestScript, _ bool, args []string) {
	if slices.Contains(args, "gone") {
		ts.Value(hubOf{}).(*running).close()
		return
	}
	h := &hubServer{dir: ts.MkAbs("hub"), mood: args}
	if len(args) == 2 {
		h.token = args[1]
	}
	far := httptest.NewTLSServer(http.HandlerFunc(h.stored))
	near := httptest.NewTLSServer(h)
	h.trust(ts, near)
	h.far = far.URL
	r := ts.Value(hubOf{}).(*running)
	r.close()
	r.servers = []*httptest.Server{near, far}
	ts.Setenv("HF_ENDPOINT", near.URL)
	if u, err := url.Parse(far.URL); err == nil {
		ts.Setenv("MEMWALL_ALLOW_PRIVATE", u.Host)
	}
	ts.Setenv("TEST_REMOTE", "1")
	ts.Setenv("MEMWALL_CACHE", ts.MkAbs("kept"))
}

// trust lets the program believe the server's certificate, where the system has a variable for that.
func (h *hubServer) trust(ts *testscript.TestScript, s *httptest.Server) {
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	ts.Check(os.WriteFile(ts.MkAbs("certificate.pem"), text, 0o600))
	ts.Setenv("SSL_CERT_FILE", ts.MkAbs("certificate.pem"))
}

// hubOf is the key of a script's running hub.
type hubOf struct{}

// running is the hub of a script.
type running struct{ servers []*httptest.Server }

func (r *running) close() {
	for _, s := range r.servers {
		s.CloseClientConnections()
		s.Close()
	}
	r.servers = nil
}

func (h *hubServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if rest, ok := strings.CutPrefix(r.URL.Path, "/api/models/"); ok {
		repo, _, _ := strings.Cut(rest, "/revision/")
		h.list(w, repo)
		return
	}
	repo, file, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/resolve/")
	_, name, _ := strings.Cut(file, "/")
	at := filepath.Join(h.dir, filepath.FromSlash(repo), filepath.FromSlash(name))
	info, err := os.Stat(at)
	auth := r.Header.Get("Authorization")
	switch {
	case h.token != "" && auth == "":
		refuse(w, 401, "GatedRepo")
	case h.token != "" && auth != "Bearer "+h.token:
		refuse(w, 403, "GatedRepo")
	case err != nil:
		refuse(w, 404, "EntryNotFound")
	case strings.HasSuffix(name, ".gguf"):
		w.Header().Set("X-Repo-Commit", commit)
		w.Header().Set("X-Linked-Size", strconv.FormatInt(info.Size(), 10))
		w.Header().Set("Location", h.far+"/"+repo+"/"+name)
		w.WriteHeader(302)
	default:
		w.Header().Set("X-Repo-Commit", commit)
		http.ServeFile(w, r, at)
	}
}

func refuse(w http.ResponseWriter, status int, code string) {
	w.Header().Set("X-Error-Code", code)
	w.WriteHeader(status)
}

func (h *hubServer) list(w http.ResponseWriter, repo string) {
	var files []map[string]any
	root := filepath.Join(h.dir, filepath.FromSlash(repo))
	_ = filepath.WalkDir(root, func(at string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name, _ := filepath.Rel(root, at)
			data, _ := os.ReadFile(at)
			sum := sha256.Sum256(data)
			files = append(files, map[string]any{"rfilename": filepath.ToSlash(name), "size": len(data), "lfs": map[string]any{"sha256": hex.EncodeToString(sum[:])}})
		}
		return nil
	})
	if files == nil {
		refuse(w, 404, "RepoNotFound")
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"id": repo, "sha": commit, "siblings": files})
}

// stored serves what the hub leads to: cut after some bytes, or something else altogether where the mood is so.
func (h *hubServer) stored(w http.ResponseWriter, r *http.Request) {
	data, err := os.ReadFile(filepath.Join(h.dir, filepath.FromSlash(r.URL.Path)))
	switch {
	case err != nil:
		w.WriteHeader(404)
	case slices.Contains(h.mood, "cut"):
		w.Header().Set("Content-Range", fmt.Sprintf("bytes 0-%d/%d", len(data)-1, len(data)))
		w.Header().Set("Content-Length", strconv.Itoa(len(data)))
		w.WriteHeader(206)
		_, _ = w.Write(data[:100])
	case slices.Contains(h.mood, "damages"):
		data[len(data)-1]++
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
	case slices.Contains(h.mood, "lies"):
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(bytes.Repeat([]byte("<html>"), len(data)/6)))
	default:
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
	}
}
