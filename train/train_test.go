package train_test

import (
	"math"
	"testing"

	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/model/catalog/catalogtest"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/train"
)

// ask is a job over a model of the catalog; change sets what is not left to the framework.
func ask(t testing.TB, id, machine string, devices int, change func(*plan.Plan, *plan.Training)) *train.Job {
	t.Helper()
	m, _, err := hardware.Parse(machine, devices)
	if err != nil {
		t.Fatal(err)
	}
	j := &train.Job{Model: catalogtest.Model(t, id), Machine: &m, Plan: &plan.Plan{}, Training: &plan.Training{}}
	change(j.Plan, j.Training)
	if err := train.Defaults(j); err != nil {
		t.Fatal(err)
	}
	return j
}

func size(t testing.TB, j *train.Job) []train.Rank {
	t.Helper()
	s, err := train.Compile(j)
	if err != nil {
		t.Fatal(err)
	}
	return s.Size(nil)
}

func phase(t testing.TB, r *train.Rank, name string) float64 {
	t.Helper()
	for i := range r.Phases {
		if r.Phases[i].Name == name {
			return float64(r.Phases[i].Total().Bytes)
		}
	}
	t.Fatalf("no phase %q", name)
	return 0
}

// TestStatesOfPureBF16: weights, gradients, two moments and the copy that the foreach step makes are 10 bytes a
// parameter on one device and 10/N on N (measured exactly on Mistral 7B).
func TestStatesOfPureBF16(t *testing.T) {
	for n, sharding := range map[int]string{1: "none", 2: "fsdp", 4: "fsdp"} {
		j := ask(t, "mistral-7b-v0.1", "a100-sxm-80gb", n, func(_ *plan.Plan, q *plan.Training) {
			q.Precision, q.Sharding, q.Optimizer = "bf16", sharding, "adamw"
		})
		want := 10 * float64(j.Model.Params()) / float64(n)
		if got := phase(t, &size(t, j)[0], "optimizer step"); math.Abs(got/want-1) > 1e-6 {
			t.Errorf("%d devices: %.0f bytes, want %.0f", n, got, want)
		}
	}
}

// TestStatesInFP32: weights, gradients and two moments are 16 bytes a parameter; ZeRO's copy of its partition makes 20.
func TestStatesInFP32(t *testing.T) {
	const params = 1235814400
	for _, c := range []struct {
		framework, sharding string
		want                float64
	}{{"transformers", "none", 16}, {"transformers", "zero1", 20}, {"deepspeed", "zero1", 20}, {"megatron", "zero1", 16}, {"torchtitan", "fsdp2", 16}} {
		for _, precision := range []string{"fp32", "tf32"} {
			j := ask(t, "llama-3.2-1b", "h100-sxm-80gb", 1, func(_ *plan.Plan, q *plan.Training) {
				q.Framework, q.Precision, q.Optimizer, q.Sharding = c.framework, precision, "adamw-fused", c.sharding
			})
			got, r := 0.0, size(t, j)[0]
			for _, id := range []string{"weights", "master_weights", "gradients", "optimizer"} {
				got += parts(&r, "optimizer step", id)
			}
			if math.Abs(got/params-c.want) > 1e-5 {
				t.Errorf("%s, %s, %s: %.3f bytes a parameter, want %.0f", c.framework, c.sharding, precision, got/params, c.want)
			}
		}
	}
}

// TestAssumedLength: where samples are padded and nobody says how long they are, the band reaches to what full ones take,
// and a note says so; the longest sample of the data settles it.
func TestAssumedLength(t *testing.T) {
	at := func(packed bool, longest int64) (*train.Job, train.Rank) {
		j := ask(t, "llama-3.1-8b", "a100-sxm-80gb", 1, func(_ *plan.Plan, q *plan.Training) {
			q.Framework, q.Method, q.SequenceLength, q.MicroBatch, q.Packing = "ms-swift", "lora", 8192, 1, &packed
		})
		j.Longest = longest
		return j, size(t, j)[0]
	}
	_, full := at(true, 0)
	j, assumed := at(false, 0)
	_, told := at(false, 3000)
	if assumed.Allocated.High < full.Allocated.Mid || assumed.Allocated.Mid >= told.Allocated.Mid || told.Allocated.Mid >= full.Allocated.Mid {
		t.Errorf("packed %v, not told %v, told %v", full.Allocated, assumed.Allocated, told.Allocated)
	}
	if told.Allocated.High > full.Allocated.Mid {
		t.Errorf("the data's longest sample leaves a band of %v", told.Allocated)
	}
	for _, n := range j.Notes {
		if n.Code == "assumed_length" {
			return
		}
	}
	t.Error("nothing is said of the length that was assumed")
}

