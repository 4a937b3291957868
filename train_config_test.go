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
