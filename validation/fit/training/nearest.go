package main

import (
	"slices"
	"strings"

	"github.com/memwall/memwall/train/step"
)

// nearest lists the runs that answers may name as nearest: of each model on a number of devices with a framework the fastest.
func nearest(rows []row) []byte {
	by := map[step.Measured]float64{}
	for i := range rows {
		r := &rows[i]
		name, _, _ := strings.Cut(r.Training.Framework, "@")
		m := step.Measured{Device: r.Device, Framework: name, Model: r.Model, Method: r.Training.Method, Devices: int64(r.Count),
			Sequence: int64(r.Training.SequenceLength), Active: r.model.ActiveParams()}
		by[m] = max(by[m], r.Rate)
	}
	var lines []string
	for m, rate := range by {
		m.Rate = rate
		lines = append(lines, m.Line())
	}
	slices.Sort(lines)
	return []byte(step.NearestHeader + strings.Join(lines, ""))
}
