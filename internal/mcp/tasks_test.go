package mcp

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// tasks are what agents are asked, the calls that answer it, one or two, and what their structured results must say: a path,
// and what stands there. "=" is equal, ">" and "<" are numbers, "has" is part of a text or of a list as JSON.
var tasks = []struct {
	asked string
	calls []string // tool and arguments
	want  []string // of the last call's result
}{
	{"does Qwen3 32B in q4_k_m run on a 4090", []string{`fit {"model":"qwen3-32b","weights":"q4_k_m","hardware":"rtx-4090"}`}, []string{"verdict = fits", "needed_bytes > 20e9", "needed_bytes < 24e9"}},
	{"and at 32k", []string{`fit {"model":"qwen3-32b","weights":"q4_k_m","hardware":"rtx-4090","context":32768}`}, []string{"verdict = does_not_fit", "headroom_bytes < 0", "suggestions.0.change has KV cache", "commands has -ctk q8_0"}},
	{"by how much is it short", []string{`fit {"model":"llama-3.1-70b","hardware":"rtx-4090","weights":"q4_k_m"}`}, []string{"headroom_bytes < -1e9"}},
	{"how fast does it write", []string{`fit {"model":"llama-3.1-8b","hardware":"rtx-4090","weights":"q4_k_m"}`}, []string{"decode_tokens_per_s > 80", "decode_tokens_per_s < 250"}},
	{"how long until the first token", []string{`fit {"model":"llama-3.1-8b","hardware":"h100","prompt_tokens":4096}`}, []string{"ttft_ms > 20", "ttft_ms < 2000"}},
	{"how many users at 8k", []string{`fit {"model":"llama-3.1-8b","hardware":"l40s","engine":"vllm","context":8192}`}, []string{"max_sequences > 10"}},
	{"which context at most", []string{`fit {"model":"llama-3.1-8b","hardware":"rtx-3060","weights":"q4_k_m"}`}, []string{"max_context > 16384"}},
	{"the command for vLLM", []string{`fit {"model":"llama-3.1-8b","hardware":"h100","engine":"vllm"}`}, []string{"commands.vllm has vllm serve"}},
	{"the command for llama.cpp", []string{`fit {"model":"llama-3.1-8b","hardware":"rtx-4090","engine":"llama.cpp"}`}, []string{"commands has llama-server -m"}},
	{"two cards in tensor parallel", []string{`fit {"model":"llama-3.1-70b","hardware":"2xh100","tp":2}`}, []string{"needed_bytes > 65e9", "needed_bytes < 90e9", "commands.vllm has --tensor-parallel-size 2"}},
	{"a Mac with 128 GB", []string{`fit {"model":"gpt-oss-120b","hardware":"m4-max"}`}, []string{"needed_bytes > 50e9"}},
	{"experts on the host", []string{`fit {"model":"qwen3-30b-a3b","weights":"q4_k_m","hardware":"rtx-4060-ti-16gb","cpu_moe":20}`}, []string{"verdict = fits"}},
	{"with half of the layers on the card", []string{`fit {"model":"llama-3.1-8b","weights":"q8_0","hardware":"rtx-3060","engine":"llama.cpp","gpu_layers":16}`}, []string{"verdict = fits"}},
	{"an FP8 cache", []string{`fit {"model":"llama-3.1-8b","hardware":"h100","engine":"vllm","kv":"fp8"}`}, []string{"max_sequences > 60"}},
	{"the origin of every number", []string{`fit {"model":"llama-3.1-8b","hardware":"h100"}`}, []string{"detail has memwall://answer/"}},
	{"the changed plan after a cure", []string{`fit {"model":"qwen3-32b","weights":"q4_k_m","hardware":"rtx-4090","context":32768}`, `fit {"model":"qwen3-32b","weights":"q4_k_m","hardware":"rtx-4090","context":32768,"kv":"q8_0"}`}, []string{"verdict = fits"}},
	{"what must change for 70B on two H100 with 6 users", []string{`plan {"model":"llama-3.1-70b","hardware":"2xh100","sequences":6}`}, []string{"suggestions.0.verdict = fits", "suggestions has patch"}},
	{"what a cure saves, and costs in quality", []string{`plan {"model":"llama-3.1-70b","hardware":"2xh100","sequences":6}`}, []string{"suggestions has saves_bytes", "suggestions has quality"}},
	{"which GPU do I need", []string{`plan {"model":"qwen3-32b"}`}, []string{"suggestions.0.patch.hardware has rtx", "suggestions.0.usd_per_hour > 0"}},
	{"the cheapest fleet for 20 users", []string{`plan {"model":"llama-3.1-8b","hardware":"l40s,h100","workload":{"arrivals":"closed","concurrency":20,"requests":200,"prompt":{"mean":500},"output":{"mean":100}},"goal":{"tpot_ms":{"p99":60}}}`}, []string{"suggestions.0.usd_per_hour > 0", "suggestions.0.usd_per_hour < 20", "suggestions.0.patch has hardware"}},
	{"which models for a 3060", []string{`pick {"hardware":"rtx-3060"}`}, []string{"picks.0.score > 20", "picks.0.max_context > 8000"}},
	{"which for coding", []string{`pick {"hardware":"rtx-4090","use":"coding"}`}, []string{"picks.0.decode_tokens_per_s > 10"}},
	{"which at 64k", []string{`pick {"hardware":"rtx-5090","context":65536}`}, []string{"picks.0.max_context > 65535"}},
	{"what QLoRA of 8B takes", []string{`train {"model":"llama-3.1-8b","method":"qlora","hardware":"rtx-4090"}`}, []string{"verdict = fits", "peak_bytes > 8e9", "peak_phase has forward"}},
	{"what nvidia-smi shows meanwhile", []string{`train {"model":"llama-3.1-8b","method":"qlora","hardware":"rtx-4090"}`}, []string{"nvidia_smi_bytes > 9e9"}},
	{"how long a step takes", []string{`train {"model":"llama-3.1-8b","method":"lora","hardware":"h100","sequence_length":4096}`}, []string{"step_seconds > 0.05", "step_seconds < 10"}},
	{"full training of 8B on one card", []string{`train {"model":"llama-3.1-8b","method":"full","hardware":"l40s"}`}, []string{"verdict = does_not_fit", "headroom_bytes < 0", "suggestions has patch", "suggestions has saves_bytes"}},
	{"and on eight", []string{`train {"model":"llama-3.1-8b","method":"full","hardware":"8xh100"}`}, []string{"verdict = fits"}},
	{"does one H100 hold four requests a second", []string{`simulate {"model":"llama-3.1-8b","hardware":"h100","workload":{"rate":4,"requests":200}}`}, []string{"holds = true", "ttft_p99_ms > 0", "tpot_p99_ms > 0"}},
	{"what TTFT users see at p99", []string{`simulate {"model":"llama-3.1-8b","hardware":"l40s","workload":{"rate":1,"requests":100},"goal":{"ttft_ms":{"p99":1000}}}`}, []string{"ttft_p99_ms > 10"}},
	{"what FP8 buys", []string{`diff {"model":"llama-3.1-70b","hardware":"2xh100","change":{"weights":"fp8"}}`}, []string{"verdict = fits", "needed_bytes_before > 60e9", "needed_bytes < 60e9"}},
	{"what a longer context costs", []string{`diff {"model":"llama-3.1-8b","hardware":"rtx-4090","change":{"context":65536}}`}, []string{"needed_bytes > 12e9"}},
	{"why did it run out", []string{`diagnose {"text":"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 4.40 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.20 GiB is free."}`}, []string{"kind = device_memory"}},
	{"and what to do", []string{`diagnose {"text":"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.91 GiB. GPU 0 has a total capacity of 23.52 GiB of which 1.86 GiB is free.","model":"llama-3.1-8b","hardware":"rtx-4090"}`}, []string{"fixes.1 has weights"}},
	{"does the log say what the plan says", []string{`compare {"text":"INFO model_runner.py: Loading model weights took 14.9888 GB\nINFO gpu_executor.py: # GPU blocks: 27895, # CPU blocks: 2048","model":"llama-3.1-8b","hardware":"h100","engine":"vllm"}`}, []string{"compared_figures > 1"}},
	{"what model is that", []string{`models {"name":"qwen3-32b"}`}, []string{"text has 32.8B parameters"}},
	{"which Qwen3 are there", []string{`models {"name":"qwen3"}`}, []string{"text has qwen3-32b", "text has qwen3-30b-a3b"}},
	{"how fast is the memory of an H100", []string{`hardware {"name":"h100-sxm-80gb"}`}, []string{"text has 3.35 TB/s"}},
	{"what q4_k_m loses", []string{`formats {"name":"q4_k_m"}`}, []string{"text has perplexity"}},
	{"how a KV cache is computed", []string{`learn {"name":"kv-cache"}`}, []string{"text has KV cache", "text has 320 KiB"}},
}

