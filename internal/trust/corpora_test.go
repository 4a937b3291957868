package trust

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/calibrate"
	"github.com/memwall/memwall/format/arch"
	"github.com/memwall/memwall/format/gguf"
	"github.com/memwall/memwall/format/gguf/gguftest"
	"github.com/memwall/memwall/format/safetensors"
	"github.com/memwall/memwall/format/safetensors/safetensorstest"
	"github.com/memwall/memwall/internal/check"
	"github.com/memwall/memwall/internal/observe"
	"github.com/memwall/memwall/internal/study"
	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/snapshot"
	"github.com/memwall/memwall/source"
	"github.com/memwall/memwall/workload"
)

// corpus is what is read, and what is read of it.
type corpus struct {
	name, what string
	inputs     inputs
	read       func([]byte) error
	fix        bool // errors say what to do
	untold     bool // answers come when they are ready, so that which input one is of is not known
}

func corpora(t *testing.T) []corpus {
	return []corpus{
		{"GGUF headers", "a right header, cut at every byte, every word of it replaced by extremes", ggufs(), readGGUF, true, false},
		{"safetensors headers", "a right header, cut and struck at every byte, wrong lengths, holes, overlaps, overflows, nesting",
			safetensorsFiles(), readSafetensors, true, false},
		{"indexes of checkpoints", "model.safetensors.index.json, struck at every byte", indexes(), readIndex, true, false},
		{"config.json", "each field of models of the catalog left out, twice, and of every kind of value", configs(t), readConfig, true,
			false},
		{"descriptions in YAML", "a network in YAML, struck at every byte, bombs, nesting, tags", descriptions(), readDescription, true,
			false},
		{"launch lines and manifests", "command lines with every flag of odd values; compose, Kubernetes, Modelfiles and Python, struck",
			launches(), readLaunch, true, false},
		{"requests", "each field of a request of every kind of value: fit, train and diff", requests(), ask, true, false},
		{"start-up logs and messages", "logs of engines and errors, struck, cut, repeated", logs(), readLog, true, false},
		{"pages of metrics", "Prometheus pages and lists of Ollama, struck, of odd numbers and labels", metrics(), readMetrics, false,
			false},
		{"benchmarks and calibrations", "JSON, CSV and Markdown of benchmarks, profiles, struck", benchmarks(), readBenchmark, false,
			false},
		{"traces of workloads", "JSONL and CSV of requests, struck", traces(), readTrace, true, false},
		{"study files", "a study in YAML, struck at every byte", studies(), readStudy, true, false},
		{"memory snapshots", "pickles of PyTorch's allocator, cut, struck, every word of them replaced by extremes, with opcodes that " +
			"import, call and build", snapshots(t), readSnapshot, true, false},
		{"plans to check", "a memwall.yaml, struck at every byte", checks(), readCheck, true, false},
		{"messages of agents", "JSON-RPC on a pipe, struck at every byte, nested, of odd ids", messages(), agent(t), false, true},
	}
}

// Words that stand for lengths and counts, little-endian: all ones, the largest signed, and what overflows a product.
var words = []string{"\xff\xff\xff\xff", "\xff\xff\xff\xff\xff\xff\xff\xff", "\xff\xff\xff\xff\xff\xff\xff\x7f",
	"\x00\x00\x00\x00\x00\x00\x00\x40", "\x00\x00\x00\x80", "\x00\x00\x00\x00\x00\x00\x00\x00", "\x01\x00\x00\x00"}

var tiny = gguftest.Llama{Layers: 1, Embd: 256, FF: 256, Heads: 4, KVHeads: 2, Tokens: 8, Merges: 2}

func ggufs() inputs {
	old := tiny.Builder()
	old.Version = 1
	big := tiny.Builder()
	big.BigEndian = true
	head := tiny.Builder().Header()
	return all(cut(head, 1), struck(head, 1, words...), cut(old.Header(), 7), struck(old.Header(), 5, words...),
		struck(big.Header(), 5, words...), put(head, 9, words...))
}

func readGGUF(in []byte) error {
	s := &gguftest.Sparse{Head: in, Len: tiny.Builder().File().Len}
	f, err := gguf.Read(s, s.Len)
	if err != nil {
		return err
	}
	_, err = source.GGUF("m", f)
	return err
}

