package llamacpp

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/memwall/memwall/engine/argv"
)

// TestFromArgs: command lines as people paste them; the forms are those of llama.cpp's and Ollama's
// documentation.
func TestFromArgs(t *testing.T) {
	for _, c := range []struct{ line, engine, model, plan, unknown string }{
		{"llama-server -m model.gguf", "llama-server", "model.gguf", `{"sequences":4,"kv_unified":true,"fit":"on"}`, ""},
		{"./build/bin/llama-server -m models/q.gguf -c 32768 -np 4 -ngl 99 -fa on", "llama-server", "models/q.gguf",
			`{"sequences":4,"attention":"flash","context_total":32768,"gpu_layers":99,"fit":"on"}`, ""},
		{"llama-server -hf ggml-org/gemma-3-12b-it-GGUF:Q4_K_M --ctx-size 0 -kvu", "llama-server", "hf:ggml-org/gemma-3-12b-it-GGUF:Q4_K_M", `{"sequences":4,"kv_unified":true,"fit":"on"}`, ""},
		{"llama-server --hf-repo a/b --hf-file c.gguf --port 8080", "llama-server", "hf:a/b/c.gguf", `{"sequences":4,"kv_unified":true,"fit":"on"}`, ""},
		{"llama-cli -m m.gguf -c 4096 -b 2048 -ub 1024 -p 'Hello world' -n 128 -cnv", "llama.cpp", "m.gguf", `{"context_total":4096,"batch_tokens":2048,"ubatch":1024,"fit":"on"}`, ""},
		{`.\llama-server.exe -m D:\m\x.gguf -ngl all -sm layer -ts 3/1 --no-mmap`, "llama-server", `D:\m\x.gguf`, `{"sequences":4,"gpu_layers":-1,"kv_unified":true,"split_mode":"layer","tensor_split":"3,1","mmap":false,"fit":"on"}`, ""},
		{`llama-server -m m.gguf -ctk q8_0 -ctv q8_0 -fa -nkvo --swa-full`, "llama-server", "m.gguf", `{"kv":"q8_0","kv_v":"q8_0","sequences":4,"attention":"flash","kv_unified":true,"swa_full":true,"kv_offload":false,"fit":"on"}`, ""},
		{`llama-server -m m.gguf -ot "blk\.[0-9]+\.ffn_.*_exps=CPU" -ot 'x=CUDA1' -ngl auto`, "llama-server", "m.gguf", `{"sequences":4,"kv_unified":true,"override_tensor":"blk\\.[0-9]+\\.ffn_.*_exps=CPU,x=CUDA1","fit":"on"}`, ""},
		{"llama-server -m m.gguf --cpu-moe -fa off", "llama-server", "m.gguf", `{"sequences":4,"attention":"eager","kv_unified":true,"cpu_moe":-1,"fit":"on"}`, ""},
		{"llama-server -m m.gguf --n-cpu-moe 20 -md d.gguf --draft-max 8 --mmproj p.gguf", "llama-server", "m.gguf", `{"sequences":4,"draft_model":"d.gguf","draft_tokens":8,"kv_unified":true,"cpu_moe":20,"mmproj":"p.gguf","fit":"on"}`, ""},
		{"llama-server -m m.gguf --cache-ram 0 -fit off --odd -t 8", "llama-server", "m.gguf", `{"sequences":4,"kv_unified":true,"fit":"off","cache_ram":0}`, "--odd"},
		{"LLAMA_ARG_CTX_SIZE=8192 LLAMA_ARG_N_GPU_LAYERS=20 LLAMA_ARG_FLASH_ATTN=auto llama-server -m m.gguf", "llama-server", "m.gguf", `{"sequences":4,"attention":"auto","context_total":8192,"gpu_layers":20,"kv_unified":true,"fit":"on"}`, ""},
		{"docker run -v /m:/models --gpus all ghcr.io/ggml-org/llama.cpp:server-cuda-b5716 -m /models/x.gguf -c 512 --host 0.0.0.0", "llama-server@b5716", "/models/x.gguf", `{"context_total":512}`, ""},
		{"docker run ghcr.io/ggml-org/llama.cpp:server-b5716 -m /m/x.gguf -ngl 99", "llama-server@b5716", "/m/x.gguf", `{"context_total":4096,"gpu_layers":99}`, ""},
		{"docker run ghcr.io/ggml-org/llama.cpp:server-b2700 -m /m/x.gguf -c 0", "llama-server@b2700", "/m/x.gguf", `{}`, ""},
		{"llama-bench -m m.gguf", "llama.cpp", "m.gguf", `{"context_total":512}`, ""},
		{"llama-bench -m m.gguf -p 512,4096 -n 128 -d 8192 -ngl 99 -fa 1 -mmp 0 -r 3", "llama.cpp", "m.gguf", `{"attention":"flash","context_total":12288,"gpu_layers":99,"mmap":false}`, ""},
		{"llama-bench -m m.gguf -pg 2048,256 -nkvo 1", "llama.cpp", "m.gguf", `{"context_total":2304,"kv_offload":false}`, ""},
		{"ollama run llama3.1:8b \"why is the sky blue\"", "ollama", "ollama:llama3.1:8b", `{"fit":"on"}`, ""},
		{"OLLAMA_CONTEXT_LENGTH=16384 OLLAMA_NUM_PARALLEL=2 OLLAMA_FLASH_ATTENTION=1 OLLAMA_KV_CACHE_TYPE=q8_0 OLLAMA_HOST=0.0.0.0 ollama serve", "ollama", "",
			`{"kv":"q8_0","context":16384,"sequences":2,"attention":"flash","fit":"on"}`, ""},
		{"docker run -d --gpus=all -e OLLAMA_GPU_OVERHEAD=1073741824 -v ollama:/root/.ollama -p 11434:11434 --name ollama ollama/ollama:0.12.11", "ollama@0.12.11", "", `{"reserved_bytes":1073741824}`, ""},
		{"OLLAMA_MAX_LOADED_MODELS=3 OLLAMA_NEW_ENGINE=1 OLLAMA_KEEP_ALIVE=5m OLLAMA_ODD=1 OLLAMA_CONTEXT_LENGTH=4096 ollama serve", "ollama", "", `{"context":4096,"fit":"on"}`,
			"OLLAMA_MAX_LOADED_MODELS=3|OLLAMA_NEW_ENGINE=1|OLLAMA_ODD=1"},
		{"docker run --gpus all -e LLAMA_ARG_MODEL=/m/x.gguf -e LLAMA_ARG_CTX_SIZE=4096 -e LLAMA_ARG_N_PARALLEL=1 -e LLAMA_ARG_CACHE_TYPE_K=q8_0 -e LLAMA_ARG_PORT=80 -e LLAMA_ARG_RPC=h:1 -e LLAMA_ARG_ODD=2 -e LLAMA_ARG_ENDPOINT_METRICS=1 ghcr.io/ggml-org/llama.cpp:server-cuda",
			"llama-server", "/m/x.gguf", `{"kv":"q8_0","kv_v":"f16","sequences":1,"context_total":4096,"fit":"on"}`, "LLAMA_ARG_RPC=h:1|LLAMA_ARG_ODD=2"},
		{"LLAMA_ARG_CTX_SIZE=8192 llama-server -m m.gguf -c 512 -np 2 -fitt 512,256 -fitc 2048 -ctxcp 8 -cram -1 --mlock --no-op-offload -sm none -mg 1 --control-vector v.gguf --no-mmproj-offload", "llama-server", "m.gguf",
			`{"sequences":2,"context_total":512,"split_mode":"none","fit":"on","fit_target":"512,256","main_gpu":1,"mlock":true,"op_offload":false,"cache_ram":-1,"ctx_checkpoints":8,"control_vector":true,"mmproj_offload":false,"fit_ctx":2048}`, ""},
		{"llama-server -m m.gguf -np 1 -md d.gguf -ngld 10 -ctkd q8_0 -ngl -1 -lm mmap+mlock -dev CUDA0,CUDA1", "llama-server", "m.gguf",
			`{"sequences":1,"draft_model":"d.gguf","mmap":true,"fit":"on","mlock":true,"draft_gpu_layers":10,"draft_kv":"q8_0","draft_kv_v":"f16"}`, ""},
		{"docker exec -it ollama ollama run qwen3 --verbose", "ollama", "ollama:qwen3", `{"fit":"on"}`, ""},
		{`llama-server -m D:\AI Models\My Stuff\Qwen3 8B-Q4_K_M.gguf -c 4096 -np 1`, "llama-server",
			`D:\AI Models\My Stuff\Qwen3 8B-Q4_K_M.gguf`,
			`{"sequences":1,"context_total":4096,"fit":"on"}`, ""},
		{"llama-cli -m /home/me/my models/a b.gguf -ngl 9", "llama.cpp", "/home/me/my models/a b.gguf", `{"gpu_layers":9,"fit":"on"}`, ""},
		{"llama-cli -m m.gguf --lora x-r32.gguf,y.gguf --lora-scaled z-rank8.gguf 0.5", "llama.cpp", "m.gguf",
			`{"adapters":[{"rank":32},{"rank":8}],"fit":"on"}`,
			"--lora y.gguf"},
		{"llama-server -m m.gguf -np 1 -md e.gguf --spec-type draft-eagle3 --agent --mtmd-batch-max-tokens 512", "llama-server", "m.gguf",
			`{"sequences":1,"draft_model":"e.gguf","fit":"on"}`, "--spec-type draft-eagle3|--mtmd-batch-max-tokens 512"},
		{"llama-cli -m m.gguf --rpc a:50052,b:50052", "llama.cpp", "m.gguf", `{"fit":"on"}`,
			"--rpc a:50052,b:50052"},
		{"./llamafile -m m.gguf --gpu disable", "llamafile", "m.gguf", `{"gpu_layers":0}`, ""},
		{"./main -m models/7B/ggml-model-q4_0.gguf -n 128 -ngl 32 -c 2048", "llama.cpp", "models/7B/ggml-model-q4_0.gguf", `{"context_total":2048,"gpu_layers":32}`, ""},
	} {
		cmds, err := argv.Parse(c.line)
		if err != nil {
			t.Errorf("%s: %v", c.line, err)
			continue
		}
		l, err := FromArgs(&cmds[len(cmds)-1])
		if err != nil {
			t.Errorf("%s: %v", c.line, err)
			continue
		}
		if got, err := json.Marshal(l.Plan); err != nil || string(got) != c.plan {
			t.Errorf("%s:\n got  %s\n want %s", c.line, got, c.plan)
		}
		if l.Engine != c.engine || l.Model != c.model || strings.Join(l.Unknown, "|") != c.unknown {
			t.Errorf("%s: engine %q, model %q, unknown %q", c.line, l.Engine, l.Model, l.Unknown)
		}
	}
}

