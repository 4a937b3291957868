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

// TestKernelVotes: of reports that were left out, each with one vote, kernels are off by no more than the goals say, and the
// table that answers are made of is no further off than that: whole engines do not bend what was measured of kernels.
func TestKernelVotes(t *testing.T) {
	_, all, err := CompareKernels()
	if err != nil {
		t.Fatal(err)
	}
	goals := map[string]float64{
		"matmuls in 16 bits": 0.06, "matmuls in fp8": 0.08, "matmuls in blocks of fp8": 0.08, "matmuls in nvfp4": 0.12,
		"all-reduce": 0.10, "attention of prompts": 0.12, "attention of answers": 0.06,
	}
	for _, v := range KernelVotes(all) {
		name, way, _ := strings.Cut(v.Measure.Name, ", ")
		goal, ok := goals[name]
		if !ok || way != "new report" && way != "as shipped" {
			continue
		}
		t.Logf("%-45s %3d reports: %4.1f / %4.1f %%", v.Measure.Name, v.Makers, 100*v.Sources.Median, 100*v.Sources.P90)
		if v.Sources.Median > goal || v.Makers < 10 {
			t.Errorf("%s: %.1f %% of %d reports, want %.0f", v.Measure.Name, 100*v.Sources.Median, v.Makers, 100*goal)
		}
	}
}

// KernelVotes sums up what reports of kernels that were left out are off, one vote each.
func KernelVotes(all []Comparison) (out []Vote) {
	for _, m := range KernelMeasures {
		var of []*Comparison
		for i := range all {
			if c := &all[i]; c.Measure == m && c.Refused == "" {
				of = append(of, c)
			}
		}
		if len(of) > 0 {
			out = append(out, vote(m, "", of, func(r *Row) string { return r.Ask.Engine + " " + r.Ask.Hardware }))
		}
	}
	return out
}
