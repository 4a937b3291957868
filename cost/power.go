package cost

import (
	_ "embed"
	"math"
	"sync"

	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/speed/coef"
)

// Load is how hard a device works, as a mean over time: the share of its memory rate that is reached, and of
// the peak of the arithmetic in use.
type Load struct{ Memory, Compute float64 }

// Law is the share of its power limit that a device draws:
//
//	x = idle + memory × Memory^memory_power + compute × Compute^compute_power
//	share = x / (1 + x^knee)^(1/knee)
//
// Logic draws in proportion to its work; exponents below one stand for what runs whenever anything does. The
// second line is the limit: a device that would draw more lowers its clocks. c holds the coefficients of Uses
// in their order. That shares are of the limit, whatever the device's rates for each watt, is all that seven
// devices can tell: with energies of a byte and of an operation the error on devices left out depends on where
// they are centred. docs/formulas.md#power
func Law(c []float64, l Load) float64 {
	x := c[idle] + c[memory]*math.Pow(l.Memory, c[memoryPower]) + c[compute]*math.Pow(l.Compute, c[computePower])
	return x / math.Pow(1+math.Pow(x, c[knee]), 1/c[knee])
}

// Places of the coefficients.
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

// Uses are the coefficients of Law on a device.
func Uses(d *hardware.Device) []coef.Use {
	levels := []coef.Level{{Name: "all", Key: "all"}, {Name: "family", Key: d.Architecture}, {Name: "device", Key: d.ID}}
	out := make([]coef.Use, coefficients)
	for i, n := range names {
		out[i] = coef.Use{Name: n, Levels: levels}
	}
	return out
}

// Bands of the table: of devices that were measured, and of others. They rest on rows whose model, or whose
// hardware, the fit had not seen.
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

// Power is what a device draws, in watts as its driver reads them: the board, without host, fans and losses.
type Power struct {
	Figure
	// On is what measurements are behind it: "device", "family", or "all" when only other families were measured.
	On string
}

// Watts of a device under a load, unknown where the catalog has no power limit of the device. What the fit knows
// is that of validation/rows/power.
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

// Band around watts of a device that was measured, or of another: that is not known better than the first.
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

// Predict gives the watts that a table says, and the variance of their logarithm that comes from what the table
// does not know.
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

// evidence is the nearest level with measurements.
func evidence(t *coef.Table, d *hardware.Device) string {
	if _, ok := t.Offset(names[memory], "device", d.ID); ok {
		return "device"
	}
	if _, ok := t.Offset(names[memory], "family", d.Architecture); ok {
		return "family"
	}
	return "all"
}
