package plain

import (
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
)

// rules of one engine.
type rules struct {
	name, title string
	latest      engine.Version
	// vendors whose devices it runs on, and what to take on others.
	vendors []string
	instead string
	// gguf: it reads GGUF files. owns are prefixes of recipes that are its own, refuses those of others.
	gguf    bool
	refuses []string
	reads   string // a format to take instead of one that is refused
	// kv are the formats of its cache by the names that a plan has for them, the first its default.
	kv []kvFormat
	// pairs: keys may be kept otherwise than values.
	pairs bool
	// step: the cache of a sequence grows by so many tokens; page: it is dealt out in pages of so many.
	step, page int64
	// unpacks: attention reads a quantised layer from a copy in 16 bits.
	unpacks bool
	// chunk is how many tokens of a prompt are computed at once.
	chunk int64
	// layers: several devices hold layers one after another; else they share each matrix.
	layers bool
	// shardsOnly: matrices are cut over devices, and layers are not spread.
	shardsOnly bool
	// experts: routed experts lie in host memory.
	experts bool
	// pool is what the engine allocates for caches ahead; nil where it takes what a sequence needs.
	pool *pool
	// runtime is what lies beside tensors: a context, libraries, what the allocator keeps.
	runtime constant
	// stream: one user at a time is what it is measured with.
	stream bool
	source string
	start  start
}

// kvFormat is a cached number as the engine stores it.
type kvFormat struct {
	names  []string
	stored *dtype.Format
	packed bool
}

// pool is a share of what is free once weights and activations stand, less a part of the whole device.
type pool struct{ share, kept float64 }

// constant is a figure in GiB with its band, which is assumed.
type constant struct{ value, low, high float64 }

func grouped(name string, elems, bytes int64) *dtype.Format {
	return &dtype.Format{Name: name, BlockElems: elems, BlockBytes: bytes, GGML: dtype.NoGGML}
}

var half = kvFormat{names: []string{"bf16", "f16"}, stored: dtype.BF16}

// exllamaV2 packs codes of a number of bits with a scale in fp16 for 32 (exllamav2/cache.py); V3 takes any from 2 to 8
// (exllamav3/cache/quant.py).
func exllamaBits(bits int64, names ...string) kvFormat {
	return kvFormat{names: names, stored: grouped(names[0], 32, 4*bits+2), packed: true}
}

// mlxBits packs codes in groups of 64 with a scale and a bias in 16 bits (mlx_lm/models/cache.py, QuantizedKVCache).
func mlxBits(bits int64, names ...string) kvFormat {
	return kvFormat{names: names, stored: grouped(names[0], 64, 8*bits+4), packed: true}
}

// turbomindBits packs codes of a head with a scale and a zero point in fp16, for heads of 128 (lmdeploy's
// docs/en/quantization/kv_quant.md).
func turbomindBits(bits int64, names ...string) kvFormat {
	return kvFormat{names: names, stored: grouped(names[0], 128, 16*bits+4), packed: true}
}

// contextOfCUDA with its libraries, as public logs of engines on PyTorch have it.
var contextOfCUDA = constant{0.5, 0.3, 0.9}

