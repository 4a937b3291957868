package memwall

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestReadFiles: what people write, in files of every kind, is the plan that it means; what no field holds is listed.
func TestReadFiles(t *testing.T) {
	for _, c := range []struct{ name, text, want, unread string }{
		{"modelfile", "# a comment\nFROM ./Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf\nPARAMETER num_ctx 16384\nparameter temperature " +
			"0.7\nPARAMETER stop \"<|eot_id|>\"\nPARAMETER num_gpu 20\nSYSTEM \"\"\"\nPARAMETER num_ctx 1\n\"\"\"\nADAPTER " +
			"./lora.gguf\nPARAMETER frob 3",
			`{"ask":"fit","model":"./Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf","engine":"ollama","context":16384,"gpu_layers":20,"fit":"on"}`, "ADAPTER ./lora.gguf|PARAMETER frob=3"},
		{"modelfile of a name", "FROM llama3.1:8b\nTEMPLATE \"\"\"{{ .Prompt }}\"\"\"\nPARAMETER num_batch 1024", `{"ask":"fit","model":"ollama:llama3.1:8b","engine":"ollama","batch_tokens":1024,"ubatch":1024,"fit":"on"}`, ""},
		{"modelfile of the hub", "FROM hf.co/bartowski/X-GGUF:Q4_K_M\nFROM mmproj.gguf\nPARAMETER use_mmap false", `{"ask":"fit","model":"hf:bartowski/X-GGUF:Q4_K_M","engine":"ollama","mmap":false,"mmproj":"mmproj.gguf","fit":"on"}`, ""},
		{"modelfile with its server", "# OLLAMA_NUM_PARALLEL=2 OLLAMA_KV_CACHE_TYPE=q8_0 ollama serve\nFROM m.gguf\nPARAMETER num_ctx 4096", `{"ask":"fit","model":"m.gguf","engine":"ollama","kv":"q8_0","context":4096,"sequences":2,"fit":"on"}`, ""},
		{"server and model", "export OLLAMA_CONTEXT_LENGTH=8192\nOLLAMA_FLASH_ATTENTION=1 ollama serve &\nollama run qwen3:8b \"hello\"", `{"ask":"fit","model":"ollama:qwen3:8b","engine":"ollama","context":8192,"attention":"flash","fit":"on"}`, ""},

		{"4 bits", "import torch\nfrom transformers import AutoModelForCausalLM, AutoTokenizer, BitsAndBytesConfig\nmodel_id = " +
			"\"meta-llama/Llama-3.1-8B-Instruct\"\nbnb_config = BitsAndBytesConfig(\n    load_in_4bit=True,\n    " +
			"bnb_4bit_quant_type=\"nf4\",\n    bnb_4bit_use_double_quant=True,\n    bnb_4bit_compute_dtype=torch.bfloat16,\n)\ntokenizer " +
			"= AutoTokenizer.from_pretrained(model_id, use_fast=True)\nmodel = AutoModelForCausalLM.from_pretrained(model_id, " +
			"quantization_config=bnb_config, device_map=\"auto\", attn_implementation=\"flash_attention_2\", frob=[1, 2])\nout = " +
			"model.generate(**inputs, max_new_tokens=256, do_sample=True)",
			`{"ask":"fit","model":"meta-llama/Llama-3.1-8B-Instruct","engine":"transformers","weights":"nf4","output_tokens":256,"attention":"flash","engine_args":["frob=[…]"]}`, "frob=[…]"},
		{"one device", `m = AutoModelForCausalLM.from_pretrained('Qwen/Qwen3-8B', torch_dtype=torch.float16, device_map={"": 0})`, `{"ask":"fit","model":"Qwen/Qwen3-8B","engine":"transformers","weights":"f16","tp":1,"pp":1,"dp":1}`, ""},
		{"limits", `AutoModelForCausalLM.from_pretrained("Qwen/Qwen3-8B", device_map="auto", max_memory={0: "20GiB", 1: "20GiB", "cpu": "60GiB"})`, `{"ask":"fit","model":"Qwen/Qwen3-8B","engine":"transformers","tp":1,"pp":2,"dp":1,"engine_args":["max_memory[cpu]=60GiB"]}`, "max_memory[cpu]=60GiB"},
		{"pipeline", `pipe = pipeline("text-generation", model="Qwen/Qwen3-8B", device=0, model_kwargs={"load_in_8bit": True})`, `{"ask":"fit","model":"Qwen/Qwen3-8B","engine":"transformers","weights":"bnb-int8","tp":1,"pp":1,"dp":1}`, ""},
		{"ranks", "# torchrun --nproc-per-node=4 run.py\nAutoModelForCausalLM.from_pretrained(\"Qwen/Qwen3-8B\", tp_plan=\"auto\", token=\"hf_abcdefghijklmnopqrst\")", `{"ask":"fit","model":"Qwen/Qwen3-8B","engine":"transformers","tp":4}`, ""},
		{"quantised checkpoint", `AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-7B-Instruct-AWQ", torch_dtype="float16", device_map="auto")`, `{"ask":"fit","model":"Qwen/Qwen2.5-7B-Instruct-AWQ","engine":"transformers","weights":"awq"}`, ""},

		{"compose", "services:\n  db:\n    image: postgres:16\n  llm:\n    image: vllm/vllm-openai:v0.9.2\n    command: --model " +
			"Qwen/Qwen3-8B --max-model-len 8192\n      --enforce-eager\n    environment:\n      - HUGGING_FACE_HUB_TOKEN=${TOKEN}\n    " +
			"deploy:\n      resources:\n        reservations:\n          devices:\n            - driver: nvidia\n              " +
			"device_ids: ['0', '1']\n              capabilities: [gpu]\n",
			`{"ask":"fit","model":"Qwen/Qwen3-8B","devices":2,"engine":"vllm@0.9.2","context":8192,"tp":1,"pp":1,"dp":1,"enforce_eager":true}`, ""},
		{"compose with variables", "services:\n  llama:\n    image: ghcr.io/ggml-org/llama.cpp:server-cuda-b5716\n    environment:\n     " +
			" LLAMA_ARG_MODEL: /models/a-Q8_0.gguf\n      LLAMA_ARG_CTX_SIZE: 4096\n      LLAMA_ARG_N_GPU_LAYERS: 99\n",
			`{"ask":"fit","model":"/models/a-Q8_0.gguf","engine":"llama-server@b5716","context_total":4096,"gpu_layers":99}`, ""},
		{"deployment", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x}\nspec:\n  template:\n    spec:\n      containers:\n   " +
			"   - name: vllm\n        image: vllm/vllm-openai:latest\n        command: [\"/bin/sh\", \"-c\"]\n        args: [\"vllm " +
			"serve mistralai/Mistral-7B-Instruct-v0.3 --max-model-len 4096 --frob\"]\n        env:\n        - name: HF_TOKEN\n          " +
			"valueFrom: {secretKeyRef: {name: s, key: t}}\n        resources:\n          limits: {cpu: \"10\", nvidia.com/gpu: \"1\"}\n",
			`{"ask":"fit","model":"mistralai/Mistral-7B-Instruct-v0.3","devices":1,"engine":"vllm","context":4096,"tp":1,"pp":1,"dp":1,"engine_args":["--frob"]}`, "--frob"},
		{"settings in a map", "apiVersion: v1\nkind: Pod\nmetadata: {name: t}\nspec:\n  containers:\n  - name: t\n    image: " +
			"nvcr.io/nvidia/tensorrt-llm/release:1.1.0\n    command: [trtllm-serve, Qwen/Qwen3-8B, --extra_llm_api_options, " +
			"/etc/t/c.yaml, --max_seq_len, \"4096\"]\n    volumeMounts: [{name: c, mountPath: /etc/t}]\n  volumes:\n  - name: c\n    " +
			"configMap: {name: m}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata:\n  c.yaml: |\n    kv_cache_config:\n " +
			"     free_gpu_memory_fraction: 0.7\n",
			`{"ask":"fit","model":"Qwen/Qwen3-8B","engine":"tensorrt-llm@1.1.0","context":4096,"tp":1,"pp":1,"dp":1,"free_gpu_memory_fraction":0.7}`, ""},
		{"windows", "llama-server.exe -m C:\\models\\Qwen3-8B-Q4_K_M.gguf -c 8192 ^\n -np 1 -ngl 99", `{"ask":"fit","model":"C:\\models\\Qwen3-8B-Q4_K_M.gguf","engine":"llama-server","sequences":1,"context_total":8192,"gpu_layers":99,"fit":"on"}`, ""},
	} {
		r, unread, err := FromCommand(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got, _ := json.Marshal(r)
		if string(got) != c.want || strings.Join(unread, "|") != c.unread {
			t.Errorf("%s:\n got  %s %q\n want %s", c.name, got, unread, c.want)
		}
	}
}

