package llamacpp

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/memwall/memwall/engine/startup"
	"github.com/memwall/memwall/engine/startup/startuptest"
)

func TestReadLog(t *testing.T) {
	for _, c := range []struct{ file, engine, version, models, quant, devices, plan, figures, notes string }{
		{"b2752-llama-7b-cpu.log", "llama.cpp", "b2752", "ggml-model-q4_0 llama", "Q4_0", "",
			`{"kv":"f16","kv_v":"f16","attention":"eager","context_total":512,"batch_tokens":512,"ubatch":512}`,
			"parameters=6.74 B; file_size=3.56 GiB; model_buffer@CPU=3647.87 MiB; kv_buffer@CPU=256.00 MiB; kv_size=256.00 MiB; output_buffer@CPU=0.12 MiB; compute_buffer@CPU=70.50 MiB", ""},
		{"b4753-phi-4-two-gpus.log", "llama-server", "b4753", "phi-4-Q4_K_M Phi 4", "Q4_K - Medium", "2xAMD Radeon RX 7900 XTX",
			`{"kv":"f16","kv_v":"f16","sequences":1,"attention":"eager","context_total":4096,"batch_tokens":2048,"ubatch":512,"gpu_layers":41,"tensor_split":"24500,24500","mmap":true}`,
			"file_size=8.43 GiB; parameters=14.66 B; model_buffer@CPU_Mapped=275.62 MiB; model_buffer@ROCm0=4163.91 MiB; model_buffer@ROCm1=4190.80 MiB; kv_buffer@ROCm0=420.00 MiB; kv_buffer@ROCm1=380.00 MiB; " +
				"kv_size=800.00 MiB; output_buffer@ROCm_Host=0.38 MiB; compute_buffer@ROCm0=437.01 MiB; compute_buffer@ROCm1=437.02 MiB; compute_buffer@ROCm_Host=42.02 MiB", "split_by_free_memory"},
		{"b5787-gemma-3-4b-windows.log", "llama.cpp", "b5787", "gemma-3-4b-it-Q4_K_M Gemma-3-4B-It", "Q4_K - Medium", "",
			`{"kv":"f16","kv_v":"f16","sequences":1,"attention":"eager","context_total":4096,"batch_tokens":2048,"ubatch":512,"gpu_layers":0,"mmap":true}`,
			"file_size=2.31 GiB; parameters=3.88 B; model_buffer@CPU_Mapped=2368.31 MiB; output_buffer@CPU=1.00 MiB; kv_buffer@CPU=80.00 MiB; kv_size=80.00 MiB; cells=4096 cells; kv_buffer@CPU=174.00 MiB; " +
				"kv_size=174.00 MiB; cells=1536 cells; compute_buffer@Vulkan0=1042.25 MiB; compute_buffer@Vulkan_Host=16.01 MiB", ""},
		{"v0.5-qwen3-next-server.log", "llama-server", "0.5.0", "Qwen3-Next-80B-A3B-Q4_K_M Qwen3 Next 80B A3B", "Q4_K - Medium", "",
			`{"kv":"f16","kv_v":"f16","sequences":1,"attention":"flash","context_total":4096,"batch_tokens":2048,"ubatch":512,"logit_rows":2048,"kv_unified":false}`,
			"parameters=79.67 B; model_buffer@CPU=46237.05 MiB; output_buffer@CPU=0.58 MiB; kv_buffer@CPU=96.00 MiB; kv_size=96.00 MiB; cells=4096 cells; rs_buffer@CPU=75.38 MiB; rs_size=75.38 MiB; compute_buffer@CPU=312.76 MiB", ""},
	} {
		l := startuptest.File(t, c.file, &LogReader{})
		plan, _ := json.Marshal(l.Plan)
		if l.Engine != c.engine || l.Version != c.version || strings.Join(l.Models, " ") != c.models || l.Quant != c.quant || startup.Hardware(l.Devices, 0) != c.devices || startuptest.Codes(l) != c.notes {
			t.Errorf("%s: %s %q, models %q, quant %q, devices %v, notes %q", c.file, l.Engine, l.Version, l.Models, l.Quant, l.Devices, l.Notes)
		}
		if string(plan) != c.plan {
			t.Errorf("%s:\n got  %s\n want %s", c.file, plan, c.plan)
		}
		if got := startuptest.Figures(l); got != c.figures {
			t.Errorf("%s:\n got  %s\n want %s", c.file, got, c.figures)
		}
	}
}

