package memwall

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// mark is what is secret in every text; no key begins as it does.
const mark = "Zq7Wx3Vn9Kp2Rt5Yh8"

// secretForms are a secret as people paste it, by kind of text; %s is where it stands.
var (
	secretArgs = []string{
		"--api-key %s", "--api-key=%s", "--hf-token %s", "--x-secret=%s", "--auth user:%s", "--frob-password '%s'",
		"-H 'Authorization: Bearer %s'", "--header \"x-api-key: %s\"",
		"--kv-transfer-config '{\"kv_connector\":\"X\",\"api_key\":\"%s\"}'", "--kv-transfer-config '{\"a\":{\"accessToken\":[\"%s\"]}}'",
		"--kv-transfer-config={\"password\":{\"value\":\"%s\"}}",
		"--kv-transfer-config.kv_connector_extra_config.api_key %s", "--additional-config '{\"url\":\"redis://u:%s@h:1/0\"}'",
		"--hf-overrides \"{'token': '%s'}\"", "--compilation-config 'secret: %s'",
		"--ssl-url https://u:%s@h/x", "--endpoint https://h/x?token=%s", "--endpoint 'https://h/x?a=1&X-Amz-Signature=%s'",
		"--env API_KEY=%s", "-e OPENAI_API_KEY=%s", "--max-model-len https://u:%s@h",
		"--speculative-config '{\"model\":\"x\",\"hf_token\":\"%s\"}'", "--lora-modules '{\"name\":\"a\",\"token\":\"%s\"}'",
		"'{\"secret\":\"%s\"}'", "https://u:%s@h/y", "--tensor-parallel-size \"token=%s\"",
		"--gpu-memory-utilization 'password: %s'", "--port 'Bearer %s'", "-c 'password=%s'", "-ngl 'api_key=%s'",
	}
	secretVariables = []string{"API_KEY", "HF_TOKEN", "VLLM_API_KEY", "AWS_SECRET_ACCESS_KEY", "LLAMA_API_KEY", "SGLANG_AUTH",
		"clientSecret", "OLLAMA_PASSWORD"}
	secretPrograms = []string{"vllm serve meta-llama/Llama-3.1-8B-Instruct", "python -m sglang.launch_server --model-path Qwen/Qwen3-8B",
		"llama-server -m llama-3.1-8b-q4_k_m.gguf", "trtllm-serve meta-llama/Llama-3.1-8B-Instruct",
		"docker run vllm/vllm-openai:v0.9.2 --model meta-llama/Llama-3.1-8B-Instruct",
		"python -m vllm.entrypoints.openai.api_server --model meta-llama/Llama-3.1-8B-Instruct", "ollama run llama3.1", "nonsense"}
)

// secretTexts are launch lines with a secret in each place, and the other texts that are read.
func secretTexts() (out []string) {
	for _, p := range secretPrograms {
		for _, a := range secretArgs {
			out = append(out, p+" "+fmt.Sprintf(a, mark), p+" "+fmt.Sprintf(a, mark)+" --frob")
		}
		for _, v := range secretVariables {
			out = append(out, v+"="+mark+" "+p, "export "+v+"="+mark+" && "+p,
				"docker run -e "+v+"="+mark+" --gpus all vllm/vllm-openai --model Qwen/Qwen3-8B")
			out = append(out, fmt.Sprintf("services:\n  a:\n    image: vllm/vllm-openai\n    environment:\n      %s: %s\n    command: "+
				"--model Qwen/Qwen3-8B --frob 1\n", v, mark))
			out = append(out, fmt.Sprintf("services:\n  a:\n    image: vllm/vllm-openai\n    environment: [\"%s=%s\"]\n    command: "+
				"[--model, Qwen/Qwen3-8B, --api-key, %s]\n", v, mark, mark))
			out = append(out, fmt.Sprintf("apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - name: a\n    image: vllm/vllm-openai\n   "+
				" env: [{name: %s, value: %s}]\n    args: [--model, Qwen/Qwen3-8B, \"--hf-token=%s\"]\n", v, mark, mark))
		}
	}
	out = append(out, "FROM llama3.1\nPARAMETER api_key "+mark+"\n",
		"FROM ./x.gguf\nSYSTEM token: "+mark+"\nPARAMETER num_ctx password="+mark+"\n",
		"AutoModelForCausalLM.from_pretrained(\"Qwen/Qwen3-8B\", token=\""+mark+"\", device_map=\"auto\")",
		"AutoModelForCausalLM.from_pretrained(\"Qwen/Qwen3-8B\", use_auth_token=\""+mark+"\", frob={\"api_key\": \""+mark+"\"})")
	return out
}

// TestSecretsStay: what is secret in a pasted text stands in no answer, error or file that is made of it.
func TestSecretsStay(t *testing.T) {
	one, told := asker().Remembering(), 0
	for _, text := range secretTexts() {
		r, unknown, err := FromCommand(text)
		if err != nil {
			silent(t, text, err)
			continue
		}
		silent(t, text, r)
		silent(t, text, unknown)
		r.Hardware = "h100"
		a, err := one.Ask(r)
		if silent(t, text, err); err != nil {
			continue
		}
		told++
		silent(t, text, a)
		for _, form := range []string{"command", "compose", "kubernetes"} {
			l, err := one.Launch(r, form)
			silent(t, text, err)
			silent(t, text, l)
		}
	}
	if told < 100 {
		t.Errorf("only %d texts are answered", told)
	}
}

func silent(t *testing.T, text string, v any) {
	t.Helper()
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if said := string(out) + fmt.Sprintf("%+v", v); strings.Contains(said, mark) {
		at := strings.Index(said, mark)
		t.Errorf("%s\ntells …%s", text, said[max(0, at-120):at+len(mark)])
	}
}
