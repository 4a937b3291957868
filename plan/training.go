package plan

// Training says how a model is trained. Zero fields are unset and filled in by a framework's defaults. Parallelism and
// attention are those of Plan; an unset dp is derived from the number of devices.
type Training struct {
	Framework string `json:"framework,omitempty" flag:"framework" asks:"train" doc:"transformers, fsdp, deepspeed, megatron, torchtune, torchtitan, litgpt, llm-foundry, unsloth or another; @version picks one"`
	Objective string `json:"objective,omitempty" flag:"objective" asks:"train" enum:"pretrain,sft,dpo,ppo,grpo,dapo,gspo,rloo,ipo,kto,simpo,cpo,orpo,distill,qat" doc:"training objective"`
	Method    string `json:"method,omitempty" flag:"method" asks:"train" enum:"full,lora,qlora,dora,adalora,vera,loha,lokr,ia3,oft,boft,prompt_tuning,prefix_tuning" doc:"fine-tuning method; those from adalora on are peft's; any in plan --train compares full, lora and qlora"`

	ReferenceModel string   `json:"reference_model,omitempty" flag:"reference-model" asks:"train" doc:"frozen reference model (dpo, ppo, grpo); none leaves it out"`
	RewardModel    string   `json:"reward_model,omitempty" flag:"reward-model" asks:"train" doc:"reward model (ppo, grpo)"`
	CriticModel    string   `json:"critic_model,omitempty" flag:"critic-model" asks:"train" doc:"critic, which is trained too (ppo); none leaves it out"`
	TeacherModel   string   `json:"teacher_model,omitempty" flag:"teacher-model" asks:"train" doc:"model to distil from"`
	TeacherShards  string   `json:"teacher_sharding,omitempty" flag:"teacher-sharding" asks:"train" enum:"none,zero3" doc:"whether data-parallel ranks shard the teacher's weights, with its own DeepSpeed configuration; default: as for the trained model"`
	Rollout        *Rollout `json:"rollout,omitempty" asks:"train" doc:"engine that generates rollouts for ppo and grpo"`

	Optimizer string `json:"optimizer,omitempty" flag:"optimizer" asks:"train" enum:"adamw,adamw-fused,adamw-8bit,adamw-4bit,paged-adamw-8bit,paged-adamw,adafactor,muon,lion,sgd,galore,adagrad,rowwise-adagrad,shampoo,soap,schedule-free-adamw,prodigy" doc:"optimizer; the format of its states depends on precision and framework"`
	// InBackward applies the optimizer during the backward pass, so that each gradient is freed at once.
	InBackward *bool `json:"optimizer_in_backward,omitempty" flag:"optimizer-in-backward" asks:"train" doc:"step the optimizer on each gradient during the backward pass (torchtune)"`

	Precision string `json:"precision,omitempty" flag:"precision" asks:"train" enum:"bf16-mixed,bf16,fp16-mixed,fp32,tf32,fp8,fp8-rowwise,mxfp8,nvfp4" doc:"compute format, and whether masters are kept in fp32; fp8 has a scale per tensor, fp8-rowwise per row, mxfp8 per 32 numbers, nvfp4 per 16"`
	Sharding  string `json:"sharding,omitempty" flag:"sharding" asks:"train" enum:"none,ddp,zero1,zero2,zero3,fsdp,fsdp2,hsdp" doc:"what is sharded over data-parallel ranks"`
	VPP       int64  `json:"vpp,omitempty" flag:"vpp" asks:"train" doc:"model chunks per pipeline stage (interleaved schedule)"`
	ETP       int64  `json:"etp,omitempty" flag:"etp" asks:"train" doc:"tensor parallelism of experts"`
	CPComm    string `json:"cp_comm_type,omitempty" flag:"cp-comm-type" asks:"train" enum:"p2p,allgather,a2a" doc:"context parallel attention: pass keys and values around a ring (p2p), gather them (allgather), or exchange heads (a2a, Ulysses)"`
	Schedule  string `json:"schedule,omitempty" flag:"schedule" asks:"train" enum:"gpipe,1f1b,interleaved,zb-h1,zb-h2,zbv,dualpipe,dualpipe-v" doc:"order of a pipeline's micro-batches"`

	FirstStage int64 `json:"first_stage_layers,omitempty" flag:"first-stage-layers" asks:"train" doc:"layers of the first pipeline stage, if it differs from the others"`
	LastStage  int64 `json:"last_stage_layers,omitempty" flag:"last-stage-layers" asks:"train" doc:"layers of the last pipeline stage, if it differs from the others"`

	SequenceParallel *bool `json:"sequence_parallel,omitempty" flag:"sequence-parallel" asks:"train" doc:"shard norms and residuals over the tensor parallel group"`
	SequenceLength   Int   `json:"sequence_length,omitempty" flag:"seq" unit:"length" asks:"train" doc:"tokens per sequence"`
	MicroBatch       Int   `json:"micro_batch,omitempty" flag:"micro-batch" asks:"train" doc:"sequences per forward pass of a rank"`
	Accumulation     Int   `json:"accumulation,omitempty" flag:"accumulation" asks:"train" doc:"forward passes per step"`
	GlobalBatch      Int   `json:"global_batch,omitempty" flag:"global-batch" asks:"train" doc:"sequences per step: micro_batch x accumulation x dp"`

	GradDtype   string `json:"grad_dtype,omitempty" flag:"grad-dtype" asks:"train" enum:"fp32,bf16" doc:"format in which Megatron accumulates gradients"`
	MomentDtype string `json:"moment_dtype,omitempty" flag:"moment-dtype" asks:"train" enum:"fp32,bf16,fp8" doc:"format of the moments in Megatron's precision-aware optimizer"`

	Recompute  string   `json:"recompute,omitempty" flag:"recompute" asks:"train" doc:"none, selective, full, every:4 for one block of four; Megatron's selective:mlp+layernorm, and uniform:4 or block:4 by layers of a stage"`
	NarrowActs *bool    `json:"fp8_activation_inputs,omitempty" flag:"fp8-activation-inputs" asks:"train" doc:"save the inputs of gated activations in fp8 (Megatron)"`
	FusedLoss  *bool    `json:"fused_loss,omitempty" flag:"fused-loss" asks:"train" doc:"compute head and loss in chunks, without materialising all logits"`
	Fused      *bool    `json:"fused_kernels,omitempty" flag:"fused-kernels" asks:"train" doc:"fused norms, rotary positions and activations"`
	Compile    *bool    `json:"compile,omitempty" flag:"compile" asks:"train" doc:"torch.compile"`
	Expandable *bool    `json:"expandable_segments,omitempty" flag:"expandable-segments" asks:"train" doc:"expandable segments in torch's allocator, which reduce fragmentation (PYTORCH_CUDA_ALLOC_CONF)"`
	LoRARank   Int      `json:"lora_rank,omitempty" flag:"lora-rank" asks:"train" doc:"rank of LoRA and similar adapters; block size of OFT and BOFT; number of learnt prompt or prefix tokens"`
	LoRA       []string `json:"lora_targets,omitempty" flag:"lora-targets" asks:"train" doc:"linear layers with adapters, as peft calls them (q_proj,v_proj); all-linear for all"`
	Dropout    *float64 `json:"lora_dropout,omitempty" flag:"lora-dropout" asks:"train" doc:"dropout before the adapters"`
	Masks      *float64 `json:"dropout,omitempty" flag:"dropout" asks:"train" doc:"dropout of the model's own layers and attention, not of the adapters"`
	Full       []string `json:"modules_to_save,omitempty" flag:"modules-to-save" asks:"train" doc:"modules trained in full in addition to adapters: embed_tokens, lm_head"`
	Frozen     []string `json:"frozen,omitempty" flag:"frozen" asks:"train" doc:"parts that are not trained: vision, projector, embed_tokens, self_attn"`
	Thawed     string   `json:"trained_layers,omitempty" flag:"trained-layers" asks:"train" doc:"train only these layers: last:2, first:2, or spread:4 for four at even distances; all else except modules_to_save is frozen"`

	Tokens  Int    `json:"tokens,omitempty" flag:"tokens" unit:"count" asks:"train" doc:"tokens in the whole run: 15T, 10M"`
	Data    string `json:"data,omitempty" flag:"data" asks:"train" doc:"file with the length of each sample, one per line"`
	Packing *bool  `json:"packing,omitempty" flag:"packing" asks:"train" doc:"pack samples to the sequence length; otherwise they are padded to the longest in a batch"`
}

