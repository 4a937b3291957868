package validation

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/unit"
	"github.com/memwall/memwall/validation/kernels"
	"github.com/memwall/memwall/validation/packed"
)

// Predictions of each kernel by coefficients that were fitted without it: without any kernel of its device, without
// any of about its size, and without any of its report; by the table that answers are made of; and what the datasheet
// allows. The fit (validation/fit/serving -study) writes them, in microseconds.
const kernelFolds packed.File = "rows/kernel-folds.tsv"

// Columns of kernelFolds.
const (
	ofDevices   = 0
	ofSizes     = 1
	ofReports   = 2
	ofShipped   = 3
	ofDatasheet = 4
	kernelCols  = 5
)

// kernelMeasures are the measures of a kind of kernel. But for those of the shipped table, the coefficients of each
// comparison never saw the row.
type kernelMeasures struct{ sizes, devices Measure }

var kernelKinds = map[string]*kernelMeasures{
	"gemm":      kernelsOf("matmuls", "microseconds of a matmul"),
	"prefill":   kernelsOf("attention of prompts", "microseconds of causal attention"),
	"decode":    kernelsOf("attention of answers", "microseconds of attention that reads a cache"),
	"allreduce": kernelsOf("all-reduce", "microseconds of an all-reduce in a node"),
}

func kernelsOf(name, about string) *kernelMeasures {
	return &kernelMeasures{
		Measure{Name: name + ", new size", About: about + ", its size left out of the fit", Target: 0.10, Bandless: true},
		Measure{Name: name + ", new device", About: about + ", its device left out of the fit", Target: 0.15, Bandless: true},
	}
}

// reportMeasures are those of a report of kernels, told apart by format where it matters.
type reportMeasures struct{ reports, shipped Measure }

var kernelReports = map[string]*reportMeasures{
	"gemm 16 bits":   reportsOf("matmuls in 16 bits", 0.06),
	"gemm fp8":       reportsOf("matmuls in fp8", 0.08),
	"gemm fp8_block": reportsOf("matmuls in blocks of fp8", 0.08),
	"gemm nvfp4":     reportsOf("matmuls in nvfp4", 0.12),
	"gemm integers":  reportsOf("matmuls with integer weights", 0.12),
	"prefill":        reportsOf("attention of prompts", 0.10),
	"decode":         reportsOf("attention of answers", 0.10),
	"allreduce":      reportsOf("all-reduce", 0.08),
}

func reportsOf(name string, target float64) *reportMeasures {
	return &reportMeasures{
		Measure{Name: name + ", new report", About: "microseconds; what a release of a program took on a device left out of the fit",
			Target: target, Bandless: true},
		Measure{Name: name + ", as shipped", About: "microseconds by the table that answers are made of, which rests on these rows too",
			Target: target, Bandless: true},
	}
}

// reportKey of a kernel in kernelReports.
func reportKey(k *kernels.Row) string {
	if k.Kind != "gemm" {
		return k.Kind
	}
	switch k.Format {
	case "fp8", "fp8_block", "nvfp4":
		return "gemm " + k.Format
	case "bf16", "fp16":
		return "gemm 16 bits"
	}
	return "gemm integers"
}

// KernelMeasures are the measures in the order of the report.
var KernelMeasures = kernelMeasureList()

func kernelMeasureList() (out []*Measure) {
	for _, kind := range []string{"gemm", "prefill", "decode", "allreduce"} {
		out = append(out, &kernelKinds[kind].sizes, &kernelKinds[kind].devices)
	}
	for _, key := range slices.Sorted(maps.Keys(kernelReports)) {
		out = append(out, &kernelReports[key].reports, &kernelReports[key].shipped)
	}
	return out
}

// kernelRefit says why a kernel has no prediction.
const kernelRefit = "no law is for a product in this format"

// CompareKernels compares the stored predictions with the rows of validation/kernels.
func CompareKernels() (Set, []Comparison, error) {
	f, err := readFolds(kernelFolds, kernelCols)
	if err != nil {
		return Set{}, nil, err
	}
	rows, err := kernels.Load()
	if err != nil {
		return Set{}, nil, err
	}
	set := Set{Name: "kernels", File: "../kernels/rows.tsv", About: "kernels that were timed alone: matmuls, attention, all-reduces",
		Rows: make([]Row, len(rows))}
	var out []Comparison
	for i := range rows {
		k := &rows[i]
		set.Rows[i] = kernelRow(k)
		out = append(out, f.kernel(k, &set.Rows[i])...)
	}
	return set, out, nil
}

func (f folds) kernel(k *kernels.Row, row *Row) []Comparison {
	c := Comparison{Row: row, Figure: k.Kind, Measured: row.Got[k.Kind]}
	if x, ok := f[row.Line]; ok {
		c.Naive = x[ofDatasheet]
	}
	of := func(m *Measure, column int) Comparison {
		c.Measure = m
		return f.compare(c, column, kernelRefit)
	}
	m, report := kernelKinds[k.Kind], kernelReports[reportKey(k)]
	return []Comparison{of(&m.sizes, ofSizes), of(&m.devices, ofDevices), of(&report.reports, ofReports), of(&report.shipped, ofShipped)}
}

func kernelRow(k *kernels.Row) Row {
	us := 1e6 * k.Seconds
	ask := memwall.Request{}
	ask.Hardware, ask.Engine = k.Device, k.By
	if k.Ranks > 1 {
		ask.Hardware = fmt.Sprintf("%dx%s", k.Ranks, k.Device)
	}
	return Row{Set: "kernels", Line: k.Line, Source: k.Source, Kernel: kernelText(k), Ask: ask, Refused: k.Refused,
		Got: map[string]Value{k.Kind: {Text: unit.Fixed(us, 2), Mid: us}}}
}

// kernelText is a kernel in words: "fp8 · 128 × 4096 × 8192".
func kernelText(k *kernels.Row) string {
	if k.Kind == "allreduce" {
		return unit.Bytes(k.Size[0]).String()
	}
	var sizes []string
	for _, n := range k.Size {
		sizes = append(sizes, strconv.FormatInt(n, 10))
	}
	text := k.Format + " · " + strings.Join(sizes, " × ")
	if k.KV != "" && k.KV != k.Format {
		text += " · cache " + k.KV
	}
	return text
}
