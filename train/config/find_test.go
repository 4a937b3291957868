package config

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memwall/memwall/plan"
)

// TestFindRoundTrip: what a framework writes is found to be of it, with the model and the plan that it was written from.
func TestFindRoundTrip(t *testing.T) {
	for _, f := range all() {
		for _, in := range plans(t, f, 2, 60) {
			texts := written(t, f.name, in)
			got, err := Find(texts)
			if err != nil {
				t.Fatalf("%s: %v\n%s", f.name, err, texts)
			}
			if got.Framework != f.name || len(got.Unread) > 0 {
				t.Fatalf("%s is taken for %s, unread %q\n%s", f.name, got.Framework, got.Unread, texts)
			}
			if d := cmp.Diff(said(t, f.name, in.Plan, in.Training), said(t, f.name, got.Plan, got.Training)); d != "" {
				t.Fatalf("%s: wrote -, found +\n%s\n%s", f.name, d, texts)
			}
			if f.name != "megatron" && !sameModel(got.Hub, &in) {
				t.Fatalf("%s: model %q, wrote %q\n%s", f.name, got.Hub, in.Hub, texts)
			}
		}
	}
}

const unslothScript = `from unsloth import FastLanguageModel
model, tokenizer = FastLanguageModel.from_pretrained(model_name = "unsloth/Qwen3-14B", max_seq_length = 2048, load_in_4bit = True)
model = FastLanguageModel.get_peft_model(model, r = 32, target_modules = ["q_proj", "v_proj"], lora_alpha = 32, use_gradient_checkpointing = "unsloth")
trainer = SFTTrainer(model = model, tokenizer = tokenizer, args = SFTConfig(per_device_train_batch_size = 2, gradient_accumulation_steps = 4, warmup_steps = 5, learning_rate = 2e-4, optim = "adamw_8bit"))
`

