package coef

import "maps"

// Shifted is the table with an offset moved by what a calibration found: the values add up, and what is not
// known of the sum is what the calibration says, because it took the table's doubt as its start. A level that
// had none gets one. The table itself stays as it is.
func (t *Table) Shifted(name, level, key string, by Offset) *Table {
	out := *t
	out.offsets = maps.Clone(t.offsets)
	k := term{name, level, key}
	old := out.offsets[k]
	out.offsets[k] = Offset{Value: old.Value + by.Value, StdErr: by.StdErr, Rows: old.Rows + by.Rows}
	return &out
}
