package config

import (
	"errors"
	flags "flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memwall/memwall/plan"
)

var update = flags.Bool("update", false, "write the golden files")

// qlora is a fine-tuning on one device.
func qlora() Input {
	drop := 0.05
	return Input{
		Model: "llama-3.1-8b", Hub: "meta-llama/Llama-3.1-8B",
		Plan: plan.Plan{Weights: "nf4", Attention: "flash", TP: 1, PP: 1, DP: 1},
		Training: plan.Training{
			Objective: "sft", Method: "qlora", Optimizer: "paged-adamw-8bit", Precision: "bf16-mixed", Sharding: "none", Recompute: "full", SequenceLength: 4096, MicroBatch: 1, Accumulation: 16, GlobalBatch: 16,
			LoRARank: 16, LoRA: []string{"all-linear"}, Dropout: &drop, FusedLoss: truth(true), Fused: truth(true), Packing: truth(true), Compile: truth(false),
		},
		Devices: 1, Nodes: 1,
	}
}

// pretrain is a training of all weights on nodes of eight devices.
func pretrain(devices int64, change func(*Input)) Input {
	in := Input{
		Model: "llama-3.1-70b", Hub: "meta-llama/Llama-3.1-70B",
		Plan: plan.Plan{TP: 1, PP: 1, CP: 1, DP: devices, Attention: "flash"},
		Training: plan.Training{
			Objective: "pretrain", Method: "full", Optimizer: "adamw-fused", Precision: "bf16-mixed", Sharding: "zero3", Recompute: "full", SequenceLength: 8192, MicroBatch: 1, Accumulation: 4,
			FusedLoss: truth(false), Fused: truth(false), Compile: truth(true), Packing: truth(true),
		},
		Devices: devices, Nodes: max(1, devices/8),
	}
	change(&in)
	in.Training.GlobalBatch = in.Training.MicroBatch * in.Training.Accumulation * plan.Int(in.Plan.DP)
	return in
}

func megatron64() Input {
	return pretrain(64, func(in *Input) {
		in.Plan.TP, in.Plan.PP, in.Plan.DP = 8, 4, 2
		in.Training.Sharding, in.Training.Schedule, in.Training.VPP = "zero1", "interleaved", 2
		in.Training.SequenceParallel, in.Training.Recompute, in.Training.Accumulation = truth(true), "selective", 64
		in.Training.FusedLoss, in.Training.Fused, in.Training.Compile, in.Training.Tokens = truth(true), truth(true), nil, 1e12
		in.Shape = &Shape{Layers: 80, Hidden: 8192, Heads: 64, KVHeads: 8, HeadDim: 128, FFN: 28672, Vocab: 128256, Positions: 131072, Gated: true, RMSNorm: true, Rotary: true}
	})
}

// goldens are plans with a format's files for each.
func goldens() map[string]Input {
	tune := qlora()
	tune.Training.Precision, tune.Training.Fused = "bf16", nil
	dpo := qlora()
	dpo.Training.Objective, dpo.Training.Method, dpo.Training.Packing, dpo.Training.ReferenceModel = "dpo", "lora", truth(false), "none"
	dpo.Plan.Weights = ""
	grpo := qlora()
	grpo.Training.Objective, grpo.Training.Packing = "grpo", truth(false)
	grpo.Training.Rollout = &plan.Rollout{Engine: "vllm", Colocated: truth(true), Share: 0.3, Samples: 8, Prompt: 3072, Output: 1024, Sleep: truth(true)}
	return map[string]Input{
		"trl": qlora(), "trl dpo": dpo, "trl grpo": grpo, "axolotl": qlora(), "llama-factory": qlora(), "torchtune": tune, "megatron": megatron64(),
		"deepspeed": pretrain(16, func(in *Input) {
			in.Plan.Offload = &plan.Offload{Optimizer: "nvme", Params: "host", Activations: "none"}
		}),
		"accelerate": pretrain(16, func(in *Input) {
			in.Training.Sharding, in.Plan.TP, in.Plan.DP = "fsdp2", 8, 2
		}),
		"accelerate fsdp1": pretrain(8, func(in *Input) { in.Training.Sharding = "fsdp" }),
		"torchtitan": pretrain(64, func(in *Input) {
			in.Training.Sharding, in.Plan.TP, in.Plan.PP, in.Plan.DP = "fsdp2", 4, 2, 8
			in.Training.Schedule, in.Training.Recompute, in.Training.Tokens = "1f1b", "every:2", 1e10
		}),
		"axolotl zero3": pretrain(8, func(in *Input) { in.Training.Compile = truth(false) }),
	}
}

