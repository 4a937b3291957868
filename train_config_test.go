package memwall

import (
	"strings"
	"testing"
)

// TestConfigOfTheProgram: the files are those of the program that was asked for, and name models as the hub does.
func TestConfigOfTheProgram(t *testing.T) {
	for _, c := range []struct {
		framework, objective string
		set                  func(*Request)
		file                 string
		says                 []string
	}{
		{"llama-factory", "ppo", func(r *Request) { r.RewardModel, r.Method = "qwen2.5-7b", "lora" }, "train.yaml",
			[]string{"stage: ppo", "reward_model: Qwen/Qwen2.5-7B-Instruct", "reward_model_type: full"}},
		{"axolotl", "sft", func(r *Request) { r.Method = "lora" }, "axolotl.yaml", []string{"adapter: lora"}},
		{"transformers", "distill", func(r *Request) { r.TeacherModel = "qwen2.5-32b" }, "train.py", []string{"from trl.experimental.gkd import GKDConfig, GKDTrainer", `teacher_model_name_or_path="Qwen/Qwen2.5-32B-Instruct"`}},
		{"megatron", "pretrain", func(r *Request) { r.Recompute = "block:7" }, "train.sh",
			[]string{"--num-layers 28", "--recompute-method block", "--recompute-num-layers 7"}},
	} {
		r := &Request{Ask: "train", Model: "qwen2.5-7b", Hardware: "h100"}
		r.Framework, r.Objective, r.SequenceLength = c.framework, c.objective, 2048
		c.set(r)
		a, err := Ask(r)
		if err != nil {
			t.Fatal(err)
		}
		for _, words := range c.says {
			if !strings.Contains(a.Config[c.file], words) {
				t.Errorf("%s, %s: no %q in %s:\n%s\n%v", c.framework, c.objective, words, c.file, a.Config[c.file], a.Notes)
			}
		}
	}
}

// TestModelOfAShape: a script of Megatron-LM that gives widths is of the model of the catalog that has them; several that differ in
// their vocabulary, and none that has the widths, are stood for by one whose layers have the same parts.
func TestModelOfAShape(t *testing.T) {
	const llama = "torchrun pretrain_gpt.py --num-layers 32 --hidden-size 4096 --ffn-hidden-size 14336 --num-attention-heads 32 --group-query-attention --num-query-groups 8 --swiglu --untie-embeddings-and-output-weights --disable-bias-linear"
	for script, want := range map[string]string{
		"torchrun pretrain_gpt.py --num-layers 96 --hidden-size 12288 --num-attention-heads 96": "gpt-3-175b", // examples/gpt3
		llama + " --vocab-size 128256":                 "llama-3-8b",
		llama + " --num-experts 8 --moe-router-topk 2": "mixtral-8x7b",
		llama:                       "llama-3.1-8b",
		llama + " --vocab-size 999": "llama-3.1-8b",
		"torchrun pretrain_gpt.py --num-layers 96 --hidden-size 1000 --num-attention-heads 10000": "",
	} {
		r, _, err := FromTraining([][]byte{[]byte(script)})
		if err != nil || r.Model != want {
			t.Errorf("%s: %q, %v; want %q", script, r.Model, err, want)
		}
		if stands := want == "llama-3.1-8b"; stands != (r.Override["ffn"] > 0) || strings.Contains(script, " 999") != (r.Override["vocab"] == 999) {
			t.Errorf("%s: %v is put in", script, r.Override)
		}
	}
}
