package config

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/train/config/keys"
)

// maker draws inputs.
type maker struct {
	*rand.Rand
	f *framework
}

// of is a value of a field that the framework says, or now and then one that it may not say.
func (m maker) of(field, words string) string {
	if v := strings.Join(m.f.values(field), " "); v != "" && v != "*" && m.IntN(20) > 0 {
		words = v
	}
	w := strings.Fields(words)
	if len(w) == 0 {
		return ""
	}
	v := w[m.IntN(len(w))]
	switch v {
	case "every", "uniform", "block":
		return v + ":" + fmt.Sprint(2+m.IntN(6))
	case "modules":
		return "selective:" + []string{"mlp", "core_attn+layernorm", "moe_act"}[m.IntN(3)]
	}
	return v
}

// now and then a field is set that the framework may not have a word for.
func (m maker) flag(field string) *bool {
	if m.f.says[field] == "" && m.IntN(20) > 0 {
		return truth(false)
	}
	return truth(m.IntN(2) == 0)
}

func (m maker) degree(field string) int64 {
	if m.IntN(3) > 0 || m.f.says[field] == "" && m.IntN(20) > 0 {
		return 1
	}
	return 2
}

func (m maker) place(field string) string {
	if m.IntN(3) > 0 || m.f.says["offload."+field] == "" && m.IntN(20) > 0 {
		return "none"
	}
	return m.of("offload."+field, "host")
}

// draw makes an input of which every field has one of its values; many are refused.
func (m maker) draw() Input {
	in := Input{Model: "llama-3.1-8b", Hub: "meta-llama/Llama-3.1-8B", Nodes: 1 + m.Int64N(2)}
	if m.IntN(4) == 0 {
		in.Model, in.Hub = "llama-3.3-70b", "meta-llama/Llama-3.3-70B-Instruct"
	}
	in.Layers = []int64{0, 32, 80, 126}[m.IntN(4)]
	t := &in.Training
	t.Objective, t.Method = m.of("objective", "sft dpo"), m.of("method", "full lora qlora dora")
	t.Optimizer, t.Precision = m.of("optimizer", "adamw muon galore"), m.of("precision", "bf16-mixed bf16 fp8")
	t.Sharding, t.Recompute, in.Plan.Attention = m.of("sharding", "ddp zero1 fsdp2"), m.of("recompute", "full selective"), m.of("attention", "flash sdpa")
	in.Plan.TP, in.Plan.PP, in.Plan.CP, in.Plan.EP, t.ETP = m.degree("tp"), m.degree("pp"), m.degree("cp"), m.degree("ep"), m.degree("etp")
	if in.Plan.PP > 1 {
		t.Schedule, t.VPP = m.of("schedule", "1f1b"), m.degree("vpp")
		t.FirstStage, t.LastStage = m.degree("first_stage_layers")-1, m.degree("last_stage_layers")-1
	}
	if f := "cp_comm_type"; in.Plan.CP > 1 && (m.f.says[f] != "" || m.IntN(20) == 0) {
		t.CPComm = m.of(f, "a2a")
	}
	in.Plan.DP = 1 << m.IntN(4)
	in.Devices = ranks(&in) * in.Plan.DP
	if in.Devices%in.Nodes != 0 {
		in.Nodes = 1
	}
	t.SequenceLength, t.MicroBatch, t.Accumulation = plan.Int(512<<m.IntN(5)), plan.Int(1+m.IntN(4)), plan.Int(1<<m.IntN(4))
	t.GlobalBatch = t.MicroBatch * t.Accumulation * plan.Int(in.Plan.DP)
	t.Tokens = t.GlobalBatch * t.SequenceLength * plan.Int(1+m.IntN(1000))
	t.SequenceParallel, t.FusedLoss, t.Fused = m.flag("sequence_parallel"), m.flag("fused_loss"), m.flag("fused_kernels")
	t.Compile, t.Packing = m.flag("compile"), m.flag("packing")
	if m.f.says["optimizer_in_backward"] != "" && t.Accumulation == 1 {
		t.InBackward = m.flag("optimizer_in_backward")
	}
	if f := "moment_dtype"; m.f.says[f] != "" || m.IntN(20) == 0 {
		t.GradDtype, t.MomentDtype = []string{"", "bf16"}[m.IntN(2)], []string{"", "bf16", "fp8"}[m.IntN(3)]
		t.NarrowActs = m.flag("fp8_activation_inputs")
	}
	in.Plan.Offload = &plan.Offload{Optimizer: m.place("optimizer"), Params: m.place("params"), Activations: m.place("activations")}
	if m.IntN(2) == 0 {
		in.Plan.Offload.Params = in.Plan.Offload.Optimizer
	}
	m.adapters(&in)
	m.models(&in)
	return in
}

