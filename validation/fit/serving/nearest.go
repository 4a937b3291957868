package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/speed/serving"
)

// nearest lists the runs that answers may name as nearest: of each server with the fewest, the middle and the most users, the median of
// those that measured the same.
func (s *servingRows) nearest() ([]byte, error) {
	by := map[string][]serving.Measured{}
	for _, r := range s.rows {
		ms, ok := r.Got["tpot_ms"]
		if !r.fit || r.static || r.Ask.Disaggregated != nil || !ok {
			continue
		}
		m, err := r.asMeasured(ms.Mid / 1e3)
		if err != nil {
			return nil, err
		}
		server := m
		server.Load, server.PerToken = serving.Load{}, 0
		by[fmt.Sprint(server)] = append(by[fmt.Sprint(server)], m)
	}
	var lines []string
	for _, runs := range by {
		slices.SortFunc(runs, func(a, b serving.Measured) int {
			return cmp.Or(cmp.Compare(a.Users, b.Users), cmp.Compare(a.Prompt, b.Prompt), cmp.Compare(a.PerToken, b.PerToken))
		})
		for _, i := range []int{0, len(runs) / 2, len(runs) - 1} {
			if line := runs[i].Line(); !slices.Contains(lines, line) {
				lines = append(lines, line)
			}
		}
	}
	slices.Sort(lines)
	return []byte(serving.NearestHeader + strings.Join(lines, "")), nil
}

func (r *servingRow) asMeasured(perToken float64) (m serving.Measured, err error) {
	got, _, err := hardware.Parse(r.Ask.Hardware, 0)
	if err != nil {
		return m, err
	}
	return serving.Measured{Device: r.device, Engine: r.Ask.Engine, Model: r.Ask.Model, Weights: r.Ask.Weights,
		Devices: int64(got.Devices()),
		Load:    serving.Load{Users: r.load.Users, Prompt: r.load.Prompt, Output: r.load.Output}, Active: r.model.(joint).ActiveParams(),
		PerToken: perToken}, nil
}
