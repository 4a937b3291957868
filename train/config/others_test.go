package config

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestOthers: recipes of the formats that are read alone, as their repositories have them.
func TestOthers(t *testing.T) {
	for _, c := range []struct {
		name, text, framework, model string
		devices                      int64
		want                         map[string]any
	}{
		{"litgpt's lora.yaml", "checkpoint_dir: checkpoints/meta-llama/Llama-2-7b-hf\nout_dir: out/lora\nprecision: bf16-true\nquantize:\ndevices: 2\nlora_r: 32\nlora_alpha: 16\nlora_dropout: 0.05\nlora_query: true\nlora_key: false\nlora_value: true\nlora_mlp: false\ndata:\n  class_path: litgpt.data.AlpacaGPT4\n  init_args:\n    seed: 42\ntrain:\n  global_batch_size: 8\n  micro_batch_size: 2\n  max_seq_length: 512\n  epochs: 1\noptimizer: AdamW\nseed: 1337\n",
			"litgpt", "meta-llama/Llama-2-7b-hf", 2, map[string]any{"method": "lora", "objective": "sft", "precision": "bf16", "lora_rank": 32.0, "lora_dropout": 0.05, "lora_targets": []any{"q_proj", "v_proj"}, "global_batch": 8.0, "micro_batch": 2.0, "sequence_length": 512.0, "optimizer": "adamw"}},
		{"litgpt's command", "litgpt finetune_lora checkpoints/x --checkpoint_dir checkpoints/Qwen/Qwen3-8B --quantize bnb.nf4 --precision bf16-true --lora_r 8 --train.micro_batch_size 1 --train.max_seq_length 1024",
			"litgpt", "Qwen/Qwen3-8B", 0, map[string]any{"method": "qlora", "weights": "nf4-single", "objective": "sft", "precision": "bf16", "lora_rank": 8.0, "micro_batch": 1.0, "sequence_length": 1024.0}},
		{"swift sft, Liger's loss", "PYTORCH_CUDA_ALLOC_CONF='expandable_segments:True' \\\nNPROC_PER_NODE=4 \\\nswift sft \\\n --model Qwen/Qwen2.5-7B --tuner_type full --torch_dtype bfloat16 --max_length 16384 --packing true --deepspeed zero3 --use_liger_kernel true\n",
			"ms-swift", "Qwen/Qwen2.5-7B", 4, map[string]any{"method": "full", "objective": "sft", "precision": "bf16", "sharding": "zero3", "sequence_length": 16384.0, "fused_kernels": true, "fused_loss": true, "expandable_segments": true, "packing": true}},
		{"swift sft, weighted tokens", "swift sft --model Qwen/Qwen2.5-3B --tuner_type lora --loss_scale hermes --use_liger_kernel true\n",
			"ms-swift", "Qwen/Qwen2.5-3B", 0, map[string]any{"method": "lora", "objective": "sft", "fused_kernels": true, "fused_loss": false}},
		{"swift gkd", "swift rlhf --rlhf_type gkd --model Qwen/Qwen2.5-7B --teacher_model Qwen/Qwen2.5-32B --tuner_type full --deepspeed zero2 --teacher_deepspeed zero3\n",
			"ms-swift", "Qwen/Qwen2.5-7B", 0, map[string]any{"method": "full", "objective": "distill", "sharding": "zero2", "teacher_model": "Qwen/Qwen2.5-32B", "teacher_sharding": "zero3"}},
		{"swift sft", "CUDA_VISIBLE_DEVICES=0,1 \\\nNPROC_PER_NODE=2 \\\nswift sft \\\n --model Qwen/Qwen2.5-7B-Instruct --train_type lora --dataset x#1000 --torch_dtype bfloat16 --num_train_epochs 1 --per_device_train_batch_size 1 --learning_rate 1e-4 --lora_rank 8 --lora_alpha 32 --target_modules all-linear --gradient_accumulation_steps 16 --max_length 2048 --attn_impl flash_attn --deepspeed zero2\n",
			"ms-swift", "Qwen/Qwen2.5-7B-Instruct", 2, map[string]any{"method": "lora", "objective": "sft", "precision": "bf16-mixed", "lora_rank": 8.0, "lora_targets": []any{"all-linear"}, "micro_batch": 1.0, "accumulation": 16.0, "sequence_length": 2048.0, "attention": "flash", "sharding": "zero2"}},
		{"verl's GRPO", "set -x\n\npython3 -m verl.trainer.main_ppo \\\n algorithm.adv_estimator=grpo \\\n data.train_batch_size=1024 \\\n data.max_prompt_length=512 \\\n data.max_response_length=1024 \\\n actor_rollout_ref.model.path=Qwen/Qwen2-7B-Instruct \\\n actor_rollout_ref.model.use_remove_padding=True \\\n actor_rollout_ref.actor.ppo_mini_batch_size=256 \\\n actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=16 \\\n actor_rollout_ref.actor.use_kl_loss=True \\\n actor_rollout_ref.model.enable_gradient_checkpointing=True \\\n actor_rollout_ref.rollout.name=vllm \\\n actor_rollout_ref.rollout.gpu_memory_utilization=0.6 \\\n actor_rollout_ref.rollout.n=5 \\\n trainer.n_gpus_per_node=8 \\\n trainer.nnodes=2 $@",
			"verl", "Qwen/Qwen2-7B-Instruct", 16, map[string]any{"method": "full", "objective": "grpo", "precision": "bf16-mixed", "sharding": "fsdp", "packing": true, "global_batch": 1280.0, "micro_batch": 16.0, "recompute": "full", "sequence_length": 1536.0, "reference_model": "Qwen/Qwen2-7B-Instruct",
				"rollout.engine": "vllm", "rollout.gpu_memory_utilization": 0.6, "rollout.samples": 5.0, "rollout.prompt_tokens": 512.0, "rollout.output_tokens": 1024.0, "rollout.colocated": true}},
		{"verl on Megatron", "python3 -m verl.trainer.main_ppo --config-path=config --config-name='ppo_megatron_trainer.yaml' algorithm.adv_estimator=grpo actor_rollout_ref.model.path=Qwen/Qwen2-7B-Instruct actor_rollout_ref.actor.megatron.pipeline_model_parallel_size=2 actor_rollout_ref.rollout.name=vllm trainer.n_gpus_per_node=8",
			"verl", "Qwen/Qwen2-7B-Instruct", 8, map[string]any{"method": "full", "objective": "grpo", "precision": "bf16-mixed", "sharding": "zero1", "pp": 2.0, "reference_model": "none",
				"rollout.engine": "vllm", "rollout.samples": 1.0, "rollout.colocated": true}},
		{"verl's SFT", "torchrun --nnodes=1 --nproc_per_node=4 -m verl.trainer.fsdp_sft_trainer data.train_files=a.parquet " +
			"data.micro_batch_size_per_gpu=4 data.max_length=2048 model.partial_pretrain=google/gemma-2b-it model.lora_rank=32 " +
			"model.target_modules=all-linear model.strategy=fsdp ulysses_sequence_parallel_size=2\n",
			"verl-sft", "google/gemma-2b-it", 4, map[string]any{"method": "lora", "objective": "sft", "precision": "bf16-mixed", "sharding": "fsdp",
				"recompute": "full", "lora_rank": 32.0,
				"lora_targets": []any{"all-linear"}, "micro_batch": 4.0, "sequence_length": 2048.0, "cp": 2.0}},
		{"verl's SFT, filled up to tokens", "torchrun --nproc-per-node=8 -m verl.trainer.sft_trainer data.train_batch_size=96 data.max_length=2048 " +
			"data.max_token_len_per_gpu=16384 model.path=Qwen/Qwen3-8B engine=fsdp engine.ulysses_sequence_parallel_size=2\n",
			"verl-sft", "Qwen/Qwen3-8B", 8, map[string]any{"method": "full", "objective": "sft", "precision": "bf16-mixed", "sharding": "fsdp2",
				"recompute": "full", "packing": true,
				"micro_batch": 16.0, "global_batch": 96.0, "sequence_length": 2048.0, "cp": 2.0}},
		{"slime, colocated", "python3 train.py --actor-num-nodes 1 --actor-num-gpus-per-node 8 --colocate --hf-checkpoint /root/Qwen3-30B-A3B-INT4/ " +
			"--ref-load /root/dist --rollout-batch-size 32 --n-samples-per-prompt 8 --rollout-max-response-len 8192 --num-steps-per-rollout 2 " +
			"--advantage-estimator gspo --tensor-model-parallel-size 4 --use-dynamic-batch-size --max-tokens-per-gpu 20480 " +
			"--rollout-num-gpus-per-engine 8 --sglang-mem-fraction-static 0.7\n",
			"slime", "Qwen3-30B-A3B-INT4/", 8, map[string]any{"method": "full", "objective": "grpo", "precision": "bf16-mixed",
				"sharding": "zero1", "weights": "bf16", "packing": true, "micro_batch": 2.0, "global_batch": 128.0, "tp": 4.0,
				"accumulation": 32.0, "cp": 1.0, "dp": 2.0, "pp": 1.0, "fused_kernels": true, "fused_loss": false, "recompute": "none",
				"reference_model": "none", "sequence_length": 8192.0, "rollout.engine": "sglang", "rollout.samples": 8.0,
				"rollout.output_tokens": 8192.0, "rollout.tp": 8.0, "rollout.colocated": true, "rollout.sleep": true,
				"rollout.trainer_away": true, "rollout.gpu_memory_utilization": 0.7}},
		{"OpenRLHF's SFT", "deepspeed --module openrlhf.cli.train_sft --max_len 2048 --dataset Open-Orca/OpenOrca --input_key question --train_batch_size 256 --micro_train_batch_size 2 --max_samples 500000 --pretrain meta-llama/Meta-Llama-3-8B --save_path ./ckpt --zero_stage 2 --max_epochs 1 --packing_samples --bf16 --flash_attn --learning_rate 5e-6 --gradient_checkpointing",
			"openrlhf", "meta-llama/Meta-Llama-3-8B", 0, map[string]any{"method": "full", "objective": "sft", "precision": "bf16-mixed", "sharding": "zero2", "packing": true, "global_batch": 256.0, "micro_batch": 2.0, "recompute": "full", "sequence_length": 2048.0, "attention": "flash"}},
		{"NeMo-RL's GRPO", "grpo:\n  num_prompts_per_step: 32\n  num_generations_per_prompt: 16\npolicy:\n  model_name: \"Qwen/Qwen2.5-1.5B\"\n  tokenizer:\n    name: ${policy.model_name}\n  train_global_batch_size: 512\n  train_micro_batch_size: 4\n  max_total_sequence_length: 512\n  precision: \"bfloat16\"\n  dtensor_cfg:\n    enabled: true\n    cpu_offload: False\n    sequence_parallel: false\n    activation_checkpointing: true\n    tensor_parallel_size: 2\n    context_parallel_size: 1\n  sequence_packing:\n    enabled: True\n  generation:\n    backend: \"vllm\"\n    max_new_tokens: ${policy.max_total_sequence_length}\n    vllm_cfg:\n      gpu_memory_utilization: 0.6\n    colocated:\n      enabled: true\ncluster:\n  gpus_per_node: 8\n  num_nodes: 1\n",
			"nemo-rl", "Qwen/Qwen2.5-1.5B", 8, map[string]any{"method": "full", "objective": "grpo", "precision": "bf16-mixed", "sharding": "fsdp2", "packing": true, "global_batch": 512.0, "micro_batch": 4.0, "recompute": "full", "sequence_length": 512.0, "tp": 2.0, "cp": 1.0, "sequence_parallel": false,
				"rollout.engine": "vllm", "rollout.gpu_memory_utilization": 0.6, "rollout.samples": 16.0, "rollout.prompt_tokens": 256.0, "rollout.output_tokens": 256.0, "rollout.colocated": true}},
	} {
		got, err := Find([][]byte{[]byte(c.text)})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got.Framework != c.framework || got.Hub != c.model || got.Devices != c.devices {
			t.Errorf("%s: %s, model %s, %d devices", c.name, got.Framework, got.Hub, got.Devices)
		}
		if d := cmp.Diff(c.want, flat(got)); d != "" {
			t.Errorf("%s: wanted -, found +\n%s", c.name, d)
		}
		t.Log(c.name, got.Unread)
	}
}