// TestModulesToSave: modules that train in full beside fp32 adapters are kept in the model's format, with the frozen
// original: 10 bytes a number more at the optimizer's step.
func TestModulesToSave(t *testing.T) {
	step := func(names ...string) float64 {
		j := ask(t, "llama-3.1-8b", "a100-sxm-80gb", 1, func(_ *plan.Plan, q *plan.Training) {
			q.Method, q.Optimizer, q.Full = "lora", "adamw", names
		})
		return phase(t, &size(t, j)[0], "optimizer step")
	}
	want := 10.0 * 2 * 128256 * 4096
	if got := step("embed_tokens", "lm_head") - step(); math.Abs(got-want) > 1e3 {
		t.Errorf("embedding and head take %.0f bytes more, want %.0f", got, want)
	}
}

// TestTiedModulesToSave: what is saved of a tied head is a matrix of its own beside that of the embedding.
func TestTiedModulesToSave(t *testing.T) {
	adam := func(names ...string) float64 {
		j := ask(t, "llama-3.2-3b", "a100-sxm-80gb", 1, func(_ *plan.Plan, q *plan.Training) {
			q.Method, q.Full = "lora", names
		})
		sum := 0.0
		for _, it := range size(t, j)[0].Needed {
			if it.ID == "optimizer" {
				sum += float64(it.Bytes)
			}
		}
		return sum
	}
	none := adam()
	if one, two := adam("embed_tokens")-none, adam("embed_tokens", "lm_head")-none; one <= 0 || math.Abs(two-2*one) > 1e3 {
		t.Errorf("states of the embedding take %.0f bytes, and with the head %.0f: not twice", one, two)
	}
}

// TestExpandableSegments: segments that grow keep nothing of freed blocks, whatever the framework asks for.
func TestExpandableSegments(t *testing.T) {
	reserved := func(framework string, expands *bool) float64 {
		j := ask(t, "llama-3.1-8b", "a100-sxm-80gb", 1, func(_ *plan.Plan, q *plan.Training) {
			q.Framework, q.Method, q.Expandable = framework, "lora", expands
		})
		return size(t, j)[0].Reserved.Mid
	}
	yes, no := true, false
	if a, b := reserved("transformers", &yes), reserved("transformers", nil); a >= b {
		t.Errorf("transformers reserves %.0f with them and %.0f without", a, b)
	}
	if a, b := reserved("unsloth", nil), reserved("unsloth", &no); a >= b {
		t.Errorf("unsloth, which asks for them, reserves %.0f and %.0f without", a, b)
	}
}

// TestOptimizerInBackward: no more gradients live than those of a block, so that a full fine-tune in bf16 takes weights and
// two moments and little else (torchtune, optimizer_in_bwd).
func TestOptimizerInBackward(t *testing.T) {
	at := func(inside bool) float64 {
		j := ask(t, "llama-2-7b", "a100-sxm-80gb", 1, func(_ *plan.Plan, q *plan.Training) {
			q.Framework, q.Optimizer, q.SequenceLength, q.MicroBatch, q.InBackward = "torchtune", "adamw-fused", 512, 1, &inside
		})
		if err := train.Check(j); err != nil {
			t.Fatal(err)
		}
		return size(t, j)[0].Allocated.Mid
	}
	params := 6738415616.0
	if got := at(false); math.Abs(got/(8*params)-1) > 0.02 {
		t.Errorf("with all gradients: %.2f bytes a parameter, want 8", got/params)
	}
	if got := at(true); math.Abs(got/(6*params)-1) > 0.05 {
		t.Errorf("with those of a block: %.2f bytes a parameter, want 6", got/params)
	}
}

// TestAdagrad: a moment for each number; row-wise a number for each row of a table, whose gradient never stands whole, and
// moments for all else.
func TestAdagrad(t *testing.T) {
	const params, rows, table = 1235814400, 128256, 128256 * 2048 // the head reads the embedding
	for name, want := range map[string]struct{ states, grads float64 }{
		"adagrad":         {4 * params, 4 * params},
		"rowwise-adagrad": {4 * (params - table + rows), 4 * (params - table)},
	} {
		j := ask(t, "llama-3.2-1b", "h100-sxm-80gb", 1, func(_ *plan.Plan, q *plan.Training) { q.Precision, q.Optimizer = "fp32", name })
		r := size(t, j)[0]
		if got := parts(&r, "optimizer step", "optimizer"); got != want.states {
			t.Errorf("%s keeps %.0f bytes, want %.0f", name, got, want.states)
		}
		if got := parts(&r, "optimizer step", "gradients"); got != want.grads {
			t.Errorf("%s: gradients take %.0f bytes, want %.0f", name, got, want.grads)
		}
	}
}

