package train

import (
	"strings"

	"github.com/memwall/memwall/plan"
)

// Reinforcement learning: what the names of objectives mean for memory and time, and who writes the answers.

// kin are objectives that hold what another does: they differ in the loss alone, or in that they weigh nothing against the model as it was.
var kin = map[string]struct{ objective, reference string }{
	"dapo":  {"grpo", "none"}, // no penalty of divergence (arXiv:2503.14476, 2.3)
	"gspo":  {"grpo", ""},     // ratios of whole sequences (arXiv:2507.18071)
	"rloo":  {"grpo", ""},     // the other answers of a prompt are the baseline (arXiv:2402.14740)
	"ipo":   {"dpo", ""},      // arXiv:2310.12036
	"kto":   {"dpo", ""},      // arXiv:2402.01306; its estimate of the divergence runs forward alone (trl/trainer/kto_trainer.py)
	"cpo":   {"dpo", "none"},  // arXiv:2401.08417
	"simpo": {"dpo", "none"},  // arXiv:2405.14734
	"orpo":  {"dpo", "none"},  // arXiv:2403.07691
}

// objectiveDefaults reads an objective that is sized as another, and says so.
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

// online objectives learn from answers that the model writes meanwhile.
func online(objective string) bool { return objective == "ppo" || objective == "grpo" }

// answering is how a program has answers written where nobody says.
type answering struct {
	engine           string
	colocated, sleep bool
	share            float64 // of a device, where it is colocated
	tp               plan.Int
}

// answerings by the name under which a program is asked for. Programs that are not here write answers by the model that they train,
// unless an engine is named.
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

// answerers are engines that programs have answers written by: verl's and NeMo-RL's rollouts, TRL, OpenRLHF, slime.
var answerers = []string{"vllm", "sglang", "tensorrt-llm", "transformers"}

// rolloutShare of a device is what trl gives the engine that writes answers (trl/trainer/grpo_config.py: vllm_gpu_memory_utilization).
const rolloutShare = 0.3

// rolloutDefaults fills in who writes answers, as the program that was named does.
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

// rolloutLengths are those of prompts and answers, half of a sequence each where nobody says: as verl and OpenRLHF take them
// (data.max_prompt_length and data.max_response_length; prompt_max_len and generate_max_len).
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

// remarkGeneration says loudly where nothing is counted of what writes the answers.
func remarkGeneration(j *Job) {
	t := j.Training
	if online(t.Objective) && (t.Rollout == nil || t.Rollout.Engine == "") {
		j.Note("generation_not_counted", "warn", "rollout", "%s learns from responses that it generates during training; generation is not counted, neither its memory nor its time, which is often most of a step: --rollout engine=vllm is an engine on the same devices, engine=vllm,colocated=false one on others", t.Objective)
	}
}
