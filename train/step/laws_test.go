package step_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/model/catalog/catalogtest"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/train/step"
)

// input is a run of full training in 16 bits with everything filled in.
func input(t testing.TB, id, machine string) step.Input {
	t.Helper()
	m := catalogtest.Model(t, id)
	on, _, err := hardware.Parse(machine, 0)
	if err != nil {
		t.Fatal(err)
	}
	return step.Input{Model: m, Weights: m.Store(dtype.FindRecipe("bf16")), Machine: &on, Plan: &plan.Plan{Attention: "flash"},
		Training: &plan.Training{Framework: "torchtitan", Method: "full", Precision: "bf16-mixed", Sharding: "fsdp2", SequenceLength: 4096, MicroBatch: 1, Accumulation: 1, Recompute: "none"}}
}

func compile(t testing.TB, in step.Input) *step.Model {
	t.Helper()
	m, err := step.Compile(in)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func predict(t testing.TB, in step.Input) step.Step {
	t.Helper()
	table, err := step.Fitted()
	if err != nil {
		t.Fatal(err)
	}
	return compile(t, in).With(table).Predict()
}

var models = []string{"llama-3.1-8b", "qwen3-30b-a3b", "gemma-3-27b", "deepseek-v3", "nemotron-3-super-120b-a12b", "gpt-oss-20b", "mamba-2.8b", "qwen3-next-80b-a3b"}

// TestNothingBeatsTheDatasheet: on every device of the catalog whose rates are known, for models of all structures,
// methods and precisions, a step takes at least its products at the peak; the model's own operations are at most
// the peak too, and no more than what is done.
func TestNothingBeatsTheDatasheet(t *testing.T) {
	tried := 0
	for _, d := range hardware.All() {
		for i, id := range models {
			in := input(t, id, d.ID)
			in.Training.Precision = []string{"bf16-mixed", "fp8", "bf16", "nvfp4"}[i%4]
			in.Training.Recompute = []string{"none", "full", "selective", "every:4"}[tried%4]
			m, err := step.Compile(in)
			if err != nil {
				break // its rates are not known
			}
			table, err := step.Fitted()
			if err != nil {
				t.Fatal(err)
			}
			tried++
			s := m.With(table).Predict()
			if s.Seconds.Mid < m.Floor() || s.Seconds.Low < m.Floor() || s.Seconds.Low > s.Seconds.Mid || s.Seconds.High < s.Seconds.Mid {
				t.Errorf("%s on %s: %+v s, at the peak %g", id, d.ID, s.Seconds, m.Floor())
			}
			if s.MFU > s.HFU*(1+1e-12) || in.Training.Precision[:2] == "bf" && s.HFU > 1 {
				t.Errorf("%s on %s: MFU %g, HFU %g", id, d.ID, s.MFU, s.HFU)
			}
			sum := 0.0
			for _, p := range s.Parts {
				sum += p.Seconds
				if p.Seconds < 0 || math.IsNaN(p.Seconds) {
					t.Errorf("%s on %s: %s takes %g s", id, d.ID, p.Name, p.Seconds)
				}
			}
			if math.Abs(sum/s.Seconds.Mid-1) > 1e-9 {
				t.Errorf("%s on %s: parts are %g s of %g", id, d.ID, sum, s.Seconds.Mid)
			}
		}
	}
	if tried < 100 {
		t.Errorf("only %d runs were tried", tried)
	}
}

// TestMoreDevices: fixed work on more devices never makes a step longer by more than what they wait for each other;
// its products are shared exactly.
func TestMoreDevices(t *testing.T) {
	for _, id := range models[:5] {
		before := math.Inf(1)
		for n := 8; n <= 512; n *= 2 {
			in := input(t, id, fmt.Sprintf("%dxh100-sxm-80gb", n))
			in.Training.Accumulation, in.Training.GlobalBatch = 0, 512
			m := compile(t, in)
			if m.Tokens() != 512*4096 {
				t.Fatalf("%s on %d devices: %g tokens", id, n, m.Tokens())
			}
			if floor := m.Floor() * float64(n); before < math.Inf(1) && math.Abs(floor/before-1) > 1e-9 {
				t.Errorf("%s on %d devices: products of %g device-seconds, before %g", id, n, floor, before)
			}
			before = m.Floor() * float64(n)
		}
		shorter(t, id)
	}
}

func shorter(t *testing.T, id string) {
	t.Helper()
	before := math.Inf(1)
	for n := 8; n <= 512; n *= 2 {
		in := input(t, id, fmt.Sprintf("%dxh100-sxm-80gb", n))
		in.Training.Accumulation, in.Training.GlobalBatch = 0, 512
		s := predict(t, in).Seconds.Mid
		if s >= before {
			t.Errorf("%s: a step takes %g s on %d devices, %g on half as many", id, s, n, before)
		}
		before = s
	}
}

// TestRecompute: full recomputation is one more forward pass of the layers, so that layers take four passes for
// three; the head is not repeated.
func TestRecompute(t *testing.T) {
	for _, id := range models {
		in := input(t, id, "8xh100-sxm-80gb")
		none := predict(t, in)
		in.Training.Recompute = "full"
		full := predict(t, in)
		more := full.HFU * full.Seconds.Mid / (none.HFU * none.Seconds.Mid)
		if more <= 1.2 || more > 4.0/3+1e-9 {
			t.Errorf("%s: recomputation does %g times the operations, want close to 4/3", id, more)
		}
		if useful := full.MFU * full.Seconds.Mid / (none.MFU * none.Seconds.Mid); math.Abs(useful-1) > 1e-9 {
			t.Errorf("%s: recomputation is %g times as useful", id, useful)
		}
		in.Training.Recompute = "every:4"
		if some := predict(t, in); some.Seconds.Mid <= none.Seconds.Mid || some.Seconds.Mid >= full.Seconds.Mid {
			t.Errorf("%s: one layer of four takes %g s, none %g, all %g", id, some.Seconds.Mid, none.Seconds.Mid, full.Seconds.Mid)
		}
	}
}

// TestUsefulOperations: 6 for a parameter of the products and a token, 4 where it is frozen, and 6 a d s for the
// causal half of attention (arXiv:2204.02311, appendix B), counted here from the model's published dimensions.
func TestUsefulOperations(t *testing.T) {
	const params, attention = 8030261248 - 128256*4096 - 65*4096, 32 * 4096 * (4096 + 1)
	for method, per := range map[string]float64{"full": 6*params + 6*attention, "lora": 4*params + 6*attention} {
		in := input(t, "llama-3.1-8b", "h100-sxm-80gb")
		in.Training.Method, in.Training.Sharding = method, "none"
		s := predict(t, in)
		if got := s.TFLOPsPerDevice * 1e12 * s.Seconds.Mid / 4096; math.Abs(got/per-1) > 1e-9 {
			t.Errorf("%s: %g operations a token, want %g", method, got, per)
		}
	}
}

// TestBubble: stages of a pipeline wait (p-1)/(m v) of the time that they work (arXiv:2104.04473, section 2.2).
func TestBubble(t *testing.T) {
	for _, c := range []struct {
		passes, chunks int64
		schedule       string
		bubble         float64
	}{{8, 1, "1f1b", 7.0 / 8}, {32, 1, "gpipe", 7.0 / 32}, {32, 4, "interleaved", 7.0 / 128}, {8, 1, "zb-h1", 7.0 / 24}, {8, 1, "zbv", 0}} {
		in := input(t, "llama-3.1-70b", "8xh100-sxm-80gb")
		in.Training.Framework, in.Training.Sharding = "megatron", "zero1"
		in.Plan.PP, in.Training.VPP, in.Training.Accumulation, in.Training.Schedule = 8, c.chunks, plan.Int(c.passes), c.schedule
		m := compile(t, in)
		want := 1 + c.bubble
		// the last stage has the head beside its layers, so that it works longer than the mean
		if got := m.Busy() / m.Floor(); got < want || got > want*1.15 {
			t.Errorf("%s, %d passes, %d chunks: products and bubble are %g times the products, want %g", c.schedule, c.passes, c.chunks, got, want)
		}
	}
}

// TestGroups: tensor and expert groups share the products of a layer exactly.
func TestGroups(t *testing.T) {
	for _, id := range []string{"llama-3.1-70b", "qwen3-30b-a3b", "deepseek-v3"} {
		one := compile(t, input(t, id, "h100-sxm-80gb")).Floor()
		for _, p := range []plan.Plan{{TP: 8}, {EP: 8}, {TP: 2, EP: 8}, {PP: 8}, {CP: 8}, {TP: 2, CP: 2, PP: 2}} {
			in := input(t, id, "8xh100-sxm-80gb")
			in.Plan, in.Training.SequenceParallel = &p, new(bool)
			*in.Training.SequenceParallel = true
			m := compile(t, in)
			device := m.Floor() * 8 / m.Tokens()
			if ratio := device / (one / 4096); ratio < 1-1e-9 || ratio > 1.07 { // fewer KV heads than ranks are held twice
				t.Errorf("%s, tp %d pp %d cp %d ep %d: %g times the products of one device", id, p.TP, p.PP, p.CP, p.EP, ratio)
			}
		}
	}
}

// TestHybridShards: with shards within the node and replicas across, a slow fabric carries an eighth of the gradients in place of all
// weights and gradients: the step is shorter than where all ranks share, by more the slower the fabric; on one node both are the same.
func TestHybridShards(t *testing.T) {
	seconds := func(machine, sharding string) float64 {
		in := input(t, "llama-2-7b", machine)
		in.Training.Sharding = sharding
		return predict(t, in).Seconds.Mid
	}
	gain := func(machine string) float64 { return seconds(machine, "fsdp2") / seconds(machine, "hsdp") }
	if one := gain("8xa100-sxm-80gb"); one != 1 {
		t.Errorf("on one node FSDP takes %g times HSDP's", one)
	}
	fast, slow := gain("128xa100-sxm-80gb,fabric=ib:25GB/s"), gain("128xa100-sxm-80gb,fabric=ib:6.25GB/s")
	if !(1 <= fast && fast < slow && slow > 1.1) {
		t.Errorf("FSDP takes %g times HSDP's over 25 GB/s, %g times over 6.25", fast, slow)
	}
}

// TestPackedIsNeverFaster: weights in 4 bits are unpacked for each product, which ones in 16 are not: where no weights are sent, QLoRA
// takes no less than LoRA on any device and with any framework.
func TestPackedIsNeverFaster(t *testing.T) {
	for _, id := range []string{"llama-3.1-8b", "qwen3-30b-a3b"} {
		for _, on := range []string{"rtx-4090", "rtx-3090", "h100", "8xa100-sxm-80gb"} {
			for _, name := range []string{"transformers", "unsloth", "axolotl", "torchtune", "litgpt", "deepspeed"} {
				seconds := func(method, weights string) float64 {
					in := input(t, id, on)
					in.Training.Framework, in.Training.Method, in.Training.LoRARank, in.Training.Sharding, in.Training.Precision = name, method, 16, "ddp", "bf16"
					in.Weights = in.Model.Store(dtype.FindRecipe(weights))
					return predict(t, in).Seconds.Mid
				}
				if lora, qlora := seconds("lora", "bf16"), seconds("qlora", "nf4"); qlora < lora {
					t.Errorf("%s on %s with %s: QLoRA %.3g s, LoRA %.3g s", id, on, name, qlora, lora)
				}
			}
		}
	}
}