// TestPreconditioners: SOAP keeps a factor and its eigenvectors for each side of a matrix, none for a vocabulary's; Shampoo a factor and
// its root for each side of a block of 1,024; both in fp32 beside two moments.
func TestPreconditioners(t *testing.T) {
	const params, h, kv, f, vocab, layers = 1235814400, 2048.0, 512.0, 8192.0, 128256.0, 16
	sides := func(side func(n, other float64) float64) (n float64) {
		for _, m := range []struct{ rows, cols, times float64 }{{h, h, 2 * layers}, {kv, h, 2 * layers}, {f, h, 3 * layers}, {vocab, h, 1}} {
			n += m.times * 2 * (side(m.rows, m.cols) + side(m.cols, m.rows))
		}
		return n
	}
	whole := func(n, _ float64) float64 {
		if n > 10000 {
			return 0
		}
		return n * n
	}
	blocks := func(n, other float64) float64 { // of 1,024; the vocabulary leaves 256
		b := min(n, 1024)
		rest := n - math.Floor(n/b)*b
		return math.Ceil(other/1024) * (math.Floor(n/b)*b*b + rest*rest)
	}
	for name, want := range map[string]float64{
		"soap": 8*params + 4*sides(whole), "shampoo": 8*params + 4*sides(blocks), "schedule-free-adamw": 8 * params, "prodigy": 16 * params, "adamw-4bit": 1.0625 * params,
	} {
		j := ask(t, "llama-3.2-1b", "h200", 1, func(_ *plan.Plan, q *plan.Training) { q.Precision, q.Optimizer = "fp32", name })
		if got := parts(&size(t, j)[0], "optimizer step", "optimizer"); got != want {
			t.Errorf("%s keeps %.0f bytes, want %.0f", name, got, want)
		}
	}
}

// TestMegatronFSDP: gradients are shared as zero2, weights too as zero3: 18 bytes a parameter over the ranks.
func TestMegatronFSDP(t *testing.T) {
	for sharding, want := range map[string]float64{"zero1": 6 + 12.0/8, "zero2": 2 + 16.0/8, "zero3": 18.0 / 8} {
		j := ask(t, "llama-3.1-8b", "h100-sxm-80gb", 8, func(_ *plan.Plan, q *plan.Training) { q.Framework, q.Sharding = "megatron", sharding })
		if err := train.Check(j); err != nil {
			t.Fatal(err)
		}
		r, got := size(t, j)[0], 0.0
		for _, id := range []string{"weights", "master_weights", "gradients", "optimizer"} {
			got += parts(&r, "optimizer step", id)
		}
		if got /= float64(j.Model.Params()); math.Abs(got-want) > 1e-3 {
			t.Errorf("%s: %.3f bytes a parameter, want %.3f", sharding, got, want)
		}
	}
}

// TestStatesOfAdapters: optimizers that look at shapes see the two matrices of an adapter, and a quantised base is one
// whatever the method is called.
func TestStatesOfAdapters(t *testing.T) {
	at := func(method, weights, optimizer string) train.Rank {
		j := ask(t, "llama-3.1-8b", "h100-sxm-80gb", 1, func(p *plan.Plan, q *plan.Training) {
			q.Method, q.Optimizer, q.LoRARank, q.LoRA, p.Weights = method, optimizer, 16, []string{"q_proj"}, weights
		})
		return size(t, j)[0]
	}
	const numbers = 32 * 16 * (4096 + 4096)
	for optimizer, want := range map[string]float64{"adamw": 8 * numbers, "lion": 4 * numbers, "muon": 4 * numbers, "adafactor": 32 * 4 * (4096 + 4096 + 32), "sgd": 0} {
		r := at("lora", "bf16", optimizer)
		if got := parts(&r, "optimizer step", "optimizer"); got != want {
			t.Errorf("%s keeps %.0f bytes of adapters, want %.0f", optimizer, got, want)
		}
	}
	if a, b := at("lora", "nf4", "adamw"), at("qlora", "nf4", "adamw"); a.Allocated != b.Allocated {
		t.Errorf("LoRA beside nf4 takes %.0f bytes, QLoRA %.0f", a.Allocated.Mid, b.Allocated.Mid)
	}
}

// TestDevice: bytes that are kept for others are not usable, and of several kinds the smallest device decides.
func TestDevice(t *testing.T) {
	at := func(machine string, devices int, reserved plan.Size) train.Rank {
		j := ask(t, "llama-3.2-1b", machine, devices, func(p *plan.Plan, q *plan.Training) { p.Reserved, q.SequenceLength = reserved, 512 })
		return size(t, j)[0]
	}
	small, both := at("rtx-3060", 1, 0), at("rtx-4090+rtx-3060", 0, 0)
	if both.Usable != small.Usable || both.Name != small.Name {
		t.Errorf("a %s with %.0f bytes decides, want a %s with %.0f", both.Name, both.Usable.V, small.Name, small.Usable.V)
	}
	if got := at("rtx-3060", 1, 1<<30); got.Usable.V != small.Usable.V-(1<<30) {
		t.Errorf("%.0f bytes are usable of %.0f when a GiB is kept", got.Usable.V, small.Usable.V)
	}
}
