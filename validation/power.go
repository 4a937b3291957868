package validation

import (
	"fmt"

	"github.com/memwall/memwall/cost"
	"github.com/memwall/memwall/hardware"
)

// PowerRun is a row of measured power with the work that drew it.
type PowerRun struct {
	Row    *Row
	Device *hardware.Device
	Load   cost.Load
	Watts  float64 // of one device, mean of the run, as its driver reads it
}

// Power reads the rows of measured power. Those that are not refused come with their load: what the run's own
// throughput says the device read and multiplied, so that the law of power is judged apart from that of speed.
func Power() (Set, []PowerRun, error) {
	s, err := readSet("power", "rows/power/runs.jsonl")
	if err != nil {
		return s, nil, err
	}
	var runs []PowerRun
	seen := works{}
	for i := range s.Rows {
		r := &s.Rows[i]
		if r.Refused != "" {
			continue
		}
		run, err := seen.run(r)
		if err != nil {
			r.Refused = err.Error()
			continue
		}
		runs = append(runs, run)
	}
	return s, runs, nil
}

func (w works) run(r *Row) (PowerRun, error) {
	m, _, err := hardware.Parse(r.Ask.Hardware, 0)
	if err != nil {
		return PowerRun{}, err
	}
	run := PowerRun{Row: r, Device: &m.Groups[0].Device, Watts: r.Got["device_watts"].Mid}
	if !(run.Watts > 0) {
		return run, fmt.Errorf("the row has no power of one device")
	}
	run.Load, err = w.load(r, run.Device)
	return run, err
}
