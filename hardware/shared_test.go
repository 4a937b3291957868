package hardware

import (
	"math"
	"strconv"
	"testing"

	"github.com/memwall/memwall/internal/datatest"
)

// The share of rows whose hardware is found, by file. What is not found is not a device (a bare computer,
// "unspecified"), several, a slice or a capped one, or a part that the catalog lacks.
func TestSharedNames(t *testing.T) {
	for _, c := range []struct {
		file, column string
		least        float64
	}{
		{"decode.csv", "hardware", 0.97}, {"serving.csv", "gpu", 0.99}, {"throughput.csv", "gpu", 1}, {"power.csv", "device", 0.98},
		{"train_memory.csv", "gpu", 0.86}, {"train_throughput.csv", "gpu", 0.99}, {"vllm_logs.csv", "gpu", 0.90},
		{"kernels.csv", "hardware", 0.99}, {"prices.csv", "accelerator", 1},
	} {
		rows, found, names := 0, 0, map[string]bool{}
		for _, r := range datatest.Shared(t, c.file) {
			name := r[c.column]
			if name == "" {
				continue
			}
			ok, seen := names[name]
			if !seen {
				_, _, err := Parse(name, 0)
				ok = err == nil
				if !ok {
					t.Logf("%s: %v", c.file, err)
				}
				names[name] = ok
			}
			rows++
			if ok {
				found++
			}
		}
		if rows == 0 {
			continue
		}
		all := 0
		for _, ok := range names {
			if ok {
				all++
			}
		}
		t.Logf("%s: %d of %d names, %d of %d rows", c.file, all, len(names), found, rows)
		if share := float64(found) / float64(rows); share < c.least {
			t.Errorf("%s: %.3f of the rows, not %.3f", c.file, share, c.least)
		}
	}
}

// Each device of the collected table is in the catalog with the same bandwidth and 16-bit peak.
func TestSharedAccelerators(t *testing.T) {
	for _, r := range datatest.Shared(t, "accelerators.csv") {
		d, _, err := Find(r["name"])
		if err != nil {
			t.Errorf("%s: %v", r["name"], err)
			continue
		}
		for _, c := range []struct {
			column string
			got    float64
		}{
			{"bandwidth_gbs", float64(d.Bandwidth.Value) / gbs}, {"bf16_tflops_dense", float64(d.Peaks.BF16.Value) / tflops},
			{"fp8_tflops_dense", float64(d.Peaks.FP8.Value) / tflops}, {"fp32_tflops", float64(d.Peaks.FP32.Value) / tflops},
		} {
			want, _ := strconv.ParseFloat(r[c.column], 64)
			if math.Abs(c.got-want) > 1e-6*want {
				t.Errorf("%s is %s, whose %s is %v, not %v", r["name"], d.ID, c.column, c.got, want)
			}
		}
	}
	for _, r := range datatest.Shared(t, "nodes.csv") {
		m, _, err := Parse(r["name"], 0)
		if n, _ := strconv.Atoi(r["count"]); err != nil || m.Node == "" || !m.CPUOnly && m.Devices() != n {
			t.Errorf("%s: %v, %v", r["name"], m.Name, err)
		}
	}
}
