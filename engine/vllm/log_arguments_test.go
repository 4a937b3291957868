package vllm

import (
	"strings"
	"testing"

	"github.com/memwall/memwall/engine/startup/startuptest"
)

// TestLogArguments: what a server prints of towers, speculation, adapters and graphs is read as its flags are.
func TestLogArguments(t *testing.T) {
	for _, c := range []struct{ args, plan, notes string }{
		{`'language_model_only': True`, `{"language_model_only":true}`, ""},
		{`'language_model_only': False, 'limit_mm_per_prompt': {}`, `{}`, ""},
		{`'limit_mm_per_prompt': {'image': 0, 'video': 0}`, `{"language_model_only":true}`, ""},
		{`'limit_mm_per_prompt': {'image': 2, 'video': 0}`, `{"no_video":true}`, ""},
		{`'mm_encoder_tp_mode': 'data', 'tensor_parallel_size': 4`, `{"tp":4,"whole_tower":true}`, ""},
		{`'speculative_config': {'method': 'mtp', 'num_speculative_tokens': 3}`, `{"draft_tokens":3,"mtp":true}`, ""},
		{`'speculative_config': {'model': 'a/Drafter', 'num_speculative_tokens': 4, 'method': 'eagle3'}`,
			`{"draft_model":"a/Drafter","draft_tokens":4}`, ""},
		{`'speculative_config': {'num_speculative_tokens': -5}`, `{}`, "not_read"},
		{`'speculative_config': SpeculativeConfig(method='mtp')`, `{}`, "not_read"},
		{`'enable_lora': False, 'max_loras': 4`, `{}`, ""},
		{`'enable_lora': True, 'max_loras': 2, 'max_lora_rank': 32`, `{"adapters":[{"rank":32},{"rank":32}]}`, ""},
		{`'max_cudagraph_capture_size': 64, 'mamba_ssm_cache_dtype': 'float32'`, `{"cuda_graph_max_bs":64,"state_format":"f32"}`, ""},
		{`'cpu_offload_gb': 0, 'num_gpu_blocks_override': 128`, `{}`, "not_read"},
	} {
		l, err := startuptest.Read(strings.NewReader("non-default args: {"+c.args+"}\n"), &Reader{})
		if err != nil || planJSON(l) != c.plan || startuptest.Codes(l) != c.notes {
			t.Errorf("%s: %s, notes %q (%v); want %s, %q", c.args, planJSON(l), startuptest.Codes(l), err, c.plan, c.notes)
		}
	}
}

// TestBuildsBetweenReleases: a build whose number is of before the budget held graphs says by a line that it does.
func TestBuildsBetweenReleases(t *testing.T) {
	const line = "CUDA graph memory profiling is enabled (default since v0.21.0). The current\n"
	for _, c := range []struct{ version, text, want, era string }{
		{"0.19.2rc1.dev206+g95995bbef", line, "", "0.20"}, {"0.20.1", line, "0.20.1", "0.21"}, {"0.19.1", "", "0.19.1", "0.9.2"},
		{"0.1.dev1+gda1daf40b", line, "", "0.21"}, {"0.1.dev18496+gd4e0675a7", "", "", "0.24"}, {"0.7.3", "", "", "0.9.2"},
	} {
		text := "Initializing a V1 LLM engine (v" + c.version + ") with config: model='a/b'\n" + c.text + "Available KV cache memory: 2.50 GiB\n"
		l, err := startuptest.Read(strings.NewReader(text), &Reader{})
		if err != nil || l.Version != c.want || !strings.HasPrefix(l.Era, c.era) {
			t.Errorf("%s: version %q, era %q (%v)", c.version, l.Version, l.Era, err)
		}
	}
}

// TestUseOfMemory: from 0.26 the last line says what the pool's line said, in GiB where bytes stood.
func TestUseOfMemory(t *testing.T) {
	const head = "Desired GPU memory utilization is (0.9, 71.33 GiB). Actual usage is 0.23 GiB for peak activation. " +
		"Current kv cache memory in use is "
	for text, want := range map[string]int{"13.84 GiB.": 0, "152372912537 bytes.": 1} {
		l, err := startuptest.Read(strings.NewReader(head+text+"\n"), &Reader{})
		n := 0
		for i := range l.Figures {
			if l.Figures[i].ID == "kv_bytes" {
				n++
			}
		}
		if err != nil || n != want {
			t.Errorf("%s: %s (%v)", text, startuptest.Figures(l), err)
		}
	}
}
