package memwall

import (
	"encoding/json"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/memwall/memwall/internal/datatest"
)

// llamaLogOfRow writes a row of llamacpp_logs.csv as llama.cpp prints it. The rows have no widths of the
// feed-forward layers: four times the hidden size stands in, so that caches can be compared; weights are
// compared only where the catalog has the model (the number of tensors, which the rows lack too, fits no
// other).
func llamaLogOfRow(r map[string]string) string {
	var b strings.Builder
	if n := between(r["build"]+" ", "b", " "); n != "" && strings.Trim(n, "0123456789") == "" {
		fmt.Fprintf(&b, "build: %s (0000000) with cc for x86_64-linux-gnu\n", n)
	}
	fmt.Fprintf(&b, "llama_model_loader: loaded meta data with 30 key-value pairs and 1 tensors from /models/%s.gguf (version GGUF V3 "+
		"(latest))\n", strings.ReplaceAll(r["model"], "/", "_"))
	info := func(key, value string) {
		if value != "" {
			fmt.Fprintf(&b, "print_info: %-16s = %s\n", key, value)
		}
	}
	info("arch", r["arch"])
	for key, column := range map[string]string{"n_layer": "n_layer", "n_head": "n_head", "n_head_kv": "n_head_kv",
		"n_embd_head_k": "head_dim_k", "n_embd_head_v": "head_dim_v", "n_embd": "n_embd", "n_vocab": "n_vocab", "n_swa": "n_swa"} {
		info(key, strings.NewReplacer(";", ",").Replace(r[column]))
	}
	if hidden, err := strconv.Atoi(r["n_embd"]); err == nil {
		info("n_ff", strconv.Itoa(4*hidden))
	}
	info("n_ctx_train", "131072")
	info("file type", r["quant_file_type"])
	info("general.name", r["model"])
	if n := r["n_gpu_layers"]; n != "" {
		fmt.Fprintf(&b, "load_tensors: offloaded %s layers to GPU\n", n)
	}
	buffers(&b, "load_tensors", " model", r["model_buffers_mib"])
	for _, s := range []struct{ key, column string }{{"n_seq_max", "n_seq"}, {"n_ctx", "n_ctx"}, {"n_batch", "n_batch"},
		{"n_ubatch", "n_ubatch"}, {"flash_attn", "flash_attn"}} {
		if v := r[s.column]; v != "" {
			fmt.Fprintf(&b, "llama_context: %-13s = %s\n", s.key, v)
		}
	}
	buffers(&b, "llama_kv_cache", " KV", r["kv_buffers_mib"])
	for _, part := range strings.Split(r["kv_detail"], " ; ") {
		if part = strings.TrimSpace(part); part != "" {
			fmt.Fprintf(&b, "llama_kv_cache: %s\n", part)
		}
	}
	buffers(&b, "llama_context", " compute", r["compute_buffers_mib"])
	if v := r["output_buffer_mib"]; v != "" {
		fmt.Fprintf(&b, "llama_context: %10s  output buffer size = %8s MiB\n", "CPU", v)
	}
	if strings.Contains(r["source"], "ik_llama") {
		fmt.Fprintln(&b, "llama_new_context_with_model: fused_moe  = 0")
	}
	return b.String()
}

// buffers writes {"CUDA0": 1.5, "CPU": [1, 2]}.
func buffers(b *strings.Builder, function, kind, list string) {
	var m map[string]json.RawMessage
	if json.Unmarshal([]byte(list), &m) != nil {
		return
	}
	var names []string
	for n := range m {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		var many []float64
		if json.Unmarshal(m[n], &many) != nil {
			var one float64
			_ = json.Unmarshal(m[n], &one)
			many = []float64{one}
		}
		for _, v := range many {
			fmt.Fprintf(b, "%s: %10s%s buffer size = %8.2f MiB\n", function, n, kind, v)
		}
	}
}

// someDevices stand in for devices that the rows do not name, one of each backend.
func someDevices(backends string) string {
	for name, device := range map[string]string{"CUDA": "rtx-4090", "ROCm": "rx-7900-xtx", "Metal": "m2-max-96gb",
		"SYCL": "arc-a770-16gb"} {
		if strings.Contains(backends, name) {
			return device
		}
	}
	return ""
}

// numbered counts the devices of a list of buffers by their highest number.
func numbered(list string) int {
	for n := 16; n > 1; n-- {
		if strings.Contains(list, fmt.Sprintf("%d\"", n-1)) {
			return n
		}
	}
	return 1
}

// TestSharedLlamaRows does the same for llamacpp_logs.csv.
func TestSharedLlamaRows(t *testing.T) {
	kinds := map[string]*tally{}
	unread := map[string]int{}
	rows := 0
	for i, r := range datatest.Shared(t, "llamacpp_logs.csv") {
		rows++
		over := Request{Hardware: someDevices(r["backends"])}
		if n := numbered(r["kv_buffers_mib"] + r["model_buffers_mib"]); over.Hardware != "" && n > 1 {
			over.Hardware = fmt.Sprintf("%dx%s", n, over.Hardware)
		}
		a, err := Compare(llamaLogOfRow(r), over)
		if err != nil {
			t.Errorf("row %d: %v", i+2, err)
			continue
		}
		if a.Model == nil {
			unread[a.Notes[len(a.Notes)-1].Text]++
			continue
		}
		fork := strings.Contains(r["source"], "ik_llama")
		for j := range a.Compare {
			l := &a.Compare[j]
			if l.Ours == nil || l.Printed == nil {
				continue
			}
			name := "llama.cpp: " + l.Name
			if fork {
				name = "ik_llama.cpp: " + l.Name
			}
			if kinds[name] == nil {
				kinds[name] = &tally{}
			}
			kinds[name].add(l, fmt.Sprintf("row %d %s %s %s %s ngl %s", i+2, r["model"], r["arch"], r["build"], r["backends"],
				r["n_gpu_layers"]))
		}
	}
	var names []string
	for n := range kinds {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		kinds[n].report(t, n)
	}
	for text, n := range unread {
		t.Logf("%d of %d rows not sized: %s", n, rows, text)
	}
	for name, share := range map[string]float64{"llama.cpp: KV self size": 0.98, "llama.cpp: KV self size, all": 1,
		"llama.cpp: KV buffer size, all": 1, "ik_llama.cpp: KV self size": 0.9} {
		if rows > 0 && !kinds[name].atLeast(share) {
			t.Errorf("%s: fewer than %.0f %% as printed", name, 100*share)
		}
	}
}