func TestGoldens(t *testing.T) {
	for name, in := range goldens() {
		framework, _, _ := strings.Cut(name, " ")
		files, err := Write(framework, in)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var b strings.Builder
		for _, f := range files {
			fmt.Fprintf(&b, "-- %s --\n%s", f.Name, f.Text)
			if f.Run != "" {
				fmt.Fprintf(&b, "-- run --\n%s\n", f.Run)
			}
		}
		path := filepath.Join("testdata", strings.ReplaceAll(name, " ", "-")+".golden")
		if *update {
			if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(want), b.String()); d != "" {
			t.Errorf("%s (go test -update writes it anew):\n%s", name, d)
		}
	}
}

// TestRefusals: what a framework cannot say or run names field, value, the nearest setting, and who can.
func TestRefusals(t *testing.T) {
	set := func(in Input, change func(*Input)) Input { change(&in); return in }
	for _, c := range []struct {
		framework  string
		in         Input
		field, fix string
		others     string
	}{
		{"deepspeed", pretrain(16, func(in *Input) { in.Plan.PP, in.Plan.DP = 2, 8 }), "sharding", "sharding = zero1, or pp = 1", "megatron can"},
		{"deepspeed", pretrain(16, func(in *Input) { in.Plan.PP, in.Plan.DP, in.Training.Sharding = 2, 8, "zero1" }), "pp", "pp = 1", "megatron, torchtitan can"},
		{"megatron", set(megatron64(), func(in *Input) { in.Plan.PP, in.Plan.DP, in.Training.GlobalBatch = 1, 8, 512 }), "vpp", "vpp = 1, or pp = 2", ""},
		{"megatron", set(megatron64(), func(in *Input) { in.Training.Sharding = "fsdp2" }), "sharding", "sharding = zero1, or pp = 1 and ep = 1", "torchtitan"},
		{"megatron", qlora(), "method", "method = full", "deepspeed, accelerate, torchtune, axolotl, llama-factory, trl can"},
		{"megatron", set(megatron64(), func(in *Input) { in.Training.Recompute = "every:4" }), "recompute", "recompute = selective", "torchtitan can"},
		{"accelerate", set(qlora(), func(in *Input) { in.Devices, in.Plan.TP = 2, 2 }), "tp", "tp = 1, or method = lora", ""},
		{"accelerate", pretrain(8, func(in *Input) { in.Training.Sharding = "zero2" }), "sharding", "sharding = fsdp2", "deepspeed, megatron, axolotl, llama-factory can"},
		{"accelerate", pretrain(8, func(in *Input) { in.Training.Recompute, in.Training.Sharding = "selective", "fsdp2" }), "recompute", "recompute = full", "megatron, torchtitan can"},
		{"trl", set(qlora(), func(in *Input) { in.Training.GlobalBatch = 17 }), "global_batch", "global_batch = 16", ""},
		{"trl", set(qlora(), func(in *Input) { in.Training.Optimizer = "muon" }), "optimizer", "optimizer = adamw-fused", "axolotl can"},
		{"torchtune", set(qlora(), func(in *Input) { in.Model, in.Hub = "deepseek-v3", "deepseek-ai/DeepSeek-V3" }), "model", "a model of torchtune.models, or axolotl", ""},
		{"torchtitan", pretrain(8, func(in *Input) { in.Training.Sharding, in.Training.Objective = "fsdp2", "sft" }), "objective", "objective = pretrain", "deepspeed, accelerate, megatron, torchtune, axolotl, llama-factory, trl can"},
		{"axolotl", pretrain(8, func(in *Input) { in.Training.Sharding = "ddp" }), "precision", "precision = bf16, or sharding = fsdp2", "accelerate"},
		{"llama-factory", pretrain(8, func(in *Input) { in.Training.Precision = "bf16" }), "precision", "precision = bf16-mixed", "deepspeed"},
		{"trl", set(goldens()["trl grpo"], func(in *Input) { in.Training.Accumulation, in.Training.GlobalBatch = 4, 4 }), "accumulation", "accumulation = a multiple", ""},
		{"torchtune", set(goldens()["torchtune"], func(in *Input) { in.Training.Objective, in.Training.Method, in.Plan.Weights = "qat", "lora", "" }), "sharding", "sharding = fsdp2", ""},
		{"trl", set(qlora(), func(in *Input) { in.Training.Optimizer = "" }), "optimizer", "fill in the defaults of a framework first", ""},
		{"trl", set(qlora(), func(in *Input) { in.Nodes = 2 }), "devices", "a multiple of the nodes", ""},
		{"trl", set(qlora(), func(in *Input) { in.Plan.TP = -1 }), "tp", "give a number from 1", ""},
		{"nanogpt", qlora(), "framework", "one of deepspeed, accelerate, megatron, torchtune, torchtitan, axolotl, llama-factory, trl", ""},
	} {
		_, err := Write(c.framework, c.in)
		p, ok := errors.AsType[*plan.Problem](err)
		if !ok {
			t.Errorf("%s, %s: %v is not a problem of a plan", c.framework, c.field, err)
			continue
		}
		if p.Field != c.field || !strings.HasPrefix(p.Fix, c.fix) || !strings.Contains(p.Fix, c.others) || p.Message == "" {
			t.Errorf("%s: %+v, want field %s, fix %q and %q", c.framework, *p, c.field, c.fix, c.others)
		}
	}
}

