package vllm

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/enginetest"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// weightsOf are a rank's weights on the device, and on the host.
func weightsOf(r *engine.Rank) (device, host unit.Bytes) {
	ledger.Leaves(r.Items, func(it *ledger.Item) {
		if it.ID == "weights" {
			device += it.Bytes
		}
	})
	ledger.Leaves(r.Host, func(it *ledger.Item) {
		if it.ID == "weights" {
			host += it.Bytes
		}
	})
	return device, host
}

// moving gives the job's ranks with so much of their weights moved; nil when vLLM refuses.
func moving(j *engine.Job, n unit.Bytes) ([]engine.Rank, error) {
	p := *j.Plan
	p.CPUOffload = plan.Size(n)
	with := *j
	with.Plan = &p
	s, err := Engine{}.Sizer(&with)
	if err != nil {
		return nil, err
	}
	return s.Size(nil, with.Load()), nil
}

// TestOffloadMovesBytes: what the device has less the host has more, by whole parameters; more moved leaves no more on
// the device; the budget is reached, and passed by less than a parameter. What the layers do not hold is refused, and
// the refusal names the most.
func TestOffloadMovesBytes(t *testing.T) {
	moved := 0
	sizers(t, func(c enginetest.Case, j *engine.Job, s *sizer) {
		if o := s.offloading(); o.absent != "" || o.returns || o.oneGroup {
			return
		}
		before := s.Size(nil, j.Load())
		most := unit.Bytes(0)
		for i := range s.ranks {
			sets := &paramSets{layers: map[int][]param{}}
			for n, g := range s.ranks[i].pl.WeightGroups() {
				sets.add(&s.ranks[i].pl, n, s.params(&s.ranks[i].pl, &g))
			}
			for n := s.ranks[i].pl.First; n < s.ranks[i].pl.Last; n++ {
				for _, p := range sets.layers[int(s.ranks[i].pl.Weights.Layers[n])] {
					most += p.main + p.scales
				}
			}
			if i == 0 && len(s.ranks) > 1 {
				break // checked on plans with one class of ranks
			}
		}
		if len(s.ranks) == 1 {
			if _, err := moving(j, most+1); err == nil || !strings.Contains(err.Error(), most.String()) {
				t.Errorf("%s %s: moving %d of %d: %v", c.Model, c.Version, most+1, most, err)
			}
		}
		last := unit.Bytes(math.MaxInt64)
		for _, n := range []unit.Bytes{1, most / 7, most / 3, most / 2} {
			ranks, err := moving(j, n)
			if err != nil {
				t.Errorf("%s %s: %v", c.Model, c.Version, err)
				return
			}
			d, h := weightsOf(&ranks[0])
			d0, _ := weightsOf(&before[0])
			rest := s.ranks[0].rests + 40*unit.MiB // of segments, which moving rearranges
			if h < n-n/100 || d <= 0 || d > last || d0-d > h+rest || d0-d < h-rest {
				t.Errorf("%s %s: %d moved: device %d → %d, host %d", c.Model, c.Version, n, d0, d, h)
			}
			last, moved = d, moved+1
		}
	})
	if moved < 60 {
		t.Errorf("only %d plans move weights", moved)
	}
}

// TestOffloadAsPrinted: what vLLM 0.24 printed for Qwen2.5-0.5B-Instruct with all layers moved ("Total CPU offloaded
// parameters", "Model loading took": vllm-project/vllm#53931), and 0.20 for Qwen3.6-35B-A3B-FP8 over two ranks
// (defilantech/LLMKube#1320).
func TestOffloadAsPrinted(t *testing.T) {
	for _, c := range []struct {
		of                   enginetest.Case
		moved                unit.Bytes
		hosted, loading, off float64 // GiB
	}{
		{enginetest.Case{Model: "qwen2.5-0.5b", Hardware: "a40", Version: engine.V(0, 24, 0)}, 715000000, 0.67, 0.26, 0.02},
		{enginetest.Case{Model: "qwen3.6-35b-a3b", Hardware: "2xrtx-5060-ti-16gb", Version: engine.V(0, 20, 0), Plan: plan.Plan{Weights: "fp8", TP: 2}}, 4 * unit.GiB, 4.2, 13.01, 0.11}, // off by what its rotary tables take beyond the text's
	} {
		c.of.Plan.Context = 2048
		_, s := c.of.Sizer(t, Engine{})
		ranks, err := moving(s.(*sizer).job, c.moved)
		if err != nil {
			t.Fatal(err)
		}
		d, h := weightsOf(&ranks[0])
		if math.Abs(h.GiB()-c.hosted) > 0.03 || math.Abs(d.GiB()-c.loading) > c.off {
			t.Errorf("%s: moved %.3f GiB, left %.3f; vLLM printed %g and %g", c.of.Model, h.GiB(), d.GiB(), c.hosted, c.loading)
		}
	}
}

// TestOffloadByVersion: versions that do not move weights say so; those that bring quantised ones back say how little
// stays; earlier ones that copy need room for a layer.
func TestOffloadByVersion(t *testing.T) {
	c := enginetest.Case{Model: "llama-3.1-8b", Hardware: "a100-sxm-80gb", Plan: plan.Plan{Context: 2048}}
	for _, v := range []struct {
		version, weights, model string
		refused, note           string
		window                  bool
	}{
		{"0.5.2", "", "", "no --cpu-offload-gb", "", false}, {"0.6.4", "", "", "", "", true}, {"0.8.1", "", "", "earlier engine", "", false}, {"0.8.5", "", "", "", "", false},
		{"0.12", "awq", "", "", "offload_returns", false}, {"0.16", "awq", "", "", "", false}, {"0.12", "", "gemma-3-27b", "several groups", "", false}, {"0.19", "", "gemma-3-27b", "", "", false},
		{"0.26", "", "", "", "offload_ignored", false}, {"0.28", "", "", "", "", false},
	} {
		c.Version, _ = engine.ParseVersion(v.version)
		c.Plan.Weights, c.Model = v.weights, "llama-3.1-8b"
		if v.model != "" {
			c.Model = v.model
		}
		j := c.Job(t)
		Engine{}.Defaults(j)
		ranks, err := moving(j, 3*unit.GiB)
		var p *plan.Problem
		switch {
		case v.refused != "":
			if !errors.As(err, &p) || p.Field != "cpu_offload_bytes" || p.Fix == "" || !strings.Contains(p.Message, v.refused) {
				t.Errorf("%s: %v, want %q", v.version, err, v.refused)
			}
			continue
		case err != nil:
			t.Errorf("%s: %v", v.version, err)
			continue
		}
		with := *j
		q := *j.Plan
		q.CPUOffload = plan.Size(3 * unit.GiB)
		with.Plan, with.Notes = &q, nil
		if _, err := (Engine{}).Sizer(&with); err != nil {
			t.Fatal(err)
		}
		codes := ""
		for _, n := range with.Notes {
			codes += n.Code
		}
		if codes != v.note {
			t.Errorf("%s: notes %q, want %q", v.version, codes, v.note)
		}
		copies := false
		for _, it := range ranks[0].Items {
			copies = copies || it.ID == "workspace"
		}
		if copies != v.window {
			t.Errorf("%s: room for copies %v", v.version, copies)
		}
	}
}
