package coef

import "maps"

// Shift moves an offset of a level.
type Shift struct {
	Coefficient, Level, Key string
	By                      Offset
}

// Shifted is the table with offsets moved by what a calibration found: the values add up, and what is not known
// of a sum is what the calibration says, because it took the table's doubt as its start. A level that had no
// offset gets one. The table itself stays as it is.
func (t *Table) Shifted(shifts []Shift) *Table {
	out := *t
	out.offsets = maps.Clone(t.offsets)
	for _, s := range shifts {
		k := term{s.Coefficient, s.Level, s.Key}
		old, _ := out.offset(k)
		out.put(k, Offset{Value: old.Value + s.By.Value, StdErr: s.By.StdErr, Rows: old.Rows + s.By.Rows})
	}
	return &out
}