func safetensorsFiles() inputs {
	b := &safetensorstest.Builder{}
	b.Tensor("model.embed_tokens.weight", "BF16", 16, 8, 4).Tensor("lm_head.weight", "F32", 32, 2).Meta("format", "pt")
	head := []byte(b.JSON())
	entry := func(fields string) string { return `{"a":{` + fields + `}}` }
	lists := texts("", "null", "5", "[]", "{}", "{", `{"a"`, `{"a":`, entry(``), entry(`"dtype":"F32"`), entry(`"dtype":"F32","shape":[1],"data_offsets":[0,4],"data_offsets":[0,4]`),
		entry(`"dtype":"F32","shape":[1],"data_offsets":[4,0]`), entry(`"dtype":"F32","shape":[1],"data_offsets":[0,8]`), entry(`"dtype":"F32","shape":[1],"data_offsets":[0]`), entry(`"dtype":"F32","shape":[1],"data_offsets":[0,4,8]`),
		entry(`"dtype":"F32","shape":[-1],"data_offsets":[0,4]`), entry(`"dtype":"F32","shape":[1.5],"data_offsets":[0,4]`), entry(`"dtype":"F32","shape":[18446744073709551616],"data_offsets":[0,4]`),
		entry(`"dtype":"F32","shape":[4294967296,4294967296,4294967296],"data_offsets":[0,4]`), entry(`"dtype":"I4","shape":[9223372036854775807],"data_offsets":[0,4]`), entry(`"dtype":"`+strings.Repeat("F", 70_000)+`","shape":[],"data_offsets":[0,4]`),
		entry(`"dtype":"F32","shape":[`+strings.Repeat("1,", 100)+`1],"data_offsets":[0,4]`), entry(`"x":`+nested("[", "", "]", 100_000)+`,"dtype":"F32","shape":[1],"data_offsets":[0,4]`),
		`{"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[4],"data_offsets":[2,6]}}`, `{"a":{"dtype":"U8","shape":[2],"data_offsets":[4,6]}}`,
		`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}`, `{"__metadata__":{"a":1}}`, `{"__metadata__":{"a":"b","a":"c"}}`, `{"__metadata__":`+nested(`{"a":`, `""`, "}", 50_000)+`}`,
		"{\"\xff\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", `{"\ud800":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, `{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}x`, " {}", "\ufeff{}")
	jsons := all(lists, cut(head, 1), struck(head, 1, marks...), put(head, 3, pieces...))
	return func(yield func([]byte) bool) {
		for h := range jsons {
			if !yield(lengthBefore(uint64(len(h)), h)) {
				return
			}
		}
		for _, n := range []uint64{0, 1, 7, uint64(len(head)) - 1, uint64(len(head)) + 1, 1 << 20, 100_000_000, 100_000_001, 1 << 32,
			1 << 62, 1 << 63, 1<<64 - 1} {
			if !yield(lengthBefore(n, head)) {
				return
			}
		}
		for n := range 9 {
			if !yield(make([]byte, n)) {
				return
			}
		}
	}
}

func lengthBefore(n uint64, head []byte) []byte {
	out := make([]byte, 8, 8+len(head))
	for i := range out {
		out[i] = byte(n >> (8 * i))
	}
	return append(out, head...)
}

func readSafetensors(in []byte) error {
	s := &safetensorstest.Sparse{Head: in, Len: int64(len(in)) + 72}
	_, err := safetensors.Read(s, s.Len)
	return err
}

func indexes() inputs {
	seed := []byte(`{"metadata":{"total_size":1},"weight_map":{"a.weight":"model-00001-of-00002.safetensors","b":"model-00002-of-00002.safetensors"}}`)
	return all(cut(seed, 1), struck(seed, 1, marks...), put(seed, 2, pieces...), members(string(seed)), texts(`{"weight_map":{"a":"../x"}}`, `{"weight_map":{"a":"/etc/passwd"}}`, `{"weight_map":{"a":"C:\\x"}}`, `{"weight_map":`+nested(`{"a":`, `""`, "}", 9999)+`}`))
}

func readIndex(in []byte) error {
	_, err := safetensors.ReadIndex(bytes.NewReader(in))
	return err
}

// configs are those of every 23rd model of the catalog.
func configs(t *testing.T) inputs {
	var of []inputs
	for i, id := range catalog.IDs() {
		if i%23 > 0 {
			continue
		}
		e, err := catalog.Find(id)
		if err != nil {
			t.Fatal(err)
		}
		of = append(of, members(string(e.Config)))
	}
	seed := []byte(`{"architectures":["LlamaForCausalLM"],"hidden_size":64,"num_hidden_layers":2,"num_attention_heads":4,"intermediate_size":8,"vocab_size":9}`)
	return all(append(of, cut(seed, 1), struck(seed, 1, marks...), put(seed, 4, pieces...), texts("null", "[]", nested("[", "", "]", 20_000), nested(`{"a":`, "1", "}", 20_000), "{"+strings.Repeat(`"hidden_size":1,`, 10_000)+`"a":1}`))...)
}

func readConfig(in []byte) error {
	r, err := source.Config("m", in)
	if err == nil && r.Model == nil {
		return errors.New("no model")
	}
	return err
}

func descriptions() inputs {
	seed := []byte("name: mine\nvocab: 64\nhidden: 64\ncontext: 512\nlayers:\n- count: 2\n  attention: {heads: 4, kv_heads: 2}\n  ffn: " +
		"{inner: 160, gated: true}\n")
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for i := range 9 {
		bomb += fmt.Sprintf("%c: &%c [*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c]\n", 'b'+i, 'b'+i, 'a'+i, 'a'+i, 'a'+i, 'a'+i, 'a'+i, 'a'+i, 'a'+i,
			'a'+i)
	}
	return all(cut(seed, 1), struck(seed, 1, marks...), put(seed, 2, pieces...), lines(string(seed)),
		texts(bomb, nested("[", "", "]", 9999), nested("{a: ", "1", "}", 9999), strings.Repeat("- ", 9999)+"x",
			strings.Repeat("a:\n ", 999), "? "+strings.Repeat("x", 99_999), "--- \n---\n---\n", "vocab: 1\nvocab: 2\n",
			"vocab: 1e9\nhidden: 1e9\nlayers: [{count: 4096, ffn: {inner: 1e9}}]", "layers: [{count: 9999999999}]"))
}

func readDescription(in []byte) error {
	_, err := arch.Parse(in)
	return err
}

// flags of the engines, of which some change memory and some do not.
var flags = strings.Fields(`-c -m -np -ngl -fa -ctk -ctv -b -ub -ts -ot -sm -hf --host --port --ctx-size --parallel --n-gpu-layers --cache-type-k --tensor-split --override-tensor --mmproj --lora --model --model-path --max-model-len
	--context-length --tensor-parallel-size -tp --tp-size --pipeline-parallel-size --data-parallel-size --gpu-memory-utilization --mem-fraction-static --kv-cache-dtype --quantization --dtype --max-num-seqs --max-num-batched-tokens --block-size
	--speculative-config --kv-transfer-config --enable-lora --max-loras --swap-space --cpu-offload-gb --enforce-eager --served-model-name --revision --max_seq_len --tp_size --kv_cache_free_gpu_memory_fraction --frob`)

var oddWords = []string{"", "-1", "0", "1", "8k", "1e999", "9223372036854775808", "0.5", "NaN", "x", "'", "\"", "$(id)", "`id`", "a b", "=", "--", "{}", `'{"a":[{}]}'`, "\u202e", "\x1b[2J", "\xff", strings.Repeat("9", 400), "../../x", "hf_abcdefghijklmnopqrstuvwxyz", "C:\\x", "日本"}

func launches() inputs {
	programs := []string{"vllm serve meta-llama/Llama-3.1-8B-Instruct", "python -m sglang.launch_server --model-path Qwen/Qwen3-8B",
		"llama-server -m x.gguf", "trtllm-serve Qwen/Qwen3-8B"}
	flagged := func(yield func([]byte) bool) {
		for _, p := range programs {
			for _, f := range flags {
				for _, w := range oddWords {
					if !yield([]byte(p + " " + f + " " + w)) {
						return
					}
				}
			}
		}
	}
	var of []inputs
	for _, seed := range []string{"docker run --gpus '\"device=0,1\"' -e A=b -v /m:/m vllm/vllm-openai:v0.9.2 --model /m/x " +
		"--max-model-len 100\n", "services:\n  llm:\n    image: vllm/vllm-openai\n    command: --model Qwen/Qwen3-8B --max-model-len " +
		"8192\n    environment:\n      - A=b\n",
		"apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - name: t\n    image: vllm/vllm-openai\n    args: [--model, Qwen/Qwen3-8B]\n " +
			"   env: [{name: A, value: b}]\n", "FROM ./x.gguf\nPARAMETER num_ctx 4096\nSYSTEM \"\"\"\na\n\"\"\"\n",
		"AutoModelForCausalLM.from_pretrained(\"Qwen/Qwen3-8B\", torch_dtype=torch.float16, device_map={\"\": 0})\n"} {
		of = append(of, cut([]byte(seed), 1), struck([]byte(seed), 1, "\x00", "\"", "'", "{", "[", "(", "\\", "\xff", "$", "\n"),
			put([]byte(seed), 5, pieces...), lines(seed))
	}
	return all(append(of, flagged, texts("vllm serve "+strings.Repeat("'", 9999), strings.Repeat("sudo env ", 9999)+"vllm serve x",
		"bash -c \""+strings.Repeat("bash -c \\\"", 999), "services: "+nested("{a: ", "1", "}", 9999),
		"vllm serve "+strings.Repeat("x ", 99_999)))...)
}

func readLaunch(in []byte) error {
	_, _, err := memwall.FromCommand(string(in))
	return err
}

// requests are each question with each of its fields of every kind of value.
func requests() inputs {
	bases := map[string]string{"fit": `"model":"llama-3.2-1b","hardware":"h100"`, "train": `"model":"llama-3.2-1b","hardware":"h100"`, "diff": `"model":"llama-3.2-1b","hardware":"h100","change":{"context":100}`}
	whole := func(yield func([]byte) bool) {
		for _, name := range []string{"diff", "fit", "train"} {
			for _, f := range memwall.Fields() {
				if !f.OfAsk(name) || slices.Contains([]string{"ask", "also"}, f.Name) {
					continue
				}
				for _, v := range values {
					if !yield([]byte(`{"ask":"` + name + `",` + bases[name] + `,"` + f.Name + `":` + v + `}`)) {
						return
					}
				}
			}
		}
	}
	seed := []byte(`{"ask":"fit","model":"llama-3.2-1b","hardware":"2xh100","tp":2,"offload":{"kv":"host"},"override":{"layers":2}}`)
	return all(whole, cut(seed, 1), struck(seed, 1, marks...), put(seed, 3, pieces...), texts(nested(`{"also":[`, "", "]}", 9999), `{"ask":"fit","model":"llama-3.2-1b","also":[`+strings.Repeat(`{},`, 999)+`{}]}`, nested("[", "", "]", 99_999)))
}

func ask(in []byte) error {
	r, err := memwall.Decode(in)
	if err != nil {
		return memwall.AsError(err)
	}
	_, err = memwall.Ask(r)
	return err
}

const engineLog = "INFO 07-01 10:00:00 [api_server.py:1] vLLM API server version 0.9.1\nINFO 07-01 [gpu_model_runner.py:1] Model loading " +
	"took 14.9889 GiB and 3 seconds\nINFO [kv_cache_utils.py:1] GPU KV cache size: 100,000 tokens\n" +
	"llama_model_loader: loaded meta data with 2 key-value pairs and 291 tensors from x.gguf (version GGUF V3 (latest))\nload_tensors:   " +
	"     CUDA0 model buffer size =  4403.50 MiB\n" +
	"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB. GPU 0 has a total capacity of 23.52 GiB of which 1.02 GiB " +
	"is free. Of the allocated memory 21.70 GiB is allocated by PyTorch\n"

func logs() inputs {
	seed := []byte(engineLog)
	return all(cut(seed, 1), struck(seed, 1, "\x00", "9", "\n", "\xff", "-"), put(seed, 5, pieces...), lines(engineLog),
		texts("", strings.Repeat("\x00", 9999), strings.Repeat("x", 1<<20), strings.Repeat(engineLog, 100),
			strings.Repeat("CUDA out of memory ", 9999)))
}

// readLog reads a log as a start and as a failure.
func readLog(in []byte) error {
	for _, r := range []*memwall.Request{{Ask: "diagnose", Text: string(in)}, {Ask: "compare", Text: string(in)}} {
		if _, err := memwall.Ask(r); err != nil {
			return err
		}
	}
	return nil
}

const metricsPage = "# HELP vllm:num_requests_running a\n# TYPE vllm:num_requests_running " +
	"gauge\nvllm:num_requests_running{model_name=\"x\"} 3.0\n# TYPE vllm:time_to_first_token_seconds histogram\n" +
	"vllm:time_to_first_token_seconds_bucket{le=\"0.1\",model_name=\"x\"} " +
	"1.0\nvllm:time_to_first_token_seconds_bucket{le=\"+Inf\",model_name=\"x\"} " +
	"2.0\nvllm:time_to_first_token_seconds_sum{model_name=\"x\"} 0.3\nvllm:time_to_first_token_seconds_count{model_name=\"x\"} " +
	"2.0\nvllm:gpu_cache_usage_perc{model_name=\"x\"} 0.5\n"

func metrics() inputs {
	seed := []byte(metricsPage)
	var numbers []string
	for _, n := range append([]string{"NaN", "+Inf", "-Inf", "1e400", "-1e400", "0x1p-1074", "", "1 2 3", "1e", "1_000"}, oddWords...) {
		numbers = append(numbers, strings.Replace(metricsPage, " 3.0\n", " "+n+"\n", 1), strings.Replace(metricsPage, `le="0.1"`, `le="`+n+`"`, 1), strings.Replace(metricsPage, "vllm:gpu_cache_usage_perc", n+"vllm:gpu_cache_usage_perc", 1))
	}
	ollama := []byte(`{"models":[{"name":"x","size":1,"size_vram":2,"expires_at":"2026-01-01T00:00:00Z"}]}`)
	return all(cut(seed, 1), struck(seed, 1, "\x00", "\"", "{", "}", "\n", "\xff", "\\"), put(seed, 7, pieces...), lines(metricsPage),
		texts(numbers...), cut(ollama, 1), struck(ollama, 1, marks...), members(string(ollama)),
		texts("vllm:x{"+strings.Repeat(`a="b",`, 99_999)+"} 1", strings.Repeat("vllm:num_requests_running 1\n", 9999), strings.Repeat("a", 9<<20)))
}

func readMetrics(in []byte) error {
	if bytes.HasPrefix(bytes.TrimSpace(in), []byte("{")) {
		_, err := observe.ReadOllama(in)
		return err
	}
	_, err := observe.Read(in)
	return err
}

func benchmarks() inputs {
	one := `{"model_filename":"x","model_type":"llama 8B Q4_K - Medium","model_size":4914000000,"model_n_params":8030000000,"backends":"CUDA","n_prompt":512,"n_gen":0,"avg_ts":1000.5,"stddev_ts":1.5,"n_batch":2048,"n_ubatch":512,"gpu_info":"NVIDIA GeForce RTX 4090"}`
	table := "| model | size | params | backend | ngl | test | t/s |\n| --- | --- | --- | --- | --- | --- | --- |\n| llama 8B Q4_K - " +
		"Medium | 4.58 GiB | 8.03 B | CUDA | 99 | pp512 | 1000.50 ± 1.50 |\n"
	profile := `{"schema":"memwall-calibration/1","offsets":[{"table":"stream","name":"a","key":"b","value":1,"stderr":0.1}]}`
	return all(members(one), struck([]byte("["+one+"]"), 1, marks...), cut([]byte(table), 1),
		struck([]byte(table), 1, "|", "\n", "\x00", "9", "-", "\xff"), put([]byte(table), 3, pieces...), lines(table),
		struck([]byte(profile), 1, marks...), members(profile),
		texts("a,b\n1,2\n", "[", nested("[", "", "]", 99_999), strings.Repeat(one+"\n", 99), "\ufeff"+table))
}

// readBenchmark reads a file as benchmarks and as a profile; what either takes is read.
func readBenchmark(in []byte) error {
	_, err := calibrate.Read(in)
	_, other := calibrate.ReadProfile(in)
	if err == nil || other == nil {
		return nil
	}
	return errors.Join(err, other)
}

func traces() inputs {
	own := []byte(`{"arrival_s":0.12,"prompt_tokens":900,"output_tokens":210,"prefix_id":"a","prefix_tokens":512}` + "\n" + `{"arrival_s":0.5,"prompt_tokens":9,"output_tokens":2}` + "\n")
	table := []byte("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.6805900,374,44\n2023-11-16 18:15:50.9951690,396,109\n")
	return all(cut(own, 1), struck(own, 1, marks...), put(own, 3, pieces...), lines(string(own)), cut(table, 1),
		struck(table, 1, ",", "\n", "\x00", "9", "-", "\xff", "\""), put(table, 3, pieces...), lines(string(table)),
		members(strings.TrimSpace(strings.SplitN(string(own), "\n", 2)[0])))
}

func readTrace(in []byte) error {
	tr, err := workload.Open(bytes.NewReader(in), workload.ReadOptions{})
	if err != nil {
		return err
	}
	for range 100 {
		if _, ok, err := tr.Next(); !ok || err != nil {
			return err
		}
	}
	return nil
}

const studyFile = "study: chat\nask: sim\nmodels: [llama-3.1-8b]\nhardware: [rtx-4090, h100]\nplan:\n  engine: vllm@0.24\n  weights: " +
	"[bf16, fp8]\nworkload:\n  rate: [2, 6]\n  requests: 500\n  prompt: {law: lognormal, mean: 900, cv: 1}\ngoals:\n- {name: chat, " +
	"ttft_ms: {p99: 1000}}\nseeds: 1..10\n"

func studies() inputs {
	seed := []byte(studyFile)
	return all(cut(seed, 1), struck(seed, 1, "\x00", "\"", "{", "[", ":", "-", "\n", "\xff"), put(seed, 3, pieces...), lines(studyFile),
		texts(strings.Replace(studyFile, "1..10", "1..99999999999", 1),
			strings.Replace(studyFile, "[2, 6]", "["+strings.Repeat("1,", 9_999)+"1]", 1), nested("[", "", "]", 9999),
			strings.Repeat("models: [x]\n", 9999)))
}

func readStudy(in []byte) error {
	_, err := study.Read("s.yaml", string(in))
	return err
}

func snapshots(t *testing.T) inputs {
	seed, err := os.ReadFile("../../snapshot/testdata/bare.pickle")
	if err != nil {
		t.Fatal(err)
	}
	small := []byte(
		"\x80\x04}\x94(\x8c\x08segments\x94]\x94\x8c\x0ddevice_traces\x94]\x94]\x94}\x94(\x8c\x06action\x94\x8c\x05alloc\x94\x8c\x04addr\x94J\x00\x00\x00\x02\x8c\x04size\x94M\x00\x04uaau.")
	return all(cut(seed, 997), struck(seed, 211, "\xff", "\x8d", "c", "R", "\x93", "("), cut(small, 1),
		struck(small, 1, "\x00", "\xff", "c", "R", "b", "(", "u", "e", "h", "."), put(small, 1, words...),
		texts(strings.Repeat("]", 99_999), strings.Repeat("(", 99_999), "\x80\x04"+strings.Repeat("}\x94", 99_999),
			"\x80\x05\x8e\xff\xff\xff\xff\xff\xff\xff\x7f"))
}

func readSnapshot(in []byte) error {
	s, err := snapshot.Read(bytes.NewReader(in))
	if err == nil {
		s.Report()
	}
	return err
}

const checkFile = "plans:\n- name: chat\n  from: vllm serve m --max-model-len 8192\n  on: l40s\n  must: {fits: true, headroom: 1 GiB, " +
	"ttft: 2s}\n- name: tune\n  model: m\n  set: {tokens: 1, micro_batch: 2}\n"

func checks() inputs {
	seed := []byte(checkFile)
	return all(cut(seed, 1), struck(seed, 1, "\x00", "\"", "{", "[", ":", "-", "\n", "\xff"), put(seed, 5, pieces...), lines(checkFile),
		texts("a: &a [*a]", nested("[", "", "]", 9999), strings.Repeat("plans: []\n", 999)))
}

func readCheck(in []byte) error {
	_, err := check.Parse(in)
	return err
}