// TestReadFilesErrors: what cannot be read says where and what to do.
func TestReadFilesErrors(t *testing.T) {
	for _, c := range []struct{ text, message string }{
		{"FROM m.gguf\nPARAMETER num_ctx lots", "PARAMETER num_ctx lots is not a whole number"},
		{"FROM $MODEL\n", "holds a variable"},
		{"model = AutoModelForCausalLM.from_pretrained(args.model)", "names no model that the text says"},
		{"AutoTokenizer.from_pretrained('x')", "names no model"},
		{"services:\n  a: {image: postgres}\n", `"postgres" is not a program`},
		{"services:\n  a: &x {image: y}\n  b: *x\n", "is not a program"},
		{"services:\n" + strings.Repeat("[", 2000), "nests deeper than 32 levels"},
		{"services:\n  a:\n   image: b\n  c\n", "is not YAML"},
		{"apiVersion: v1\nkind: Secret\n", "holds no command"},
		{"services:\n" + strings.Repeat("  x: y\n", 20000), "bytes"},
		{"FROM x\n" + strings.Repeat("# y\n", 20000), "is too long"},
		{"a.from_pretrained('x')\n" + strings.Repeat("1 ", 30000), "words"},
		{"vllm serve x --max-model-len hf_abcdefghijklmnopqrstuv", "--max-model-len REDACTED is not"},
		{"hf_abcdefghijklmnopqrstuv serve", `"REDACTED" is not a program`},
	} {
		_, _, err := FromCommand(c.text)
		e, ok := err.(*Error)
		if !ok || !strings.Contains(e.Message, c.message) || e.Hint == "" || strings.Contains(e.Message+e.Value+e.Hint, "abcdefghij") {
			t.Errorf("%.60q: %+v", c.text, err)
		}
	}
}