// flat are the fields of what was found, those of rollout by their paths; the framework aside.
func flat(f *Found) map[string]any {
	out := map[string]any{}
	for _, v := range []any{f.Plan, f.Training} {
		text, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		fields := map[string]any{}
		if err := json.Unmarshal(text, &fields); err != nil {
			panic(err)
		}
		for k, x := range fields {
			if inner, ok := x.(map[string]any); ok {
				for j, y := range inner {
					out[k+"."+j] = y
				}
				continue
			}
			out[k] = x
		}
	}
	delete(out, "framework")
	return out
}

// TestTrainsNothing: what a framework runs without training is not a plan of a training run.
func TestTrainsNothing(t *testing.T) {
	const model = "model:\n  _component_: torchtune.models.llama3_1.llama3_1_8b\ndevice: cuda\ndtype: bf16\n"
	for _, c := range []struct {
		text  string
		fails bool
	}{{model + "max_new_tokens: 300\n", true}, {model + "tasks: [\"truthfulqa_mc2\"]\n", true}, {model + "optimizer:\n  _component_: torch.optim.AdamW\n", false}} {
		if _, _, _, err := Read("torchtune", []byte(c.text)); (err != nil) != c.fails {
			t.Errorf("%q: %v", c.text, err)
		}
	}
}
