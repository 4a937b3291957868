package llamacpp

import (
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/memwall/memwall/engine/enginetest"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// forkLog is what a log of ik_llama.cpp's issues printed: MiB of all caches, and of the largest compute buffer.
type forkLog struct {
	model, hardware, issue string
	plan                   plan.Plan
	kv, compute            float64
}

func forkLogs(t *testing.T) (out []forkLog) {
	t.Helper()
	data, err := os.ReadFile("testdata/fork-logs.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(data)), "\n")[1:] {
		c := strings.Split(line, "\t")
		whole := func(i int) plan.Int {
			n, err := strconv.ParseInt(c[i], 10, 64)
			if err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			return plan.Int(n)
		}
		mib := func(i int) float64 {
			x, err := strconv.ParseFloat(c[i], 64)
			if err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			return x
		}
		latent, fused := whole(7), c[8] == "1"
		l := forkLog{model: c[0], issue: c[12], kv: mib(10), compute: mib(11), plan: plan.Plan{KV: c[5], KVV: c[6], Sequences: 1, Attention: map[string]string{"0": "eager", "1": "flash"}[c[4]]}}
		l.plan.Context, l.plan.BatchTokens, l.plan.UBatch, l.plan.Weights = whole(1), whole(2), whole(3), "q4_k_m"
		l.plan.MLA, l.plan.FusedMoE = &latent, &fused
		switch n := whole(9); n {
		case 0:
			l.hardware = "cpu,host=1024GiB@400GB/s"
		case 1:
			l.hardware = "h200"
		default:
			l.hardware = strconv.FormatInt(int64(n), 10) + "xh200"
		}
		out = append(out, l)
	}
	return out
}

// TestForkLogs: caches of ik_llama.cpp are exact, whatever -mla is, and its compute buffers lie within their bands as
// often as these claim. A log of a build that kept both kinds of cache is left out, and so are the buffers of plans that a
// log does not tell whole: without layers on the device, or with an -amb that it does not say.
func TestForkLogs(t *testing.T) {
	inside, asked := 0, 0
	for _, l := range forkLogs(t) {
		j, s := enginetest.Case{Model: l.model, Hardware: l.hardware, Plan: l.plan}.Sizer(t, Engine{Program: Fork})
		var kv unit.Bytes
		var compute ledger.Item
		for _, r := range s.Size(nil, j.Load()) {
			for _, it := range append(r.Items, r.Host...) {
				switch {
				case it.ID == "kv_cache":
					kv += it.Bytes
				case it.ID == "compute" && it.Place == ledger.Device && it.Bytes > compute.Bytes:
					compute = it
				}
			}
		}
		if got := float64(kv) / float64(unit.MiB); math.Abs(got-l.kv) > 0.3 {
			t.Errorf("%s, #%s, mla %d, %s: a cache of %.2f MiB, printed %.2f", l.model, l.issue, *l.plan.MLA, l.plan.KV, got, l.kv)
		}
		if l.compute == 0 {
			continue
		}
		asked++
		mib := func(b unit.Bytes) float64 { return float64(b) / float64(unit.MiB) }
		held := l.compute >= mib(compute.Low) && l.compute <= mib(compute.High)
		if held {
			inside++
		}
		t.Logf("%-18s #%s mla %d fa %s ctx %d ub %d on %s: %.0f from %.0f to %.0f, printed %.0f, ratio %.2f %v", l.model, l.issue, *l.plan.MLA, l.plan.Attention, l.plan.Context, l.plan.UBatch, l.hardware,
			mib(compute.Bytes), mib(compute.Low), mib(compute.High), l.compute, l.compute/mib(compute.Bytes), held)
	}
	if share := float64(inside) / float64(asked); asked < 40 || share < 0.9 {
		t.Errorf("%d of %d compute buffers lie in their bands", inside, asked)
	}
}