// TestFixesRun: a plan that is refused for one setting runs once the nearest is taken.
func TestFixesRun(t *testing.T) {
	for _, f := range all() {
		tried := 0
		for _, in := range plans(t, f, 4, 60) {
			in.Training.Optimizer = "rmsprop"
			_, err := Write(f.name, in)
			p, ok := errors.AsType[*plan.Problem](err)
			if !ok || p.Field != "optimizer" {
				continue
			}
			tried++
			fix, _, _ := strings.Cut(p.Fix, ";")
			in.Training.Optimizer = strings.TrimPrefix(fix, "optimizer = ")
			if _, err := Write(f.name, in); err != nil {
				t.Errorf("%s: after %q: %v", f.name, p.Fix, err)
			}
		}
		if tried == 0 {
			t.Errorf("%s: no plan was refused", f.name)
		}
	}
}

// TestReadOthers: files as people write them, with former keys, comments and settings that no plan has.
func TestReadOthers(t *testing.T) {
	for _, c := range []struct {
		framework, text string
		want            map[string]any
		unread          []string
	}{
		{"axolotl", "base_model: a/b\nadapter: qlora\nload_in_4bit: true\nlora_target_linear: true\nbf16: auto\nflash_attention: true\ngradient_checkpointing: offload\nfsdp: [full_shard]\nfsdp_config:\n  fsdp_offload_params: true\n  fsdp_sharding_strategy: SHARD_GRAD_OP\nload_in_8bit: true\nwandb_project:\nsequence_lenn: 5\n",
			map[string]any{"method": "qlora", "weights": "nf4", "objective": "sft", "precision": "bf16-mixed", "sharding": "fsdp", "attention": "flash", "recompute": "full", "offload.params": "host", "offload.optimizer": "host", "offload.activations": "host", "lora_targets": []any{"all-linear"}},
			[]string{"fsdp_config.fsdp_sharding_strategy = SHARD_GRAD_OP (no key of axolotl 0.18.0)", "load_in_8bit = true", "sequence_lenn = 5 (no key of axolotl 0.18.0)"}},
		{"axolotl", "base_model: a/b\nplugins:\n  - axolotl.integrations.liger.LigerPlugin\n  - axolotl.integrations.cut_cross_entropy.CutCrossEntropyPlugin\nliger_rms_norm: true\nliger_glu_activation: true\nadapter: lora\nload_in_8bit: true\noptimizer: adamw_torch_4bit\nattn_implementation: kernels-community/vllm-flash-attn3\n",
			map[string]any{"method": "lora", "weights": "bnb-int8", "objective": "sft", "optimizer": "adamw-4bit", "attention": "flash", "fused_loss": true, "fused_kernels": true}, nil},
		{"axolotl", "base_model: a/b\nplugins: [axolotl.integrations.cut_cross_entropy.CutCrossEntropyPlugin, axolotl.integrations.spectrum.SpectrumPlugin]\ncut_cross_entropy: false\nliger_rms_norm: true\noptimizer: adamw_torch_8bit\n",
			map[string]any{"method": "full", "objective": "sft", "optimizer": "adamw-8bit", "fused_loss": false},
			[]string{"liger_rms_norm = true", "plugins = [axolotl.integrations.cut_cross_entropy.CutCrossEntropyPlugi…"}},
		{"axolotl", "base_model: a/b\nload_in_4bit: true\nadapter: qlora\nquantize_moe_experts: true\nunfrozen_parameters:\n  - ^model.language_model.*\n  - ^lm_head.*\n",
			map[string]any{"method": "qlora", "weights": "nf4-all", "objective": "sft"}, nil},
		{"axolotl", "base_model: a/b\nload_in_8bit: true\nadapter: lora\nllama4_linearized_experts: true\n",
			map[string]any{"method": "lora", "weights": "bnb-int8-all", "objective": "sft"}, nil},
		{"axolotl", "base_model: a/b\nunfrozen_parameters:\n  - model.layers.2[0-9]+.mlp\n", map[string]any{"method": "full", "objective": "sft"},
			[]string{"unfrozen_parameters = [model.layers.2[0-9]+.mlp]"}},
		{"axolotl", "base_model: TheBloke/Llama-2-7B-GPTQ\ngptq: true\ngptq_disable_exllama: true\nadapter: lora\n",
			map[string]any{"method": "lora", "weights": "gptq", "objective": "sft"}, nil},
		{"deepspeed", `{"train_micro_batch_size_per_gpu":"auto","bf16":{"enabled":"auto"},"zero_optimization":{"stage":3,"offload_param":{"device":"cpu"},"reduce_bucket_size":5e8}}`,
			map[string]any{"sharding": "zero3", "offload.params": "host"}, []string{"zero_optimization.reduce_bucket_size = 5e8"}},
		{"torchtitan", "# comment\n[model]\nflavor = \"8B\" # size\nconverters = [\n  'quantize.linear.float8',\n]\n[parallelism]\ndata_parallel_shard_degree = -1\ntensor_parallel_degree = 8\n[training]\nseq_len = 8_192\n",
			map[string]any{"precision": "fp8", "sharding": "fsdp2", "tp": 8.0, "sequence_length": 8192.0}, []string{"model.flavor = 8B"}},
		{"torchtitan", "[model]\nconverters = ['quantize.linear.mx']\n[quantize.linear.mx]\nrecipe_name = 'mxfp8_cublas'\n", map[string]any{"precision": "mxfp8", "sharding": "fsdp2"}, nil},
		{"torchtitan", "[model]\nconverters = ['float8']\n[quantize.linear.float8]\nrecipe_name = 'rowwise'\n", map[string]any{"precision": "fp8-rowwise", "sharding": "fsdp2"}, nil},
		{"torchtitan", "[model]\nconverters = ['quantize.linear.float8']\n[quantize.linear.float8]\nrecipe_name = 'another'\n", map[string]any{"precision": "bf16-mixed", "sharding": "fsdp2"}, []string{"model.converters = [quantize.linear.float8]", "quantize.linear.float8.recipe_name = another"}},
		{"megatron", "torchrun --nproc_per_node 8 pretrain_gpt.py --bf16 --fp4-format e2m1 --fp4-recipe nvfp4 --pipeline-model-parallel-size 2 --num-layers 32 --recompute-granularity full --recompute-method block --recompute-num-layers 4",
			map[string]any{"objective": "pretrain", "precision": "nvfp4", "sharding": "ddp", "pp": 2.0, "dp": 4.0, "schedule": "1f1b", "recompute": "block:4", "fused_loss": false, "fused_kernels": true}, nil},
		{"megatron", "torchrun --nproc_per_node 8 pretrain_gpt.py --bf16 --fp8-format e4m3 --fp8-recipe mxfp8 --num-layers 32 --recompute-granularity full --recompute-method uniform --recompute-num-layers 4",
			map[string]any{"objective": "pretrain", "precision": "mxfp8", "sharding": "ddp", "dp": 8.0, "recompute": "uniform:4", "fused_loss": false, "fused_kernels": true}, nil},
		{"megatron", "torchrun --nproc_per_node 8 pretrain_gpt.py --bf16 --grad-reduce-in-bf16 --use-distributed-optimizer --use-precision-aware-optimizer --exp-avg-dtype bf16 --exp-avg-sq-dtype bf16 --pipeline-model-parallel-size 4 --num-layers 14 --account-for-embedding-in-pipeline-split --account-for-loss-in-pipeline-split --recompute-granularity selective --recompute-modules mla_up_proj layernorm",
			map[string]any{"objective": "pretrain", "precision": "bf16-mixed", "sharding": "zero1", "pp": 4.0, "dp": 2.0, "schedule": "1f1b", "first_stage_layers": 3.0, "last_stage_layers": 3.0, "recompute": "selective:mla_up_proj+layernorm", "grad_dtype": "bf16", "moment_dtype": "bf16", "fused_loss": false, "fused_kernels": true}, nil},
		{"megatron", "#!/bin/bash\nGPUS=8\nTP=${1:-2}\nARGS=(\n  --tensor-model-parallel-size $TP\n  \"--fp8-format hybrid\" # both\n  --micro-batch-size=2 --global-batch-size 64\n  --recompute-granularity full --recompute-method block --recompute-num-layers 3\n)\ntorchrun --nproc_per_node $GPUS --nnodes 1 pretrain_gpt.py ${ARGS[@]} --bf16 \\\n  --seq-length 4096\n",
			map[string]any{"objective": "pretrain", "precision": "fp8", "sharding": "ddp", "tp": 2.0, "dp": 4.0, "micro_batch": 2.0, "global_batch": 64.0, "accumulation": 8.0, "sequence_length": 4096.0, "recompute": "block:3", "fused_loss": false, "fused_kernels": true},
			nil},
		{"trl", "import torch\nRANK = 32\nbnb = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type='nf4', bnb_4bit_compute_dtype=torch.bfloat16)\nmodel = AutoModelForCausalLM.from_pretrained('a/b', quantization_config=bnb, attn_implementation='sdpa', torch_dtype=torch.bfloat16)\npeft_config = LoraConfig(r=RANK, target_modules=['q_proj', 'v_proj'], bias='none')\nargs = SFTConfig(bf16=True, max_length=2048, optim='adamw_8bit', gradient_checkpointing=True, seed=3)\ntrainer = SFTTrainer(model=model, args=args, peft_config=peft_config)\n",
			map[string]any{"objective": "sft", "method": "qlora", "weights": "nf4-single", "precision": "bf16-mixed", "attention": "sdpa", "lora_rank": 32.0, "lora_targets": []any{"q_proj", "v_proj"}, "sequence_length": 2048.0, "optimizer": "adamw-8bit", "recompute": "full"},
			[]string{"LoraConfig.bias = none", "SFTConfig.seed = 3"}},
		{"accelerate", "distributed_type: DEEPSPEED\ndeepspeed_config:\n  zero_stage: 2\n  offload_optimizer_device: cpu\nmixed_precision: bf16\nnum_processes: 4\n",
			map[string]any{"sharding": "zero2", "dp": 4.0, "precision": "bf16-mixed", "offload.optimizer": "host"}, nil},
	} {
		p, tr, unread, err := Read(c.framework, []byte(c.text))
		if err != nil {
			t.Errorf("%s: %v", c.framework, err)
			continue
		}
		if d := cmp.Diff(c.want, said(t, c.framework, p, tr)); d != "" {
			t.Errorf("%s: want -, read +\n%s", c.framework, d)
		}
		slices.Sort(unread)
		if d := cmp.Diff(c.unread, unread); d != "" {
			t.Errorf("%s: unread\n%s", c.framework, d)
		}
	}
}

