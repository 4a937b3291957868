// Package plan describes how a model is to be run: plain data, with checks whose errors name the field, the value and a
// fix. The fields are those of a request. engine.go holds the settings specific to an engine, and field.go the table of
// all fields, from which flags, JSON and schema are derived.
package plan

// Plan says how to run a model. Zero fields are unset and filled in by an engine's Defaults.
type Plan struct {
	Engine       string `json:"engine,omitempty" asks:"fit,plan,pick,diff,compare,sim" flag:"engine" doc:"vllm, sglang, tensorrt-llm, llama.cpp, llama-server, ollama, ik_llama.cpp, transformers, mlx-lm, exllamav2, exllamav3, tgi, lmdeploy, ktransformers, mlc or generic; @version picks one, as in vllm@0.19"`
	Weights      string `json:"weights,omitempty" flag:"weights" doc:"format or recipe of the weights, such as bf16, fp8, awq, q4_k_m"`
	KV           string `json:"kv,omitempty" asks:"fit,plan,pick,diff,compare,sim" flag:"kv" doc:"format of cached keys, and of values unless kv_v is set"`
	KVV          string `json:"kv_v,omitempty" asks:"fit,plan,pick,diff,compare,sim" flag:"kv-v" doc:"format of cached values"`
	Context      Int    `json:"context,omitempty" asks:"fit,plan,pick,diff,compare,sim" flag:"ctx" unit:"length" doc:"context length: tokens of one sequence, prompt and output together"`
	Sequences    Int    `json:"sequences,omitempty" asks:"fit,plan,pick,diff,compare,sim" flag:"users" doc:"concurrent users: sequences alive at once"`
	PromptTokens Int    `json:"prompt_tokens,omitempty" asks:"fit,plan,pick,diff,compare,sim" flag:"prompt" unit:"length" doc:"tokens per prompt"`
	OutputTokens Int    `json:"output_tokens,omitempty" asks:"fit,plan,pick,diff,compare,sim" flag:"output" unit:"length" doc:"tokens per answer"`

	TP int64 `json:"tp,omitempty" flag:"tp" doc:"tensor parallelism"`
	PP int64 `json:"pp,omitempty" flag:"pp" doc:"pipeline parallelism"`
	EP int64 `json:"ep,omitempty" flag:"ep" doc:"expert parallelism"`
	DP int64 `json:"dp,omitempty" flag:"dp" doc:"data parallelism: whole replicas"`
	CP int64 `json:"cp,omitempty" flag:"cp" doc:"context parallelism: one sequence's cache over several devices"`

	Attention string   `json:"attention,omitempty" flag:"attention" enum:"auto,flash,sdpa,eager" doc:"attention kernel; eager writes the score matrix"`
	Offload   *Offload `json:"offload,omitempty" doc:"what is kept in host memory or on NVMe"`
	Images    Int      `json:"images,omitempty" asks:"fit,plan,pick,diff,compare,sim" flag:"images" doc:"images per request"`
	Reserved  Size     `json:"reserved_bytes,omitempty" flag:"reserve" doc:"device memory left free for other programs"`

	DraftModel       string    `json:"draft_model,omitempty" asks:"fit,plan,pick,diff,compare,sim" flag:"draft-model" doc:"model that drafts for speculative decoding"`
	DraftTokens      Int       `json:"draft_tokens,omitempty" asks:"fit,plan,pick,diff,compare,sim" flag:"draft-tokens" doc:"tokens drafted at a time"`
	Acceptance       *float64  `json:"acceptance,omitempty" asks:"fit,plan,pick,diff,compare,sim" flag:"acceptance" doc:"acceptance rate of a drafted token, given that those before it were accepted"`
	AcceptanceAt     string    `json:"acceptance_at,omitempty" asks:"fit,plan,pick,diff,compare,sim" flag:"acceptance-at" doc:"instead: acceptance rate of the first, second, … drafted token, as vLLM prints it (Per-position acceptance rate): 0.72,0.45,0.28"`
	AcceptanceLength *float64  `json:"acceptance_length,omitempty" asks:"fit,plan,pick,diff,compare,sim" flag:"acceptance-length" doc:"instead: tokens per sequence and step, as SGLang (accept len) and vLLM (Mean acceptance length) print it"`
	Adapters         []Adapter `json:"adapters,omitempty" asks:"fit,plan,pick,diff,compare,sim" doc:"LoRA adapters loaded with the model"`

	LlamaCpp
	Forked
	Serving
}