// TestFind: files and commands as people have them, and what they are found to be.
func TestFind(t *testing.T) {
	for _, c := range []struct {
		name             string
		texts            []string
		framework, model string
		devices          int64
		want             map[string]any
		unread           []string
	}{
		{"a torchrun command of transformers", []string{"#!/bin/bash\nexport WANDB=x\ntorchrun --nproc_per_node=8 --master_port=1234 train.py \\\n  --model_name_or_path meta-llama/Llama-2-7b-hf --data_path d.json \\\n  --bf16 True --num_train_epochs 3 --per_device_train_batch_size 4 \\\n  --fsdp \"full_shard auto_wrap\" --gradient_checkpointing\n"},
			"trl", "meta-llama/Llama-2-7b-hf", 8, map[string]any{"sharding": "fsdp", "micro_batch": 4.0, "recompute": "full", "precision": "bf16-mixed", "objective": "sft"}, nil},
		{"trl sft", []string{"$ trl sft --model_name_or_path Qwen/Qwen3-8B --use_peft --lora_r 16 --load_in_4bit --max_length 4096 --packing --per_device_train_batch_size 2"},
			"trl", "Qwen/Qwen3-8B", 0, map[string]any{"method": "qlora", "lora_rank": 16.0, "sequence_length": 4096.0, "packing": true, "micro_batch": 2.0, "objective": "sft"}, nil},
		{"LLaMA-Factory on the command line", []string{"llamafactory-cli train --stage sft --do_train --model_name_or_path Qwen/Qwen2.5-7B --finetuning_type lora --lora-rank 8 --cutoff_len 2048 --per_device_train_batch_size 1 --dataset alpaca"},
			"llama-factory", "Qwen/Qwen2.5-7B", 0, map[string]any{"method": "lora", "lora_rank": 8.0, "sequence_length": 2048.0, "micro_batch": 1.0, "objective": "sft"}, nil},
		{"two files of one run", []string{"model_name_or_path: Qwen/Qwen2.5-7B\nper_device_train_batch_size: 1\nbf16: true\ndeepspeed: ds.json\n", `{"train_micro_batch_size_per_gpu":"auto","zero_optimization":{"stage":3,"offload_optimizer":{"device":"cpu"}},"bf16":{"enabled":"auto"}}`},
			"deepspeed", "Qwen/Qwen2.5-7B", 0, map[string]any{"sharding": "zero3", "offload.optimizer": "host", "micro_batch": 1.0, "precision": "bf16-mixed", "objective": "sft"}, nil},
		{"Unsloth's notebook", []string{unslothScript}, "trl", "unsloth/Qwen3-14B", 0,
			map[string]any{"method": "qlora", "weights": "nf4", "lora_rank": 32.0, "lora_targets": []any{"q_proj", "v_proj"}, "sequence_length": 2048.0, "micro_batch": 2.0, "accumulation": 4.0, "optimizer": "adamw-8bit", "recompute": "full", "objective": "sft"}, nil},
		{"a model that the script loads itself", []string{"model = AutoModelForCausalLM.from_pretrained('Qwen/Qwen3-4B', torch_dtype=torch.bfloat16)\nargs = TrainingArguments(per_device_train_batch_size=8, bf16=True)\nSFTTrainer(model=model, args=args)\n"},
			"trl", "Qwen/Qwen3-4B", 0, map[string]any{"micro_batch": 8.0, "method": "full", "precision": "bf16", "objective": "sft"}, nil},
		{"torchtitan's flavor", []string{"[model]\nname = \"llama3\"\nflavor = \"70B\"\n[training]\nseq_len = 8192\nlocal_batch_size = 1\n"}, "torchtitan", "meta-llama/Llama-3.1-70B", 0,
			map[string]any{"sequence_length": 8192.0, "micro_batch": 1.0, "sharding": "fsdp2", "precision": "bf16-mixed"}, nil},
		{"what moves memory is said", []string{"base_model: a/b\nmicro_batch_size: 1\npad_to_sequence_len: true\nwarmup_steps: 5\nwandb_project: x\n"}, "axolotl", "a/b", 0,
			map[string]any{"micro_batch": 1.0, "method": "full", "objective": "sft"}, []string{"pad_to_sequence_len = true"}},
		{"scripts that share variables", []string{"#!/bin/bash\nTP=8\nMORE=\"--recompute-granularity full --recompute-method uniform --recompute-num-layers 1 \"\n. `pwd`/CONFIG.sh\n", "#!/bin/bash\nexport PARAMS=\" ${MORE} \\\n --tensor-model-parallel-size ${TP} --num-layers 96 --hidden-size 12288 --num-attention-heads 96 --bf16 \"\n"},
			"megatron", "", 0, map[string]any{"tp": 8.0, "recompute": "full", "precision": "bf16-mixed", "objective": "pretrain", "sharding": "ddp", "fused_kernels": true, "fused_loss": false}, nil},
		{"LLaMA-Factory's second trainer", []string{"model: Qwen/Qwen3-4B\npeft_config:\n  name: lora\n  r: 16\n  target_modules: all\nquant_config:\n  name: bnb\n  quantization_bit: 4\ndist_config:\n  name: fsdp2\ncp_size: 2\nmicro_batch_size: 4\nbatching_strategy: dynamic_batching\ncutoff_len: 2048\n"},
			"llama-factory", "Qwen/Qwen3-4B", 0, map[string]any{"method": "qlora", "weights": "nf4", "lora_rank": 16.0, "lora_targets": []any{"all-linear"}, "micro_batch": 4.0, "sequence_length": 2048.0, "sharding": "fsdp2", "recompute": "full", "precision": "bf16"},
			[]string{"batching_strategy = dynamic_batching"}},
		{"blocks that turn inputs", []string{"model_name_or_path: a/b\nstage: sft\nfinetuning_type: oft\noft_block_size: 64\noft_target: q_proj,v_proj\nquantization_bit: 4\ncutoff_len: 1024\n"}, "llama-factory", "a/b", 0,
			map[string]any{"method": "oft", "weights": "nf4", "lora_rank": 64.0, "lora_targets": []any{"q_proj", "v_proj"}, "sequence_length": 1024.0, "objective": "sft"}, nil},
		{"the last blocks alone", []string{"model_name_or_path: a/b\nstage: sft\nfinetuning_type: freeze\nfreeze_trainable_layers: 4\nfreeze_trainable_modules: mlp\nfreeze_extra_modules: lm_head\ncutoff_len: 1024\n"}, "llama-factory", "a/b", 0,
			map[string]any{"method": "full", "trained_layers": "last:4", "frozen": []any{"self_attn", "norms"}, "modules_to_save": []any{"lm_head"}, "sequence_length": 1024.0, "objective": "sft"}, nil},
		{"LLaMA Pro, and a module of one family", []string{"model_name_or_path: a/b\nfinetuning_type: freeze\nuse_llama_pro: true\nfreeze_trainable_layers: 8\nfreeze_trainable_modules: mlp,mixer\n"}, "llama-factory", "a/b", 0,
			map[string]any{"method": "full", "trained_layers": "spread:8", "frozen": []any{"self_attn", "norms"}}, []string{"freeze_trainable_modules = mlp,mixer"}},
		{"layers by a pattern", []string{"base_model: a/b\nadapter: lora\nmicro_batch_size: 1\nlora_target_modules: 'model.language_model.layers.[\\d]+.(mlp|self_attn).(up|down|q)_proj'\n"}, "axolotl", "a/b", 0,
			map[string]any{"micro_batch": 1.0, "method": "lora", "objective": "sft", "lora_targets": []any{"q_proj", "up_proj", "down_proj"}}, nil},
		{"a key of nobody", []string{"base_model: a/b\nmicro_batch_size: 1\nsequence_lenn: 5\n"}, "axolotl", "a/b", 0, map[string]any{"micro_batch": 1.0, "method": "full", "objective": "sft"}, []string{"sequence_lenn = 5 (no key of axolotl 0.18.0)"}},
	} {
		var texts [][]byte
		for _, s := range c.texts {
			texts = append(texts, []byte(s))
		}
		got, err := Find(texts)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got.Framework != c.framework || got.Hub != c.model || got.Devices != c.devices || !slices.Equal(got.Unread, c.unread) {
			t.Errorf("%s: %s of %s on %d devices, unread %q", c.name, got.Framework, got.Hub, got.Devices, got.Unread)
		}
		if d := cmp.Diff(c.want, said(t, c.framework, got.Plan, got.Training)); d != "" {
			t.Errorf("%s: want -, found +\n%s", c.name, d)
		}
	}
}

