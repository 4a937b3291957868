package validation

import (
	"strings"
	"testing"

	"github.com/memwall/memwall/validation/kernels"
)

// TestKernelText: a kernel is told from its neighbours by what is printed of it.
func TestKernelText(t *testing.T) {
	for _, c := range []struct {
		row  kernels.Row
		want string
	}{
		{kernels.Row{Kind: "gemm", Format: "fp8", Size: []int64{128, 4096, 8192}}, "fp8 · 128 × 4096 × 8192"},
		{kernels.Row{Kind: "decode", Format: "bf16", KV: "fp8", Size: []int64{1, 2, 3, 4, 5}}, "bf16 · 1 × 2 × 3 × 4 × 5 · cache fp8"},
		{kernels.Row{Kind: "prefill", Format: "bf16", KV: "bf16", Size: []int64{1, 2, 3, 4, 5}}, "bf16 · 1 × 2 × 3 × 4 × 5"},
		{kernels.Row{Kind: "allreduce", Ranks: 8, Size: []int64{1 << 20}}, "1.0 MiB"},
	} {
		if got := kernelText(&c.row); got != c.want {
			t.Errorf("%+v is %q, want %q", c.row, got, c.want)
		}
	}
}

// TestRoofBelowKernels: what the datasheet allows is the least that a kernel takes. Rows that beat it by more than
// clocks beyond the nominal one do are of something else.
func TestRoofBelowKernels(t *testing.T) {
	_, all, err := CompareKernels()
	if err != nil {
		t.Fatal(err)
	}
	used, under := 0, map[string]int{}
	for i := range all {
		c := &all[i]
		if c.Refused != "" {
			continue
		}
		used++
		if c.Naive <= 0 {
			t.Errorf("%s has no time by the datasheet", c.Row.Name())
		}
		if c.Measured.Mid < 0.9*c.Naive {
			under[c.Figure+" on "+c.Row.Ask.Hardware]++
		}
	}
	if len(under) > 0 {
		t.Errorf("of %d comparisons faster than the datasheet allows: %v", used, under)
	}
}

// TestWhyKernel: a row that stands alone is told from one whose neighbours are off as well.
func TestWhyKernel(t *testing.T) {
	row := func(line int, device string) *Row {
		r := &Row{Line: line, Kernel: "bf16 · 1 × 2 × 3"}
		r.Ask.Hardware, r.Ask.Engine = device, "vllm"
		return r
	}
	s := Score{Worst: []Comparison{{Row: row(1, "a"), Error: 2}, {Row: row(2, "a"), Error: 0.1}, {Row: row(3, "b"), Error: -1.5}, {Row: row(4, "b"), Error: 1}, {Row: row(5, "c"), Error: 1}}}
	for i, want := range map[int]string{0: "stands apart", 2: "too: what", 4: "no other"} {
		if got := s.why(&s.Worst[i]); !strings.Contains(got, want) {
			t.Errorf("row %d: %q, want %q", i, got, want)
		}
	}
}