// TestLogMetadata: the header's own lines and the dimensions of print_info give the same keys; a list that
// the header's line cuts short comes from the dimensions.
// TestQuietLog: what a llama-server of August 2026 prints by itself: the model and its slots, and no buffer.
func TestQuietLog(t *testing.T) {
	for slots, want := range map[string]string{
		"n_slots = 1, n_ctx_slot = 2048, kv_unified = 'false'":      `{"sequences":1,"context_total":2048,"kv_unified":false}`,
		"n_slots = 4, n_ctx_slot = 1024, kv_unified = 'false'":      `{"sequences":4,"context_total":4096,"kv_unified":false}`,
		"n_slots = 4, n_ctx_slot = 8192, kv_unified = 'true'":       `{"sequences":4,"context_total":8192,"kv_unified":true}`,
		"n_slots = 0, n_ctx_slot = 2048":                            `{}`,
		"n_slots = 4, n_ctx_slot = 9223372036854775807, kv_unified": `{}`,
	} {
		r := &LogReader{}
		for _, line := range []string{
			"0.00.003.934 I srv    load_model: loading model './small-Q8_0.gguf'",
			"0.00.018.661 I srv    load_model: initializing, " + slots,
			"0.00.020.503 I srv  llama_server: model loaded",
		} {
			r.Line(&startup.Line{Text: line})
		}
		l := r.Log()
		plan, _ := json.Marshal(l.Plan)
		if string(plan) != want || strings.Join(l.Models, " ") != "small-Q8_0" || l.Engine != "llama-server" || !l.Noted("quiet") {
			t.Errorf("%s: %s, models %v, %s, %v", slots, plan, l.Models, l.Engine, l.Notes)
		}
	}
}

func TestLogMetadata(t *testing.T) {
	l, err := startuptest.Read(strings.NewReader(`llama_model_loader: loaded meta data with 3 key-value pairs and 9 tensors from a.gguf (version GGUF V3 (latest))
llama_model_loader: - kv   0:                       general.architecture str              = gemma3n
llama_model_loader: - kv   1:                     gemma3n.embedding_length u32            = 2048
llama_model_loader: - kv   2:                  gemma3n.feed_forward_length arr[i32,35]    = [16384, 16384, 16384, 163...
llama_model_loader: - kv   3:     gemma3n.attention.sliding_window_pattern arr[bool,4]    = [true, true, false, true]
llama_model_loader: - type  f32:  422 tensors
print_info: n_embd           = 9999
print_info: n_ff             = [16384, 8192]
print_info: n_vocab          = 262144
print_info: n_expert         = 0
`), &LogReader{})
	if err != nil {
		t.Fatal(err)
	}
	m := l.Metadata
	if n, ok := m.Int("gemma3n.embedding_length"); !ok || n != 2048 {
		t.Errorf("embedding_length %d %v", n, ok)
	}
	if v, ok := m.Ints("gemma3n.feed_forward_length"); !ok || len(v) != 2 || v[1] != 8192 {
		t.Errorf("feed_forward_length %v %v", v, ok)
	}
	if v, ok := m.Bools("gemma3n.attention.sliding_window_pattern"); !ok || len(v) != 4 || v[2] {
		t.Errorf("pattern %v %v", v, ok)
	}
	if d, ok := m.TensorDims("token_embd.weight"); !ok || d[0] != 2048 || d[1] != 262144 {
		t.Errorf("token_embd %v %v", d, ok)
	}
	if _, ok := m.Int("gemma3n.expert_count"); ok || m.Has("gemma3n.expert_count") {
		t.Error("no experts are none")
	}
	if m.Count != 9 || m.Types["f32"] != 422 || m.Architecture() != "gemma3n" {
		t.Errorf("%d tensors, %v, %s", m.Count, m.Types, m.Architecture())
	}
}

