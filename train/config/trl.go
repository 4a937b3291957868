package config

import (
	"fmt"
	"strconv"
	"strings"
)

// trl is a Python script with TRL's trainers, peft's LoraConfig and transformers' BitsAndBytesConfig.
func trl() *framework {
	says := trlSays(map[string]string{"sharding": "~none ~ddp", "objective": "sft pretrain dpo grpo distill", "teacher_model": "*"})
	return &framework{
		name: "trl", title: "a script of TRL", plan: "transformers", names: "transformers peft",
		says:    says,
		parts:   []part{script("sft pretrain", "SFT", sft), script("dpo", "DPO", dpo), script("grpo", "GRPO", grpo), script("distill", "GKD", gkd, "trl-sft"), argumentsOnly(trlFiles("")[0]), argumentsOnly(trlFiles("")[1]), argumentsOnly(trlFiles("")[2])},
		refuses: trlRefuses(teacherRefuses...),
	}
}

// argumentsOnly is a part that is read where somebody has such a file or command, and never written.
func argumentsOnly(p part) part {
	p.needed = func(*Input) bool { return false }
	return p
}

// pythonKeys are the arguments of LoraConfig and BitsAndBytesConfig.
var pythonKeys = adapterKeys{
	dora: "LoraConfig.use_dora", eight: "BitsAndBytesConfig.load_in_8bit", four: "BitsAndBytesConfig.load_in_4bit", kind: "BitsAndBytesConfig.bnb_4bit_quant_type", nested: "BitsAndBytesConfig.bnb_4bit_use_double_quant",
	compute: "BitsAndBytesConfig.bnb_4bit_compute_dtype", rank: "LoraConfig.r", alpha: "LoraConfig.lora_alpha", dropout: "LoraConfig.lora_dropout",
	targets: "LoraConfig.target_modules", save: "LoraConfig.modules_to_save",
}

// script is train.py for one trainer, whose configuration has the keys of others too.
func script(objectives, name string, own func(prefix string) []rule, others ...string) part {
	c := name + "Config"
	p := c + "."
	keys := ""
	for _, list := range append([]string{"trl-" + strings.ToLower(name)}, append(others, "transformers")...) {
		keys += c + "/" + list + " "
	}
	return part{
		name: "train.py", keys: keys + "LoraConfig/peft BitsAndBytesConfig/bitsandbytes",
		rules: joined(adapters(pythonKeys), []rule{
			{get: loads("model").get},
			{get: func(in *Input, r *reader) {
				if r.on("unsloth") {
					in.Training.Framework = "unsloth"
				}
			}},
		}, hfAttention(p+"model_init_kwargs.attn_implementation"), []rule{
			{put: func(in *Input, s *section) {
				if adapted(in) {
					s.set("LoraConfig.task_type", "CAUSAL_LM")
				}
			}, get: func(_ *Input, r *reader) { r.take("LoraConfig.task_type") }},
		}, own(p), trainer(p), []rule{precisions(p, p+"model_init_kwargs.dtype")}),
		decode: fromPython, encode: func(in *Input, s *section) string { return python(in, name, s) },
		run:    launched,
		needed: func(in *Input) bool { return has(objectives, in.Training.Objective) },
	}
}

func launched(in *Input) string {
	if in.Devices == 1 {
		return "python train.py"
	}
	return fmt.Sprintf("torchrun --nnodes %d --nproc_per_node %d train.py", in.Nodes, in.Devices/in.Nodes)
}

// python writes the script around the three configurations.
func python(in *Input, name string, s *section) string {
	var b strings.Builder
	c := name + "Config"
	imports := []string{"import", "from datasets import load_dataset"}
	if s.value("LoraConfig") != nil {
		imports = append(imports, "from peft import LoraConfig")
	}
	if s.value("BitsAndBytesConfig") != nil {
		imports = append(imports, "from transformers import BitsAndBytesConfig")
	}
	from := "trl"
	if name == "GKD" {
		from = "trl.experimental.gkd"
	}
	imports = append(imports, fmt.Sprintf("from %s import %s, %sTrainer", from, c, name))
	b.WriteString(strings.Join(imports[1:], "\n") + "\n\n")
	arguments := []string{fmt.Sprintf("    model=%s,", quoted(fmt.Sprint(load(in)))), "    args=args,", "    train_dataset=load_dataset(\"path/to/dataset\", split=\"train\"),"}
	for _, part := range []struct{ class, name, argument string }{{"BitsAndBytesConfig", "quantization", "quantization_config"}, {"LoraConfig", "lora", "peft_config"}, {c, "args", ""}} {
		block, ok := s.value(part.class).(*section)
		if !ok {
			continue
		}
		fmt.Fprintf(&b, "%s = %s(\n", part.name, part.class)
		for _, it := range block.items {
			fmt.Fprintf(&b, "    %s=%s,\n", it.key, pythonValue(it.value))
		}
		b.WriteString(")\n")
		if part.argument != "" {
			arguments = append(arguments, fmt.Sprintf("    %s=%s,", part.argument, part.name))
		}
	}
	if name == "GKD" {
		arguments = append(arguments, "    teacher_model=args.teacher_model_name_or_path,")
	}
	if name == "GRPO" {
		b.WriteString("\n\ndef reward(completions, **kwargs):\n    return [float(len(c)) for c in completions]  # put your own here\n\n\n")
		arguments = append(arguments, "    reward_funcs=reward,")
	}
	fmt.Fprintf(&b, "trainer = %sTrainer(\n%s\n)\ntrainer.train()\n", name, strings.Join(arguments, "\n"))
	return b.String()
}

func quoted(s string) string { return strconv.Quote(s) }

func pythonValue(v any) string {
	switch v := v.(type) {
	case bool:
		return map[bool]string{true: "True", false: "False"}[v]
	case string:
		return quoted(v)
	case []string:
		if len(v) == 1 && v[0] == "all-linear" {
			return quoted(v[0]) // peft knows the word, not a layer of that name
		}
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = quoted(v[i])
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case *section:
		var parts []string
		for _, it := range v.items {
			parts = append(parts, quoted(it.key)+": "+pythonValue(it.value))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return scalar(v)
}
