package plan

import (
	"strconv"
	"strings"
)

// ThawedForms are the ways in which trained_layers is written.
const ThawedForms = "last:2, first:2 or spread:4"

// Layers that train of a model's so many, by trained_layers: the last or the first so many, or so many spread evenly; nil where all
// do. ok is false where the text says none of these, more layers than there are, or a number that they do not divide into.
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
