package sglang

import (
	"testing"

	"github.com/memwall/memwall/engine/enginetest"
)

// TestFromArgs: command lines as people paste them; the forms are those of SGLang's documentation.
func TestFromArgs(t *testing.T) {
	enginetest.CheckLines(t, FromArgs, [][5]string{
		{"python -m sglang.launch_server --model-path meta-llama/Meta-Llama-3-8B-Instruct", "meta-llama/Meta-Llama-3-8B-Instruct", `{}`, "", ""},
		{"python3 -m sglang.launch_server --model Qwen/QwQ-32B --tp 4 --mem-fraction-static 0.85 --port 30000", "Qwen/QwQ-32B", `{"tp":4,"mem_fraction_static":0.85}`, "", ""},
		{"sglang serve --model-path X/Y --tp-size=2 --dp-size 4", "X/Y", `{"tp":2,"dp":4}`, "", ""},
		{"sglang serve X/Y --pp 2 --ep 8 --tp 8", "X/Y", `{"tp":8,"pp":2,"ep":8}`, "", ""},
		{"python -m sglang.launch_server --model-path X/Y --context-length 32768 --max-running-requests 64 --chunked-prefill-size 4096",
			"X/Y",
			`{"context":32768,"max_num_batched_tokens":4096,"max_num_seqs":64}`, "", ""},
		{"python -m sglang.launch_server --model-path X/Y --chunked-prefill-size -1 --page-size 64", "X/Y", `{"block_size":64,"chunked_prefill":false}`, "", ""},
		{"python -m sglang.launch_server --model-path X/Y --kv-cache-dtype fp8_e5m2 --quantization fp8 --dtype bfloat16", "X/Y", `{"kv":"fp8_e5m2"}`, "fp8", ""},
		{"docker run --gpus all --shm-size 32g -p 30000:30000 -v ~/.cache:/root/.cache --env \"HF_TOKEN=x\" --ipc=host lmsysorg/sglang:latest python3 -m sglang.launch_server --model-path X/Y --host 0.0.0.0", "X/Y", `{}`, "", ""},
		{"python -m sglang.launch_server --model-path X/Y --disable-cuda-graph --disable-radix-cache", "X/Y", `{"enforce_eager":true,"prefix_cache":false}`, "", ""},
		{"python -m sglang.launch_server --model-path X/Y --enable-mixed-chunk", "X/Y", `{"mixed_chunk":true}`, "", ""},
		{"python -m sglang.launch_server --model-path X/Y --tp 8 --dp 8 --enable-dp-attention", "X/Y", `{"tp":1,"ep":8,"dp":8}`, "", ""},
		{"SGLANG_DEEPEP_NUM_MAX_DISPATCH_TOKENS_PER_RANK=256 python3 -m sglang.launch_server --model-path X/Y --tp-size 72 --dp-size 72 " +
			"--enable-dp-attention --enable-deepep-moe --deepep-mode low_latency --ep-num-redundant-experts 32 --enable-two-batch-overlap", "X/Y",
			`{"tp":1,"ep":72,"dp":72,"redundant_experts":32,"all2all":"deepep-low-latency","dispatch_tokens":256,"two_batch_overlap":true}`, "", ""},
		{"sglang serve X/Y --tp 8 --moe-a2a-backend deepep", "X/Y", `{"tp":8,"ep":8,"all2all":"deepep"}`, "", ""},
		{"sglang serve X/Y --tp 8 --ep 8 --moe-a2a-backend mooncake --deepep-mode normal", "X/Y", `{"tp":8,"ep":8}`, "", "--moe-a2a-backend mooncake"},
		{"python -m sglang.launch_server --model-path X/Y --speculative-algorithm EAGLE --speculative-draft-model-path E/F " +
			"--speculative-num-draft-tokens 4", "X/Y",
			`{"draft_model":"E/F","draft_tokens":3}`, "", ""},
		{"sglang serve X/Y --speculative-algorithm EAGLE3 --speculative-draft-model-path E/F --speculative-num-steps 5 --speculative-eagle-topk 8 " +
			"--speculative-num-draft-tokens 32", "X/Y",
			`{"draft_model":"E/F","draft_tokens":31,"draft_steps":5,"draft_branches":8}`, "", ""},
		{"sglang serve X/Y --speculative-algorithm NEXTN --speculative-num-steps 3 --speculative-eagle-topk 1 --speculative-num-draft-tokens 4",
			"X/Y", `{"draft_tokens":3,"mtp":true}`, "", ""},
		{"sglang serve X/Y --speculative-algorithm NGRAM --speculative-num-draft-tokens 16", "X/Y",
			`{"draft_tokens":15,"mtp":false,"draft_method":"ngram"}`, "", ""},
		{"CUDA_VISIBLE_DEVICES=0,1 nohup python -m sglang.launch_server --model-path X/Y --mem-frac 0.9 --cuda-graph-max-bs 16 --zzz > log &", "X/Y", `{"mem_fraction_static":0.9,"cuda_graph_max_bs":16}`, "", "--zzz"},
		{"python -m sglang.launch_server --model-path X/Y --enable-hierarchical-cache", "X/Y", `{"kv_host_ratio":2}`, "", ""},
		{"python -m sglang.launch_server --model-path X/Y --enable-hierarchical-cache --hicache-ratio 1.5", "X/Y", `{"kv_host_ratio":1.5}`, "", ""},
		{"sglang serve X/Y --hicache-size 100 --hicache-ratio 3 --enable-hierarchical-cache", "X/Y", `{"kv_host_bytes":100000000000}`, "", ""},
		{"MOONCAKE_MASTER=h:50051 MOONCAKE_GLOBAL_SEGMENT_SIZE=4294967296 sglang serve X/Y --tp 2 --enable-hierarchical-cache --hicache-storage-backend mooncake", "X/Y",
			`{"tp":2,"kv_host_ratio":2,"kv_store":"mooncake","kv_store_segment_bytes":2147483648}`, "", ""},
		{`sglang serve X/Y --enable-hierarchical-cache --hicache-storage-backend mooncake --hicache-storage-backend-extra-config '{"master_server_address": "h:1", "global_segment_size": "64gb"}'`, "X/Y",
			`{"kv_host_ratio":2,"kv_store":"mooncake","kv_store_segment_bytes":68719476736}`, "", `--hicache-storage-backend-extra-config '{"master_server_address": "h:1", "global_segment_size": "64gb"}'`},
		{"cat > m.json <<EOF\n{\"global_segment_size\": 21474836480, \"master_server_address\": \"h:1\"}\nEOF\nSGLANG_HICACHE_MOONCAKE_CONFIG_PATH=m.json sglang serve X/Y --enable-hierarchical-cache --hicache-storage-backend mooncake", "X/Y",
			`{"kv_host_ratio":2,"kv_store":"mooncake","kv_store_segment_bytes":21474836480}`, "", ""},
		{"MOONCAKE_MASTER=h:50051 sglang serve X/Y --tp 8 --dp 4 --enable-dp-attention --enable-hierarchical-cache --hicache-storage-backend mooncake", "X/Y",
			`{"tp":2,"ep":8,"dp":4,"kv_host_ratio":2,"kv_store":"mooncake","kv_store_segment_bytes":2147483648}`, "", ""},
		{"MOONCAKE_STANDALONE_STORAGE=1 MOONCAKE_CLIENT=h:1 sglang serve X/Y --enable-hierarchical-cache --hicache-storage-backend mooncake", "X/Y",
			`{"kv_host_ratio":2,"kv_store":"mooncake"}`, "", ""},
		{"sglang serve X/Y --hicache-ratio 3 --hicache-write-policy write_back", "X/Y", `{}`, "", ""},
		{"sglang serve X/Y --enable-hierarchical-cache --hicache-write-policy write_through_selective --hicache-storage-backend hf3fs --hicache-storage-backend-extra-config c.toml", "X/Y",
			`{"kv_host_ratio":2,"kv_tier_policy":"write-through-selective","kv_store":"hf3fs"}`, "", "--hicache-storage-backend-extra-config c.toml"},
		{"python -m sglang.launch_server --model-path X/Y --dtype float32 --lora-paths a b --trust-remote-code", "X/Y",
			`{"weights":"f32","kv":"f32"}`, "", "--enable-lora"},
		{"sglang serve X/Y --lora-paths a=x/lora-r16 b=y/rank_64 --max-loras-per-batch 2", "X/Y",
			`{"adapters":[{"rank":64},{"rank":64}]}`, "", ""},
		{"sglang serve X/Y --enable-lora --max-lora-rank 8 --max-loras-per-batch 1 --lora-paths a-r16", "X/Y",
			`{"adapters":[{"rank":8}]}`, "", ""},
		{"sglang serve X/Y --tp 8 --dp 8 --enable-dp-attention --moe-dense-tp-size 1", "X/Y", `{"tp":1,"ep":8,"dp":8,"dense_tp":1}`, "", ""},
	})
}

func TestFromArgsErrors(t *testing.T) {
	enginetest.CheckRefused(t, FromArgs, [][2]string{
		{"sglang", "sglang starts no server"},
		{"python -m sglang.launch_server --model-path X --tp x", "--tp x is not a whole number"},
		{"python -m sglang.launch_server --model-path X --mem-fraction-static 1.2", "--mem-fraction-static 1.2 is not a share"},
		{"python -m sglang.launch_server --model-path X --chunked-prefill-size much", "--chunked-prefill-size much is not a whole number"},
		{"python -m sglang.launch_server --model-path X --deepep-mode fast", "--deepep-mode fast is not a mode of DeepEP"},
		{"python -m sglang.launch_server --model-path X --dtype int4", "--dtype int4 is not a format"},
		{"sglang serve X --moe-dense-tp-size some", "--moe-dense-tp-size some is not a whole number"},
		{"python -m sglang.launch_server --model-path", "--model-path has no value"},
	})
}