func (m maker) adapters(in *Input) {
	t := &in.Training
	if t.Method == "qlora" || t.Method == "dora" && m.IntN(2) == 0 {
		in.Plan.Weights = m.of("weights", "nf4")
		if eightBit(in) && t.Method == "qlora" {
			t.Method = "lora" // which is what frameworks call it
		}
	}
	if !adapted(in) {
		return
	}
	drop := []float64{0, 0.05, 0.1}[m.IntN(3)]
	t.LoRARank, t.Dropout = plan.Int(8<<m.IntN(4)), &drop
	t.LoRA = [][]string{{"all-linear"}, {"q_proj", "v_proj"}, {"q_proj", "v_proj", "gate_proj", "up_proj", "down_proj"}, {"q_proj", "up_proj"}}[m.IntN(4)]
	if m.IntN(3) == 0 {
		t.Full = []string{"embed_tokens", "lm_head"}
	}
}

func (m maker) models(in *Input) {
	t := &in.Training
	if (t.Objective == "dpo" || t.Objective == "grpo") && m.IntN(2) == 0 {
		t.ReferenceModel = m.of("reference_model", "none")
	}
	if t.Objective == "distill" && m.IntN(8) > 0 {
		t.TeacherModel = "meta-llama/Llama-3.3-70B-Instruct"
	}
	if t.Objective == "ppo" && m.IntN(8) > 0 {
		t.RewardModel = "Skywork/Skywork-Reward-Llama-3.1-8B"
	}
	if t.Objective == "grpo" {
		t.Rollout = &plan.Rollout{Engine: m.of("rollout", "sglang"), Colocated: truth(m.IntN(2) == 0), Share: 0.3, Samples: 8, Output: 256, Prompt: t.SequenceLength - 256, Sleep: truth(m.IntN(2) == 0)}
	}
	if m.f.says["trained_layers"] != "" && t.Method == "full" && m.IntN(3) == 0 {
		t.Thawed, t.Full, t.Frozen = []string{"last:2", "first:3", "spread:4"}[m.IntN(3)], [][]string{nil, {"lm_head"}}[m.IntN(2)], [][]string{nil, {"self_attn", "norms"}}[m.IntN(2)]
		return
	}
	if m.f.says["frozen"] == "*" && m.IntN(3) == 0 {
		t.Frozen = []string{"vision", "projector"}
	}
}

// plans gives n inputs that a framework writes.
func plans(t *testing.T, f *framework, seed uint64, n int) (out []Input) {
	t.Helper()
	m := maker{rand.New(rand.NewPCG(seed, 1)), f}
	for range 200 * n {
		if in := m.draw(); runs(f, &in) {
			if out = append(out, in); len(out) == n {
				return out
			}
		}
	}
	t.Fatalf("%s: %d plans of %d could be written", f.name, len(out), n)
	return nil
}

// runs tells that nothing of an input is refused, without saying who else would take it.
func runs(f *framework, in *Input) bool {
	if sane(in) != nil || slices.ContainsFunc(f.refuses, func(r refusal) bool { return r.when(in) }) {
		return false
	}
	return !slices.ContainsFunc(fields(), func(x field) bool { v := x.of(in); return v != "" && !f.can(x.name, v) && !f.can(x.name, kind(v)) })
}

// said are the fields of a plan that a framework says, by their JSON names, without those that ask for nothing.
func said(t *testing.T, framework string, p plan.Plan, tr plan.Training) map[string]any {
	t.Helper()
	out := map[string]any{}
	for _, v := range []any{p, tr} {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		fields := map[string]any{}
		if err := json.Unmarshal(data, &fields); err != nil {
			t.Fatal(err)
		}
		for k, v := range fields {
			out[k] = v
		}
	}
	if o, ok := out["offload"].(map[string]any); ok {
		for k, v := range o {
			out["offload."+k] = v
		}
	}
	if framework == "megatron" && out["optimizer"] == "adamw-fused" {
		out["optimizer"] = "adamw" // its one Adam is fused
	}
	if framework == "megatron" && out["sharding"] == "ddp" && p.DP == 1 {
		out["sharding"] = "none" // of one replica they are the same
	}
	delete(out, "offload")
	delete(out, "framework")
	for k, v := range out {
		if _, silent := Silent(framework, k, fmt.Sprint(v)); silent || asksNothing(k, v) {
			delete(out, k)
		}
	}
	return out
}

