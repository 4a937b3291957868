package plan

import (
	"strings"
	"sync"
)

// words maps flags of engines and of other planners to the plan fields they correspond to, one row per field.
var words = map[string]string{
	"context":       "ctx_size n_ctx context_length context_size max_model_len max_context ctx_len max_seq_len seq_len num_ctx contextsize max_length",
	"sequences":     "users concurrency batch batch_size concurrent parallel np num_seqs requests_at_once simultaneous",
	"hardware":      "gpu gpu_type device vram gpu_memory card machine accelerator gpus_type",
	"devices":       "gpus num_gpus n_gpus gpu_count ngpus num_devices",
	"weights":       "quant quantization quantisation format precision dtype weight_format bits q",
	"kv":            "kv_cache_dtype kv_dtype kv_cache kv_quant cache_type cache_type_k ctk kv_format",
	"kv_v":          "cache_type_v ctv",
	"tp":            "tp_size tensor_parallel tensor_parallel_size tensor_parallelism",
	"pp":            "pp_size pipeline_parallel pipeline_parallel_size pipeline_parallelism",
	"dp":            "dp_size data_parallel data_parallel_size replicas_dp",
	"ep":            "ep_size expert_parallel expert_parallel_size moe_ep_size",
	"cp":            "cp_size context_parallel context_parallel_size",
	"engine":        "backend runtime server framework_engine inference_engine",
	"prompt_tokens": "prompt_length input_tokens input_len input_length isl prompt_len",
	"output_tokens": "output_length max_tokens new_tokens max_new_tokens output_len osl gen_tokens",
	"gpu_layers":    "ngl n_gpu_layers num_gpu gpulayers",
	"batch_tokens":  "b logical_batch n_batch",
	"ubatch":        "ub ubatch_size n_ubatch",
	"cpu_moe":       "n_cpu_moe ncmoe",
	"tensor_split":  "ts",
	"split_mode":    "sm",
	"draft_model":   "draft speculative_model model_draft md",

	"gpu_memory_utilization": "gpu_util gmu mem_util memory_utilization",
	"max_num_seqs":           "max_seqs max_running_requests",
	"mem_fraction_static":    "mem_fraction",
	"enforce_eager":          "eager",
	"reserved_bytes":         "reserved headroom",
	"sequence_length":        "seq_length max_seq_length train_seq_len cutoff_len",
	"micro_batch":            "per_device_train_batch_size micro_batch_size mbs train_batch",
	"accumulation":           "gradient_accumulation gradient_accumulation_steps grad_accum",
	"lora_rank":              "rank r lora_r",
	"optimizer":              "optim",
	"recompute":              "gradient_checkpointing activation_checkpointing",
}

// FieldCalled returns the field that a word stands for, ignoring dashes and case, or "" if there is none.
func FieldCalled(word string) string {
	word = strings.ReplaceAll(strings.ToLower(strings.TrimLeft(word, "-")), "-", "_")
	return fieldsCalled()[word]
}

// fieldsCalled is the field of each word.
var fieldsCalled = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	for field, list := range words {
		for _, w := range strings.Fields(list) {
			out[w] = field
		}
	}
	return out
})