// all engines of the package. What no source says is marked as from memory.
var all = []rules{
	{
		name: "mlx-lm", title: "MLX", latest: engine.V(0, 28, 2), vendors: []string{"Apple", "NVIDIA"}, instead: "llama.cpp",
		refuses: []string{"exl2-", "exl3-", "awq", "gptq", "nf4", "bnb-", "fp8", "int8", "nvfp4", "w4a16"},
		reads:   "mlx-4bit, mlx-8bit or bf16",
		kv: []kvFormat{half, mlxBits(8, "q8", "int8", "q8_0"), mlxBits(6, "q6"), mlxBits(4, "q4", "int4", "q4_0"),
			mlxBits(3, "q3", "i3"), mlxBits(2, "q2", "i2")},
		step: 256, chunk: 2048, layers: true, runtime: constant{0.3, 0.1, 1}, stream: true,
		source: "mlx_lm/models/cache.py (step = 256), mlx_lm/generate.py (prefill_step_size 2048, clear_cache behind each piece)",
		start:  startMLX,
	},
	{
		name: "exllamav2", title: "ExLlamaV2", latest: engine.V(0, 3, 2), vendors: []string{"NVIDIA", "AMD"}, instead: "llama.cpp or mlx",
		refuses: []string{"mlx-", "exl3-", "awq", "fp8", "nf4", "bnb-", "nvfp4", "mxfp4"}, reads: "exl2-4.0bpw, exl2-6.0bpw or gptq",
		kv: []kvFormat{half, {names: []string{"fp8", "fp8_e5m2"}, stored: dtype.FP8E4M3, packed: true},
			exllamaBits(8, "q8", "int8", "q8_0"), exllamaBits(6, "q6"), exllamaBits(4, "q4", "int4", "q4_0")},
		page: 256, unpacks: true, chunk: 2048, layers: true, runtime: contextOfCUDA, stream: true,
		source: "exllamav2/cache.py, exllamav2/config.py (max_input_len 2048), generator/dynamic.py (PAGE_SIZE 256)",
		start:  startExLlama("exllamav2", map[string]string{"fp8": "FP8", "q8": "Q8", "q6": "Q6", "q4": "Q4"}),
	},
	{
		name: "exllamav3", title: "ExLlamaV3", latest: engine.V(0, 0, 6), vendors: []string{"NVIDIA"}, instead: "llama.cpp or exllamav2",
		refuses: []string{"mlx-", "exl2-", "awq", "gptq", "fp8", "nf4", "bnb-", "nvfp4", "mxfp4"},
		reads:   "exl3-4.0bpw, exl3-6.0bpw or bf16",
		kv: []kvFormat{half, exllamaBits(8, "q8", "int8", "q8_0"), exllamaBits(7, "q7"), exllamaBits(6, "q6"), exllamaBits(5, "q5"),
			exllamaBits(4, "q4", "int4", "q4_0"),
			exllamaBits(3, "q3", "i3"), exllamaBits(2, "q2", "i2")},
		pairs: true, page: 256, unpacks: true, chunk: 2048, layers: true, runtime: contextOfCUDA, stream: true,
		source: "exllamav3/cache/quant.py, exllamav3/constants.py (PAGE_SIZE 256), generator/generator.py (max_chunk_size 2048)",
		start: startExLlama("exllamav3", map[string]string{"q8": "8,8", "q7": "7,7", "q6": "6,6", "q5": "5,5", "q4": "4,4", "q3": "3,3",
			"q2": "2,2"}),
	},
	{
		name: "mlc", title: "MLC LLM", latest: engine.V(0, 20, 0), instead: "llama.cpp",
		refuses: []string{"mlx-", "exl2-", "exl3-", "nf4", "bnb-", "nvfp4", "mxfp4"}, reads: "awq, gptq or bf16",
		kv: []kvFormat{half}, page: 16, chunk: 2048, runtime: contextOfCUDA, stream: true,
		source: "mlc_llm/serve/config.py (prefill_chunk_size 2048, pages of 16; mode local), from memory",
		start:  startMLC,
	},
	{
		name: "tgi", title: "TGI", latest: engine.V(3, 3, 5), vendors: []string{"NVIDIA", "AMD", "Intel", "Habana"}, instead: "llama.cpp",
		refuses: []string{"mlx-", "exl3-", "nvfp4", "mxfp4"}, reads: "awq, gptq, fp8 or bf16",
		shardsOnly: true, kv: []kvFormat{half, {names: []string{"fp8", "fp8_e5m2"}, stored: dtype.FP8E4M3}}, page: 1, chunk: 4096,
		pool: &pool{share: 1, kept: 0.1}, runtime: contextOfCUDA,
		source: "server/text_generation_server/utils/import_utils.py (get_cuda_free_memory), models/globals.py (TGI_WIGGLE_ROOM 0.90)",
		start:  startTGI,
	},
	{
		name: "lmdeploy", title: "LMDeploy", latest: engine.V(0, 10, 0), vendors: []string{"NVIDIA"}, instead: "vllm or llama.cpp",
		refuses: []string{"mlx-", "exl2-", "exl3-", "nf4", "bnb-", "nvfp4"}, reads: "awq, gptq, fp8 or bf16",
		shardsOnly: true, kv: []kvFormat{half, turbomindBits(8, "int8", "q8"), turbomindBits(4, "int4", "q4")}, page: 64, chunk: 8192,
		pool: &pool{share: 0.8}, runtime: constant{0.8, 0.4, 1.6},
		source: "lmdeploy/messages.py, TurbomindEngineConfig: cache_max_entry_count 0.8 of what is free, cache_block_seq_len 64, max_prefill_token_num 8192",
		start:  startLMDeploy,
	},
	{
		name: "ktransformers", title: "KTransformers", latest: engine.V(0, 3, 1), vendors: []string{"NVIDIA", "AMD", "Intel"},
		instead: "llama.cpp", gguf: true,
		refuses: []string{"mlx-", "exl2-", "exl3-", "nf4", "bnb-"}, reads: "q4_k_m, fp8 or bf16",
		kv: []kvFormat{half}, page: 256, chunk: 8192, layers: true, experts: true, runtime: constant{1, 0.5, 3}, stream: true,
		source: "ktransformers' configs/config.yaml and optimize rules (experts on the CPU), from memory",
		start:  startKTransformers,
	},
}

// Names of the engines.
func Names() (out []string) {
	for i := range all {
		out = append(out, all[i].name)
	}
	return out
}