// Offload says where parts of the model are held: "none", "host", "nvme", or "pool" for memory beyond the host,
// attached over CXL.
type Offload struct {
	Weights string `json:"weights,omitempty" enum:"none,host,nvme,pool" doc:"weights"`
	KV      string `json:"kv,omitempty" enum:"none,host,nvme,pool" doc:"KV cache"`
	Experts string `json:"experts,omitempty" enum:"none,host,nvme,pool" doc:"routed experts"`
	// Set for training only: optimizer states, parameters, and the inputs of recomputed blocks.
	Optimizer   string `json:"optimizer,omitempty" enum:"none,host,nvme" doc:"optimizer states"`
	Params      string `json:"params,omitempty" enum:"none,host,nvme" doc:"parameters"`
	Activations string `json:"activations,omitempty" enum:"none,host" doc:"saved inputs of blocks"`
}

// Adapter is a LoRA adapter.
type Adapter struct {
	Rank    Int      `json:"rank" doc:"rank of the low-rank matrices"`
	Targets []string `json:"targets,omitempty" doc:"linear layers with an adapter; all if empty"`
	Format  string   `json:"format,omitempty" doc:"format of its weights"`
}

// LlamaCpp holds the settings of llama.cpp, llama-server and Ollama.
type LlamaCpp struct {
	Backend        string `json:"backend,omitempty" flag:"backend" enum:"cuda,hip,rocm,vulkan,metal,sycl,cpu" doc:"backend that llama.cpp is built with; default: the device's usual one" engines:"llama.cpp"`
	ContextTotal   Int    `json:"context_total,omitempty" flag:"ctx-total" unit:"length" doc:"-c: tokens of all slots together, instead of context" engines:"llama.cpp"`
	BatchTokens    Int    `json:"batch_tokens,omitempty" flag:"batch-tokens" doc:"-b: logical batch" engines:"llama.cpp"`
	UBatch         Int    `json:"ubatch,omitempty" flag:"ubatch" doc:"-ub: physical batch, tokens computed at a time" engines:"llama.cpp"`
	LogitRows      Int    `json:"logit_rows,omitempty" flag:"logit-rows" doc:"rows of logits to reserve" engines:"llama.cpp"`
	GPULayers      *Int   `json:"gpu_layers,omitempty" flag:"gpu-layers" unit:"layers" doc:"-ngl: layers on the device, -1 for all" engines:"llama.cpp"`
	KVUnified      *bool  `json:"kv_unified,omitempty" flag:"kv-unified" doc:"-kvu: one cache for all slots" engines:"llama.cpp"`
	SWAFull        *bool  `json:"swa_full,omitempty" flag:"swa-full" doc:"full-size cache for sliding layers" engines:"llama.cpp"`
	SplitMode      string `json:"split_mode,omitempty" flag:"split-mode" enum:"layer,row,tensor,none" doc:"-sm: how several devices share the model" engines:"llama.cpp"`
	TensorSplit    string `json:"tensor_split,omitempty" flag:"tensor-split" doc:"-ts: proportions, as in 3,1" engines:"llama.cpp"`
	OverrideTensor string `json:"override_tensor,omitempty" flag:"override-tensor" doc:"-ot: pattern=place, comma-separated" engines:"llama.cpp"`
	CPUMoE         *Int   `json:"cpu_moe,omitempty" flag:"cpu-moe" unit:"layers" doc:"--n-cpu-moe: layers whose experts stay in host memory, -1 for all" engines:"llama.cpp"`
	Mmap           *bool  `json:"mmap,omitempty" flag:"mmap" doc:"map the file instead of reading it" engines:"llama.cpp"`
	KVOffload      *bool  `json:"kv_offload,omitempty" flag:"kv-offload" doc:"KV cache on the device" engines:"llama.cpp"`
	DryRun         *bool  `json:"dry_run,omitempty" flag:"llama-dry-run" doc:"give the figures of llama-fit-params and --fit, whose dry run misplaces norm tensors" engines:"llama.cpp"`
	MMProj         string `json:"mmproj,omitempty" flag:"mmproj" doc:"vision projector file" engines:"llama.cpp"`
	Fit            string `json:"fit,omitempty" flag:"fit" enum:"on,off" doc:"--fit: on lets llama.cpp choose context, layers and tensors that are not given; off sizes the plan as it stands" engines:"llama.cpp"`
	FitTarget      string `json:"fit_target,omitempty" flag:"fit-target" doc:"--fit-target: MiB that --fit leaves free on each device, as in 1024,512" engines:"llama.cpp"`
	MainGPU        *Int   `json:"main_gpu,omitempty" flag:"main-gpu" doc:"-mg: the device that holds everything with split mode none" engines:"llama.cpp"`
	MLock          *bool  `json:"mlock,omitempty" flag:"mlock" doc:"--mlock: pin mapped weights in memory" engines:"llama.cpp"`
	OpOffload      *bool  `json:"op_offload,omitempty" flag:"op-offload" doc:"--op-offload: the device computes large batches with weights kept on the host" engines:"llama.cpp"`
	CacheRAM       *Int   `json:"cache_ram,omitempty" flag:"cache-ram" doc:"--cache-ram: MiB of prompts that llama-server keeps on the host, -1 for no limit" engines:"llama.cpp"`
	Checkpoints    *Int   `json:"ctx_checkpoints,omitempty" flag:"ctx-checkpoints" doc:"--ctx-checkpoints: context checkpoints per slot that llama-server keeps on the host" engines:"llama.cpp"`
	ControlVector  *bool  `json:"control_vector,omitempty" flag:"control-vector" doc:"--control-vector: one vector for each layer" engines:"llama.cpp"`
	DraftLayers    *Int   `json:"draft_gpu_layers,omitempty" flag:"draft-gpu-layers" unit:"layers" doc:"-ngld: layers of the draft model on the device, -1 for all" engines:"llama.cpp"`
	DraftKV        string `json:"draft_kv,omitempty" flag:"draft-kv" doc:"-ctkd: format of the draft model's keys, and of its values unless draft_kv_v is given" engines:"llama.cpp"`
	DraftKVV       string `json:"draft_kv_v,omitempty" flag:"draft-kv-v" doc:"-ctvd: format of the draft model's values" engines:"llama.cpp"`
	MTP            *bool  `json:"mtp,omitempty" flag:"mtp" doc:"draft with the model's own multi-token prediction layers" engines:"llama.cpp,vllm,sglang,tensorrt-llm"`
	MMProjOffload  *bool  `json:"mmproj_offload,omitempty" flag:"mmproj-offload" doc:"--mmproj-offload: vision projector on the device" engines:"llama.cpp"`
	FitContext     Int    `json:"fit_ctx,omitempty" flag:"fit-ctx" unit:"length" doc:"--fit-ctx: the smallest context that --fit may choose" engines:"llama.cpp"`
}

