package memwall

import (
	"fmt"
	"math"
	"sort"
	"strings"
	"testing"

	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/internal/datatest"
)

// logOfRow writes a row of vllm_logs.csv as vLLM or SGLang print it, figures that the row has and no others.
func logOfRow(r map[string]string) string {
	if r["engine"] == "sglang" {
		return sglangLogOfRow(r)
	}
	var b strings.Builder
	version, generation, _ := strings.Cut(r["engine_version"], " ")
	v0 := generation == "(V0)" || version == "" && r["num_gpu_blocks"] != "" && r["kv_tokens"] == ""
	name := "an LLM engine"
	switch {
	case generation == "(V1)":
		name = "a V1 LLM engine"
	case generation == "(V0)" && version > "0.7":
		name = "a V0 LLM engine"
	}
	config := fmt.Sprintf("model='%s', dtype=torch.%s, max_seq_len=%s, tensor_parallel_size=%s, pipeline_parallel_size=%s, "+
		"data_parallel_size=%s, quantization=%s, kv_cache_dtype=%s",
		r["model"], or(r["dtype"], "bfloat16"), or(r["max_model_len"], "None"), or(r["tp"], "1"), or(r["pp"], "1"), or(r["dp"], "1"),
		or(r["quantization"], "None"), or(r["kv_cache_dtype"], "auto"))
	if version != "" {
		fmt.Fprintf(&b, "INFO 01-01 10:00:00 [core.py:58] Initializing %s (v%s) with config: %s\n", name, version, config)
	} else {
		fmt.Fprintf(&b, "INFO 01-01 10:00:00 llm_engine.py:72] Initializing an LLM engine with config: %s\n", config)
	}
	fmt.Fprintf(&b, "INFO 01-01 10:00:00 [utils.py:326] non-default args: {'gpu_memory_utilization': %s, 'max_num_seqs': %s, "+
		"'max_num_batched_tokens': %s, 'block_size': %s}\n",
		or(r["gpu_memory_utilization"], "None"), or(r["max_num_seqs"], "None"), or(r["max_num_batched_tokens"], "None"),
		or(r["block_size"], "None"))
	put := func(field, format string) {
		if v := r[field]; v != "" {
			fmt.Fprintf(&b, "(EngineCore_DP0 pid=42) INFO 01-01 10:00:09 "+format+"\n", v)
		}
	}
	put("weights_gib_per_gpu", "[gpu_model_runner.py:3338] Model loading took %s GiB and 7.1 seconds")
	if v0 {
		if u := r["gpu_memory_utilization"]; u != "" && r["gpu_mem_gib"] != "" {
			fmt.Fprintf(&b, "INFO 01-01 10:00:09 worker.py:267] the current vLLM instance can use total_gpu_memory (%sGiB) x "+
				"gpu_memory_utilization (%s)\n", r["gpu_mem_gib"], u)
		}
		for i, v := range availables(r) {
			rank := ""
			if i > 0 {
				rank = fmt.Sprintf("(VllmWorkerProcess pid=%d) ", 500+i)
			}
			fmt.Fprintf(&b, "%sINFO 01-01 10:00:09 worker.py:267] model weights take %sGiB; non_torch_memory takes %sGiB; PyTorch "+
				"activation peak memory takes %sGiB; the rest of the memory reserved for KV Cache is %sGiB.\n",
				rank, or(r["weights_gib_per_gpu"], "?"), or(r["non_torch_gib"], "?"), or(r["activation_peak_gib"], "?"), v)
		}
		put("num_gpu_blocks", "executor_base.py:111] # cuda blocks: %s, # CPU blocks: 512")
	} else {
		put("kv_cache_gib_available", "[gpu_worker.py:298] Available KV cache memory: %s GiB")
		put("num_gpu_blocks", "[kv_cache_utils.py:395] # GPU blocks: %s")
		put("kv_tokens", "[kv_cache_utils.py:1087] GPU KV cache size: %s tokens")
	}
	if c := r["max_concurrency_x"]; c != "" {
		fmt.Fprintf(&b, "INFO 01-01 10:00:09 Maximum concurrency for %s tokens per request: %sx\n", or(r["max_model_len"], "0"), c)
	}
	if n := r["kv_needed_gib_for_max_len"]; n != "" {
		estimate := ""
		if e := r["estimated_max_len"]; e != "" {
			estimate = " Based on the available memory, the estimated maximum model length is " + e + "."
		}
		fmt.Fprintf(&b, "ValueError: To serve at least one request with the models's max seq len (%s), (%s GiB KV cache is needed, which "+
			"is larger than the available KV cache memory (%s GiB).%s Try increasing gpu_memory_utilization.\n",
			r["max_model_len"], n, r["kv_cache_gib_available"], estimate)
	}
	return b.String()
}

