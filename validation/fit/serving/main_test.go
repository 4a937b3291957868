package main

import (
	"strings"
	"testing"

	"github.com/memwall/memwall/speed/coef"
	"github.com/memwall/memwall/validation/fit/internal/study"
)

// TestPlans: what a row asks for is built as it stands, and what cannot be is named.
func TestPlans(t *testing.T) {
	s, err := loadServing()
	if err != nil {
		t.Fatal(err)
	}
	closed, static, dp := 0, 0, 0
	for _, r := range s.rows {
		if r.static {
			static++
		} else {
			closed++
		}
		if r.Ask.DP > 1 {
			dp++
		}
		if r.load.Users < 1 || r.load.Prompt < 1 || len(r.measured()) == 0 {
			t.Errorf("%s: %+v measured %v", r.Name(), r.load, r.measured())
		}
	}
	if closed < 2300 || static < 1900 || dp < 20 {
		t.Errorf("%d closed loops, %d static batches, %d with replicas", closed, static, dp)
	}
}

// TestKernelsFit: the kernels of one device are found again to a tenth in the median.
func TestKernelsFit(t *testing.T) {
	k, err := loadKernels()
	if err != nil {
		t.Fatal(err)
	}
	some := &kernelRows{}
	for i, r := range k.rows {
		if r.Device == "h100-sxm-80gb" && r.Kind == "gemm" && r.Format == "bf16" {
			some.rows, some.fits = append(some.rows, r), append(some.fits, k.fits[i])
		}
	}
	table, err := some.fit(nil)
	if err != nil {
		t.Fatal(err)
	}
	var off study.Errors
	for i := range some.fits {
		off.Add(valueOf(table, &some.fits[i]), some.fits[i].Measured)
	}
	if off.Rows() < 100 || off.Off(0.5) > 0.1 || off.Off(0.9) > 0.5 {
		t.Errorf("of %d products: median %.3f, p90 %.3f", off.Rows(), off.Off(0.5), off.Off(0.9))
	}
}

// TestAlone: single kernels say nothing of whole steps.
func TestAlone(t *testing.T) {
	for name, levels := range alone(sigmas()) {
		for level := range levels {
			if strings.HasPrefix(level, "step") {
				t.Errorf("%s has %s", name, level)
			}
		}
	}
	if _, err := (&coef.Problem{}).Solve(); err != nil {
		t.Error(err)
	}
}
