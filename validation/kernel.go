package validation

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/unit"
	"github.com/memwall/memwall/validation/kernels"
	"github.com/memwall/memwall/validation/packed"
)

// Predictions of each kernel by coefficients that were fitted without it: without any kernel of its device, and
// without any of about its size; and what the datasheet allows. The fit (validation/fit/serving -study) writes them,
// in microseconds.
const kernelFolds packed.File = "rows/kernel-folds.tsv"

// Columns of kernelFolds.
const (
	ofDevices   = 0
	ofSizes     = 1
	ofDatasheet = 2
	kernelCols  = 3
)

// kernelMeasures are the measures of a kind of kernel. The coefficients of each comparison never saw the row.
type kernelMeasures struct{ sizes, devices Measure }

var kernelKinds = map[string]*kernelMeasures{
	"gemm":      kernelsOf("products", "microseconds of a matrix product"),
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

// KernelMeasures in the order of the report.
var KernelMeasures = []*Measure{
	&kernelKinds["gemm"].sizes, &kernelKinds["gemm"].devices, &kernelKinds["prefill"].sizes, &kernelKinds["prefill"].devices,
	&kernelKinds["decode"].sizes, &kernelKinds["decode"].devices, &kernelKinds["allreduce"].sizes, &kernelKinds["allreduce"].devices,
}

// kernelRefit says why a kernel has no prediction.
const kernelRefit = "no law is for a product in this format"

// CompareKernels puts the stored predictions beside the rows of validation/kernels.
func CompareKernels() (Set, []Comparison, error) {
	f, err := readFolds(kernelFolds, kernelCols)
	if err != nil {
		return Set{}, nil, err
	}
	rows, err := kernels.Load()
	if err != nil {
		return Set{}, nil, err
	}
	set := Set{Name: "kernels", File: "../kernels/rows.tsv", About: "kernels that were timed alone: matrix products, attention, all-reduces", Rows: make([]Row, len(rows))}
	var out []Comparison
	for i := range rows {
		k := &rows[i]
		set.Rows[i] = kernelRow(k)
		out = append(out, f.kernel(k.Kind, &set.Rows[i])...)
	}
	return set, out, nil
}

func (f folds) kernel(kind string, row *Row) []Comparison {
	c := Comparison{Row: row, Figure: kind, Measured: row.Got[kind]}
	if x, ok := f[row.Line]; ok {
		c.Naive = x[ofDatasheet]
	}
	of := func(m *Measure, column int) Comparison {
		c.Measure = m
		return f.compare(c, column, kernelRefit)
	}
	m := kernelKinds[kind]
	return []Comparison{of(&m.sizes, ofSizes), of(&m.devices, ofDevices)}
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
