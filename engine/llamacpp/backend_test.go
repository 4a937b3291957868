package llamacpp

import (
	"errors"
	"testing"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/enginetest"
	"github.com/memwall/memwall/plan"
)

// TestBackends: a plan names the back end that llama.cpp is built with; what it does not name is the usual one of the device.
func TestBackends(t *testing.T) {
	for _, c := range []struct{ hardware, backend, want string }{
		{"rtx-4090", "", "cuda"}, {"rtx-4090", "vulkan", "vulkan"}, {"rx-7900-xtx", "", "rocm"}, {"rx-7900-xtx", "hip", "rocm"}, {"rx-7900-xtx", "vulkan", "vulkan"},
		{"arc-b580", "", "sycl"}, {"arc-b580", "vulkan", "vulkan"}, {"m3-max", "", "metal"}, {"m3-max", "cpu", "cpu"}, {"rtx-4090,host=64GiB@80GB/s", "cpu", "cpu"},
	} {
		p := plan.Plan{Context: 4096, Weights: "q4_k_m"}
		p.Backend = c.backend
		j, s := enginetest.Case{Model: "llama-3.1-8b", Hardware: c.hardware, Plan: p}.Sizer(t, Engine{})
		shares := s.(engine.Sharer).Shares()
		if len(shares) != 1 || shares[0].Backend != c.want {
			t.Errorf("%s, %q: %+v, want %s", c.hardware, c.backend, shares, c.want)
		}
		if r := s.Size(nil, j.Load())[0]; r.Needed().Bytes < j.Weights.Bytes()*9/10 {
			t.Errorf("%s, %q: needs %s", c.hardware, c.backend, r.Needed().Bytes)
		}
	}
}

// TestBackendsOfOthers are refused.
func TestBackendsOfOthers(t *testing.T) {
	for hardware, backend := range map[string]string{"rtx-4090": "metal", "m3-max": "vulkan", "rx-7900-xtx": "cuda", "arc-b580": "hip"} {
		p := plan.Plan{Context: 4096, Weights: "q4_k_m"}
		p.Backend = backend
		j := enginetest.Case{Model: "llama-3.1-8b", Hardware: hardware, Plan: p, Version: Latest}.Job(t)
		Engine{}.Defaults(j)
		var problem *plan.Problem
		if err := (Engine{}).Check(j); !errors.As(err, &problem) || problem.Field != "backend" {
			t.Errorf("%s, %s: %v", hardware, backend, err)
		}
	}
}
