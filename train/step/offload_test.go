package step_test

import (
	"errors"
	"math"
	"testing"

	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/speed"
	"github.com/memwall/memwall/train/step"
)

// seconds of the parts of a step, by name.
func seconds(s step.Step) map[string]step.Part {
	out := map[string]step.Part{}
	for _, p := range s.Parts {
		out[p.Name] = p
	}
	return out
}

// TestHostOptimizer: Adam of all parameters of a node goes over its host's memory once, whoever shares the work, and
// the device steps no more.
func TestHostOptimizer(t *testing.T) {
	const params = 8.03e9
	cpu, err := speed.HostAdam(speed.DeepSpeedAdam)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		on, sharding string
		nodes        float64
	}{{"h100-sxm-80gb,host=1TiB@400GB/s", "zero2", 1}, {"8xh100-sxm-80gb,host=1TiB@400GB/s", "zero2", 1}, {"8xh100-sxm-80gb,host=1TiB@400GB/s", "zero3", 1}, {"16xh100-sxm-80gb,host=1TiB@400GB/s", "zero3", 2}} {
		in := input(t, "llama-3.1-8b", c.on)
		in.Training.Framework, in.Training.Sharding, in.Plan.Offload = "deepspeed", c.sharding, &plan.Offload{Optimizer: "host"}
		parts := seconds(predict(t, in))
		want := params * speed.AdamBytes / (400e9 * cpu.Mid) / c.nodes
		if got := parts["host optimizer"]; math.Abs(got.Seconds/want-1) > 0.01 || got.Low >= got.Seconds || got.High <= got.Seconds {
			t.Errorf("%s, %s: the host steps for %+v s, want %g", c.on, c.sharding, got, want)
		}
		if _, on := parts["optimizer"]; on {
			t.Errorf("%s, %s: the device steps too", c.on, c.sharding)
		}
	}
}

// TestElsewhere: nothing that lies elsewhere shortens a step but by what the device no longer does, and what is on a
// slower store takes longer.
func TestElsewhere(t *testing.T) {
	for _, id := range []string{"llama-3.1-8b", "qwen3-30b-a3b"} {
		before := 0.0
		for i, o := range []*plan.Offload{nil, {Activations: "host"}, {Optimizer: "host"}, {Optimizer: "host", Params: "host", Activations: "host"}, {Optimizer: "nvme", Params: "host"}, {Optimizer: "nvme", Params: "nvme"}} {
			in := input(t, id, "8xh100-sxm-80gb,host=1TiB@400GB/s,nvme=30TB@7GB/s")
			in.Training.Framework, in.Training.Sharding, in.Training.Recompute, in.Plan.Offload = "deepspeed", "zero3", "full", o
			s := predict(t, in).Seconds
			if s.Mid < before*(1-1e-9) || s.Low > s.Mid || s.High < s.Mid {
				t.Errorf("%s: step %d takes %+v s, the one before %g", id, i, s, before)
			}
			before = s.Mid
		}
	}
}

// TestCopiesAreHidden: what crosses the link shows only where it takes longer than the computation beside it.
func TestCopiesAreHidden(t *testing.T) {
	for _, c := range []struct {
		sequence plan.Int
		shows    bool
	}{{256, true}, {8192, false}} {
		in := input(t, "llama-3.1-70b", "8xh100-sxm-80gb")
		in.Training.Method, in.Training.Sharding, in.Training.SequenceLength, in.Plan.Offload = "lora", "zero3", c.sequence, &plan.Offload{Params: "host"}
		if copies := seconds(predict(t, in))["copies"].Seconds; copies > 0 != c.shows {
			t.Errorf("sequences of %d: copies show %g s", c.sequence, copies)
		}
	}
}

// TestTorchOnHost: PyTorch's Adam without fusion goes over the states once for each operator.
func TestTorchOnHost(t *testing.T) {
	took := map[string]float64{}
	for _, name := range []string{"adamw", "adamw-fused"} {
		in := input(t, "llama-3.1-8b", "8xh100-sxm-80gb")
		in.Training.Sharding, in.Training.Optimizer, in.Plan.Offload = "fsdp", name, &plan.Offload{Params: "host"}
		took[name] = seconds(predict(t, in))["host optimizer"].Seconds
	}
	if r := took["adamw"] / took["adamw-fused"]; r < 4 || r > 8 { // 5 to 7 by DeepSpeed's tutorial of ZeRO-Offload
		t.Errorf("PyTorch's Adam takes %g times as long", r)
	}
}

// TestUnknownStore: a disk whose rate nobody says has no time.
func TestUnknownStore(t *testing.T) {
	in := input(t, "llama-3.1-8b", "8xh100-sxm-80gb")
	in.Training.Sharding, in.Plan.Offload = "zero3", &plan.Offload{Params: "nvme"}
	_, err := step.Compile(in)
	if p := new(plan.Problem); !errors.As(err, &p) || p.Field != "offload.params" || !p.Lacking {
		t.Errorf("want a problem of offload.params, got %v", err)
	}
}