// Forked holds the settings of ik_llama.cpp.
type Forked struct {
	MLA           *Int   `json:"mla,omitempty" flag:"mla" doc:"-mla: how multi-head latent attention is computed, 0 to 3" engines:"ik_llama.cpp"`
	AttnMaxBatch  Int    `json:"attn_max_batch,omitempty" flag:"attn-max-batch" doc:"-amb: maximum MiB of attention scores at a time" engines:"ik_llama.cpp"`
	FusedMoE      *bool  `json:"fused_moe,omitempty" flag:"fused-moe" doc:"-fmoe: fuse the matmuls of experts" engines:"ik_llama.cpp"`
	Repack        *bool  `json:"run_time_repack,omitempty" flag:"run-time-repack" doc:"-rtr: repack weights to interleaved rows while loading, without mmap" engines:"ik_llama.cpp"`
	ExpertsAtMost string `json:"smart_expert_reduction,omitempty" flag:"smart-expert-reduction" doc:"-ser: fewest experts per token, and the share below which one is skipped, as in 6,1" engines:"ik_llama.cpp"`
}

// Serving holds the settings of vLLM, SGLang and TensorRT-LLM.
type Serving struct {
	GPUMemoryUtilization  *float64       `json:"gpu_memory_utilization,omitempty" flag:"gpu-memory-utilization" doc:"share of device memory that vLLM may use" engines:"vllm"`
	MaxBatchedTokens      Int            `json:"max_num_batched_tokens,omitempty" flag:"max-num-batched-tokens" doc:"most tokens per step" engines:"vllm,sglang,tensorrt-llm,mlx-lm,exllamav2,exllamav3,mlc,tgi,lmdeploy,ktransformers"`
	MaxSeqs               Int            `json:"max_num_seqs,omitempty" flag:"max-num-seqs" doc:"most sequences per step" engines:"vllm,sglang,tensorrt-llm"`
	EnforceEager          *bool          `json:"enforce_eager,omitempty" flag:"enforce-eager" doc:"no CUDA graphs" engines:"vllm,sglang"`
	BlockSize             Int            `json:"block_size,omitempty" flag:"block-size" doc:"tokens per KV block" engines:"vllm,sglang,tensorrt-llm"`
	KVCacheMemory         Size           `json:"kv_cache_memory_bytes,omitempty" flag:"kv-cache-memory" doc:"size of the KV pool, instead of setting a utilization" engines:"vllm"`
	KVPoolTokens          Int            `json:"kv_pool_tokens,omitempty" flag:"kv-pool-tokens" doc:"tokens that the KV pool holds, if fewer than its memory allows" engines:"vllm,sglang"`
	CPUOffload            Size           `json:"cpu_offload_bytes,omitempty" flag:"cpu-offload" doc:"weights that each rank keeps in host memory" engines:"vllm,sglang"`
	KVHost                Size           `json:"kv_host_bytes,omitempty" flag:"kv-host" doc:"host memory per rank for evicted KV cache" engines:"vllm,sglang"`
	KVHostRatio           *float64       `json:"kv_host_ratio,omitempty" flag:"kv-host-ratio" doc:"host memory for evicted KV cache, as a multiple of the KV pool" engines:"sglang"`
	KVTierDisk            Size           `json:"kv_tier_disk_bytes,omitempty" asks:"fit,plan,pick,diff,compare,sim" flag:"kv-tier-disk" doc:"NVMe per replica for KV blocks that the host tier evicts (LMCache local disk, Dynamo KVBM disk cache)" engines:"vllm,sglang"`
	KVTierPolicy          string         `json:"kv_tier_policy,omitempty" asks:"fit,plan,pick,diff,compare,sim" flag:"kv-tier-policy" enum:"write-through,write-through-selective,write-back" doc:"when KV blocks are copied to a tier: when computed, which duplicates what the device has (vLLM, LMCache, KVBM, SGLang's default), when a second request uses them, or when evicted" engines:"vllm,sglang"`
	KVStore               string         `json:"kv_store,omitempty" asks:"fit,plan,pick,diff,compare,sim" flag:"kv-store" enum:"mooncake,hf3fs,nixl,file,aibrix,eic,lmcache,redis,other" doc:"store of KV blocks that replicas share (SGLang --hicache-storage-backend, LMCache remote URL, Mooncake store)" engines:"vllm,sglang"`
	KVStoreSize           Size           `json:"kv_store_bytes,omitempty" asks:"fit,plan,pick,diff,compare,sim" flag:"kv-store-size" doc:"size of that store, over all replicas; if not given, what their ranks contribute, else unlimited" engines:"vllm,sglang"`
	KVStoreSegment        Size           `json:"kv_store_segment_bytes,omitempty" asks:"fit,plan,pick,diff,compare,sim" flag:"kv-store-segment" doc:"host memory that each rank contributes to that store (Mooncake's global_segment_size; SGLang divides it by the TP size)" engines:"vllm,sglang"`
	MemFractionStatic     *float64       `json:"mem_fraction_static,omitempty" flag:"mem-fraction-static" doc:"share of device memory for weights and KV pool" engines:"sglang"`
	FreeGPUMemoryFraction *float64       `json:"free_gpu_memory_fraction,omitempty" flag:"free-gpu-memory-fraction" doc:"share of free memory for the KV pool" engines:"tensorrt-llm,tgi,lmdeploy"`
	PrefixCache           *bool          `json:"prefix_cache,omitempty" flag:"prefix-cache" doc:"share KV blocks of identical prefixes" engines:"vllm,sglang,tensorrt-llm"`
	Samples               Int            `json:"samples,omitempty" asks:"fit,plan,pick,diff,compare,sim" flag:"samples" doc:"answers per prompt at once: n in the API, or the beam width; with prefix caching they share the prompt's blocks" engines:"vllm,sglang,tensorrt-llm"`
	ChunkedPrefill        *bool          `json:"chunked_prefill,omitempty" flag:"chunked-prefill" doc:"split long prompts over several steps" engines:"vllm,sglang,tensorrt-llm"`
	MixedChunk            *bool          `json:"mixed_chunk,omitempty" flag:"mixed-chunk" doc:"mix decode into prefill steps" engines:"sglang"`
	StreamInterval        Int            `json:"stream_interval,omitempty" flag:"stream-interval" doc:"tokens per streamed message" engines:"vllm,sglang,tensorrt-llm"`
	RecvInterval          Int            `json:"scheduler_recv_interval,omitempty" flag:"scheduler-recv-interval" doc:"steps between checks for new requests" engines:"sglang"`
	BatchWait             Int            `json:"batch_wait_timeout_iters,omitempty" flag:"batch-wait-timeout-iters" doc:"steps that a prompt waits for others to batch with" engines:"tensorrt-llm"`
	Disaggregated         *Disaggregated `json:"disaggregated,omitempty" doc:"separate prefill and decode workers; tp, pp, ep and dp are per worker" engines:"vllm,sglang,tensorrt-llm"`
	MoEBackend            string         `json:"moe_backend,omitempty" flag:"moe-backend" enum:"auto,trtllm,cutlass,deepgemm,triton,marlin" doc:"kernels for routed experts; auto is what the engine chooses on the device" engines:"vllm,sglang,tensorrt-llm"`
	LinearBackend         string         `json:"linear_backend,omitempty" flag:"linear-backend" enum:"auto,marlin" doc:"kernels for quantised linear layers: marlin multiplies their weights with 16-bit activations" engines:"vllm"`
	GraphBatch            Int            `json:"cuda_graph_max_bs,omitempty" flag:"cuda-graph-max-bs" doc:"largest batch for which CUDA graphs are captured" engines:"vllm,sglang"`
	NoVideo               *bool          `json:"no_video,omitempty" flag:"no-video" doc:"prompts contain no video, so none is profiled" engines:"vllm"`
	TextOnly              *bool          `json:"language_model_only,omitempty" flag:"language-model-only" doc:"do not load vision and audio encoders" engines:"vllm"`
	WholeTower            *bool          `json:"whole_tower,omitempty" flag:"whole-tower" doc:"each rank holds the whole vision encoder and a share of the images (--mm-encoder-tp-mode data)" engines:"vllm,sglang"`
	StateFormat           string         `json:"state_format,omitempty" flag:"state-format" enum:"f32,bf16,f16" doc:"format of recurrent states; the model's own if not given" engines:"vllm,sglang"`
	KVScales              *bool          `json:"kv_scales,omitempty" flag:"kv-scales" doc:"one scale per token and head in the KV cache (int8_per_token_head, fp8_per_token_head)" engines:"vllm"`
	DCP                   int64          `json:"dcp,omitempty" flag:"dcp" doc:"decode context parallelism: one sequence's cache over ranks of its tensor parallel group" engines:"vllm"`
	DenseTP               int64          `json:"dense_tp,omitempty" flag:"dense-tp" doc:"with data parallel attention: 1 keeps dense feed-forward layers whole on each rank instead of sharding them" engines:"sglang"`
	RedundantExperts      Int            `json:"redundant_experts,omitempty" flag:"redundant-experts" doc:"redundant experts for load balance, over all ranks" engines:"vllm,sglang,tensorrt-llm"`
	ExpertSlots           Int            `json:"expert_slots,omitempty" flag:"expert-slots" doc:"instead: expert slots over all ranks, including redundant ones (moe_config.load_balancer.num_slots)" engines:"tensorrt-llm"`
	All2All               string         `json:"all2all,omitempty" flag:"all2all" enum:"deepep,deepep-normal,deepep-low-latency" doc:"all-to-all kernels that dispatch tokens to experts on other ranks and combine the results; deepep uses its normal kernels for prefill and its low-latency ones for decode" engines:"vllm,sglang"`
	DispatchTokens        Int            `json:"dispatch_tokens,omitempty" flag:"dispatch-tokens" doc:"most tokens that a rank sends at a time with DeepEP's low-latency kernels" engines:"vllm,sglang"`
	TwoBatches            *bool          `json:"two_batch_overlap,omitempty" flag:"two-batch-overlap" doc:"two-batch overlap: compute one half of a batch while the tokens of the other are in transit" engines:"vllm,sglang"`
	ExpertLoad            string         `json:"expert_load,omitempty" asks:"fit,plan,pick,diff,compare,sim" flag:"expert-load" doc:"distribution of tokens over a layer's experts: even, zipf:S, or a comma-separated count for each expert" engines:"vllm,sglang,tensorrt-llm"`
	DraftMethod           string         `json:"draft_method,omitempty" asks:"fit,plan,pick,diff,compare,sim" flag:"draft-method" enum:"ngram,suffix" doc:"how to draft without a model: ngram looks up what followed the same tokens in the text, suffix in a tree of suffixes of this and earlier answers" engines:"vllm,sglang,tensorrt-llm"`
	DraftSteps            Int            `json:"draft_steps,omitempty" asks:"fit,plan,pick,diff,compare,sim" flag:"draft-steps" doc:"draft tree: steps of the drafter (--speculative-num-steps)" engines:"sglang"`
	DraftBranches         Int            `json:"draft_branches,omitempty" asks:"fit,plan,pick,diff,compare,sim" flag:"draft-branches" doc:"draft tree: branches per token (--speculative-eagle-topk); draft_tokens is how many are verified" engines:"sglang"`
	EngineArgs            []string       `json:"engine_args,omitempty" doc:"further arguments, as on the command line" engines:"vllm,sglang,tensorrt-llm,transformers,mlx-lm,exllamav2,exllamav3,mlc,tgi,lmdeploy,ktransformers"`
}
