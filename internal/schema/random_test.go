package schema

import (
	"math/rand/v2"
	"reflect"
	"slices"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/workload"
)

// askedAs are the questions that random requests ask, as often as their time allows.
var askedAs = []struct {
	ask   string
	times int // of a hundred
}{{"fit", 55}, {"train", 24}, {"diagnose", 8}, {"compare", 6}, {"sim", 4}, {"diff", 2}, {"plan", 1}}

var (
	randomHardware = []string{"h100", "8xh100", "2xrtx-4090", "rtx-4090+rtx-3060", "b200+l4+h100", "m4-max", "cpu", "cpu,host=64GiB@50GB/s",
		"mi300x", "2xp5.48xlarge", "rtx-3060-12gb", "gaudi-3", "tpu-v5e",
		"name=x,memory=1MiB", "name=x,memory=1PiB", "4xname=x,memory=24GiB,bandwidth=1TB/s,host=8GiB@20GB/s,nvme=1TB@5GB/s"}
	saneNumbers = []int64{1, 2, 4, 8, 16, 64, 256, 1000, 4096, 20000}
	oddNumbers  = []int64{-1, 0, 1, 2, 3, 7, 100, 2048, 32768, 1 << 20, 1<<20 + 1, 1 << 30, 1 << 40, 1<<63 - 1}
	// randomWords of fields that name something.
	randomWords = map[string][]string{"weights": {"bf16", "fp8", "awq", "nf4", "q4_k_m", "q8_0", "f32", "no-format"},
		"kv": {"bf16", "fp8", "q8_0", "int4"}, "kv_v": {"bf16", "q4_0"},
		"draft_model": {"llama-3.2-1b", "qwen3-0.6b", "no-model"}, "tensor_split": {"1", "3,1", "nan,1"},
		"override_tensor": {"exps=CPU", "(=CPU"}, "mmproj": {"x.gguf"}, "fit_target": {"1024", "x"},
		"rollout_engine": {"vllm"}, "teacher_model": {"llama-3.1-8b"}, "reference_model": {"llama-3.2-1b"},
		"reward_model": {"llama-3.2-1b"}}
	messages = []string{"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB. GPU 0 has a total capacity of 23.52 GiB " +
		"of which 1.02 GiB is free.", "Killed process 12 (python) total-vm:1kB, anon-rss:9kB",
		"ggml_backend_cuda_buffer_type_alloc_buffer: allocating 800.00 MiB on device 0: cudaMalloc failed: out of memory",
		"ValueError: No available memory for the cache blocks.", "all is well",
		"INFO 01-01 api_server.py: vLLM API server version 0.9.1\nINFO Loading weights took 3 s\nINFO GPU KV cache size: 100,000 tokens",
		"llama_model_loader: loaded meta data with 2 key-value pairs and 291 tensors from x.gguf (version GGUF V3 " +
			"(latest))\nload_tensors:        CUDA0 model buffer size =  4403.50 MiB"}
	lengthLaws = []workload.Law{{}, {Law: "fixed", Mean: 100}, {Law: "uniform", Min: 1, Max: 900}, {Law: "lognormal", Mean: 700, CV: 1.5},
		{Law: "lognormal", Mean: -1}}
)

// one of several.
func one[T any](r *rand.Rand, of []T) T { return of[r.IntN(len(of))] }

// randomRequest asks one of the questions with some of its fields set to anything that their types allow; two of three have
// numbers that could be, and fields that their engine takes.
func randomRequest(r *rand.Rand, ids []string) *memwall.Request {
	n, i := r.IntN(100), 0
	for n >= askedAs[i].times {
		n -= askedAs[i].times
		i++
	}
	out := &memwall.Request{Ask: askedAs[i].ask, Hardware: one(r, randomHardware), Explain: r.IntN(8) == 0}
	sane, numbers := r.IntN(3) > 0, oddNumbers
	if out.Model = one(r, ids); sane {
		numbers = saneNumbers
	}
	if sane && out.Ask != "train" {
		out.Engine = one(r, memwall.Engines())
	}
	some := r.IntN(8)
	if slices.Contains([]string{"sim", "diff", "plan"}, out.Ask) && sane { // of which few are asked
		out.Hardware, out.Engine, some = one(r, []string{"h100", "8xh200", "b200", "2xmi300x"}),
			one(r, []string{"vllm", "sglang", "vllm@0.9"}), r.IntN(2)
	}
	switch out.Ask {
	case "diagnose", "compare":
		out.Text = one(r, messages)
		if r.IntN(2) == 0 {
			out.Model, out.Hardware, out.Engine = "", "", ""
		}
		out.Explain = false
		return out
	case "sim":
		out.Workload = randomLoad(r)
	case "diff":
		out.Change = one(r, []map[string]any{{"weights": "fp8"}, {"context": 1024}, {"tp": 2}, {"hardware": "b200"}, {"no_field": 1}})
	case "plan":
		out.Goal = &memwall.Goal{Minimize: one(r, []string{"", "latency", "cost", "devices"})}
	}
	for _, f := range memwall.Fields() {
		skip := slices.Contains([]string{"ask", "model", "hardware", "also", "text", "devices", "explain", "workload", "change", "goal",
			"for", "data", "among", "day"}, f.Name)
		if !skip && f.OfAsk(out.Ask) && !(sane && (f.Name == "engine" || f.Name == "cp" || !f.OwnedBy(out.Engine))) && r.IntN(50) < some {
			f.Value(out).Set(randomValue(r, &f, f.Type, numbers))
		}
	}
	return out
}

func randomLoad(r *rand.Rand) *workload.Spec {
	s := &workload.Spec{Arrivals: one(r, []string{"", "poisson", "closed", "burst"}), Rate: one(r, []float64{0, 0.5, 10, 1e3}),
		Requests: plan.Int(one(r, []int64{0, 1, 20, 50})), Seed: plan.Int(r.IntN(9)),
		Prompt: one(r, lengthLaws), Output: one(r, lengthLaws), SharedPrefix: plan.Int(one(r, []int64{0, 50})),
		Concurrency: plan.Int(one(r, []int64{0, 1, 9}))}
	if s.Requests == 0 {
		s.Requests = 30 // what is not said would be thousands
	}
	return s
}

func randomValue(r *rand.Rand, f *memwall.Field, t reflect.Type, numbers []int64) reflect.Value {
	v := reflect.New(t).Elem()
	words := append(slices.Clone(f.Enum), randomWords[f.Name]...)
	switch t.Kind() {
	case reflect.Pointer:
		p := reflect.New(t.Elem())
		p.Elem().Set(randomValue(r, f, t.Elem(), numbers))
		return p
	case reflect.String:
		if len(words) > 0 {
			v.SetString(one(r, words))
		}
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int64:
		v.SetInt(one(r, numbers))
	case reflect.Float64:
		v.SetFloat(one(r, []float64{0, 0.001, 0.3, 0.9, 1, 2}))
	}
	return v
}
