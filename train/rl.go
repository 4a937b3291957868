package train

import (
	"strings"

	"github.com/memwall/memwall/plan"
)

// Reinforcement learning: what the names of objectives mean for memory and time, and who writes the answers.

// kin maps objectives to one with the same memory use: they differ in the loss only, or in having no reference model.
var kin = map[string]struct{ objective, reference string }{
	"dapo":  {"grpo", "none"}, // no divergence penalty (arXiv:2503.14476, 2.3)
	"gspo":  {"grpo", ""},     // sequence-level ratios (arXiv:2507.18071)
	"rloo":  {"grpo", ""},     // baseline from the prompt's other answers (arXiv:2402.14740)
	"ipo":   {"dpo", ""},      // arXiv:2310.12036
	"kto":   {"dpo", ""},      // arXiv:2402.01306; its divergence estimate only runs forward (trl/trainer/kto_trainer.py)
	"cpo":   {"dpo", "none"},  // arXiv:2401.08417
	"simpo": {"dpo", "none"},  // arXiv:2405.14734
	"orpo":  {"dpo", "none"},  // arXiv:2403.07691
}

// objectiveDefaults replaces an objective by the one it is sized as, with a note.
func objectiveDefaults(j *Job) {
	t := j.Training
	k, ok := kin[t.Objective]
	if !ok {
		return
	}
	beside := ""
	if k.reference != "" && t.ReferenceModel == "" {
		t.ReferenceModel, beside = k.reference, ", without a reference model"
	}
	j.Single = t.Objective == "kto"
	j.Note("objective_read", "info", "objective", "%s is sized as %s%s: it differs in the loss alone", t.Objective, k.objective, beside)
	t.Objective = k.objective
}

// online reports whether the objective learns from answers generated during training.
func online(objective string) bool { return objective == "ppo" || objective == "grpo" }

// Generates reports whether a named objective learns from answers generated during training.
func Generates(objective string) bool {
	if k, ok := kin[objective]; ok {
		objective = k.objective
	}
	return online(objective)
}

// answering is a program's default for generating answers.
type answering struct {
	engine           string
	colocated, sleep bool
	share            float64 // share of a colocated device
	tp               plan.Int
}

// answerings maps programs to their defaults. Programs not listed generate with the trained model, unless an engine is
// named.
var answerings = map[string]answering{
	"verl":     {"vllm", true, true, 0.5, 2},       // verl/trainer/config/rollout/rollout.yaml: gpu_memory_utilization, free_cache_engine, tensor_model_parallel_size
	"nemo-rl":  {"vllm", true, true, 0.6, 1},       // examples/configs/grpo_math_1B.yaml: vllm_cfg, colocated; the engine sleeps between (from memory)
	"openrlhf": {"vllm", false, false, 0.95, 1},    // openrlhf/cli/train_ppo_ray.py: colocate_all_models is off
	"slime":    {"sglang", false, false, 0, 1},     // slime/utils/arguments.py: colocate is off, rollout_num_gpus_per_engine
	"trl":      {"", true, false, rolloutShare, 1}, // trl/trainer/grpo_config.py: use_vllm is off
	"":         {"", true, false, rolloutShare, 1}, // as trl
	"unsloth":  {"vllm", true, false, 0.5, 1},      // unsloth notebooks of GRPO: fast_inference (from memory)
	"ms-swift": {"", true, false, 0.9, 1},          // swift rlhf: use_vllm is off, vllm_gpu_memory_utilization
}

// answerers are the engines that programs can generate answers with: verl's and NeMo-RL's rollouts, TRL, OpenRLHF,
// slime.
var answerers = []string{"vllm", "sglang", "tensorrt-llm", "transformers"}

// rolloutShare is trl's default share of a device for the generating engine (trl/trainer/grpo_config.py:
// vllm_gpu_memory_utilization).
const rolloutShare = 0.3

// rolloutDefaults fills in how answers are generated, as the named program does.
func (j *Job) rolloutDefaults() {
	t := j.Training
	name, _, _ := strings.Cut(strings.ToLower(t.Framework), "@")
	by, ok := answerings[name]
	if !ok {
		by = answerings[""]
	}
	if t.Rollout == nil && (!online(t.Objective) || by.engine == "") {
		return
	}
	r := plan.Rollout{}
	if t.Rollout != nil {
		r = *t.Rollout
	}
	if t.Rollout = &r; t.Objective != "" && !online(t.Objective) {
		return
	}
	if r.Engine == "" && by.engine != "" {
		r.Engine = by.engine
		j.Default("rollout.engine", r.Engine)
	}
	for _, b := range []struct {
		field string
		at    **bool
		value bool
	}{{"rollout.colocated", &r.Colocated, by.colocated}, {"rollout.sleep", &r.Sleep, by.sleep}} {
		if *b.at == nil {
			value := b.value
			*b.at = &value
			j.Default(b.field, value)
		}
	}
	if r.Share == 0 && *r.Colocated {
		r.Share = max(by.share, rolloutShare)
		j.Default("rollout.gpu_memory_utilization", r.Share)
	}
	j.number("rollout.tp", &r.TP, min(int64(by.tp), j.Devices()))
}

// rolloutLengths sets the lengths of prompts and answers, by default half the sequence each: verl's and OpenRLHF's
// data.max_prompt_length and data.max_response_length; prompt_max_len and generate_max_len.
func rolloutLengths(j *Job) {
	r, n := j.Training.Rollout, int64(j.Training.SequenceLength)
	if r == nil || n < 2 {
		return
	}
	if r.Output == 0 {
		rest := n - int64(r.Prompt)
		if r.Prompt == 0 {
			rest = n / 2
		}
		j.number("rollout.output_tokens", &r.Output, max(1, rest))
	}
	j.number("rollout.prompt_tokens", &r.Prompt, max(1, n-int64(r.Output)))
}

// remarkGeneration warns that the memory of generating answers is not counted.
func remarkGeneration(j *Job) {
	t := j.Training
	if online(t.Objective) && (t.Rollout == nil || t.Rollout.Engine == "") {
		j.Note("generation_not_counted", "warn", "rollout", "%s learns from responses that it generates during training; generation is not counted, neither its memory nor its time, which is often most of a step: --rollout engine=vllm is an engine on the same devices, engine=vllm,colocated=false one on others", t.Objective)
	}
}