// asksNothing tells values that mean the same as leaving them out.
func asksNothing(field string, v any) bool {
	switch {
	case v == "none" && strings.HasPrefix(field, "offload."), v == false && field != "fused_kernels" && field != "fused_loss":
		return true
	case v == float64(1) && has("tp pp cp ep etp vpp dp", field):
		return true
	}
	return false
}

// written are the files of a framework for an input, as texts.
func written(t *testing.T, framework string, in Input) (texts [][]byte) {
	t.Helper()
	files, err := Write(framework, in)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		texts = append(texts, []byte(f.Text))
	}
	return texts
}

// TestRoundTrip: what a framework writes, it reads back as the same plan, and leaves nothing unread.
func TestRoundTrip(t *testing.T) {
	for _, f := range all() {
		t.Run(f.name, func(t *testing.T) {
			for _, in := range plans(t, f, 1, 200) {
				texts := written(t, f.name, in)
				p, tr, unread, err := ReadAll(f.name, texts)
				if err != nil {
					t.Fatalf("%v\n%s", err, texts)
				}
				if len(unread) > 0 {
					t.Fatalf("%q unread in\n%s", unread, texts)
				}
				if d := cmp.Diff(said(t, f.name, in.Plan, in.Training), said(t, f.name, p, tr)); d != "" {
					t.Fatalf("wrote -, read +\n%s\n%s", d, texts)
				}
			}
		})
	}
}

// TestEveryValueIsWritten: each value that a framework claims to say is in some plan that it writes.
func TestEveryValueIsWritten(t *testing.T) {
	for _, f := range all() {
		seen := map[string]bool{}
		for _, in := range plans(t, f, 2, 1000) {
			for _, x := range fields() {
				seen[x.name+" "+kind(x.of(&in))] = true
			}
		}
		for field, values := range f.says {
			for v := range strings.FieldsSeq(strings.ReplaceAll(values, "~", "")) {
				if v != "*" && !seen[field+" "+v] {
					t.Errorf("%s never says %s = %s", f.name, field, v)
				}
			}
		}
	}
}

// TestSilentFieldsHaveReasons: for every field that a framework does not say there is a reason.
func TestSilentFieldsHaveReasons(t *testing.T) {
	for _, x := range fields() {
		if unsaid[x.name] == "" && !everySays(x.name) {
			t.Errorf("%s has no reason", x.name)
		}
	}
	for name := range unsaid {
		if everySays(name) {
			t.Errorf("%s has a reason, and every framework says it", name)
		}
	}
}

func everySays(field string) bool {
	for _, f := range all() {
		if v, ok := f.says[field]; !ok || strings.Contains(v, "~") {
			return false
		}
	}
	return true
}

// TestKeysAreTheFrameworks: every key that is written stands in the framework's sources.
func TestKeysAreTheFrameworks(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range all() {
		for _, in := range plans(t, f, 3, 300) {
			for i := range f.parts {
				p := &f.parts[i]
				if p.needed != nil && !p.needed(&in) {
					continue
				}
				for _, key := range leaves(p.settings(&in), "") {
					if name := p.keys + " " + key; !seen[name] {
						seen[name] = true
						if !keys.Known(p.keys, key) {
							t.Errorf("%s has no key %s", keys.Version(p.keys), key)
						}
					}
				}
			}
		}
	}
	if len(seen) < 200 {
		t.Errorf("%d keys were seen", len(seen))
	}
	for _, wrong := range []string{"deepspeed zero_optimization.stage4", "axolotl micro_batch", "torchtitan training.seq_length", "megatron --tensor-parallel"} {
		list, key, _ := strings.Cut(wrong, " ")
		if keys.Known(list, key) {
			t.Errorf("%s is a key", wrong)
		}
	}
}

func leaves(s *section, path string) (out []string) {
	for _, it := range s.items {
		name := strings.TrimPrefix(path+"."+it.key, ".")
		switch v := it.value.(type) {
		case *section:
			out = append(out, leaves(v, name)...)
		case []*section:
			for _, e := range v {
				out = append(out, leaves(e, name)...)
			}
		default:
			out = append(out, name)
		}
	}
	return out
}

// Silent tells a value of a field that a format has no key for, so that reading does not give it back. The reason is
// there for every field that some format is silent about.
func Silent(framework, field, value string) (reason string, silent bool) {
	f, err := find(framework)
	if err != nil {
		return "", false
	}
	values, some := f.says[field]
	if some && !has(values, "~"+value) && !has(values, "~"+kind(value)) {
		return "", false
	}
	return unsaid[field], true
}
