package vllm

import (
	"reflect"
	"testing"

	"github.com/memwall/memwall/engine/argv"
	"github.com/memwall/memwall/engine/enginetest"
)

// TestFromArgs: command lines as people paste them, and the plan that they ask for. The forms are those of
// vLLM's documentation, docker guide and issue tracker.
func TestFromArgs(t *testing.T) {
	enginetest.CheckLines(t, FromArgs, [][5]string{
		{"vllm serve meta-llama/Llama-3.1-8B-Instruct", "meta-llama/Llama-3.1-8B-Instruct", `{}`, "", ""},
		{"vllm serve Qwen/Qwen3-14B --tensor-parallel-size 2 --max-model-len 32768 --gpu-memory-utilization 0.95", "Qwen/Qwen3-14B",
			`{"context":32768,"tp":2,"gpu_memory_utilization":0.95}`, "", ""},
		{"vllm serve Qwen/Qwen3-14B -tp=2 --max_model_len=32k", "Qwen/Qwen3-14B", `{"context":32000,"tp":2}`, "", ""},
		{"vllm serve X/Y --linear-backend Marlin", "X/Y", `{"linear_backend":"marlin"}`, "", ""},
		{"vllm serve X/Y --max-model-len 128K --max-num-seqs 64 --max-num-batched-tokens 8192", "X/Y", `{"context":131072,"max_num_batched_tokens":8192,"max_num_seqs":64}`, "", ""},
		{"python -m vllm.entrypoints.openai.api_server \\\n  --model TheBloke/Llama-2-7B-AWQ \\\n  --quantization awq --dtype half --port 8000", "TheBloke/Llama-2-7B-AWQ", `{}`, "awq", ""},
		{"CUDA_VISIBLE_DEVICES=0,1 python3 -u -m vllm.entrypoints.openai.api_server --model='a b' -tp 2 > log.txt 2>&1 &", "a b", `{"tp":2}`, "", ""},
		{"docker run --runtime nvidia --gpus all -v ~/.cache/huggingface:/root/.cache/huggingface --env \"HUGGING_FACE_HUB_TOKEN=hf_x\" -p 8000:8000 --ipc=host vllm/vllm-openai:v0.9.2 --model mistralai/Mistral-7B-v0.1 --enforce-eager",
			"mistralai/Mistral-7B-v0.1", `{"enforce_eager":true}`, "", ""},
		{"sudo docker run -itd --gpus '\"device=2,3\"' vllm/vllm-openai:latest openai/gpt-oss-20b -tp 2 --kv-cache-dtype fp8", "openai/gpt-oss-20b", `{"kv":"fp8","tp":2}`, "", ""},
		{"vllm serve deepseek-ai/DeepSeek-R1 -tp 8 -pp 2 --enable-expert-parallel --trust-remote-code", "deepseek-ai/DeepSeek-R1", `{"tp":8,"pp":2,"ep":8}`, "", ""},
		{"vllm serve M/N --data-parallel-size 4 --enable-expert-parallel --no-enable-prefix-caching", "M/N", `{"ep":4,"dp":4,"prefix_cache":false}`, "", ""},
		{"vllm serve M/N -tp 4 --kv-offloading-size 100 --kv-offloading-backend native", "M/N", `{"tp":4,"kv_host_bytes":26843545600}`, "", ""},
		{"vllm serve M/N --enable-chunked-prefill False --block-size 32 --cpu-offload-gb 10", "M/N", `{"block_size":32,"cpu_offload_bytes":10737418240,"chunked_prefill":false}`, "", ""},
		{"vllm serve M/N --cpu_offload_gb=2.5 --cpu-offload-params experts", "M/N", `{"cpu_offload_bytes":2684354560}`, "", "--cpu-offload-params experts"},
		{`vllm serve M/N --speculative-config '{"method":"eagle","model":"E/F","num_speculative_tokens":3}' --kv-cache-memory-bytes 10G`, "M/N",
			`{"draft_model":"E/F","draft_tokens":3,"kv_cache_memory_bytes":10737418240}`, "", ""},
		{`vllm serve M/N --speculative-config '{"method":"eagle","model":"E/F","num_speculative_tokens":2,"speculative_token_tree":"[(0,), (0, 0)]"}'`, "M/N",
			`{"draft_model":"E/F","draft_tokens":2}`, "", ""},
		{`vllm serve M/N --speculative-config '{"method":"suffix","num_speculative_tokens":32}'`, "M/N",
			`{"draft_tokens":32,"mtp":false,"draft_method":"suffix"}`, "", ""},
		{`vllm serve M/N --speculative-config '{"method":"suffix","suffix_decoding_max_spec_factor":2.0}'`, "M/N",
			`{"draft_tokens":24,"mtp":false,"draft_method":"suffix"}`, "", ""},
		{`vllm serve M/N --speculative-config '{"method":"ngram","num_speculative_tokens":5,"prompt_lookup_max":4}'`, "M/N",
			`{"draft_tokens":5,"mtp":false,"draft_method":"ngram"}`, "", ""},
		{"vllm serve M/N --enable-lora --max-loras 2 --max-lora-rank 32", "M/N", `{"adapters":[{"rank":32},{"rank":32}]}`, "", ""},
		{"vllm serve M/N --max-model-len auto --frobnicate 7 --zap", "M/N", `{}`, "", "--frobnicate 7|--zap"},
		{"MODEL=Qwen/Qwen2.5-7B-Instruct; vllm serve $MODEL --tensor-parallel 4", "Qwen/Qwen2.5-7B-Instruct", `{"tp":4}`, "", ""},
		{"vllm serve M/N --api-key sk-secret --served-model-name a b c --port 9000", "M/N", `{}`, "", ""},
		{"vllm serve M/N --dtype float32", "M/N", `{"weights":"f32","kv":"f32"}`, "", ""},
		{"docker run vllm/vllm-openai:v0.6.3 --model M/N --swap-space 16 -tp 2", "M/N", `{"tp":2,"kv_host_bytes":17179869184}`, "", ""},
		{"docker run vllm/vllm-openai:v0.6.3 --model M/N --swap-space much", "M/N", `{}`, "", "--swap-space much"},
		{"docker run vllm/vllm-openai:v0.10.0 --model M/N --swap-space 16", "M/N", `{}`, "", ""},
		{`LMCACHE_MAX_LOCAL_CPU_SIZE=20 vllm serve M/N -tp 2 --kv-transfer-config '{"kv_connector":"LMCacheConnectorV1","kv_role":"kv_both"}'`, "M/N",
			`{"tp":2,"kv_host_bytes":21474836480}`, "", ""},
		{`docker run -e LMCACHE_MAX_LOCAL_CPU_SIZE=20 vllm/vllm-openai:v0.9.2 --model M/N -tp 2 --kv-transfer-config '{"kv_connector":"LMCacheConnectorV1","kv_role":"kv_both"}'`, "M/N",
			`{"tp":2,"kv_host_bytes":21474836480}`, "", ""},
		{`docker run vllm/vllm-openai:v0.8.4 --model M/N --kv-transfer-config '{"kv_connector":"LMCacheConnectorV1","kv_role":"kv_both"}'`, "M/N",
			`{}`, "", `--kv-transfer-config '{"kv_connector":"LMCacheConnectorV1","kv_role":"kv_both"}'`},
		{`docker run vllm/vllm-openai:v0.9.0 --model M/N --kv-transfer-config '{"kv_connector":"LMCacheConnector","kv_role":"kv_both"}'`, "M/N",
			`{}`, "", `--kv-transfer-config '{"kv_connector":"LMCacheConnector","kv_role":"kv_both"}'`},
		{`LMCACHE_LOCAL_CPU=False LMCACHE_MAX_LOCAL_CPU_SIZE=1 LMCACHE_LOCAL_DISK=file:///kv LMCACHE_MAX_LOCAL_DISK_SIZE=10 vllm serve M/N --kv-transfer-config '{"kv_connector":"LMCacheConnectorV1","kv_role":"kv_both"}'`, "M/N",
			`{"kv_host_bytes":1073741824,"kv_tier_disk_bytes":10737418240}`, "", "LMCACHE_LOCAL_CPU=False"},
		{`vllm serve M/N --kv-transfer-config '{"kv_connector":"LMCacheConnectorV1","kv_role":"kv_both"}'`, "M/N", `{"kv_host_bytes":5368709120}`, "", ""},
		{`vllm serve M/N -tp 2 --kv-transfer-config '{"kv_connector":"OffloadingConnector","kv_role":"kv_both","kv_connector_extra_config":{"cpu_bytes_to_use":8000000000}}'`,
			"M/N", `{"tp":2,"kv_host_bytes":4000000000}`, "", ""},
		{`DYN_KVBM_CPU_CACHE_GB=100 python -m dynamo.vllm --model M/N -tp 4 --kv-transfer-config '{"kv_connector":"DynamoConnector","kv_role":"kv_both"}'`,
			"M/N", `{"tp":4,"kv_host_bytes":25000000000}`, "", ""},
		{`vllm serve M/N --kv-transfer-config '{"kv_connector":"NixlConnector","kv_role":"kv_both"}'`, "M/N", `{}`, "",
			`--kv-transfer-config '{"kv_connector":"NixlConnector","kv_role":"kv_both"}'`},
		{`LMCACHE_LOCAL_DISK=file:///kv/ LMCACHE_MAX_LOCAL_DISK_SIZE=10 LMCACHE_REMOTE_URL=lm://h:65432 vllm serve M/N -tp 2 --kv-transfer-config '{"kv_connector":"LMCacheConnectorV1","kv_role":"kv_both"}'`, "M/N",
			`{"tp":2,"kv_host_bytes":5368709120,"kv_tier_disk_bytes":21474836480,"kv_store":"lmcache"}`, "", ""},
		{`DYN_KVBM_CPU_CACHE_GB=20 DYN_KVBM_DISK_CACHE_GB=100 vllm serve M/N --kv-transfer-config '{"kv_connector":"DynamoConnector","kv_role":"kv_both"}'`, "M/N", `{"kv_host_bytes":20000000000,"kv_tier_disk_bytes":100000000000}`, "", ""},
		{`vllm serve M/N --kv-transfer-config '{"kv_connector":"MooncakeStoreConnector","kv_role":"kv_both"}'`, "M/N", `{"kv_store":"mooncake"}`, "", ""},
		{`LMCACHE_CONFIG_FILE=a.yaml vllm serve M/N --kv-transfer-config '{"kv_connector":"LMCacheConnectorV1","kv_role":"kv_both"}'`, "M/N", `{}`, "",
			`LMCACHE_CONFIG_FILE=a.yaml|--kv-transfer-config '{"kv_connector":"LMCacheConnectorV1","kv_role":"kv_both"}'`},
		{"cat > a.yaml <<EOF\nchunk_size: 256\nmax_local_cpu_size: 40\nlocal_disk: file:///kv\nmax_local_disk_size: 100 # GB\nremote_url: mooncakestore://h:50051/\nextra_config:\n  global_segment_size: 21474836480\nEOF\n" +
			`export LMCACHE_CONFIG_FILE=a.yaml LMCACHE_MAX_LOCAL_CPU_SIZE=60; vllm serve M/N -tp 2 --kv-transfer-config '{"kv_connector":"LMCacheConnectorV1","kv_role":"kv_both"}'`, "M/N",
			`{"tp":2,"kv_host_bytes":64424509440,"kv_tier_disk_bytes":214748364800,"kv_store":"mooncake","kv_store_segment_bytes":21474836480}`, "", ""},
		{"cat > a.yaml <<EOF\nlocal_cpu: true\nmax_local_disk_size: 100\nEOF\n" +
			`LMCACHE_CONFIG_FILE=a.yaml vllm serve M/N --kv-transfer-config '{"kv_connector":"LMCacheConnectorV1","kv_role":"kv_both","kv_connector_extra_config":{"lmcache.max_local_cpu_size":8.5}}'`, "M/N",
			`{"kv_host_bytes":9126805504}`, "", ""},
		{"cat > m.json <<EOF\n{\"metadata_server\": \"P2PHANDSHAKE\", \"global_segment_size\": \"30GB\", \"master_server_address\": \"h:50051\"}\nEOF\n" +
			`MOONCAKE_CONFIG_PATH=m.json vllm serve M/N -tp 4 --kv-transfer-config '{"kv_connector":"MooncakeStoreConnector","kv_role":"kv_both"}'`, "M/N",
			`{"tp":4,"kv_store":"mooncake","kv_store_segment_bytes":32212254720}`, "", ""},
		{`MOONCAKE_CONFIG_PATH=m.json vllm serve M/N --kv-transfer-config '{"kv_connector":"MooncakeStoreConnector","kv_role":"kv_both"}'`, "M/N",
			`{"kv_store":"mooncake"}`, "", "MOONCAKE_CONFIG_PATH=m.json"},
		{`vllm serve M/N --kv-transfer-config '{"kv_connector":"OffloadingConnector","kv_connector_extra_config":{"cpu_bytes_to_use":-1}}'`, "M/N", `{}`, "",
			`--kv-transfer-config '{"kv_connector":"OffloadingConnector","kv_connector_extra_config":{"cpu_bytes_to_use":-1}}'`},
		{"VLLM_USE_V1=0 vllm serve M/N", "M/N", `{}`, "", "VLLM_USE_V1=0"},
	})
}

