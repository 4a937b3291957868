package config

import (
	"strings"

	"github.com/memwall/memwall/plan"
)

// verlSFT are the settings of verl's trainers of supervised fine-tuning as Hydra takes them (0.8.0.dev:
// verl/trainer/config/sft_trainer.yaml, and sft_trainer_engine.yaml with engine and model in tables of their own). Weights are kept in
// fp32 and gathered in bf16 (verl/trainer/fsdp_sft_trainer.py, MixedPrecisionPolicy).
func verlSFT() *framework {
	return &framework{
		name: "verl-sft", title: "verl's SFT", plan: "verl", marks: "data",
		parts: []part{{name: "verl-sft.yaml", keys: "verl-sft", decode: settingsOfTorchrun, rules: []rule{
			{get: func(in *Input, _ *reader) {
				in.Training.Objective, in.Training.Method, in.Training.Sharding = "sft", "full", "fsdp2"
				in.Training.Precision, in.Training.Recompute = "bf16-mixed", "full"
			}},
			loads("model.partial_pretrain"), loads("model.path"),
			words("model.strategy", sharding, "fsdp=fsdp", "fsdp2=fsdp2"), words("engine.strategy", sharding, "fsdp=fsdp", "fsdp2=fsdp2"),
			{get: func(in *Input, r *reader) {
				if r.root.at("engine.tensor_model_parallel_size") != nil {
					in.Training.Sharding = "zero1"
				}
			}},
			words("model.enable_gradient_checkpointing", recompute, "full=true", "none=false"),
			{get: func(in *Input, r *reader) { getRank(in, r, "model.lora_rank") }}, made("model.lora_alpha", nil),
			texts("model.target_modules", func(in *Input) *[]string { return &in.Training.LoRA }),
			flag("model.use_liger", func(in *Input) **bool { return &in.Training.Fused }),
			flag("model.use_remove_padding", packing), flag("use_remove_padding", packing),
			count("data.micro_batch_size_per_gpu", microBatch), count("data.micro_batch_size", microBatch),
			count("data.train_batch_size", globalBatch), count("data.max_length", sequence),
			count("ulysses_sequence_parallel_size", cp), count("engine.ulysses_sequence_parallel_size", cp),
			count("engine.tensor_model_parallel_size", tp), count("engine.pipeline_model_parallel_size", pp),
			count("engine.virtual_pipeline_model_parallel_size", vpp), count("engine.context_parallel_size", cp),
			count("engine.expert_model_parallel_size", ep), count("engine.expert_tensor_parallel_size", etp),
			processes(), machines("trainer.n_gpus_per_node", "trainer.nnodes"), {get: getTokens},
		}}},
	}
}

// getTokens: micro-batches are filled up to so many tokens a device, the usual way where the model has a table of its own; a sequence
// parallel group fills as much together (verl/trainer/sft_trainer.py, max_token_len_per_gpu).
func getTokens(in *Input, r *reader) {
	filled, said := r.flag("data.use_dynamic_bsz")
	tokens, ok := r.optional("data.max_token_len_per_gpu")
	if said && !filled || !said && r.root.at("model.path") == nil {
		return
	}
	if !ok {
		tokens = 8192
	}
	length, most := max(1, int64(in.Training.SequenceLength)), int64(in.Training.GlobalBatch)
	if ranks := in.Devices / (max(1, in.Plan.TP) * max(1, in.Plan.PP) * max(1, in.Plan.CP)); ranks > 0 {
		most /= ranks
	}
	in.Training.MicroBatch, in.Training.Packing = plan.Int(max(1, min(max(1, most), tokens*max(1, in.Plan.CP)/length))), truth(true)
}

func sharding(in *Input) *string { return &in.Training.Sharding }

// getRank of adapters, of which 0 is none.
func getRank(in *Input, r *reader, key string) {
	if n, ok := r.optional(key); ok && n > 0 {
		in.Training.Method, in.Training.LoRARank = "lora", plan.Int(n)
	}
}

// settingsOfTorchrun are those of a command as Hydra takes them, and how many processes torchrun starts.
func settingsOfTorchrun(data []byte) (*node, error) {
	n, err := overrides(data)
	if err != nil || !isCommand(data) {
		return n, err
	}
	flags, err := fromShell(data)
	if err != nil {
		return n, nil // python3 starts one process
	}
	for _, key := range flags.keys {
		if name := strings.ReplaceAll(strings.TrimPrefix(key, "--"), "-", "_"); has("nproc_per_node nnodes", name) {
			n.put(name, flags.of[key])
		}
	}
	return n, nil
}
