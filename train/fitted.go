package train

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"
)

// What no code of a framework says was fitted to measured runs (validation/fit/trainmem): what the allocator reserves beside
// allocated bytes, what the driver shows beside those, and how far figures were off.
//
//go:embed fitted.tsv
var fittedText string

// table holds the fitted coefficients.
type table struct {
	law     map[string]float64
	spreads map[string]spread
}

// spread relates a figure to the prediction: its ratio to what is allocated and cached, and the 90 % band of measured
// over predicted.
type spread struct{ ratio, low, high float64 }

// fitted parses the table once. An invalid line is a build error, which a test catches.
var fitted = sync.OnceValue(func() *table {
	t := &table{law: map[string]float64{}, spreads: map[string]spread{}}
	for _, line := range strings.Split(fittedText, "\n") {
		c := strings.Split(line, "\t")
		if len(c) != 6 || c[0] == "figure" {
			continue
		}
		n := func(i int) float64 { x, _ := strconv.ParseFloat(c[i], 64); return x }
		if c[0] == "law" {
			t.law[c[1]] = n(3)
			continue
		}
		t.spreads[c[0]+" "+c[1]] = spread{n(3), n(4), n(5)}
	}
	return t
})

// spread returns the spread of a figure under a framework, or over all frameworks if it has too few runs.
func (t *table) spread(figure, framework string) spread {
	if s, ok := t.spreads[figure+" "+framework]; ok {
		return s
	}
	return t.spreads[figure+" *"]
}

// around returns the band of a figure, limited to most unless the figure exceeds it.
func (s spread) around(mid, most float64) Estimate {
	return Estimate{mid, mid * min(1, s.low), max(mid, min(most, mid*max(1, s.high)))}
}

// cached returns the free blocks that the allocator retains from before the peak.
func (t *table) cached(d *Drivers) float64 {
	return t.law["logits"]*d.Logits + t.law["block"]*d.Block + t.law["gathered"]*d.Gathered + d.Pools
}

// outside returns what nvidia-smi shows beyond what torch reserves: the CUDA context and, with several ranks, NCCL's
// channels.
func (t *table) outside(d *Drivers) float64 {
	if d.Several {
		return (t.law["context"] + t.law["ranks"]) * gib
	}
	return t.law["context"] * gib
}