// TestTasks: each is answered by the last of one or two calls.
func TestTasks(t *testing.T) {
	if len(tasks) < 40 {
		t.Fatalf("%d tasks", len(tasks))
	}
	c := agent(t, piped(t))
	for _, task := range tasks {
		var r *sdk.CallToolResult
		for _, call := range task.calls {
			tool, arguments, _ := strings.Cut(call, " ")
			var err error
			if r, err = c.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)}); err != nil ||
				r.IsError {
				t.Errorf("%s: %v %s", task.asked, err, textIn(r))
				break
			}
		}
		if len(task.calls) > 2 {
			t.Errorf("%s: %d calls", task.asked, len(task.calls))
		}
		for _, want := range task.want {
			if why := lacks(r, want); why != "" {
				t.Errorf("%s: %s: %s", task.asked, want, why)
			}
		}
	}
}

// lacks says what a result has in place of what is wanted; "" where it has that.
func lacks(r *sdk.CallToolResult, want string) string {
	path, rest, _ := strings.Cut(want, " ")
	op, value, _ := strings.Cut(rest, " ")
	found := any(textIn(r))
	if path != "text" {
		data, _ := json.Marshal(r.StructuredContent)
		if err := json.Unmarshal(data, &found); err != nil {
			return err.Error()
		}
		for _, step := range strings.Split(path, ".") {
			found = stepped(found, step)
		}
	}
	number, _ := found.(float64)
	bound, _ := strconv.ParseFloat(value, 64)
	whole, _ := json.Marshal(found)
	switch {
	case found == nil:
		return "nothing"
	case op == "=" && fmt.Sprint(found) == value, op == ">" && number > bound, op == "<" && number < bound,
		op == "has" && strings.Contains(string(whole), value):
		return ""
	}
	return string(whole[:min(300, len(whole))])
}

