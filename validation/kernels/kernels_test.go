package kernels

import (
	"strings"
	"testing"

	"github.com/memwall/memwall/hardware"
)

// TestRows: every row names a device of the catalog, a source and a positive time, and refused ones say why.
func TestRows(t *testing.T) {
	rows, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for i := range rows {
		r := &rows[i]
		count[r.Kind]++
		if _, _, err := hardware.Find(r.Device); err != nil {
			t.Errorf("line %d: %v", r.Line, err)
		}
		if r.Source == "" || !(r.Seconds > 0) || r.Ranks < 1 {
			t.Errorf("line %d: %+v", r.Line, r)
		}
		if r.Kind == "gemm" && r.Engine() == "vllm" && r.Format == "fp8_block" && !strings.Contains(r.Refused, "CUDA graphs") {
			t.Errorf("line %d: an eager kernel is taken for the device's time", r.Line)
		}
	}
	for kind, least := range map[string]int{"gemm": 5000, "prefill": 2000, "decode": 1400, "allreduce": 1300} {
		if count[kind] < least {
			t.Errorf("%d rows of %s", count[kind], kind)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	good := []string{"gemm", "vllm@0.24.0", "h100-sxm-80gb", "1", "bf16", "", "1 2 3", "4.5", "aic", ""}
	if _, err := parse(good); err != nil {
		t.Fatal(err)
	}
	for at, bad := range map[int]string{3: "x", 6: "1 2", 7: "0"} {
		cells := append([]string(nil), good...)
		cells[at] = bad
		if _, err := parse(cells); err == nil {
			t.Errorf("%q was read", cells)
		}
	}
	if _, err := parse(good[:9]); err == nil {
		t.Error("nine cells were read")
	}
}
