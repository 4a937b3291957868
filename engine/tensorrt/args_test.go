package tensorrt

import (
	"testing"

	"github.com/memwall/memwall/engine/enginetest"
)

// TestFromArgs: command lines as people paste them; the forms are those of TensorRT-LLM's documentation.
func TestFromArgs(t *testing.T) {
	enginetest.CheckLines(t, FromArgs, [][5]string{
		{"trtllm-serve TinyLlama/TinyLlama-1.1B-Chat-v1.0", "TinyLlama/TinyLlama-1.1B-Chat-v1.0", `{}`, "", ""},
		{"trtllm-serve serve X/Y --tp_size 8", "X/Y", `{"tp":8}`, "", ""},
		{"trtllm-serve X/Y --tp_size=4 --pp_size=2 --ep_size 4", "X/Y", `{"tp":4,"pp":2,"ep":4}`, "", ""},
		{"trtllm-serve X/Y --max_batch_size 256 --max_num_tokens 8192 --max_seq_len 32768", "X/Y", `{"context":32768,"max_num_batched_tokens":8192,"max_num_seqs":256}`, "", ""},
		{"trtllm-serve X/Y --kv_cache_free_gpu_memory_fraction 0.95", "X/Y", `{"free_gpu_memory_fraction":0.95}`, "", ""},
		{"trtllm-serve X/Y --free-gpu-memory-fraction 0.8 --kv-cache-dtype fp8", "X/Y", `{"kv":"fp8","free_gpu_memory_fraction":0.8}`, "", ""},
		{"trtllm-serve X/Y --backend pytorch --extra_llm_api_options extra.yaml", "X/Y", `{}`, "", "--extra_llm_api_options extra.yaml"},
		{"cat > /tmp/c.yml <<EOF\nkv_cache_config:\n  tokens_per_block: 64\n  enable_block_reuse: false\n  dtype: fp8\ncuda_graph_config:\n  max_batch_size: 256\nprint_iter_log: true\nEOF\ntrtllm-serve X/Y --config /tmp/c.yml", "X/Y", `{"kv":"fp8","block_size":64,"prefix_cache":false}`, "", "cuda_graph_config.max_batch_size=256"},
		{"cat <<EOF > c.yml\nspeculative_config:\n  decoding_type: SA\n  max_draft_len: 5\nEOF\ntrtllm-serve X/Y --extra_llm_api_options c.yml", "X/Y",
			`{"draft_tokens":5,"mtp":false,"draft_method":"suffix"}`, "", ""},
		{"cat <<EOF > c.yml\nenable_attention_dp: true\nEOF\ntrtllm-serve X/Y --tp_size 8 --extra_llm_api_options c.yml", "X/Y", `{"tp":1,"ep":8,"dp":8}`, "", ""},
		{"cat <<EOF > c.yml\nenable_attention_dp: true\nstream_interval: 10\nspeculative_config:\n  decoding_type: DraftTarget\n  max_draft_len: 4\n  speculative_model_dir: /opt/D\nEOF\ntrtllm-serve X/Y --tp_size 8 --ep_size 8 --extra_llm_api_options c.yml", "X/Y", `{"tp":1,"ep":8,"dp":8,"draft_model":"/opt/D","draft_tokens":4,"stream_interval":10}`, "", ""},
		{"cat > lb.yaml <<EOF\nnum_slots: 288\nlayer_updates_per_iter: 1\nEOF\ncat > c.yml <<EOF\nmoe_config:\n  backend: WIDEEP\n  load_balancer: lb.yaml\nEOF\ntrtllm-serve X/Y --tp_size 32 --ep_size 32 --config c.yml",
			"X/Y", `{"tp":32,"ep":32,"expert_slots":288}`, "", "moe_config.backend=WIDEEP"},
		{"cat > c.yml <<EOF\nmoe_config:\n  load_balancer:\n    num_slots: 320\n    layer_updates_per_iter: 0\nEOF\ntrtllm-serve X/Y --config c.yml", "X/Y", `{"expert_slots":320}`, "", ""},
		{"cat > c.yml <<EOF\nmoe_config:\n  load_balancer: elsewhere.yaml\nEOF\ntrtllm-serve X/Y --config c.yml", "X/Y", `{}`, "", "moe_config.load_balancer=elsewhere.yaml"},
		{"trtllm-serve X/Y --enable_chunked_prefill --trust_remote_code --host 0.0.0.0", "X/Y", `{"chunked_prefill":true}`, "", ""},
		{"docker run --gpus all nvcr.io/nvidia/tensorrt-llm/release:1.1.0 trtllm-serve X/Y --port 8000", "X/Y", `{}`, "", ""},
		{"python3 -m tensorrt_llm.commands.serve X/Y --cp_size 2", "X/Y", `{"cp":2}`, "", ""},
		{"trtllm-serve X/Y Z --odd 1", "X/Y", `{}`, "", "Z|--odd 1"},
		{"mpirun_free=1 trtllm-serve X/Y --kv_cache_dtype auto --log_level info", "X/Y", `{}`, "", ""},
	})
}

func TestFromArgsErrors(t *testing.T) {
	enginetest.CheckRefused(t, FromArgs, [][2]string{
		{"trtllm-serve X --tp_size two", "--tp_size two is not a whole number"},
		{"trtllm-serve X --kv_cache_free_gpu_memory_fraction 95", "--kv_cache_free_gpu_memory_fraction 95 is not a share"},
		{"trtllm-serve X --max_seq_len -1", "--max_seq_len -1 is negative"},
	})
}