// TestAxolotlFrozen: a model whose text alone learns leaves its towers frozen; beside adapters there is nothing to freeze.
func TestAxolotlFrozen(t *testing.T) {
	for _, c := range []struct {
		text   string
		frozen []string
		unread []string
	}{
		{"unfrozen_parameters:\n  - model.language_model.*\n  - lm_head\n  - embed_tokens\n", towers, nil},
		{"unfrozen_parameters:\n  - lm_head\n", nil, []string{"unfrozen_parameters = [lm_head]"}},
		{"freeze_mm_modules: true\n", towers, nil},
		{"freeze_mm_modules: true\nadapter: lora\nunfrozen_parameters: [lm_head]\n", nil, nil},
		{"quantize_moe_experts: true\n", nil, []string{"quantize_moe_experts = true"}},
	} {
		_, tr, unread, err := Read("axolotl", []byte("base_model: a/b\n"+c.text))
		if err != nil || !slices.Equal(tr.Frozen, c.frozen) || !slices.Equal(unread, c.unread) {
			t.Errorf("%q: %v frozen, %q unread, %v", c.text, tr.Frozen, unread, err)
		}
	}
}

// TestHostile: what is not a configuration, too deep or too large is refused, and names the place where it can.
func TestHostile(t *testing.T) {
	deep := strings.Repeat("[", 1000)
	for _, c := range []struct{ framework, text, says string }{
		{"deepspeed", "[]", "not an object"}, {"deepspeed", `{"a":` + strings.Repeat(`{"a":`, 100), "byte"}, {"deepspeed", strings.Repeat(" ", maxText+1), "bytes"},
		{"axolotl", "a: " + deep, "deeper"}, {"axolotl", "a: 1\nb: *x\n", "line 2"}, {"axolotl", "- 1\n", "no settings"}, {"axolotl", "a: [1\nb: 2", "line"}, {"axolotl", strings.Repeat("#", maxText+1), "bytes"},
		{"torchtitan", "a = {b = 1}", "line 1"}, {"torchtitan", "\n[a\n", "line 2"}, {"torchtitan", "a = " + deep, "deeper"}, {"torchtitan", "a = 1\na.b = 2", "line 2"}, {"torchtitan", `a = """`, "triple"}, {"torchtitan", "= 1", "key"},
		{"megatron", "echo hello", "no flags"}, {"megatron", strings.Repeat("-", maxText+1), "bytes"}, {"trl", "print(1)", "makes no"},
	} {
		_, _, _, err := Read(c.framework, []byte(c.text))
		if p, ok := errors.AsType[*plan.Problem](err); !ok || !strings.Contains(p.Message, c.says) || p.Fix == "" {
			t.Errorf("%s %.20q: %v, want %q", c.framework, c.text, err, c.says)
		}
	}
	p, _, unread, err := Read("megatron", []byte("--tensor-model-parallel-size 1099511627776 --pipeline-model-parallel-size 1048576 --context-parallel-size 1048576 --micro-batch-size -3"))
	if err != nil || p.TP != 1 || len(unread) != 2 {
		t.Errorf("out of range: tp %d, unread %q, %v", p.TP, unread, err)
	}
}