// TestFlagsInYAML: Megatron-LM's tests have the flags of a command as keys of a YAML file; a switch that is off is none.
func TestFlagsInYAML(t *testing.T) {
	text := "TEST_TYPE: release\nMODEL_ARGS:\n  --num-layers: 12\n  --hidden-size: 512\n  --num-attention-heads: 8\n" +
		"  --micro-batch-size: 4\n  --seq-length: 1024\n  --sequence-parallel: false\n  --tensor-model-parallel-size: 2\n  --bf16: true\n"
	got, err := Find([][]byte{[]byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	if got.Framework != "megatron" || got.Shape == nil || got.Shape.Layers != 12 || got.Plan.TP != 2 || got.Training.MicroBatch != 4 ||
		yes(got.Training.SequenceParallel) || got.Training.Precision != "bf16-mixed" {
		t.Errorf("%s: %+v, tp %d, micro-batch %d", got.Framework, got.Shape, got.Plan.TP, got.Training.MicroBatch)
	}
}

// TestFindRefuses: what is not a configuration of training says so, and names no key of its own.
func TestFindRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		texts []string
		says  string
	}{
		"nothing":               {nil, "16 at most"},
		"another program":       {[]string{"services:\n  vllm:\n    image: vllm/vllm-openai\n"}, "no key"},
		"a recipe alone":        {[]string{"defaults: grpo-deepscaler-1.5b-8K.yaml\ndata_plane:\n  enabled: true\n"}, "settings from grpo-deepscaler-1.5b-8K.yaml"},
		"half a JSON":           {[]string{`{"a":`}, "byte"},
		"a script of variables": {[]string{"#!/bin/bash\nPP=1\n. `pwd`/CONFIG.sh\n"}, "the shell script has no flags"},
		"a part of the blocks":  {[]string{"model_name_or_path: a/b\nstage: sft\nfinetuning_type: thaw\n"}, "finetuning_type = thaw is a way of training"},
		"a script of arguments": {[]string{"# python sft.py --model_name_or_path a/b\nimport argparse\nfrom trl import ModelConfig\n\nparser = make_parser()\n"}, "takes them from its arguments"},
		"a pickle":              {[]string{"\x80\x02}q\x00."}, ""},
		"too many":              {make([]string, 17), "16 at most"},
	} {
		var texts [][]byte
		for _, s := range c.texts {
			texts = append(texts, []byte(s))
		}
		_, err := Find(texts)
		p, ok := err.(*plan.Problem)
		if !ok || p.Fix == "" || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestFaultsOfYAML: a text that is not JSON is refused by its fault as YAML, aliases of nothing and bombs of them too.
func TestFaultsOfYAML(t *testing.T) {
	bomb := "a0: &a0 [x, x]\n"
	for i := 1; i < 40; i++ {
		bomb += fmt.Sprintf("a%d: &a%d [*a%d, *a%d]\n", i, i, i-1, i-1)
	}
	for text, want := range map[string]string{"a: [x]\nb: *a\n": "line 2", bomb: "stands for more than", "a: [1\n": "not YAML", "{\"a\": 1": "JSON"} {
		if _, err := Find([][]byte{[]byte(text)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// TestAnchors: what stands once and counts in several places is read in each.
func TestAnchors(t *testing.T) {
	f, err := Find([][]byte{[]byte("x-long: &long 4096\nbase_model: Qwen/Qwen3-8B\nadapter: lora\nsequence_len: *long\nlora_r: 8\n")})
	if err != nil || f.Training.SequenceLength != 4096 {
		t.Errorf("%v, %v", f, err)
	}
}

// TestMerged: a recipe changes keys of the one before it, and all others stay as that has them.
func TestMerged(t *testing.T) {
	base := "policy:\n  model_name: Qwen/Qwen3-8B\n  precision: bfloat16\n  max_total_sequence_length: 4096\n  megatron_cfg:\n    enabled: true\n" +
		"    tensor_model_parallel_size: 4\ngrpo:\n  num_prompts_per_step: 8\n"
	f, err := Find([][]byte{[]byte(base), []byte("defaults: base.yaml\npolicy:\n  max_total_sequence_length: 8192\n")})
	if err != nil || f.Training.Sharding != "zero1" || f.Plan.TP != 4 || f.Training.SequenceLength != 8192 || f.Training.Objective != "grpo" {
		t.Errorf("%+v, %v", f, err)
	}
}