// availables are those of all ranks, where a row notes them.
func availables(r map[string]string) []string {
	if all := between(r["note"], "kv_gib seen: ", ";"); all != "" {
		return strings.Split(all, "/")
	}
	if v := r["kv_cache_gib_available"]; v != "" {
		return []string{v}
	}
	return nil
}

// sameDimensions are models of rows that the catalog does not have, and entries with their dimensions.
var sameDimensions = map[string]string{
	"castorini/rank_zephyr_7b_v1_full": "mistral-7b-v0.1", "/root/hf_model/Qwen/Qwen2-72B-Instruct-GPTQ-Int4": "qwen2.5-72b",
	"/root/sdb2/DeepSeek-R1-Distill-Qwen-32B": "qwen2.5-32b", "unsloth/DeepSeek-R1-0528-Qwen3-8B": "qwen3-8b",
	"mistralai/Mistral-7B-Instruct-v0.1": "mistral-7b-v0.1",
}

func sglangLogOfRow(r map[string]string) string {
	var b strings.Builder
	quote := func(s string) string {
		if s == "" {
			return "None"
		}
		return "'" + s + "'"
	}
	version := r["engine_version"]
	if version != "" {
		fmt.Fprintf(&b, "sglang: %s\n", version)
	}
	fmt.Fprintf(&b, "[2025-01-01 10:00:00] server_args=ServerArgs(model_path='%s', dtype='%s', kv_cache_dtype='auto', quantization=%s, "+
		"context_length=%s, mem_fraction_static=%s, chunked_prefill_size=%s, max_running_requests=%s, tp_size=%s, dp_size=1)\n",
		r["model"], or(r["dtype"], "auto"), quote(r["quantization"]), or(r["max_model_len"], "None"),
		or(r["gpu_memory_utilization"], "None"), or(r["max_num_batched_tokens"], "None"), or(r["max_num_seqs"], "None"), or(r["tp"], "1"))
	note := r["note"]
	if v := between(note, "avail before load=", " GB"); v != "" {
		fmt.Fprintf(&b, "[2025-01-01 10:00:01 TP0] Load weight begin. avail mem=%s GB\n", v)
	}
	if v := between(note, "avail=", " GB"); v != "" && strings.Contains(note, "load-end") {
		fmt.Fprintf(&b, "[2025-01-01 10:00:01 TP0] Load weight end. type=%s, dtype=torch.%s, avail mem=%s GB\n",
			between(note, "type=", " "), or(r["dtype"], "bfloat16"), v)
	}
	if k := between(note, "K ", " GB"); k != "" && r["kv_tokens"] != "" {
		fmt.Fprintf(&b, "[2025-01-01 10:00:01 TP0] KV Cache is allocated. #tokens: %s, K size: %s GB, V size: %s GB\n", r["kv_tokens"], k,
			between(note, "V ", " GB"))
	}
	if v := r["kv_tokens"]; v != "" {
		fmt.Fprintf(&b, "[2025-01-01 10:00:02 TP0] max_total_num_tokens=%s, context_len=%s\n", v, or(r["max_model_len"], "None"))
	}
	return b.String()
}