// TestFromArgsErrors: a malformed value names its argument and what would be right.
func TestFromArgsErrors(t *testing.T) {
	enginetest.CheckRefused(t, FromArgs, [][2]string{
		{"vllm bench serve", "vllm bench starts no server"},
		{`MOONCAKE_GLOBAL_SEGMENT_SIZE=some vllm serve M/N --kv-transfer-config '{"kv_connector":"MooncakeStoreConnector"}'`, "global_segment_size some is not a size of a segment"},
		{"cat > a.yaml <<EOF\na: [1\nEOF\n" + `LMCACHE_CONFIG_FILE=a.yaml vllm serve M/N --kv-transfer-config '{"kv_connector":"LMCacheConnectorV1"}'`, "LMCACHE_CONFIG_FILE, line 1 is not YAML: sequence end token ']' not found"},
		{"vllm serve M/N --tensor-parallel-size two", "--tensor-parallel-size two is not a whole number"},
		{"vllm serve M/N --tensor-parallel-size", "--tensor-parallel-size has no value"},
		{"vllm serve M/N --tensor-parallel-size --port 1", "--tensor-parallel-size has no value"},
		{"vllm serve M/N --gpu-memory-utilization 90", "--gpu-memory-utilization 90 is not a share"},
		{"vllm serve M/N --max-model-len 12q", "--max-model-len 12q is not a whole number"},
		{"vllm serve M/N --max-num-seqs=-4", "--max-num-seqs -4 is negative"},
		{"vllm serve M/N --dtype int8", "--dtype int8 is not a format"},
		{"vllm serve M/N --speculative-config {x", "--speculative-config {x is not JSON"},
		{`vllm serve M/N --speculative-config '{"method":"eagle","model":"E/F","num_speculative_tokens":3,"speculative_token_tree":"[(0,),(1,),(0,0)]"}'`,
			"--speculative-config speculative_token_tree is a tree with branches, which memwall does not size for vLLM"},
	})
}

// TestSecrets: keys do not come back.
func TestSecrets(t *testing.T) {
	cmds, err := argv.Parse("vllm serve M/N --api-key abc --hf-token=hf_0123456789abcdef0123 --odd-secret x --x hf_0123456789abcdef0123")
	if err != nil {
		t.Fatal(err)
	}
	l, err := FromArgs(&cmds[0])
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"--api-key REDACTED", "--hf-token=REDACTED", "--odd-secret REDACTED", "--x REDACTED"}
	if !reflect.DeepEqual(l.Plan.EngineArgs, want) {
		t.Errorf("%q", l.Plan.EngineArgs)
	}
}
