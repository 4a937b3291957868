package memwall

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/format/gguf"
	"github.com/memwall/memwall/internal/datatest"
)

// logOfHeader prints a file's header and dimensions as llama.cpp does when it loads it; the name says
// nothing, so that the model has to come from the header.
func logOfHeader(f *gguf.File, title string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "build_info: v0.5.0-de3ff81\nllama_model_loader: loaded meta data with %d key-value pairs and %d tensors from "+
		"/m/x.gguf (version GGUF V3 (latest))\n", len(f.Keys()), len(f.Tensors))
	for i, k := range f.Keys() {
		if v := shown(f, k); v != "" {
			fmt.Fprintf(&b, "llama_model_loader: - kv %3d: %42s %-16s = %s\n", i, k, f.Type(k), v)
		}
	}
	arch, _ := f.String("general.architecture")
	list := func(name, key string) {
		if v, ok := f.Ints(arch + "." + key); ok {
			fmt.Fprintf(&b, "print_info: %-16s = %s\n", name, listed(v))
		} else if n, ok := f.Int(arch + "." + key); ok {
			fmt.Fprintf(&b, "print_info: %-16s = %d\n", name, n)
		}
	}
	fmt.Fprintf(&b, "print_info: file type   = %s\nprint_info: file size   = %.2f GiB (0.00 BPW) \nprint_info: arch             = "+
		"%s\nprint_info: model params     = %.2f B\n", title, float64(f.TensorBytes())/(1<<30), arch, float64(f.Elements())/1e9)
	list("n_head", "attention.head_count")
	list("n_head_kv", "attention.head_count_kv")
	list("n_ff", "feed_forward_length")
	for _, t := range f.Tensors {
		if t.Name == "token_embd.weight" {
			fmt.Fprintf(&b, "print_info: n_vocab          = %d\n", t.Dims[1])
		}
	}
	return b.String()
}

// shown is a value as the loader prints it: 40 characters at most.
func shown(f *gguf.File, key string) string {
	v := ""
	if s, ok := f.String(key); ok {
		v = s
	} else if n, ok := f.Int(key); ok {
		v = strconv.FormatInt(n, 10)
	} else if on, ok := f.Bool(key); ok {
		v = strconv.FormatBool(on)
	} else if x, ok := f.Float(key); ok {
		v = fmt.Sprintf("%.6f", x)
	} else if list, ok := f.Ints(key); ok {
		v = listed(list)
	} else if flags, ok := f.Bools(key); ok {
		v = strings.ReplaceAll(fmt.Sprint(flags), " ", ", ")
	}
	const most = 40
	if len(v) > most {
		v = v[:most-3] + "..."
	}
	if key == "general.name" || key == "general.basename" {
		return "x"
	}
	return strings.ReplaceAll(v, "\n", " ")
}

func listed(v []int64) string { return strings.ReplaceAll(fmt.Sprint(v), " ", ", ") }

// TestSharedHeaders prints every header of the shared data as a log, with the buffers of llama.cpp's own dry
// run of that file, and compares: the model is rebuilt from the log alone.
func TestSharedHeaders(t *testing.T) {
	dir := os.Getenv("MEMWALL_SHARED")
	if dir == "" {
		return
	}
	runs := map[string]map[string]string{}
	for _, r := range datatest.Shared(t, "llamacpp_exact.csv") {
		if key := r["model"] + " " + r["ftype"]; runs[key] == nil {
			runs[key] = r
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "data", "gguf_headers", "*.gguf.gz"))
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	counts := map[string]*tally{}
	failed := map[string]string{}
	for _, name := range files {
		f := readHeader(t, name)
		base := strings.TrimSuffix(filepath.Base(name), ".gguf.gz")
		cut := strings.LastIndexByte(base, '-')
		r := runs[base[:cut]+" "+base[cut+1:]]
		if r == nil {
			continue
		}
		title := r["ftype"]
		if n, ok := f.Int("general.file_type"); ok {
			title = dtype.RecipeByFileType(int(n)).Title
		}
		a, err := Compare(logOfHeader(f, title)+runOf(r), Request{})
		if err != nil || a.Model == nil || a.Model.Provenance != "the header that llama.cpp printed" {
			failed[base] = fmt.Sprint(err, a.Notes)
			continue
		}
		for i := range a.Compare {
			l := &a.Compare[i]
			if l.Printed == nil || l.Name == "compute buffer size" {
				continue
			}
			if l.Ours == nil {
				failed[base+": "+l.Name] = l.Why
				continue
			}
			if counts[l.Name] == nil {
				counts[l.Name] = &tally{}
			}
			counts[l.Name].add(l, base)
		}
	}
	var names []string
	for n := range counts {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		counts[n].report(t, n)
	}
	for n, why := range failed {
		t.Logf("    %s: %s", n, why)
	}
	for _, name := range []string{"KV self size", "recurrent state size", "model buffer size", "output buffer size", "model params",
		"file size"} {
		if y := counts[name]; y == nil || y.equal < y.all {
			t.Errorf("%s: not every rebuilt model comes out as printed", name)
		}
	}
	if len(failed) > 24 {
		t.Errorf("%d figures without a counterpart", len(failed))
	}
}

// runOf prints the buffers of a dry run.
func runOf(r map[string]string) string {
	var b strings.Builder
	flash := "disabled"
	if r["flash_attn"] == "1" {
		flash = "enabled"
	}
	fmt.Fprint(&b, "load_tensors: loading model tensors, this can take a while... (mmap = false)\n")
	fmt.Fprintf(&b, "load_tensors:          CPU model buffer size = %s MiB\n", r["model_mib"])
	for _, kv := range [][2]string{{"n_seq_max", r["n_seq"]}, {"n_ctx", r["n_ctx_eff"]}, {"n_batch", r["n_batch"]},
		{"n_ubatch", r["n_ubatch"]}, {"flash_attn", flash}, {"kv_unified", strconv.FormatBool(r["kv_unified"] == "1")}} {
		fmt.Fprintf(&b, "llama_context: %-13s = %s\n", kv[0], kv[1])
	}
	fmt.Fprintf(&b, "llama_context:        CPU  output buffer size = %s MiB\n", r["output_mib"])
	if r["kv_mib"] != "0.00" {
		fmt.Fprintf(&b, "llama_kv_cache: size = %s MiB (  %s cells,  1 layers,  1/1 seqs), K (%s): 0.00 MiB, V (%s): 0.00 MiB\n",
			r["kv_mib"], r["n_ctx_eff"], r["type_k"], r["type_v"])
	}
	if r["rs_mib"] != "0.00" {
		fmt.Fprintf(&b, "llama_memory_recurrent: size = %s MiB (     1 cells,  1 layers,  1 seqs), R (f32): 0.00 MiB, S (f32): 0.00 MiB\n",
			r["rs_mib"])
	}
	fmt.Fprintf(&b, "llama_context:        CPU compute buffer size = %s MiB\n", r["compute_mib"])
	return b.String()
}

func readHeader(t *testing.T, name string) *gguf.File {
	t.Helper()
	z, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	g, err := gzip.NewReader(z)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(g)
	if err != nil {
		t.Fatal(err)
	}
	f, err := gguf.ReadHeader(bytes.NewReader(raw), int64(len(raw)), 1<<45)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return f
}