func TestOddLogs(t *testing.T) {
	const load = "llama_model_loader: loaded meta data with 3 key-value pairs and 9 tensors from a.gguf (version GGUF V3 (latest))\n"
	for _, c := range []struct{ name, text, figures, notes, engine string }{
		{"a second model", load + "load_tensors: CUDA0 model buffer size = 10.00 MiB\n" + load + "load_tensors: CUDA0 model buffer size = 99.00 MiB\n", "model_buffer@CUDA0=10.00 MiB", "two_models", "llama.cpp"},
		{"the vocabulary first", load + "print_info: model params = 1.00 B\n" + load + "print_info: model params = 2.00 B\nload_tensors: CUDA0 model buffer size = 10.00 MiB\n", "parameters=2.00 B; model_buffer@CUDA0=10.00 MiB", "", "llama.cpp"},
		{"ik_llama.cpp", "llama_new_context_with_model: mla_attn   = 2\n", "", "fork", "llama.cpp"},
		{"ik_llama.cpp's latents", "llama_new_context_with_model: KV self size  =   72.91 MiB, c^KV (q8_0):   72.91 MiB, kv^T: not used\n", "kv_size=72.91 MiB", "fork latent_cache", "llama.cpp"},
		{"rows", "load_tensors: CUDA0_Split model buffer size =  8652.00 MiB\nload_tensors: CUDA0 model buffer size =     1.31 MiB\n", "model_buffer@CUDA0_Split=8652.00 MiB; model_buffer@CUDA0=1.31 MiB", "", "llama.cpp"},
		{"a build of 2024-08", "llm_load_tensors:      CUDA0 buffer size =  8652.00 MiB\n", "model_buffer@CUDA0=8652.00 MiB", "", "llama.cpp"},
		{"recurrent states in KV buffers", "llama_memory_recurrent: KV self size  =  149.62 MiB, R (f32):    5.62 MiB, S (f32):  144.00 MiB\n", "rs_size=149.62 MiB", "", "llama.cpp"},
		{"LM Studio and LLamaSharp", "[llama Info]: llama_init_from_model:  CUDA_Host  output buffer size =     0.58 MiB\n", "output_buffer@CUDA_Host=0.58 MiB", "", "llama.cpp"},
		{"Ollama", "time=2025-11-20T10:00:00Z level=INFO source=routes.go:1 msg=\"Listening on 127.0.0.1:11434 (version 0.12.11)\"\nload_tensors: CPU model buffer size = 1.00 MiB\n", "model_buffer@CPU=1.00 MiB", "", "ollama"},
		{"other buffers", "x: 'CUDA0' buffer size = 3.00 MiB\nggml: tensor buffer size = y\n", "", "", "llama.cpp"},
		{"cut", "load_tensors: CUDA0 model buffer size = ", "", "", "llama.cpp"},
	} {
		l, err := startuptest.Read(strings.NewReader(c.text), &LogReader{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if startuptest.Figures(l) != c.figures || startuptest.Codes(l) != c.notes || l.Engine != c.engine {
			t.Errorf("%s: %s, figures %q, notes %q", c.name, l.Engine, startuptest.Figures(l), startuptest.Codes(l))
		}
		if (c.name == "rows") != (l.Plan.SplitMode == "row") {
			t.Errorf("%s: split mode %q", c.name, l.Plan.SplitMode)
		}
	}
}

func TestLogDevices(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"ggml_cuda_init: found 2 CUDA devices:\n  Device 0: NVIDIA GeForce RTX 4060 Ti, compute capability 8.9, VMM: yes\n  Device 1: NVIDIA GeForce RTX 3060, compute capability 8.6, VMM: yes, VRAM: 12037 MiB\n", "NVIDIA GeForce RTX 4060 Ti+NVIDIA GeForce RTX 3060"},
		{"using device CUDA0 (NVIDIA GeForce RTX 3090) (0000:01:00.0) - 23306 MiB free\nusing device CUDA1 (NVIDIA GeForce RTX 3090) (0000:02:00.0) - 23306 MiB free\n", "2xNVIDIA GeForce RTX 3090"},
		{"ggml_cuda_init: found 2 CUDA devices:\n  Device 0: NVIDIA A10, compute capability 8.6, VMM: yes\n  Device 1: NVIDIA T4, compute capability 7.5, VMM: yes\nusing device CUDA1 (NVIDIA T4) - 14000 MiB free\n", "NVIDIA T4"},
		{"ggml_metal_device_init: GPU name:   Apple M1 Max\nggml_metal_init: found device: Apple M1 Max\n", "Apple M1 Max"},
		{"ggml_vulkan: 0 = AMD Radeon RX 7900 XTX (RADV NAVI31) (radv) | uma: 0 | fp16: 1\n", "AMD Radeon RX 7900 XTX"},
		{"using device SYCL0 (Intel(R) Arc(TM) A770 Graphics) - 15473 MiB free\n", "Intel Arc A770 Graphics"},
		{"GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-1)\nGPU 1: NVIDIA A100-SXM4-80GB (UUID: GPU-2)\n", "2xNVIDIA A100-SXM4-80GB"},
		{"|   0  NVIDIA GeForce RTX 4090        Off | 00000000:4F:00.0 Off |                  Off |\n| 31%   28C    P8              21W / 450W |    393MiB / 24564MiB |      0%      Default |\n", "NVIDIA GeForce RTX 4090"},
		{"  Device 0: not in a list\nGPU 3: nothing known\n", ""},
	} {
		l, err := startuptest.Read(strings.NewReader(c.text), &LogReader{})
		if err != nil {
			t.Fatal(err)
		}
		if got := startup.Hardware(l.Devices, 0); got != c.want {
			t.Errorf("%q: %q", c.text, got)
		}
	}
}

func FuzzReadLog(f *testing.F) { startuptest.Fuzz(f, func() startup.Reader { return &LogReader{} }) }
