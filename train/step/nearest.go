package step

import (
	_ "embed"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"

	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/stat"
	"github.com/memwall/memwall/unit"
)

// Measured is a published run.
type Measured struct {
	Device, Framework, Model, Method string
	Devices, Sequence, Active        int64   // Active are the parameters that a token goes through
	Rate                             float64 // tokens a second of a device
}

//go:embed nearest.tsv
var nearest string

// NearestHeader is the first line of nearest.tsv, which go run ./validation/fit/training writes.
const NearestHeader = "device\tframework\tmodel\tmethod\tdevices\tsequence\tactive\ttokens_per_s_per_device\n"

// Line of nearest.tsv.
func (r *Measured) Line() string {
	return fmt.Sprintf("%s\t%s\t%s\t%s\t%d\t%d\t%d\t%.6g\n", r.Device, r.Framework, r.Model, r.Method, r.Devices, r.Sequence, r.Active, r.Rate)
}

// String names a run and what it reached: "128 × h100-sxm-80gb, torchtitan, llama-3-8b, full, of 8,192 tokens: 6,662 tok/s of a device".
func (r *Measured) String() string {
	on := r.Device
	if r.Devices > 1 {
		on = fmt.Sprintf("%d × %s", r.Devices, r.Device)
	}
	return fmt.Sprintf("%s, %s, %s, %s, of %s tokens: %s tok/s of a device", on, r.Framework, r.Model, r.Method, unit.Count(r.Sequence), unit.Count(int64(math.Round(r.Rate))))
}

var listed = sync.OnceValue(func() (out []Measured) {
	for line := range strings.Lines(strings.TrimPrefix(nearest, NearestHeader)) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		r := Measured{Device: f[0], Framework: f[1], Model: f[2], Method: f[3]}
		for i, to := range []*int64{&r.Devices, &r.Sequence, &r.Active} {
			*to, _ = strconv.ParseInt(f[4+i], 10, 64) // a table of our own: a test reads it
		}
		r.Rate, _ = strconv.ParseFloat(f[7], 64)
		out = append(out, r)
	}
	return out
})

// Nearest are the n published runs that are most like this one, the nearest first.
func (p *Predictor) Nearest(n int) []Measured {
	return stat.Nearest(listed(), n, p.distance)
}

// ActiveParams are the parameters that a token goes through.
func (m *Model) ActiveParams() int64 { return m.in.Model.ActiveParams() }

// distance to a run orders what is shown and enters no figure: another family of devices counts as a size of 16 times, another device of
// the family, framework or method as one of four times, numbers of devices and lengths little.
func (p *Predictor) distance(r *Measured) (far float64) {
	if r.Device != p.device.ID {
		far += 2
		if d := hardware.ByID(r.Device); d == nil || Family(d) != Family(p.device) {
			far += 2
		}
	}
	name, _ := p.framework()
	if r.Framework != name {
		far += 2
	}
	if r.Method != p.in.Training.Method {
		far += 2
	}
	if r.Model != p.in.Model.ID {
		far += 0.5 + stat.Doublings(r.Active, p.ActiveParams())
	}
	return far + stat.Doublings(r.Devices, p.groups.devices)/4 + stat.Doublings(r.Sequence, p.groups.sequence)/4
}
