package stream

import (
	"cmp"
	_ "embed"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"

	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/stat"
)

// Measurement is a measurement of a single stream: output tokens per second with an empty context.
type Measurement struct {
	Model, Weights, Device, Backend, Engine, Built string
	Rate                                           float64
}

// measuredColumns of measured.tsv, which validation/fit/stream writes with -measured.
const measuredColumns = 7

//go:embed measured.tsv
var measuredText string

// Measured returns the measurements behind the table, one per model, format, device, backend, engine and month.
var Measured = sync.OnceValue(func() (out []Measurement) {
	for _, line := range strings.Split(strings.TrimSpace(measuredText), "\n") {
		c := strings.Split(line, "\t")
		if len(c) != measuredColumns {
			continue
		}
		rate, err := strconv.ParseFloat(c[6], 64)
		if err != nil {
			continue
		}
		out = append(out, Measurement{c[0], c[1], c[2], c[3], c[4], c[5], rate})
	}
	return out
})

// String is the measurement as a line of text.
func (m *Measurement) String() string {
	device := m.Device
	if d := hardware.ByID(m.Device); d != nil {
		device = d.Name
	}
	return fmt.Sprintf("%s, %s on %s, %s, %s %s: %s tok/s measured", device, m.Engine, m.Backend, cmp.Or(m.Built, "no date"), m.Model, m.Weights, strconv.FormatFloat(m.Rate, 'g', 3, 64))
}

// Nearest are the measurements that tell most of a prediction, at most so many: of the same device, else of its family,
// and then of the same engine, model and format.
func (p *Predictor) Nearest(n int) []Measurement {
	return stat.Nearest(Measured(), n, p.distance)
}

// distance weighs what a measurement has otherwise than the prediction: the device before the engine, the back end before the
// model, the model before its format. One of another family of devices tells nothing: it is infinitely far.
func (p *Predictor) distance(m *Measurement) (far float64) {
	s := &p.stages[0]
	if m.Device != s.Device.ID {
		d := hardware.ByID(m.Device)
		if d == nil || Family(d) != s.family {
			return math.Inf(1)
		}
		far += 8
	}
	for _, x := range []struct {
		same bool
		by   float64
	}{{m.Engine == p.in.Engine, 4}, {m.Backend == s.Backend, 3}, {p.in.Model != nil && m.Model == p.in.Model.ID, 1}, {p.in.Weights != nil && m.Weights == p.in.Weights.Name, 1}} {
		if !x.same {
			far += x.by
		}
	}
	return far
}