// stepped is what stands at a name, or at a place of a list; nil is nothing.
func stepped(in any, step string) any {
	switch x := in.(type) {
	case map[string]any:
		return x[step]
	case []any:
		if i, err := strconv.Atoi(step); err == nil && i < len(x) {
			return x[i]
		}
	}
	return nil
}

// TestWordsOfTools: what helps is said in arguments and tools, not in flags and commands.
func TestWordsOfTools(t *testing.T) {
	for hint, want := range map[string]string{
		"--tp 2 (the third GPU idle), or --on 4xh100 --tp 4":    "tp 2 (the third GPU idle), or hardware 4xh100 tp 4",
		"memwall hardware lists them":                           "tool hardware lists them",
		"run memwall sim with --ctx 8k":                         "run tool simulate with context 8k",
		"--no-such-flag of an engine":                           "--no-such-flag of an engine",
		"vllm serve x --max-model-len 4096; --gpus 2 of docker": "vllm serve x --max-model-len 4096; --gpus 2 of docker",
	} {
		if got := inTools(hint); got != want {
			t.Errorf("%q: %q, want %q", hint, got, want)
		}
	}
	c := agent(t, piped(t))
	for _, call := range []string{`fit {"model":"lama-3.1-70b"}`, `fit {"model":"llama-3.1-70b","hardware":"3xh100","tp":3}`, `fit {"model":"llama-3.1-8b","hardware":"nope"}`, `pick {}`, `models {"name":"zzzz"}`, `fit {"model":"llama-3.1-8b","context":-1}`} {
		tool, arguments, _ := strings.Cut(call, " ")
		r, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)})
		if err != nil || !r.IsError {
			t.Errorf("%s: %v, an error is %v", call, err, r != nil && r.IsError)
			continue
		}
		if text := textIn(r); strings.Contains(text, "--on") || strings.Contains(text, "--tp") || strings.Contains(text, "memwall models") {
			t.Errorf("%s speaks of flags: %s", call, text)
		}
	}
}

// TestPrompts: the five questions are offered as words, and cards as resources.
func TestPrompts(t *testing.T) {
	c := agent(t, piped(t))
	list, err := c.ListPrompts(t.Context(), nil)
	if err != nil || len(list.Prompts) != 5 {
		t.Fatalf("%v, %v", list, err)
	}
	p, err := c.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "runs-on",
		Arguments: map[string]string{"model": "qwen3-8b", "hardware": "rtx-3060"}})
	if err != nil || !strings.Contains(p.Messages[0].Content.(*sdk.TextContent).Text, "Does qwen3-8b run on rtx-3060?") {
		t.Errorf("%v %v", p, err)
	}
	for uri, says := range map[string]string{"memwall://models/qwen3-32b": `"id":"qwen3-32b"`, "memwall://hardware/rtx-4090": `"rtx-4090"`, "memwall://formats/q4_k_m": `"q4_k_m"`, "memwall://schema/request": `"properties"`} {
		r, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
		if err != nil || !strings.Contains(r.Contents[0].Text, says) {
			t.Errorf("%s: %v", uri, err)
		}
	}
	if _, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "memwall://models/nope"}); err == nil {
		t.Error("a card of nothing")
	}
}
