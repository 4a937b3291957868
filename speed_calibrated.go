package memwall

import (
	"github.com/memwall/memwall/speed/coef"
	"github.com/memwall/memwall/speed/stream"
)

// Calibration is what benchmarks of the user's own machines taught. Package calibrate makes one.
type Calibration interface {
	// Table gives the table of a name with what is known of a device of one's own; nil where nothing is. The
	// device is named as the table's keys are: "cuda/rtx-3090".
	Table(name, device string) *coef.Table
}

// StreamTable is the name of the coefficients of single streams.
const StreamTable = "stream"

// streamTable is that table, tuned where the asker has measured a device of the plan.
func (q *question) streamTable(v *Speed, stages []stream.Stage) (*coef.Table, error) {
	if c := q.asker.Calibration; c != nil {
		for i := range stages {
			if t := c.Table(StreamTable, stages[i].Key()); t != nil {
				v.RestsOn = "figures of one of your own: memwall calibrate"
				q.job.Note("calibrated", "info", "hardware", "speeds of %s rest on %s", stages[i].Device.Name, v.RestsOn)
				return t, nil
			}
		}
	}
	return stream.Fitted()
}

// source of the figures of time, and what they rest on beside the law.
func (v *Speed) source() string {
	const law = "docs/formulas.md#speed"
	if v == nil || v.RestsOn == "" {
		return law
	}
	return law + ", " + v.RestsOn
}
