package cost

import (
	"math"

	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/speed"
)

// Drawing returns Law as a formula for the watts of a device, with the table's coefficients; false if Watts is unknown.
func Drawing(d *hardware.Device, l Load) (speed.Formula, bool) {
	if !Watts(d, l).Known() {
		return speed.Formula{}, false
	}
	t, f := fitted(), speed.Formula{}
	in := func(name string, v float64, origin string) string {
		f.Inputs = append(f.Inputs, speed.Term{Name: name, Value: v, Origin: origin})
		return name
	}
	limit := in("limit", float64(d.TDP.Value), "watts, "+d.Name)
	var c [coefficients]string
	for i, u := range Uses(d) {
		c[i] = in(names[i], speed.SixDigits(t.At(u).Value), "fitted: share of the limit")
	}
	reads := in("memory_share", math.Min(1, l.Memory), "of the memory's rate")
	computes := in("compute_share", math.Min(1, l.Compute), "of the peak")
	x := c[idle] + " + " + c[memory] + " × pow(" + reads + ", " + c[memoryPower] + ") + "
	x += c[compute] + " × pow(" + computes + ", " + c[computePower] + ")"
	f.Text = limit + " × pow(1 + pow(" + x + ", 0 - " + c[knee] + "), 0 - 1 / " + c[knee] + ")" // Law, written with x once
	return f, true
}