// Rollout is the engine that generates the answers scored in reinforcement learning.
type Rollout struct {
	Engine    string  `json:"engine,omitempty" doc:"vllm or sglang"`
	Colocated *bool   `json:"colocated,omitempty" doc:"on the training devices"`
	Share     float64 `json:"gpu_memory_utilization,omitempty" doc:"share of the device's memory that it uses"`
	Samples   Int     `json:"samples,omitempty" doc:"answers per prompt"`
	Prompt    Int     `json:"prompt_tokens,omitempty" doc:"tokens per prompt"`
	Output    Int     `json:"output_tokens,omitempty" doc:"tokens per answer"`
	TP        Int     `json:"tp,omitempty" doc:"devices per engine"`
	Sleep     *bool   `json:"sleep,omitempty" doc:"release its memory during training"`
	Away      *bool   `json:"trainer_away,omitempty" doc:"offload the training state to host memory during generation"`
}

// Narrow reports whether the precision multiplies in 8 or 4 bits while weights are kept in 16.
func (t *Training) Narrow() bool {
	switch t.Precision {
	case "fp8", "fp8-rowwise", "mxfp8", "nvfp4":
		return true
	}
	return false
}

// ZeROStage returns the ZeRO stage that sharding names (arXiv:1910.02054), 0 for none.
func (t *Training) ZeROStage() int64 {
	switch t.Sharding {
	case "zero1":
		return 1
	case "zero2":
		return 2
	case "zero3":
		return 3
	}
	return 0
}
