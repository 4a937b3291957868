package train

import "github.com/memwall/memwall/engine"

const gib = 1 << 30

var foreach = []engine.Since[string]{
	{From: engine.V(0, 0, 0), Value: "adamw", Source: "torch/optim/adamw.py: foreach on CUDA"},
}

// hfOptimizer is the Trainer's AdamW, fused from version 5 on.
var hfOptimizer = []engine.Since[string]{
	{From: engine.V(0, 0, 0), Value: "adamw", Source: "transformers/training_args.py: adamw_torch"},
	{From: engine.V(5, 0, 0), Value: "adamw-fused", Source: "transformers/training_args.py: adamw_torch_fused"},
}

var fused = []engine.Since[string]{
	{From: engine.V(0, 0, 0), Value: "adamw-fused", Source: "torch/optim/adamw.py: fused"},
}

// hfLoss is the loss of transformers' causal models: fp32 logits in the model, shifted copies, log-softmax and
// gradient. From 4.46 the caller keeps the 16-bit logits too, and from 4.51 labels are shifted instead of logits.
var hfLoss = []engine.Since[Loss]{
	{From: engine.V(0, 0, 0), Value: Loss{Plain: 12, Fused: 8, Native: 8, NativeFused: 6}, Source: "transformers/models/llama/modeling_llama.py: logits.float(), shift_logits"},
	{From: engine.V(4, 46, 0), Value: Loss{Plain: 14, Fused: 10, Native: 8, NativeFused: 6}, Source: "transformers/loss/loss_utils.py: ForCausalLMLoss"},
	{From: engine.V(4, 51, 0), Value: Loss{Plain: 12, Fused: 8, Native: 8, NativeFused: 6}, Source: "transformers/loss/loss_utils.py: shift_labels"},
}

// hfModels is the loss of programs that train transformers' models under version numbers of their own.
var hfModels = []engine.Since[Loss]{
	{From: engine.V(0, 0, 0), Value: Loss{Plain: 12, Fused: 8, Native: 8, NativeFused: 6}, Source: "as transformers, whose models it trains"},
}

// megatronLoss is Megatron's; Transformer Engine's (Chunked) writes gradients over the logits.
var megatronLoss = []engine.Since[Loss]{
	{From: engine.V(0, 0, 0), Value: Loss{Plain: 6, Fused: 6, Native: 6, NativeFused: 6, Chunked: 4},
		Source: "megatron/core/tensor_parallel/cross_entropy.py, fusions/fused_cross_entropy.py: logits and their copy in fp32"},
}

var megatronKeeps = Keeping{FusedNorm: true, FusedGlu: true, FusedQKV: true, Scores: 1, Adapters16: true}

var (
	queryValue = []string{"q_proj", "v_proj"}
	allLinear  = []string{"all-linear"}
)