// TestLaunchQuoting: blanks, quotes, dollars and backslashes come back from every form.
func TestLaunchQuoting(t *testing.T) {
	r := &Request{Ask: "fit", Model: "llama-3.1-8b", Hardware: "rtx-4090"}
	r.Engine, r.Weights, r.MMProj, r.OverrideTensor = "llama-server", "q4_k_m", `C:\my models\it's "mm" $HOME.gguf`, `blk\.(1|2)\..*=CPU`
	for _, form := range []string{"command", "compose", "kubernetes"} {
		l, err := asker().Launch(r, form)
		if err != nil {
			t.Fatal(err)
		}
		back, unread, err := FromCommand(l.Text)
		if err != nil || len(unread) > 0 && form == "command" || back.MMProj != r.MMProj || back.OverrideTensor != r.OverrideTensor {
			t.Errorf("%s: %v %q\n%+v\n%s", form, err, unread, back, l.Text)
		}
	}
}

// TestLaunchHostileNames: a name with line breaks begins no line of a file that is written.
func TestLaunchHostileNames(t *testing.T) {
	const evil = "a\nEOF\ntouch x #\nPARAMETER num_ctx 1.gguf"
	r := &Request{Ask: "fit", Model: "llama-3.1-8b", Hardware: "rtx-4090"}
	r.Engine, r.Weights, r.MMProj, r.UBatch, r.OverrideTensor = "ollama", "q4_k_m", evil, 1024, "exps\nFROM y=CPU"
	for _, form := range LaunchForms()[:4] {
		l, err := asker().Launch(r, form)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(l.Text) {
			if s := strings.TrimSpace(line); s == "touch x #" || s == "PARAMETER num_ctx 1.gguf" || form == "modelfile" &&
				s == "FROM y=CPU" {
				t.Errorf("%s has a line of its own: %q\n%s", form, s, l.Text)
			}
		}
	}
}
