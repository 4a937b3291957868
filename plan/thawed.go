package plan

import (
	"strconv"
	"strings"
)

// ThawedForms shows how trained_layers may be written.
const ThawedForms = "last:2, first:2 or spread:4"

// Layers returns which of a model's layers are trained according to trained_layers: the first or last few, or some
// spread evenly. It returns nil if all are. ok is false if the text has none of these forms, asks for more layers than
// there are, or for a number that does not divide them.
func (t *Training) Layers(of int64) (trained []bool, ok bool) {
	if t.Thawed == "" {
		return nil, true
	}
	how, count, _ := strings.Cut(t.Thawed, ":")
	n, err := strconv.ParseInt(count, 10, 64)
	if err != nil || n < 1 || n > of {
		return nil, false
	}
	chosen, known := map[string]func(i int64) bool{
		"last":   func(i int64) bool { return i >= of-n },
		"first":  func(i int64) bool { return i < n },
		"spread": func(i int64) bool { return (i+1)%(of/n) == 0 },
	}[how]
	if !known || how == "spread" && of%n != 0 {
		return nil, false
	}
	trained = make([]bool, of)
	for i := range trained {
		trained[i] = chosen(int64(i))
	}
	return trained, true
}
