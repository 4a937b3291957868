package main

import (
	"slices"
	"strings"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/speed/serving"
)

// combinations counts the runs that were fitted by what they have in common: device, engine and era, layout.
func (s *servingRows) combinations() []byte {
	n := map[serving.Combination]int{}
	for _, r := range s.rows {
		if !r.fit {
			continue
		}
		name, text, _ := strings.Cut(r.Ask.Engine, "@")
		v, err := engine.ParseVersion(text)
		if err != nil {
			v = engine.Version{}
		}
		n[serving.CombinationOf(r.device, name, v, &r.Ask.Plan)]++
	}
	var lines []string
	for c, runs := range n {
		lines = append(lines, c.Line(runs))
	}
	slices.Sort(lines)
	return []byte(serving.RunsHeader + strings.Join(lines, ""))
}
