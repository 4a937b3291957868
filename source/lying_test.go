package source

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/format/gguf"
	"github.com/memwall/memwall/format/gguf/gguftest"
	"github.com/memwall/memwall/format/safetensors/safetensorstest"
	"github.com/memwall/memwall/internal/datatest"
	"github.com/memwall/memwall/model/family"
	"github.com/memwall/memwall/plan"
)

// free are the keys of a header that no tensor has the shape of: another value is another network, of the same file.
var free = []string{"context_length", "attention.sliding_window", "attention.sliding_window_pattern", "expert_used_count", "attention.shared_kv_layers"}

// only answers every reference with one model.
type only struct{ r *Resolved }

func (o only) Model(string) (*Resolved, error) { return o.r, nil }

// fitted is what a plan of a model holds, item by item; "unknown" where there is no verdict.
func fitted(r *Resolved) string {
	engine := "llama.cpp"
	if r.Format != "gguf" {
		engine = "vllm"
	}
	a, err := (&memwall.Asker{Models: only{r}}).Ask(&memwall.Request{Ask: "fit", Model: "m", Hardware: "b200", Plan: plan.Plan{Engine: engine, Context: 2048}})
	switch {
	case err != nil:
		return err.Error()
	case a.Verdict == memwall.Unknown:
		return "unknown"
	}
	var b strings.Builder
	for _, it := range a.Devices[0].Ledger {
		fmt.Fprintf(&b, "%s %d\n", it.ID, it.Bytes)
	}
	return b.String()
}

func modelOf(b *gguftest.Builder) (*Resolved, error) {
	s := b.File()
	f, err := gguf.Read(s, s.Len)
	if err != nil {
		return nil, err
	}
	return GGUF("m", f)
}

// realHeaders are those of the repository's small networks, of a Llama, and of the shared data where it is at hand. Tokens are
// left out: nothing is sized by them.
func realHeaders(t *testing.T) map[string]*gguftest.Builder {
	out := map[string]*gguftest.Builder{"tiny": gguftest.Tiny.Builder()}
	for i := range networks {
		out[networks[i].name] = networks[i].file()
	}
	for name, b := range sharedHeaders(t) {
		out[name] = b
	}
	for name, b := range out {
		out[name] = b.Without(func(key string) bool { return strings.HasPrefix(key, "tokenizer.") })
	}
	return out
}

func sharedHeaders(t *testing.T) map[string]*gguftest.Builder {
	out := map[string]*gguftest.Builder{}
	for _, r := range datatest.Shared(t, "gguf_headers/INDEX.csv") {
		size, _ := strconv.ParseInt(r["file_bytes"], 10, 64)
		out[r["file"]] = gguftest.Parse(datatest.Unpacked(t, datatest.Path("gguf_headers/"+r["file"])), size)
	}
	return out
}

// TestLyingNumbers: a header one of whose numbers is another one is refused, is of unknown size, or is answered as before. What is
// refused names the key or what is derived of it, and the fix.
func TestLyingNumbers(t *testing.T) {
	tried, refused, named := 0, 0, 0
	for name, b := range realHeaders(t) {
		r, err := modelOf(b)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		before := fitted(r)
		for _, n := range b.Numbers(1000) {
			_, key, _ := strings.Cut(n.Key, ".")
			if strings.HasPrefix(n.Key, "general.") || slices.Contains(free, key) {
				continue
			}
			for _, values := range lies(n) {
				tried++
				r, err := modelOf(b.Changed(n.Key, n.With(values...)))
				if err == nil {
					if after := fitted(r); after != before && after != "unknown" {
						t.Errorf("%s: %s = %v is answered\n%swith\n%s", name, n.Key, values, before, after)
					}
					continue
				}
				if refused++; strings.Contains(err.Error(), n.Key) {
					named++
				}
				checkRefused(t, name+": "+n.Key, err)
			}
		}
	}
	t.Logf("%d numbers changed: %d files refused, %d of them by the name of the key", tried, refused, named)
	if tried < 250 || refused < tried/2 || named < refused*3/4 {
		t.Errorf("%d tried, %d refused, %d named", tried, refused, named)
	}
}

func checkRefused(t *testing.T, where string, err error) {
	t.Helper()
	err = inFile("m.gguf", err)
	e, ok := errors.AsType[*memwall.Error](err)
	if !ok || e.Code != memwall.BadFile || e.Field == "" || e.Hint == "" {
		t.Errorf("%s: %#v", where, err)
	}
}

// lies are other values of a number: small ones, near ones and multiples; in a list for one layer and for all that are alike.
func lies(n gguftest.Number) (out [][]int64) {
	v := n.Values[0]
	for _, other := range []int64{0, 1, 2, v - 1, v + 1, v / 2, 2 * v, 1 << 20} {
		if other == v || other < 0 {
			continue
		}
		one, all := slices.Clone(n.Values), slices.Clone(n.Values)
		one[0] = other
		for i := range all {
			if all[i] == v {
				all[i] = other
			}
		}
		if out = append(out, one); len(all) > 1 {
			out = append(out, all)
		}
	}
	return out
}

