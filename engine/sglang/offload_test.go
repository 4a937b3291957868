package sglang

import (
	"errors"
	"strings"
	"testing"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/enginetest"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

func leaf(items []ledger.Item, id string) (n unit.Bytes) {
	ledger.Leaves(items, func(it *ledger.Item) {
		if it.ID == id {
			n += it.Bytes
		}
	})
	return n
}

// TestOffloadMovesBytes: what the device has less the host has more, and the pool grows by as much; the budget is
// reached, and passed by less than a parameter.
func TestOffloadMovesBytes(t *testing.T) {
	for _, c := range []enginetest.Case{
		{Model: "llama-3.1-8b", Hardware: "rtx-4090"}, {Model: "qwen3-30b-a3b", Hardware: "a100-sxm-80gb"},
		{Model: "llama-3.1-70b", Hardware: "4xh100", Plan: plan.Plan{TP: 4}},
		{Model: "llama-3.1-70b", Hardware: "4xh100", Plan: plan.Plan{TP: 2, PP: 2}},
		{Model: "gpt-oss-20b", Hardware: "rtx-4090"}, {Model: "deepseek-v3", Hardware: "8xh200", Plan: plan.Plan{TP: 8}},
	} {
		c.Plan.Context, c.Plan.Sequences = 2048, 1
		_, s := c.Sizer(t, Engine{})
		with := c
		last := unit.Bytes(0)
		before := s.Size(nil, s.(*sizer).job.Load())
		for _, gib := range []unit.Bytes{1, 2, 5} {
			with.Plan.CPUOffload = plan.Size(gib * unit.GiB)
			_, moved := with.Sizer(t, Engine{})
			for i, r := range moved.Size(nil, s.(*sizer).job.Load()) {
				host, device := leaf(r.Host, "weights"), leaf(r.Items, "weights")
				if host < gib*unit.GiB || host >= (gib+5)*unit.GiB || leaf(before[i].Items, "weights")-device != host || device < 0 ||
					leaf(r.Beside, "workspace") == 0 {
					t.Errorf("%s: %d GiB moved: host %s, device %s → %s", c.Model, gib, host, leaf(before[i].Items, "weights"), device)
				}
				if i == 0 && (r.KV.Pool < before[0].KV.Pool || host <= last) {
					t.Errorf("%s: %d GiB moved: pool %s → %s", c.Model, gib, before[0].KV.Pool, r.KV.Pool)
				}
				if i == 0 {
					last = host
				}
			}
		}
	}
}

// TestOffloadRefused: by versions without it, in parts of a GiB, beyond the layers, without a device, and where host and
// device are one.
func TestOffloadRefused(t *testing.T) {
	for _, c := range []struct {
		hardware, want string
		version        engine.Version
		bytes          unit.Bytes
	}{
		{"rtx-4090", "keeps no weights", engine.V(0, 3, 6), unit.GiB}, {"rtx-4090", "whole GiB", Latest, unit.GiB + 1},
		{"rtx-4090", "hold 13.00 GiB", Latest, 14 * unit.GiB},
		{"dgx-spark", "free nothing", Latest, unit.GiB},
	} {
		j := enginetest.Case{Model: "llama-3.1-8b", Hardware: c.hardware, Version: c.version,
			Plan: plan.Plan{Context: 2048, Serving: plan.Serving{CPUOffload: plan.Size(c.bytes)}}}.Job(t)
		Engine{}.Defaults(j)
		_, err := Engine{}.Sizer(j)
		var p *plan.Problem
		if !errors.As(err, &p) || p.Field != "cpu_offload_bytes" || p.Fix == "" || !strings.Contains(p.Message, c.want) {
			t.Errorf("%s %s, %d bytes: %v, want %q", c.hardware, c.version, c.bytes, err, c.want)
		}
	}
}

// TestOffloadOfRecurrentLayers: a remark says that it has failed.
func TestOffloadOfRecurrentLayers(t *testing.T) {
	c := enginetest.Case{Model: "qwen3-next-80b-a3b", Hardware: "4xh100",
		Plan: plan.Plan{TP: 4, Context: 2048, Serving: plan.Serving{CPUOffload: plan.Size(unit.GiB)}}}
	j, _ := c.Sizer(t, Engine{})
	for _, n := range j.Notes {
		if n.Code == "offload_unproven" {
			return
		}
	}
	t.Errorf("no remark in %+v", j.Notes)
}

// TestEvicted: caches that the device evicts lie in host memory, as many bytes as are said or as many times the device's pool.
func TestEvicted(t *testing.T) {
	for want, s := range map[string]plan.Serving{
		"size": {KVHost: plan.Size(64 * gb)}, "pool": {KVHostRatio: new(float64)},
	} {
		if s.KVHostRatio != nil {
			*s.KVHostRatio = 1.5
		}
		c := enginetest.Case{Model: "llama-3.1-8b", Hardware: "h100", Plan: plan.Plan{Context: 4096, Serving: s}}
		r := c.Ranks(t, Engine{})[0]
		got := unit.Bytes(0)
		for _, it := range r.Host {
			if it.ID == "evicted_caches" {
				got += it.Bytes
			}
		}
		if all := map[string]unit.Bytes{"size": 64 * gb, "pool": r.KV.Pool * 3 / 2}[want]; got != all {
			t.Errorf("%s: %d bytes on the host, want %d", want, got, all)
		}
	}
	j := enginetest.Case{Model: "llama-3.1-8b", Hardware: "h100", Version: Latest,
		Plan: plan.Plan{Context: 4096, Serving: plan.Serving{KVHost: plan.Size(unit.GiB)}}}.Job(t)
	Engine{}.Defaults(j)
	var p *plan.Problem
	if _, err := (Engine{}).Sizer(j); !errors.As(err, &p) || p.Field != "kv_host_bytes" || !strings.Contains(p.Message, "whole GB") {
		t.Errorf("a part of a GB: %v", err)
	}
}