func between(s, from, to string) string {
	_, s, ok := strings.Cut(s, from)
	if !ok {
		return ""
	}
	s, _, _ = strings.Cut(s, to)
	return s
}

func or(s, def string) string {
	if s == "" {
		return def
	}
	return s
}

// tally counts lines of one kind.
type tally struct {
	equal, all int
	off        []float64
	worst      []string
}

func (y *tally) add(l *Line, source string) {
	y.all++
	if l.Equal {
		y.equal++
	}
	off := math.Abs(*l.Difference) / math.Max(1e-9, math.Abs(*l.Printed))
	y.off = append(y.off, off)
	if !l.Equal {
		y.worst = append(y.worst, fmt.Sprintf("%.3f%% %s: printed %v, ours %v [%v, %v] given %q", 100*off, source, *l.Printed, *l.Ours,
			*l.Low, *l.High, l.Given))
	}
}

func (y *tally) report(t *testing.T, name string) {
	sort.Float64s(y.off)
	t.Logf("%-44s %3d of %3d equal, median %.4f %%, p90 %.4f %%", name, y.equal, y.all, 100*y.off[len(y.off)/2], 100*y.off[len(y.off)*9/10])
	for _, w := range y.worst {
		t.Logf("    %s", w)
	}
}

// TestSharedServingRows writes every row of vllm_logs.csv as a log, compares it, and counts which figures
// that follow from printed ones come out as printed.
func TestSharedServingRows(t *testing.T) {
	kinds := map[string]*tally{}
	unread := map[string]int{}
	for i, r := range datatest.Shared(t, "vllm_logs.csv") {
		over := Request{Model: sameDimensions[r["model"]]}
		if g := r["gpu"]; g != "" {
			name := g
			if n := or(r["num_gpus"], r["tp"]); n != "" && n != "1" {
				name = n + "x" + g
			}
			if _, _, err := hardware.Parse(name, 0); err == nil {
				over.Hardware = name
			}
		}
		a, err := Compare(logOfRow(r), over)
		if err != nil {
			t.Errorf("row %d: %v", i+2, err)
			continue
		}
		if a.Model == nil {
			unread[a.Notes[len(a.Notes)-1].Text+" "+r["model"]]++
			continue
		}
		for j := range a.Compare {
			l := &a.Compare[j]
			if l.Ours == nil || l.Printed == nil {
				continue
			}
			name := r["engine"] + ": " + l.Name
			if l.Given != "" {
				name += ", given " + strings.TrimRight(l.Given[:strings.IndexAny(l.Given+"0", "-0123456789")], " ")
			}
			if kinds[name] == nil {
				kinds[name] = &tally{}
			}
			kinds[name].add(l, fmt.Sprintf("row %d %s %s %s tp%s", i+2, r["model"], r["engine_version"], r["gpu"], r["tp"]))
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
		t.Logf("%d rows not sized: %s", n, text)
	}
	// What follows from printed figures alone. The rows that miss print one rank of several, a decode
	// context parallel group, or a hybrid cache of 0.24 whose states take two pages.
	for name, share := range map[string]float64{
		"vllm: GPU KV cache size, given Available KV cache memory": 0.87, "vllm: Maximum concurrency, given GPU KV cache size": 1,
		"vllm: Maximum concurrency, given # GPU blocks":          1,
		"vllm: # GPU blocks, given memory reserved for KV Cache": 0.87, "vllm: KV cache needed for one request": 1,
		"vllm: estimated maximum model length, given Available KV cache memory": 1,
		"sglang: K size, given #tokens":                                         1,
	} {
		if len(kinds) > 0 && !kinds[name].atLeast(share) {
			t.Errorf("%s: fewer than %.0f %% as printed", name, 100*share)
		}
	}
}

// atLeast reports whether so many of the lines are equal.
func (y *tally) atLeast(share float64) bool {
	return y != nil && float64(y.equal) >= share*float64(y.all)
}