var frameworks = []Framework{
	{ // recomputes blocks like trl's trainers (SFTConfig.gradient_checkpointing); one sequence at a time is the minimum
		Name: "transformers", Aliases: []string{"hf", "huggingface"}, On: []string{"trl", "accelerate", "peft", "llama-factory", "llamafactory", "open-instruct", "fsdp", "verl", "nemo-rl"}, Latest: engine.V(4, 57, 0), Oldest: engine.V(4, 45, 0),
		Precision: "bf16-mixed", One: "none", Many: "ddp", Recompute: "full", Attention: "sdpa", Optimizer: hfOptimizer, Rank: 8, Targets: queryValue, Batch: 1, Length: 1024, Padded: true, WithCritic: true, // trl/trainer/ppo_trainer.py: PolicyAndValueWrapper
		Loss: hfLoss,
		Keep: Keeping{Scores: 2, WideSoftmax: true, Kbit: true, Linear: true, RepeatsKV: true, FlashHeads: engine.V(4, 46, 0),
			Embeddings32: engine.V(4, 52, 0), // transformers/trainer.py: create_optimizer
			Grouped:      engine.V(5, 0, 0),  // transformers/integrations/moe.py: grouped_mm_experts_forward, the default of v5
			Ends32:       engine.V(5, 0, 0),  // trl of its time casts adapters alone: trl/trainer/sft_trainer.py
			Loads:        stayWhole},
		Peft: true,
	},
	{ // transformers' trainer; of it axolotl makes norms and embeddings 16 bits again (loaders/model.py: _configure_embedding_dtypes), takes
		// its own kernels for adapters (utils/schemas/config.py: check_auto_enable_lora_kernels), and shards by FSDP2 what was loaded
		// (monkeypatch/accelerate/fsdp2.py)
		Name: "axolotl", Latest: engine.V(0, 18, 0),
		Precision: "bf16-mixed", One: "none", Many: "ddp", Recompute: "full", Attention: "flash", Optimizer: fused, Rank: 8,
		Targets: allLinear, Batch: 1, Length: 2048, WithCritic: true, Peft: true, Loss: hfModels,
		Expands: true, // utils/__init__.py: expandable_segments
		Keep: Keeping{Scores: 2, WideSoftmax: true, Linear: true, RepeatsKV: true, CastsAdapters: true, Shards16: true, Loads: sharedLater,
			Splits: []string{"llama4"}}, // monkeypatch/models/llama4/modeling.py: llama4_linearized_experts
	},
	{
		Name: "fms-acceleration", Latest: engine.V(4, 48, 1), Oldest: engine.V(4, 45, 0), // transformers' versions
		Precision: "bf16", One: "none", Many: "fsdp", Recompute: "full", Attention: "flash", Optimizer: hfOptimizer, Rank: 16, Targets: []string{"q_proj", "k_proj", "v_proj", "o_proj"}, Dropout: 0.1, Batch: 4, Length: 4096,
		Loss: hfLoss, Keep: Keeping{Scores: 2, WideSoftmax: true, Adapters16: true, RepeatsKV: true, FlashHeads: engine.V(4, 46, 0)}, Peft: true,
	},
	{
		Name: "deepspeed", On: []string{"xtuner", "deepspeed-chat", "openrlhf"}, Latest: engine.V(0, 18, 0),
		Precision: "bf16-mixed", One: "none", Many: "zero2", Recompute: "none", Attention: "sdpa", Optimizer: fused, Rank: 8, Targets: queryValue, Batch: 8, Length: 1024, Padded: true,
		Loss: hfModels, Keep: Keeping{Scores: 2, WideSoftmax: true, Kbit: true, Linear: true, RepeatsKV: true}, Peft: true,
	},
	{
		Name: "ms-swift", Aliases: []string{"swift"}, Latest: engine.V(3, 10, 0),
		Precision: "bf16-mixed", One: "none", Many: "ddp", Recompute: "full", Attention: "sdpa", Optimizer: foreach, Rank: 8, Targets: allLinear, Dropout: 0.05, Batch: 1, Length: 2048, Padded: true, Typical: 1200, WithCritic: true, // trl's trainer
		Loss: []engine.Since[Loss]{{From: engine.V(0, 0, 0), Value: Loss{Plain: 12, Fused: 8, Native: 12, NativeFused: 8}, Source: "as transformers, whose models it trains"}}, Keep: Keeping{Scores: 2, WideSoftmax: true, Kbit: true, Linear: true, RepeatsKV: true}, Peft: true,
	},
	{
		Name: "ms-swift-megatron", Aliases: []string{"megatron-swift"}, Latest: engine.V(3, 10, 0),
		Precision: "bf16-mixed", One: "zero1", Many: "zero1", Recompute: "selective", Attention: "flash", Optimizer: fused, Rank: 8, Targets: allLinear, Dropout: 0.05, Batch: 1, Length: 2048, Padded: true,
		// joined without padding (swift/megatron/arguments/megatron_args.py: padding_free); the mean of alpaca-gpt4-data, from memory
		Typical: 300,
		Loss:    megatronLoss, Keep: megatronKeeps, Workspace: 0.11 * gib,
	},
	{
		Name: "unsloth", Latest: engine.V(2026, 1, 0), Narrow: Narrow{"fp16-mixed", "fp32"}, // unsloth/models/loader.py (from memory)
		Precision: "bf16", One: "none", Many: "ddp", Recompute: "full", Attention: "sdpa", Optimizer: []engine.Since[string]{{From: engine.V(0, 0, 0), Value: "adamw-8bit", Source: "unsloth notebooks"}},
		Rank: 16, Targets: allLinear, Batch: 2, Length: 2048, Padded: true, Typical: 600, WithCritic: true, Expands: true, // trl's trainer; unsloth/__init__.py
		Loss: []engine.Since[Loss]{
			{From: engine.V(0, 0, 0), Value: Loss{Plain: 8, Fused: 8, Native: 8, NativeFused: 8}, Source: "unsloth/kernels/cross_entropy_loss.py"},
			{From: engine.V(2025, 9, 0), Value: Loss{Plain: 16, Fused: 16, Native: 16, NativeFused: 16, Most: 4 * gib}, Source: "unsloth_zoo/fused_losses/cross_entropy_loss.py: _CE_BYTES_PER_LOGIT, _free_target_gb"},
		},
		Keep: Keeping{FusedNorm: true, FusedGlu: true, CastsAdapters: true, Offloads: true, Scores: 2, WideSoftmax: true, Linear: true, Unstacked: []string{"gpt-oss"},
			Embeddings32: engine.V(2025, 5, 0)}, // the first version is from memory
	},
	{ // recipes/configs of large models gather embedding and head on their own (custom_sharded_layers)
		Name: "torchtune", Latest: engine.V(0, 6, 0),
		Precision: "bf16", One: "none", Many: "fsdp2", Recompute: "full", Attention: "sdpa", Optimizer: fused, Rank: 8, Targets: []string{"q_proj", "v_proj", "output_proj"}, Batch: 2, Length: 2048, Padded: true, Typical: 1300,
		Loss: []engine.Since[Loss]{{From: engine.V(0, 0, 0), Value: Loss{Plain: 12, Fused: 12, Native: 12, NativeFused: 12, Chunked: 2, ChunkedEager: 6, Heads: 2}, Source: "torchtune/modules/transformer.py: logits in fp32; training/_compile.py compiles a loss of chunks alone; modules/loss: chunks of logits live until their gradients, while those of the head add up; ce_chunked_output_loss.py: an eager cross-entropy of logits.float() keeps a chunk's log-softmax in fp32"}}, Keep: Keeping{Scores: 2, WideSoftmax: true, Adapters16: true, WidensMoments: true, RepeatsKV: true, EndsApart: true},
	},
	{
		Name: "torchtitan", Latest: engine.V(2026, 8, 0), Oldest: engine.V(2024, 12, 0), // by the month of its main branch
		Precision: "bf16-mixed", One: "fsdp2", Many: "fsdp2", Recompute: "selective", Attention: "sdpa", Optimizer: fused, Batch: 1, Length: 8192, SequenceParallel: true, Expands: true, // torchtitan/run_train.sh
		Loss: []engine.Since[Loss]{
			{From: engine.V(0, 0, 0), Value: Loss{Plain: 16, Fused: 16, Native: 16, NativeFused: 16}, Source: "torchtitan/components/loss.py: logits in bf16 and fp32, log-softmax and both gradients"},
			{From: engine.V(2025, 4, 0), Value: Loss{Plain: 16, Fused: 16, Native: 16, NativeFused: 16, Compiled: 4},
				Source: "torchtitan/components/loss.py: build_cross_entropy_loss, compiled with the model (#1033): logits in bf16 and their gradient"},
			{From: engine.V(2026, 5, 0), Value: Loss{Plain: 16, Fused: 16, Native: 16, NativeFused: 16, Compiled: 4, Chunks: 8},
				Source: "torchtitan/components/loss.py: ChunkedLossWrapper (#2937), which the models' configurations take"},
		},
		Keep: Keeping{Scores: 2, WideSoftmax: true, RepeatsKV: true, Reduces32: true, EndsApart: true, Gathers: true},
	},
	{
		Name: "litgpt", Latest: engine.V(0, 5, 0),
		Precision: "bf16", One: "none", Many: "fsdp", Recompute: "none", Attention: "sdpa", Optimizer: foreach, Rank: 8, Targets: queryValue, Dropout: 0.05, Batch: 1, Length: 2048, Global: 16, Padded: true, // litgpt/finetune/full.py: global_batch_size
		Loss: []engine.Since[Loss]{{From: engine.V(0, 0, 0), Value: Loss{Plain: 8, Fused: 8, Native: 8, NativeFused: 8}, Source: "litgpt/utils.py: chunked_cross_entropy"}}, Keep: Keeping{FusedQKV: true, PerHidden: 4, Adapters16: true, Scores: 2, WideSoftmax: true, QuantisedInputs: true, OwnHead: true, RepeatsKV: true},
	},
	{
		Name: "megatron", Aliases: []string{"megatron-lm", "mcore"}, On: []string{"slime"}, Latest: engine.V(0, 15, 0),
		Precision: "bf16-mixed", One: "zero1", Many: "zero1", Recompute: "none", Attention: "flash", Optimizer: fused, Rank: 32, Targets: allLinear, Batch: 1, Length: 4096,
		Loss: megatronLoss, Keep: megatronKeeps, Workspace: 0.11 * gib,
	},
	{
		Name: "megatron-bridge", On: []string{"nemo", "nemo2"}, Latest: engine.V(0, 15, 0),
		Precision: "bf16-mixed", One: "zero1", Many: "zero1", Recompute: "none", Attention: "flash", Optimizer: fused, Rank: 32, Targets: allLinear, Batch: 1, Length: 4096, SequenceParallel: true,
		Loss: megatronLoss, Keep: megatronKeeps, Workspace: 0.11 * gib,
	},
	{ // DeepSeek's training as described in arXiv:2412.19437 (3.2: pipeline, ZeRO-1, recomputation; 3.3.3: moments in bf16, 12-bit inputs of
		// the matmul after attention, fp8 inputs of SwiGLU); the rest is assumed to be like Megatron
		Name: "hai-llm", Latest: engine.V(2024, 12, 0),
		Precision: "fp8", One: "zero1", Many: "zero1", Recompute: "selective:layernorm+mla_up_proj+moe_act", Attention: "flash", Optimizer: fused, Rank: 32, Targets: allLinear, Batch: 1, Length: 4096,
		Loss: megatronLoss, Keep: Keeping{FusedNorm: true, FusedGlu: true, FusedQKV: true, Scores: 1, Adapters16: true, OutBits: 12}, Workspace: 0.11 * gib,
		Schedule: "dualpipe", Moments: "bf16", NarrowActs: true,
	},
	{
		Name: "megatron-deepspeed", Aliases: []string{"bigscience"}, Latest: engine.V(0, 5, 0),
		Precision: "fp16-mixed", One: "zero1", Many: "zero1", Recompute: "none", Attention: "eager", Optimizer: fused, Batch: 1, Length: 2048,
		Loss: []engine.Since[Loss]{{From: engine.V(0, 0, 0), Value: Loss{Plain: 10, Fused: 10, Native: 10, NativeFused: 10}, Source: "megatron/mpu/cross_entropy.py"}}, Keep: Keeping{FusedNorm: true, FusedGlu: true, FusedQKV: true, Scores: 1},
	},
	{
		Name: "internevo", Aliases: []string{"internlm"}, Latest: engine.V(0, 5, 0),
		Precision: "bf16-mixed", One: "zero1", Many: "zero1", Recompute: "none", Attention: "flash", Optimizer: fused, Batch: 1, Length: 4096,
		Loss: []engine.Since[Loss]{{From: engine.V(0, 0, 0), Value: Loss{Plain: 8, Fused: 8, Native: 8, NativeFused: 8}, Source: "internlm/model/losses: fused cross entropy of flash-attn"}}, Keep: Keeping{FusedNorm: true, FusedGlu: true, FusedQKV: true, Scores: 2, WideSoftmax: true},
	},
	{
		Name: "llm-foundry", On: []string{"composer", "mosaicml"}, Latest: engine.V(0, 22, 0),
		Precision: "bf16-mixed", One: "none", Many: "fsdp", Recompute: "none", Attention: "flash", Optimizer: fused, Rank: 8, Targets: queryValue, Batch: 1, Length: 2048,
		Loss: []engine.Since[Loss]{{From: engine.V(0, 0, 0), Value: Loss{Plain: 8, Fused: 8, Native: 8, NativeFused: 8}, Source: "llmfoundry/models/mpt/modeling_mpt.py"}}, Keep: Keeping{FusedNorm: true, Scores: 2, WideSoftmax: true},
	},
}
