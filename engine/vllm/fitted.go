package vllm

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/unit"
)

// Constant is a figure that no source code determines, with its 90 % band, in GiB. validation/fit fits the table to
// public logs; constants with too few rows are assumed, in rules.go.
type Constant struct {
	Name             string
	Value, Low, High float64
	Rows             int // number it was fitted to; 0 if assumed
}

//go:embed fitted.tsv
var fittedTable string

var fitted = sync.OnceValue(func() map[string]Constant {
	out := map[string]Constant{}
	for _, line := range strings.Split(strings.TrimSpace(fittedTable), "\n")[1:] {
		c, err := parseConstant(line)
		if err != nil {
			panic("engine/vllm/fitted.tsv: " + err.Error()) // embedded: a test parses it
		}
		out[c.Name] = c
	}
	return out
})

func parseConstant(line string) (c Constant, err error) {
	cells := strings.Split(line, "\t")
	if len(cells) != 5 {
		return c, fmt.Errorf("%q has %d cells, not 5", line, len(cells))
	}
	c.Name = cells[0]
	for i, dst := range []*float64{&c.Value, &c.Low, &c.High} {
		if *dst, err = strconv.ParseFloat(cells[i+1], 64); err != nil {
			return c, err
		}
	}
	c.Rows, err = strconv.Atoi(cells[4])
	return c, err
}

// or is the fitted constant of the name, or this assumption where there is none.
func (c Constant) or() Constant {
	if f, ok := fitted()[c.Name]; ok {
		return f
	}
	return c
}

func (c Constant) basis() ledger.Basis {
	if c.Rows > 0 {
		return ledger.Measured
	}
	return ledger.Assumed
}

func (c Constant) source() string {
	if c.Rows > 0 {
		return fmt.Sprintf("%s: fitted to %d start-up logs", c.Name, c.Rows)
	}
	return c.Name + ": no log in the rows measures it; one of such a plan replaces this (memwall compare)"
}

// band of so many times the constant.
func (c Constant) band(times float64) (low, high unit.Bytes) {
	return gib(c.Low * times), gib(c.High * times)
}

func gib(x float64) unit.Bytes { return unit.Bytes(x * float64(unit.GiB)) }

// Fitted returns the constant from the table, or else the assumption.
func (c Constant) Fitted() Constant { return c.or() }

// Constants returns those that a plan's pool depends on, as assumed in rules.go: of memory outside torch, and on ROCm
// of loading.
func Constants(v engine.Version, d *hardware.Device, tp, pp int64) []Constant {
	t := traitsOf(d)
	outside, _ := outsideTorch(v, t, tp, pp)
	if t.rocm {
		return []Constant{outside, rocmLoading}
	}
	return []Constant{outside}
}

// AssumedOutside returns the assumed value of a constant of memory outside torch; false for other names.
func AssumedOutside(name string) (Constant, bool) {
	for _, rule := range nonTorch {
		for _, c := range []Constant{rule.Value.one, rule.Value.many, rule.Value.nvls} {
			if c.Name == name {
				return c, true
			}
		}
	}
	return Constant{}, false
}

// Loading returns the constant of ROCm's loading, in GiB.
func Loading() float64 { return rocmLoading.or().Value }

// Graphs returns the constant of a plan's graphs, per piece or in total.
func Graphs(v engine.Version, d *hardware.Device) Constant {
	t := traitsOf(d)
	if c, ok := allGraphs(v, &t); ok {
		return c
	}
	return graphPiece(&t)
}

// Estimated returns the assumed constant per piece of vLLM's graph estimate, for a tensor parallel group of a machine
// and a model with or without latent attention, and that of the first graph, in GiB.
func Estimated(m *hardware.Machine, tp int64, latent bool) (piece Constant, first float64) {
	return estimatedPiece(m, tp, latent), firstGraph.Value
}
