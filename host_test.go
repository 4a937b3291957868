package memwall

import (
	"slices"
	"testing"

	"github.com/memwall/memwall/internal/planner"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

func yesNo(b bool) *bool { return &b }

// TestHostMemoryDecidesToo: what lies in host memory counts, pages of a mapped file too.
func TestHostMemoryDecidesToo(t *testing.T) {
	layers := plan.Int(30)
	for _, c := range []struct {
		on   string
		mmap *bool
		want Verdict
	}{
		{"rtx-4090,host=32GiB", yesNo(false), Fits},
		{"rtx-4090,host=24GiB", yesNo(false), DoesNotFit},
		{"rtx-4090,host=24GiB", nil, DoesNotFit},
		{"rtx-4090,host=32GiB", nil, Fits},
		{"rtx-4090", yesNo(false), Fits},
	} {
		r := &Request{Ask: "fit", Model: "llama-3.1-70b", Hardware: c.on, Plan: plan.Plan{Weights: "q4_k_m"}}
		r.GPULayers, r.Mmap = &layers, c.mmap
		a, err := Ask(r)
		if err != nil {
			t.Fatal(err)
		}
		if a.Verdict != c.want {
			t.Errorf("on %s: %s, want %s (host needs %s)", c.on, a.Verdict, c.want, a.Host.Needed)
		}
		if short := a.Host.Capacity > 0 && a.Host.Headroom < 0; short != (c.want == DoesNotFit) {
			t.Errorf("on %s: headroom %s", c.on, a.Host.Headroom)
		}
		paged := slices.ContainsFunc(a.Notes, func(n Note) bool { return n.Code == "host_paging" })
		if want := c.want == DoesNotFit && c.mmap == nil; paged != want {
			t.Errorf("on %s, mmap %v: a warning of paging: %v, want %v", c.on, c.mmap, paged, want)
		}
		if a.Host.NeededLow > a.Host.Needed || a.Host.NeededHigh < a.Host.Needed {
			t.Errorf("on %s: %d..%d around %d", c.on, a.Host.NeededLow, a.Host.NeededHigh, a.Host.Needed)
		}
	}
}

// TestTheSmallestDeviceDecides: of devices that differ, the one with the least room.
func TestTheSmallestDeviceDecides(t *testing.T) {
	for _, e := range []string{"vllm", "sglang", "tensorrt-llm", "transformers", "generic"} {
		mixed, err := Ask(&Request{Ask: "fit", Model: "llama-3.1-8b", Hardware: "rtx-4090+rtx-3060", Plan: plan.Plan{Engine: e, TP: 2}})
		if err != nil {
			t.Fatalf("%s: %v", e, err)
		}
		if len(mixed.Devices) != 2 || mixed.Devices[0].Name != "GeForce RTX 3060 12GB" ||
			mixed.Devices[0].Headroom > mixed.Devices[1].Headroom {
			t.Errorf("%s: %d groups, first %s", e, len(mixed.Devices), mixed.Devices[0].Name)
		}
	}
}

// TestLayersOffered: a plan that is too large for the device is offered the most layers that fit; one more
// does not.
func TestLayersOffered(t *testing.T) {
	r := &Request{Ask: "fit", Model: "llama-3.1-70b", Hardware: "rtx-4090", Plan: plan.Plan{Weights: "q4_k_m"}}
	a, err := Ask(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range a.Suggestions {
		n, ok := s.Patch["gpu_layers"].(int64)
		if !ok {
			continue
		}
		more := plan.Int(n + 1)
		r.GPULayers = &more
		b, err := Ask(r)
		if err != nil || b.Verdict == Fits || s.Verdict != Fits {
			t.Errorf("%d layers: %s; one more: %s (%v)", n, s.Verdict, b.Verdict, err)
		}
		return
	}
	t.Errorf("no layers are offered: %v", a.Suggestions)
}

// TestPoolKeepsItsBand: what the rest may take more, the pool may have less.
func TestPoolKeepsItsBand(t *testing.T) {
	a, err := Ask(&Request{Ask: "fit", Model: "llama-3.1-8b", Hardware: "h100"})
	if err != nil {
		t.Fatal(err)
	}
	d := &a.Devices[0]
	for _, it := range d.Ledger {
		if it.ID == "pool_unused" {
			if up, down := d.NeededHigh-d.Needed, it.Bytes-it.Low; up != down || up == unit.Bytes(0) {
				t.Errorf("the rest may grow by %s and the pool shrink by %s", up, down)
			}
			return
		}
	}
	t.Error("no pool")
}

// TestPool: weights in memory beyond the host are not on it, must fit there, and cross at the pool's rate, not the host's.
func TestPool(t *testing.T) {
	on := func(hardware, where string) *Answer {
		a, err := Ask(&Request{Ask: "fit", Model: "llama-3.1-70b", Hardware: hardware,
			Plan: plan.Plan{Engine: "generic", Offload: &plan.Offload{Weights: where}}})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	const large, small, none = "rtx-4090,host=192GiB@200GB/s,pool=256GiB@16GB/s", "rtx-4090,host=192GiB@200GB/s,pool=64GiB@16GB/s",
		"rtx-4090,host=192GiB@200GB/s"
	pool, host := on(large, "pool"), on(large, "host")
	if pool.Verdict != Fits || pool.Pool == nil || pool.Host != nil && pool.Host.Needed >= pool.Pool.Needed || host.Pool != nil {
		t.Errorf("%s, pool %+v, host %+v", pool.Verdict, pool.Pool, pool.Host)
	}
	if x, y := planner.DecodeOf(pool.Speed), planner.DecodeOf(host.Speed); x <= 0 || x >= y {
		t.Errorf("%g tokens a second from the pool, %g from the host", x, y)
	}
	if a := on(small, "pool"); a.Verdict != DoesNotFit {
		t.Errorf("weights of %s in a pool of 64 GiB: %s", a.Pool.Needed, a.Verdict)
	}
	if a := on(none, "pool"); a.Speed != nil {
		t.Error("a pool that nobody described has a speed")
	}
}

// TestNoMemoryIsOverfull: whatever is said to fit leaves room on the devices, in the host and in a memory that both share; and more
// memory never takes a verdict back.
func TestNoMemoryIsOverfull(t *testing.T) {
	all, half := plan.Int(-1), plan.Int(20)
	hosts := []string{",host=8GiB", ",host=16GiB", ",host=32GiB", ",host=64GiB", ",host=128GiB", ",host=512GiB"}
	for _, model := range []string{"gpt-oss-120b", "gpt-oss-20b", "qwen3-30b-a3b", "llama-3.1-70b", "minimax-m2"} {
		for _, set := range []func(*Request){
			func(r *Request) { r.CPUMoE = &all }, func(r *Request) { r.CPUMoE = &half }, func(r *Request) { r.GPULayers = &half },
			func(*Request) {},
			func(r *Request) { r.GPULayers, r.Mmap = &half, yesNo(false) },
		} {
			ask := func(on string) *Answer {
				r := Request{Ask: "fit", Model: model, Hardware: on, Plan: plan.Plan{Engine: "llama.cpp", Context: 8192}}
				set(&r)
				a, err := asker().Size(&r)
				if err != nil {
					return nil // this model has no experts
				}
				if a.Verdict == Fits && a.Host != nil && a.Host.Capacity > 0 && a.Host.Needed > a.Host.Capacity {
					t.Errorf("%s on %s fits with %s of the host's %s", model, on, a.Host.Needed, a.Host.Capacity)
				}
				return a
			}
			for _, card := range []string{"rtx-3060", "rtx-4090", "2xrtx-3090"} {
				was := DoesNotFit
				for _, host := range hosts {
					a := ask(card + host)
					if a == nil {
						break
					}
					if question.VerdictSeverity[a.Verdict] > question.VerdictSeverity[was] {
						t.Errorf("%s on %s%s: %s, with less host memory %s", model, card, host, a.Verdict, was)
					}
					was = a.Verdict
				}
			}
			for _, shared := range []string{"m1-8gb", "m4-max-36gb", "m4-max-128gb", "strix-halo", "dgx-spark"} {
				a := ask(shared)
				if a == nil || a.Verdict != Fits || a.Host == nil {
					continue
				}
				if pool := a.Devices[0].Capacity; pool > 0 && a.Devices[0].Needed+a.Host.Needed > pool {
					t.Errorf("%s on %s fits with %s and %s of one memory of %s", model, shared, a.Devices[0].Needed, a.Host.Needed, pool)
				}
			}
		}
	}
}