func TestFromArgsErrors(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"llama-server -m m.gguf -c 8k", "-c 8k is not a whole number"},
		{"llama-server -m m.gguf -ngl many", "-ngl many is not a number of layers"},
		{"llama-bench -m m.gguf -ngl 0,99", "-ngl 0,99 is not a number of layers"},
		{"llama-server -m m.gguf -ts a,b", "-ts a,b is not a list of proportions"},
		{"llama-server -m m.gguf -ot exps", "-ot exps names no place"},
		{"llama-server -m m.gguf -fa maybe", "-fa maybe is not known"},
		{"llama-server -m m.gguf -c 2 -np 4", "-np asks for more slots than -c has tokens"},
		{"llama-bench -m m.gguf -pg 512", "-pg 512 is not a pair"},
		{"llama-server -m m.gguf -ub -512", "-ub -512 is negative"},
		{"llama-server -m", "-m has no value"},
	} {
		cmds, err := argv.Parse(c.line)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = FromArgs(&cmds[0]); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v", c.line, err)
		}
	}
}

// FuzzFromArgs: any command line gives a plan or an error that names its place and fix.
func FuzzFromArgs(f *testing.F) {
	for _, s := range []string{"llama-server -m x -c 1 -fa", "ollama run x", "llama-bench -m x -p 1,2", "llama-cli -m x -ot a=b -ngl -1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		cmds, err := argv.Parse(text)
		if err != nil {
			return
		}
		for i := range cmds {
			if _, err := FromArgs(&cmds[i]); err != nil {
				if e, ok := err.(*argv.Error); !ok || e.Argument == "" || e.Fix == "" {
					t.Fatalf("%v", err)
				}
			}
		}
	})
}