// TestMissingNumbers: a header without one of its numbers is refused, of unknown size, or answered as before.
func TestMissingNumbers(t *testing.T) {
	for name, b := range realHeaders(t) {
		r, err := modelOf(b)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		before := fitted(r)
		for _, n := range b.Numbers(1000) {
			if _, key, _ := strings.Cut(n.Key, "."); slices.Contains(free, key) {
				continue
			}
			r, err := modelOf(b.Without(func(key string) bool { return key == n.Key }))
			if err != nil {
				checkRefused(t, name+": "+n.Key, err)
			} else if after := fitted(r); after != before && after != "unknown" {
				t.Errorf("%s: without %s is answered\n%swith\n%s", name, n.Key, before, after)
			}
		}
	}
}

// TestMissingTensors: a file without one of its tensors is refused, is of unknown size, or has what is left of its weights and the
// same caches.
func TestMissingTensors(t *testing.T) {
	tried, refused := 0, 0
	for name, b := range realHeaders(t) {
		whole, err := modelOf(b)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		before := caches(fitted(whole))
		roles := map[string]bool{}
		for _, x := range b.Tensors() {
			_, role, layered := strings.Cut(strings.TrimPrefix(x.Name, "blk."), ".")
			if key := fmt.Sprint(role, layered); !roles[key] {
				roles[key] = true
				tried++
				r, err := modelOf(b.WithoutTensor(x.Name))
				if err != nil {
					refused++
					checkRefused(t, name+": "+x.Name, err)
				} else if after := fitted(r); after != "unknown" && caches(after) != before {
					t.Errorf("%s: without %s is answered\n%swith caches %s", name, x.Name, after, before)
				}
			}
		}
	}
	if t.Logf("%d tensors left out, %d files refused", tried, refused); tried < 70 || refused < tried*4/5 {
		t.Errorf("%d tried, %d refused", tried, refused)
	}
}

// caches are the items of a plan that hold what is remembered.
func caches(items string) (out string) {
	for line := range strings.Lines(items) {
		if strings.HasPrefix(line, "kv_cache") || strings.HasPrefix(line, "state") {
			out += line
		}
	}
	return out
}

// freeFields are the fields of a config.json that no tensor has the shape of.
var freeFields = []string{"max_position_embeddings", "sliding_window", "sliding_window_pattern", "num_experts_per_tok", "mm_tokens_per_image"}

// hubFolder writes a network as files of the hub.
func hubFolder(t *testing.T, n *network) string {
	dir := t.TempDir()
	b := &safetensorstest.Builder{}
	for _, x := range tensorLines(n.hub) {
		b.Tensor(x.name, "BF16", 16, x.shape...)
	}
	write(t, filepath.Join(dir, "model.safetensors"), b.File())
	text(t, filepath.Join(dir, "config.json"), n.config)
	return dir
}

// TestLyingConfigs: a config.json one of whose numbers is another one is refused, is of unknown size, or is answered as before.
func TestLyingConfigs(t *testing.T) {
	tried, refused := 0, 0
	for i := range networks {
		n := &networks[i]
		dir := hubFolder(t, n)
		before := fitted(resolve(t, dir))
		config, err := family.ParseConfig([]byte(n.config))
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range config.Numbers(1000) {
			if slices.Contains(freeFields, x.Path[strings.LastIndexByte(x.Path, '.')+1:]) {
				continue
			}
			for _, values := range lies(gguftest.Number{Values: []int64{x.Value}}) {
				tried++
				text(t, filepath.Join(dir, "config.json"), rewritten(t, n.config, x.Path, values[0]))
				r, err := New(Options{}).Model(dir)
				if err != nil {
					refused++
					checkRefused(t, n.name+": "+x.Path, err)
				} else if after := fitted(r); after != before && after != "unknown" {
					t.Errorf("%s: %s = %v is answered\n%swith\n%s", n.name, x.Path, values, before, after)
				}
			}
		}
	}
	if t.Logf("%d numbers changed, %d files refused", tried, refused); tried < 300 || refused < tried*3/4 {
		t.Errorf("%d tried, %d refused", tried, refused)
	}
}

