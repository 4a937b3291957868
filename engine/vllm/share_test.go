package vllm_test

import (
	"errors"
	"math"
	"testing"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/enginetest"
	"github.com/memwall/memwall/engine/vllm"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// TestShareOfADeviceThatOthersUse: until 0.9.1 others count as used; since 0.9.2 the share is of the whole
// device, and lowered to what others and its own context leave free when nobody gave it (gpu_worker.py, init_device).
func TestShareOfADeviceThatOthersUse(t *testing.T) {
	for _, c := range []struct {
		version  engine.Version
		reserved unit.Bytes
		share    float64
	}{
		{engine.V(0, 8, 0), 0, 0.9}, {engine.V(0, 8, 0), 10 * unit.GiB, 0.9}, {engine.V(0, 9, 1), 10 * unit.GiB, 0.9},
		{engine.V(0, 9, 2), 10 * unit.GiB, 0.86}, {engine.V(0, 11, 0), 2 * unit.GiB, 0.9}, {engine.V(0, 11, 0), 70 * unit.GiB, 0.11},
	} {
		j := enginetest.Case{Model: "llama-3.2-1b", Hardware: "h100", Version: c.version, Plan: plan.Plan{Context: 4096, Sequences: 1, Reserved: plan.Size(c.reserved)}}.Job(t)
		e := vllm.Engine{}
		e.Defaults(j)
		if err := e.Check(j); err != nil {
			t.Fatalf("%s: %v", c.version, err)
		}
		if *j.Plan.GPUMemoryUtilization != c.share {
			t.Errorf("%s with %s taken: %g, want %g", c.version, c.reserved, *j.Plan.GPUMemoryUtilization, c.share)
		}
		s, err := e.Sizer(j)
		if err != nil {
			t.Fatal(err)
		}
		want := c.share * float64(j.Device(0).Usable.Value)
		if c.version.Before(engine.V(0, 9, 2)) {
			want -= float64(c.reserved)
		}
		if got := s.Size(nil, j.Load())[0].Usable.Bytes(); got != unit.Bytes(math.Floor(want)) {
			t.Errorf("%s with %s taken: may use %d, want %g", c.version, c.reserved, got, want)
		}
	}
}

// TestShareThatIsNotFreeIsRefused: as vLLM refuses to start.
func TestShareThatIsNotFreeIsRefused(t *testing.T) {
	u := 0.95
	j := enginetest.Case{Model: "llama-3.2-1b", Hardware: "h100", Version: vllm.Latest, Plan: plan.Plan{Context: 4096, Sequences: 1, Reserved: plan.Size(10 * unit.GiB)}}.Job(t)
	j.Plan.GPUMemoryUtilization = &u
	e := vllm.Engine{}
	e.Defaults(j)
	var p *plan.Problem
	if err := e.Check(j); !errors.As(err, &p) || p.Field != "gpu_memory_utilization" || p.Fix != "--gpu-memory-utilization 0.86" {
		t.Errorf("%v", err)
	}
	if j.Machine = nil; e.Check(j) != nil {
		t.Errorf("without a machine nothing is known of what is free: %v", e.Check(j))
	}
}
