package memwall

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memwall/memwall/internal/compare"
)

func logFile(t *testing.T, parts ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(append([]string{"engine"}, parts...)...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// find gives the line of a figure; given is the beginning of what it was computed from, "" for figures
// that follow from the request.
func find(a *Answer, name, given string) *Line {
	for i := range a.Compare {
		l := &a.Compare[i]
		if l.Name == name && (given == "" && l.Given == "" || given != "" && strings.HasPrefix(l.Given, given)) {
			return l
		}
	}
	return nil
}

// TestCompare: logs of every engine and era beside this repository's figures. Equal lines are those that
// rules and shapes fix; near says how far the others may be off, in percent.
func TestCompare(t *testing.T) {
	type want struct {
		name, given string
		equal       bool
		near        float64
	}
	for _, c := range []struct {
		engine, file, readAs string
		overrides            Request
		lines                []want
	}{
		{"vllm", "0.12-v1-llama-8b-rtx4090.log",
			"read as: vllm@0.12.0, model llama-3.1-8b, on NVIDIA GeForce RTX 4090, context 31800, max_num_seqs 64, " +
				"max_num_batched_tokens 2048, gpu_memory_utilization 0.95", Request{}, []want{
				{"Available KV cache memory", "", false, 1.6}, {"Model loading took", "", false, 0.01},
				{"GPU KV cache size", "Available KV cache memory 6.93", true, 0}, {"Maximum concurrency", "Available", true, 0},
				{"Maximum concurrency", "GPU KV cache size", true, 0},
			}},
		{"vllm", "0.13-v1-gpt-oss-20b-tp1-docker.log",
			"read as: vllm@0.13.0rc2.dev112+g763963aa7.d20251213, model gpt-oss-20b, context 32768, max_num_batched_tokens 2048", Request{},
			[]want{
				{"GPU KV cache size", "Available KV cache memory 15.77", true, 0}, {"Maximum concurrency", "Available", true, 0},
				{"Maximum concurrency", "GPU KV cache size", true, 0},
			}},
		{"vllm", "0.11-refused-gpt-oss-120b.log", "read as: vllm@0.11.0, model gpt-oss-120b, context 131072, max_num_batched_tokens 8192",
			Request{}, []want{
				{"KV cache needed for one request", "", true, 0},
				{"estimated maximum model length", "Available KV cache memory 4.06", true, 0},
			}},
		{"vllm", "0.8.1-v0-llama-3.2-3b.log", "", Request{}, []want{
			{"# GPU blocks", "memory reserved for KV Cache 23.46", true, 0}, {"Maximum concurrency", "# GPU blocks 13724", true, 0},
			{"memory reserved for KV Cache", "budget of gpu_memory_utilization 31.28 less", true, 0},
		}},
		{"vllm", "0.6.4-v0-llama-70b-tp8.log", "", Request{}, []want{
			{"# GPU blocks", "kv_cache_size 107.35", true, 0}, {"Maximum concurrency", "# GPU blocks", true, 0},
			{"Model loading took", "", false, 0.5},
		}},
		{"vllm", "0.8.3-v1-llama-405b-awq-tp4.log", "", Request{Hardware: "4xh100-nvl"},
			[]want{{"Maximum concurrency", "GPU KV cache size 132,400", true, 0}}},
		{"vllm", "0.10.2-v1-usage-summary.log", "", Request{Hardware: "b200"},
			[]want{{"kv cache memory in use", "budget of gpu_memory_utilization 160.53 less", true, 0}}},
		{"vllm", "0.24-v1-qwen-hybrid.log", "", Request{}, []want{{"attention block size", "", true, 0}}},
		{"sglang", "0.4.3-qwen-7b.log", "read as: sglang@0.4.3, model qwen2.5-7b, context 32768, max_num_seqs 4097, " +
			"max_num_batched_tokens 8192, mem_fraction_static 0.88", Request{}, []want{
			{"#tokens", "avail mem 38.97 before and 24.59 after", true, 0}, {"K size", "#tokens", true, 0}, {"V size", "#tokens", true, 0},
		}},
		{"sglang", "0.2.13-mixtral-tp8.log", "", Request{},
			[]want{{"max_total_num_tokens", "avail mem 21.65", true, 0}, {"max_total_num_tokens", "", false, 2}}},
		{"llamacpp", "b2752-llama-7b-cpu.log", "", Request{}, []want{
			{"KV self size", "", true, 0}, {"KV buffer size", "", true, 0}, {"model params", "", true, 0}, {"file size", "", true, 0},
			{"output buffer size", "", true, 0},
		}},
		{"llamacpp", "b4753-phi-4-two-gpus.log", "", Request{},
			[]want{{"KV self size", "", true, 0}, {"KV buffer size", "", true, 0}, {"model params", "", true, 0},
				{"file size", "", true, 0}}},
		{"llamacpp", "b5787-gemma-3-4b-windows.log", "", Request{},
			[]want{{"KV self size, all", "", true, 0}, {"KV buffer size, all", "", true, 0}, {"model params", "", true, 0}}},
		{"llamacpp", "v0.5-qwen3-next-server.log", "", Request{}, []want{
			{"KV self size", "", true, 0}, {"recurrent state size", "", true, 0}, {"RS buffer size", "", true, 0},
			{"model buffer size", "", true, 0}, {"output buffer size", "", true, 0}, {"model params", "", true, 0},
		}},
	} {
		a, err := Compare(logFile(t, c.engine, "testdata", "logs", c.file), c.overrides)
		if err != nil {
			t.Errorf("%s: %v", c.file, err)
			continue
		}
		if c.readAs != "" && a.ReadAs != c.readAs {
			t.Errorf("%s:\n got  %s\n want %s", c.file, a.ReadAs, c.readAs)
		}
		for _, w := range c.lines {
			l := find(a, w.name, w.given)
			switch {
			case l == nil:
				t.Errorf("%s: no line %q given %q", c.file, w.name, w.given)
			case l.Ours == nil:
				t.Errorf("%s: %s: no figure of ours: %s", c.file, w.name, l.Why)
			case w.equal && !l.Equal, !w.equal && math.Abs(*l.Difference) > w.near/100*math.Abs(*l.Printed):
				t.Errorf("%s: %s %s: printed %v, ours %v (%v to %v)", c.file, w.name, l.Given, *l.Printed, *l.Ours, *l.Low, *l.High)
			}
		}
	}
}

// TestCompareLaws: of every line of every log, the difference is ours less printed, what is equal is near,
// and what has no figure of ours says why.
func TestCompareLaws(t *testing.T) {
	files, err := filepath.Glob("engine/*/testdata/logs/*.log")
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		a, err := Compare(string(text), Request{})
		if err != nil {
			t.Errorf("%s: %v", f, err)
			continue
		}
		if a.Ask != "compare" || a.ReadAs == "" || len(a.Compare) == 0 || a.Plan == nil {
			t.Errorf("%s: an answer without its parts", f)
		}
		for _, l := range a.Compare {
			switch {
			case l.Printed == nil && l.Ours == nil:
				t.Errorf("%s: %s is neither printed nor known", f, l.Name)
			case l.Printed == nil || l.Ours == nil:
				if l.Why == "" || l.Difference != nil || l.Equal || l.Within {
					t.Errorf("%s: %s has no counterpart and %+v", f, l.Name, l)
				}
			case math.Abs(*l.Difference-(*l.Ours-*l.Printed)) > 1e-9*math.Abs(*l.Printed) || *l.Low > *l.Ours || *l.Ours > *l.High:
				t.Errorf("%s: %s: %+v", f, l.Name, l)
			case l.Equal && l.Given == "" && math.Abs(*l.Difference) > 0.501*math.Pow(10, -float64(l.Digits)):
				t.Errorf("%s: %s: equal by %v", f, l.Name, *l.Difference)
			case l.Equal && !l.Within:
				t.Errorf("%s: %s: equal and outside its band", f, l.Name)
			}
		}
		if b, err := json.Marshal(a); err != nil || len(b) == 0 {
			t.Errorf("%s: %v", f, err)
		}
	}
}

// TestCompareOverrides: what the log lacks can be given, and what is given wins.
func TestCompareOverrides(t *testing.T) {
	const log = "Initializing a V1 LLM engine (v0.12.0) with config: model='/mnt/models/', dtype=torch.bfloat16, max_seq_len=8192, " +
		"tensor_parallel_size=1\n" +
		"Model loading took 14.9889 GiB and 9.1 seconds\nAvailable KV cache memory: 6.93 GiB\nGPU KV cache size: 56,800 tokens\n"
	a, err := Compare(log, Request{})
	if err != nil || a.Model != nil || a.Verdict != Unknown {
		t.Fatalf("%v: %+v", err, a.Model)
	}
	if l := find(a, "GPU KV cache size", ""); l == nil || l.Ours != nil || *l.Printed != 56800 {
		t.Errorf("%+v", l)
	}
	if !hasNote(a, "not_in_log", "model") || !hasNote(a, "not_sized", "model") {
		t.Errorf("%+v", a.Notes)
	}
	a, err = Compare(log, Request{Model: "llama-3.1-8b", Hardware: "rtx-4090"})
	if err != nil || a.Model == nil || a.Model.ID != "llama-3.1-8b" {
		t.Fatalf("%v", err)
	}
	if l := find(a, "GPU KV cache size", "Available"); l == nil || !l.Equal {
		t.Errorf("%+v", l)
	}
	if l := find(a, "Available KV cache memory", ""); l == nil || l.Ours == nil {
		t.Errorf("%+v", l)
	}
	r := Request{Model: "llama-3.1-8b", Hardware: "rtx-4090"}
	r.Engine, r.KV = "vllm@0.24", "fp8"
	a, err = Compare(log, r)
	if err != nil || a.Plan.KV != "fp8" || !strings.HasPrefix(a.ReadAs, "read as: vllm@0.24,") {
		t.Fatalf("%v %s", err, a.ReadAs)
	}
	if l := find(a, "GPU KV cache size", "Available"); l == nil || l.Equal || *l.Ours < 100000 {
		t.Errorf("an FP8 cache holds twice as much: %+v", l)
	}
}

// TestCompareDrafter: a drafter that is found only under the name of the model that it drafts for is another network, and the answer says
// that it does not count it.
func TestCompareDrafter(t *testing.T) {
	const text = "non-default args: {'model': 'poolside/Laguna-S-2.1-INT4', 'max_model_len': 65536, " +
		"'speculative_config': {'model': 'poolside/Laguna-S-2.1-DFlash-INT4', 'num_speculative_tokens': 15}}\nModel loading took 69.34 GiB memory\n"
	a, err := Ask(&Request{Ask: "compare", Text: text, Hardware: "gb10"})
	if err != nil {
		t.Fatal(err)
	}
	if l := find(a, "Model loading took", ""); l == nil || *l.Ours > 70 || !hasNote(a, "draft_not_read", "draft_model") {
		t.Errorf("%+v, notes %v", l, a.Notes)
	}
}

func hasNote(a *Answer, code, field string) bool {
	for _, n := range a.Notes {
		if n.Code == code && n.Field == field {
			return true
		}
	}
	return false
}

// TestCompareForeign: what a fork or another way to split prints has no counterpart, and says so.
func TestCompareForeign(t *testing.T) {
	text := logFile(t, "llamacpp", "testdata", "logs", "b4753-phi-4-two-gpus.log")
	for _, c := range []struct{ line, name, why string }{
		{"llama_new_context_with_model: fused_moe  = 1", "compute buffer size", "ik_llama.cpp"},
		{"llama_new_context_with_model: KV self size  =   72.91 MiB, c^KV (q8_0):   72.91 MiB, kv^T: not used", "KV buffer size", "latent"},
		{"load_tensors: CUDA0_Split model buffer size =  8652.00 MiB", "model buffer size", "-sm row"},
	} {
		a, err := Compare(text+"\n"+c.line+"\n", Request{})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for i := range a.Compare {
			l := &a.Compare[i]
			if l.Name != c.name {
				continue
			}
			if n++; l.Ours != nil || l.Printed == nil || !strings.Contains(l.Why, c.why) {
				t.Errorf("%s: %+v", c.line, l)
			}
		}
		if n == 0 {
			t.Errorf("%s: no line of %s", c.line, c.name)
		}
	}
}

// TestComparePrinted: an unknown model leaves the printed figures, and a quantisation that the log does
// not spell out leaves weights open.
func TestComparePrinted(t *testing.T) {
	a, err := Compare("Initializing a V1 LLM engine (v0.12.0) with config: model='x/Qwen3-8B-secret', max_seq_len=4096, "+
		"quantization=compressed-tensors, tensor_parallel_size=1\nModel loading took 6.1 GiB\n", Request{Model: "qwen3-8b"})
	if err != nil {
		t.Fatal(err)
	}
	if l := find(a, "Model loading took", ""); l == nil || l.Ours != nil || !strings.Contains(l.Why, "give weights") {
		t.Errorf("%+v", l)
	}
	a, err = Compare("llama_model_loader: loaded meta data with 3 key-value pairs and 9 tensors from a.gguf\nprint_info: arch = "+
		"mystery9\nprint_info: n_embd = 64\nload_tensors: CUDA0 model buffer size = 10.00 MiB\n", Request{})
	if err != nil || a.Error != nil {
		t.Fatal(err)
	}
	if l := find(a, "model buffer size", ""); l == nil || *l.Printed != 10 || l.Ours != nil || !hasNote(a, "not_sized", "model") {
		t.Errorf("%+v %+v", l, a.Notes)
	}
}

// TestCompareRefuses: texts that are not logs.
func TestCompareRefuses(t *testing.T) {
	for _, c := range []struct{ text, message string }{
		{"", "the log is empty"},
		{"   \n\t\n", "the log is empty"},
		{"\x7fELF\x02\x01\x01\x00\x00", "byte 7 of the log is 0"},
		{strings.Repeat("a\n", 5000) + "\x00", "byte 10000 of the log is 0"},
		{"hello\nworld\n", "none of the 2 lines is from the start of a server"},
	} {
		a, err := Compare(c.text, Request{})
		e, ok := err.(*Error)
		if !ok || e.Code != BadFile || !strings.Contains(e.Message, c.message) || e.Hint == "" || a.Error != e || a.Ask != "compare" {
			t.Errorf("%.20q: %v", c.text, err)
		}
	}
}

// TestAskCompare: the same question in JSON.
func TestAskCompare(t *testing.T) {
	body, _ := json.Marshal(map[string]any{"ask": "compare", "hardware": "rtx-4090",
		"text": logFile(t, "vllm", "testdata", "logs", "0.12-v1-llama-8b-rtx4090.log")})
	r, err := Decode(body)
	if err != nil {
		t.Fatal(err)
	}
	a, err := Ask(r)
	if err != nil || a.Ask != "compare" || a.Plan.Ask != "fit" || a.Plan.Text != "" || a.Plan.Hardware != "rtx-4090" {
		t.Fatalf("%v %+v", err, a.Plan)
	}
	if l := find(a, "GPU KV cache size", "Available"); l == nil || !l.Equal {
		t.Errorf("%+v", l)
	}
	if _, err := Ask(&Request{Ask: "compare"}); err == nil || !strings.Contains(err.Error(), "empty") {
		t.Error(err)
	}
}

// TestCompareEncodings: PowerShell writes UTF-16; colours and carriage returns are not part of a figure.
func TestCompareEncodings(t *testing.T) {
	const log = "Initializing a V1 LLM engine (v0.12.0) with config: model='meta-llama/Llama-3.1-8B-Instruct', max_seq_len=8192, " +
		"tensor_parallel_size=1\r\nGPU KV cache size: 56,800 tokens\r\n"
	wide := []byte{0xFF, 0xFE}
	for _, c := range []byte(log) {
		wide = append(wide, c, 0)
	}
	for name, text := range map[string]string{"utf-16": string(wide), "byte order mark": "\xEF\xBB\xBF" + log,
		"colours": strings.ReplaceAll(log, "GPU", "\x1b[1;36mGPU\x1b[0m")} {
		a, err := Compare(text, Request{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if l := find(a, "GPU KV cache size", ""); l == nil || *l.Printed != 56800 || a.Model == nil {
			t.Errorf("%s: %+v", name, l)
		}
	}
}

// TestCompareOpensNothing: a path in a log is looked up by its name alone, in the catalog.
func TestCompareOpensNothing(t *testing.T) {
	asked := 0
	a := &Asker{Models: sourceFunc(func(string) (*Resolved, error) { asked++; return nil, compare.ErrNoModel })}
	if _, err := a.Compare(strings.NewReader("Initializing a V1 LLM engine (v0.12.0) with config: model='/etc/passwd', "+
		"max_seq_len=8\nGPU KV cache size: 1 tokens\n"), Request{}); err != nil || asked != 0 {
		t.Errorf("%d look-ups, %v", asked, err)
	}
	if _, err := a.Compare(strings.NewReader("GPU KV cache size: 1 tokens\n"), Request{Model: "./mine"}); err != nil || asked != 1 {
		t.Errorf("%d look-ups, %v", asked, err)
	}
}

type sourceFunc func(string) (*Resolved, error)

func (f sourceFunc) Model(ref string) (*Resolved, error) { return f(ref) }

// FuzzCompare: no text makes Compare fail in another way than with an *Error.
func FuzzCompare(f *testing.F) {
	files, _ := filepath.Glob("engine/*/testdata/logs/*.log")
	for _, n := range files {
		text, err := os.ReadFile(n)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	const step = `{"ph":"X","cat":"user_annotation","name":"ProfilerStep#1","ts":1,"dur":9},{"ph":"X","cat":"cpu_op","name":"aten::mm","tid":1,"args":{"External id":3,"Input Dims":[[8,4096],[4096,14336]],"Input Strides":[[4096,1],[1,4096]]}},` +
		`{"ph":"X","cat":"kernel","name":"gemm","ts":1,"dur":5,"args":{"External id":3,"correlation":9}}`
	f.Add("[" + step + "]")
	f.Fuzz(func(t *testing.T, text string) {
		a, err := Compare(text, Request{})
		if _, ok := err.(*Error); err != nil && !ok {
			t.Fatalf("%T", err)
		}
		if err == nil && (a.Plan == nil || a.ReadAs == "") {
			t.Fatal("an answer without its parts")
		}
		if _, err := json.Marshal(a); err != nil {
			t.Fatal(err)
		}
	})
}

// TestCompareTorch: kernels of a trace become the parts of a step, the allocator's peaks those of the ledger; whose run it was
// comes from who asks.
func TestCompareTorch(t *testing.T) {
	trace, summary := logFile(t, "torch", "testdata", "training.json"), logFile(t, "torch", "testdata", "summary-2.8.txt")
	asked := Request{Ask: "train", Model: "llama-3.1-8b", Hardware: "8xh100-sxm-80gb"}
	asked.Framework, asked.Sharding, asked.SequenceLength, asked.MicroBatch, asked.Recompute = "torchtitan", "fsdp", 8192, 2, "selective"
	a, err := Compare(trace, asked)
	if err != nil {
		t.Fatal(err)
	}
	parts := 0.0
	for name, known := range map[string]bool{
		"matmuls": true, "attention": true, "element-wise and norms": true, "of these, norms": false, "loss": true,
		"optimizer": true, "collectives": true, "copies to and from the host": false, "nothing computes": true,
	} {
		l := find(a, name, "")
		if l == nil || (l.Ours != nil) != known || !known && l.Why == "" {
			t.Errorf("%s: %+v", name, l)
			continue
		}
		if known {
			parts += *l.Ours
		}
	}
	step := find(a, "a whole step", "")
	if step == nil || step.Ours == nil || math.Abs(*step.Ours-a.Step.Seconds*1e3) > 1e-6 || math.Abs(parts / *step.Ours - 1) > 0.01 ||
		a.ComparedWith != "trace" {
		t.Errorf("the parts are %v of a step of %+v", parts, step)
	}
	if l := find(a, "Total Reserved, peak", ""); l == nil || *l.Printed != 78848 ||
		math.Abs(*l.Ours*(1<<20)-float64(a.PerDevice.Reserved)) > 1 {
		t.Errorf("%+v", l)
	}
	if a, err = Compare(summary, asked); err != nil || a.ComparedWith != "memory_summary" ||
		find(a, "Allocated memory, peak", "").Ours == nil || find(a, "Allocated memory, now", "").Ours != nil {
		t.Errorf("%+v, %v", a, err)
	}
	if a, err = Compare(trace, Request{}); err != nil || len(a.Compare) != 14 || find(a, "a whole step", "").Ours != nil ||
		a.Verdict != Unknown {
		t.Errorf("nobody's run: %+v, %v", a, err)
	}
	if a, err = Compare(trace, Request{Model: "llama-3.1-8b", Hardware: "h100-sxm-80gb"}); err != nil ||
		find(a, "a whole step", "").Ours == nil || find(a, "optimizer", "").Ours != nil {
		t.Errorf("one that serves: %+v, %v", a, err)
	}
	if _, err := Compare(logFile(t, "vllm", "testdata", "logs", "0.12-v1-llama-8b-rtx4090.log"), Request{Ask: "train"}); err == nil {
		t.Error("the start of a server is not a run of training")
	}
}

// TestNotReadFiles: pickles, archives, what is packed twice or not at all.
func TestNotReadFiles(t *testing.T) {
	for text, want := range map[string]string{
		"\x80\x04\x95rest": "the file ends here", "\x80\x04}.": "no memory snapshot", "PK\x03\x04rest": "is a zip archive", "\x1f\x8b\x08": "is none", `{"traceEvents":[`: "ends before its first event", `{"allocated_bytes.all.peak": "x"}`: "none of the allocator's counters",
	} {
		_, err := Compare(text, Request{})
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(e.Message, want) || e.Hint == "" || e.Code != BadFile {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
