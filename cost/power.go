package cost

import (
	_ "embed"
	"math"
	"sync"

	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/speed/coef"
)

// Load is a device's mean utilization: the shares reached of its memory bandwidth and of the peak of the arithmetic in
// use.
type Load struct{ Memory, Compute float64 }

// Law returns the share of its power limit that a device draws:
//
//	x = idle + memory × Memory^memory_power + compute × Compute^compute_power
//	share = x / (1 + x^knee)^(1/knee)
//
// Logic draws power in proportion to its work; exponents below one stand for what runs whenever anything does. The
// second line is the limit: a device that would draw more lowers its clocks. c holds the coefficients of Uses, in
// order. Seven devices can only support shares of the limit, independent of a device's rates per watt: with energies
// per byte and per operation, the error on held-out devices depends on where they are centered. See
// docs/formulas.md#power.
func Law(c []float64, l Load) float64 {
	x := c[idle] + c[memory]*math.Pow(l.Memory, c[memoryPower]) + c[compute]*math.Pow(l.Compute, c[computePower])
	return x / math.Pow(1+math.Pow(x, c[knee]), 1/c[knee])
}

// Indexes of the coefficients.
const (
	idle = iota
	memory
	compute
	memoryPower
	computePower
	knee
	coefficients
)

var names = [coefficients]string{"idle", "memory", "compute", "memory_power", "compute_power", "knee"}

// Uses returns the coefficients of Law for a device.
func Uses(d *hardware.Device) []coef.Use {
	levels := []coef.Level{{Name: "all", Key: "all"}, {Name: "family", Key: d.Architecture}, {Name: "device", Key: d.ID}}
	out := make([]coef.Use, coefficients)
	for i, n := range names {
		out[i] = coef.Use{Name: n, Levels: levels}
	}
	return out
}

// Rows of the table for the bands of measured and of other devices. They rest on predictions for models or hardware
// left out of the fit.
const (
	Measured = "watts.measured"
	Unseen   = "watts.unseen"
)

//go:embed power.tsv
var powerTable []byte

var fitted = sync.OnceValue(func() *coef.Table {
	t, err := coef.Parse(powerTable)
	if err != nil {
		panic("cost/power.tsv: " + err.Error()) // embedded: a test parses it
	}
	return t
})

// Power is a device's power draw in watts, as its driver reports it: the board, without host, fans and losses.
type Power struct {
	Figure
	// On says how close the measurements behind it are: "device", "family", or "all" if only other families were
	// measured.
	On string
}

// Watts returns a device's power under a load, unknown if the catalog has no power limit for it. The fit uses
// validation/rows/power.
func Watts(d *hardware.Device, l Load) Power {
	if !d.TDP.Known || !(l.Memory >= 0) || !(l.Compute >= 0) {
		return Power{}
	}
	t := fitted()
	mid, variance := Predict(t, d, l)
	on := evidence(t, d)
	low, high := Band(t, on == "device", mid, variance)
	return Power{Figure{Mid: mid, Low: low, High: math.Max(mid, math.Min(high, float64(d.TDP.Value)))}, on}
}

// Band returns the band around the watts of a device, which is never narrower for unmeasured devices than for measured
// ones.
func Band(t *coef.Table, measured bool, mid, variance float64) (low, high float64) {
	s, _ := t.Spread(Measured)
	low, high = s.Band(mid, variance)
	if !measured {
		s, _ = t.Spread(Unseen)
		l, h := s.Band(mid, variance)
		low, high = math.Min(low, l), math.Max(high, h)
	}
	return low, high
}

// Predict returns the watts that a table predicts, and the variance of their logarithm due to the table's uncertainty.
func Predict(t *coef.Table, d *hardware.Device, l Load) (watts, variance float64) {
	l = Load{math.Min(1, l.Memory), math.Min(1, l.Compute)}
	var c, v [coefficients]float64
	for i, u := range Uses(d) {
		x := t.At(u)
		c[i], v[i] = x.Value, x.Var
	}
	share := Law(c[:], l)
	for i := range c {
		const step = 1e-4 // of a logarithm
		old := c[i]
		c[i] = old * math.Exp(step)
		slope := math.Log(Law(c[:], l)/share) / step
		c[i] = old
		variance += slope * slope * v[i]
	}
	return float64(d.TDP.Value) * share, variance
}

// evidence returns the closest level with measurements.
func evidence(t *coef.Table, d *hardware.Device) string {
	if _, ok := t.Offset(names[memory], "device", d.ID); ok {
		return "device"
	}
	if _, ok := t.Offset(names[memory], "family", d.Architecture); ok {
		return "family"
	}
	return "all"
}