// FuzzRead: no file makes a reader panic, nor a plan out of range.
func FuzzRead(f *testing.F) {
	for i, name := range Frameworks() {
		if in, ok := goldens()[name]; ok {
			files, err := Write(name, in)
			if err != nil {
				f.Fatal(err)
			}
			for _, file := range files {
				f.Add(uint8(i), []byte(file.Text))
			}
		}
	}
	names := Frameworks()
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		p, tr, unread, err := Read(names[int(which)%len(names)], data)
		if err != nil {
			if _, ok := errors.AsType[*plan.Problem](err); !ok {
				t.Fatalf("%T is not a problem of a plan: %v", err, err)
			}
			return
		}
		if len(unread) > maxUnread+1 {
			t.Fatalf("%d unread keys", len(unread))
		}
		if err := p.Check(); err != nil {
			t.Fatal(err)
		}
		if tr.MicroBatch < 0 || tr.Accumulation < 0 || tr.Tokens < 0 || tr.SequenceLength < 0 {
			t.Fatalf("negative: %+v", tr)
		}
	})
}

func BenchmarkWrite(b *testing.B) {
	in := qlora()
	for b.Loop() {
		if _, err := Write("axolotl", in); err != nil {
			b.Fatal(err)
		}
	}
}

// Read reads one file of a framework, whoever wrote it. What it does not say stays zero; keys that no field of a
// plan has a place for come back as unread, with their values. The error is a *plan.Problem.
func Read(framework string, data []byte) (plan.Plan, plan.Training, []string, error) {
	return ReadAll(framework, [][]byte{data})
}

// ReadAll reads the files that belong together, such as a DeepSpeed JSON and the arguments that go with it. The
// later one counts where two of them say the same.
func ReadAll(framework string, files [][]byte) (plan.Plan, plan.Training, []string, error) {
	f, err := find(framework)
	if err != nil {
		return plan.Plan{}, plan.Training{}, nil, err
	}
	in, unread, err := f.readAll(files)
	return in.Plan, in.Training, unread, err
}