// rewritten is a config with another value of a number.
func rewritten(t *testing.T, config, path string, value int64) string {
	var whole map[string]any
	if err := json.Unmarshal([]byte(config), &whole); err != nil {
		t.Fatal(err)
	}
	object, keys := whole, strings.Split(path, ".")
	for _, k := range keys[:len(keys)-1] {
		object = object[k].(map[string]any)
	}
	object[keys[len(keys)-1]] = value
	out, err := json.Marshal(whole)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// TestForeignMatrices: a matrix of attention that no operator of the family uses leaves the caches unknown, and the weights exact;
// any other tensor of a layer is counted and named.
func TestForeignMatrices(t *testing.T) {
	for name, unknown := range map[string]bool{"blk.1.attn_extra.weight": true, "blk.0.ssm_in.weight": true, "blk.1.ffn_extra.weight": false, "blk.0.attn_q.scale": false, "v.blk.0.attn_q.weight": false} {
		r, err := modelOf(networks[0].file().Tensor(name, dtype.F32, 64, 64))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		plain, _ := modelOf(networks[0].file())
		if got := fitted(r) == "unknown"; got != unknown || r.Weights.Bytes() != plain.Weights.Bytes()+64*64*4 {
			t.Errorf("%s: unknown %v, %d bytes of weights", name, got, r.Weights.Bytes())
		}
	}
	for name, unknown := range map[string]bool{"model.layers.1.self_attn.extra_proj.weight": true, "model.layers.1.self_attn.rotary_emb.cos_cached": false, "model.layers.0.mlp.extra_proj.weight": false} {
		dir := llamaFolder(t, networks[0].config, func(b *safetensorstest.Builder, x tensorLine) bool {
			if x.name == "model.norm.weight" {
				b.Tensor(name, "BF16", 16, 64, 64)
			}
			return false
		})
		if got := fitted(resolve(t, dir)) == "unknown"; got != unknown {
			t.Errorf("%s: unknown %v", name, got)
		}
	}
}

// TestContradictions: the error names the number and the tensor with its shape.
func TestContradictions(t *testing.T) {
	for key, c := range map[string]struct {
		value int64
		says  string
	}{
		"block_count":             {1, `llama.block_count = 1 contradicts tensor "blk.1.attn_q.weight" = [64, 64], which the network does not use`},
		"embedding_length":        {32, `llama.embedding_length = 32 contradicts tensor "token_embd.weight" = [64, 256]: it would be [32, 256]`},
		"feed_forward_length":     {96, `llama.feed_forward_length = 96 contradicts tensor "blk.0.ffn_gate.weight" = [64, 160]: it would be [64, 96]`},
		"attention.head_count_kv": {0, `llama.attention.head_count_kv = 0 contradicts tensor "blk.0.attn_q.weight" = [64, 64], which the network does not use`},
	} {
		_, err := modelOf(replaced(&networks[0], key, u(c.value)))
		e, ok := errors.AsType[*memwall.Error](err)
		if !ok || e.Message != c.says || e.Field != "llama."+key || e.Value != strconv.FormatInt(c.value, 10) {
			t.Errorf("%s = %d: %v", key, c.value, err)
		}
	}
	_, err := modelOf(networks[0].file().Set("tokenizer.ggml.tokens", gguftest.Array[gguftest.Str]{"a", "b"}))
	if err == nil || err.Error() != `tokenizer.ggml.tokens = 2 contradicts tensor "token_embd.weight" = [64, 256]` {
		t.Errorf("two tokens: %v", err)
	}
	r, err := modelOf(networks[0].file().Set("llama.vocab_size", u(257)))
	if err != nil || len(r.Notes) != 1 || r.Notes[0].Code != "more_tokens" {
		t.Errorf("one token more: %v, %v", r, err)
	}
}

// TestPredictionLayers: layers that predict further tokens are counted by nextn_predict_layers, or the file is refused.
func TestPredictionLayers(t *testing.T) {
	file := func(blocks, ahead int64) *gguftest.Builder {
		b := replaced(&networks[0], "block_count", u(blocks)).Set("llama.nextn_predict_layers", u(ahead))
		return b.Tensor("blk.2.nextn.eh_proj.weight", dtype.F32, 128, 64).Tensor("blk.2.attn_q.weight", dtype.F32, 64, 64)
	}
	if _, err := modelOf(file(3, 1)); err != nil {
		t.Error(err)
	}
	for _, c := range [][2]int64{{2, 0}, {2, 1}, {3, 2}, {3, 0}} {
		if _, err := modelOf(file(c[0], c[1])); err == nil || !strings.Contains(err.Error(), "block_count") && !strings.Contains(err.Error(), "nextn_predict_layers") && !strings.Contains(err.Error(), "blk.2.attn_norm") {
			t.Errorf("%v: %v", c, err)
		}
	}
}

// TestNoTensors: safetensors files without a tensor hold no model.
func TestNoTensors(t *testing.T) {
	for _, config := range []string{"", networks[0].config} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "model.safetensors"), (&safetensorstest.Builder{}).File())
		if config != "" {
			text(t, filepath.Join(dir, "config.json"), config)
		}
		check(t, refused(t, New(Options{}), dir), memwall.BadFile, "holds no tensors")
	}
}
