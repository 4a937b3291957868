package study

import (
	"strconv"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/hardware"
)

// names of a factor's levels as people know them; a level keeps its own where two would be called alike.
func (f *Factor) names() func(level int64) string {
	if f.count > 0 {
		return f.Level
	}
	all := make([]string, len(f.levels))
	taken := map[string]int{}
	for i := range f.levels {
		all[i] = called1(f.Name, f.levels[i].text)
		taken[all[i]]++
	}
	return func(i int64) string {
		if taken[all[i]] > 1 {
			return f.levels[i].text
		}
		return all[i]
	}
}

// called1 is the name of one level: models and hardware by their names, numbers and switches behind what they are.
func called1(factor, level string) string {
	switch factor {
	case "model":
		if m, err := (memwall.Catalog{}).Model(level); err == nil && m.Name != "" {
			return m.Name
		}
		return level
	case "hardware":
		return machine(level)
	}
	_, inner, ok := strings.Cut(factor, ".")
	if !ok {
		inner = factor
	}
	if ofItself(level) {
		return level
	}
	return inner + " " + level
}

// ofItself tells a level that says what it is, such as fp8, from a number or a switch.
func ofItself(level string) bool {
	return level != "" && level != "true" && level != "false" && !strings.ContainsAny(level[:1], "0123456789-+.[{")
}

// machine is hardware as people know it: 2 × L40S. Nodes keep the names that they are rented under.
func machine(text string) string {
	m, _, err := hardware.Parse(text, 0)
	if err != nil || m.Node != "" || len(m.Groups) == 0 {
		return text
	}
	var all []string
	for i := range m.Groups {
		g := &m.Groups[i]
		name := strings.TrimPrefix(g.Device.Name, "GeForce ")
		if g.Count > 1 {
			name = strconv.Itoa(g.Count) + " × " + name
		}
		all = append(all, name)
	}
	return strings.Join(all, " + ")
}
