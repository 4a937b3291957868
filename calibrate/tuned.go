package calibrate

import (
	"github.com/memwall/memwall"
	"github.com/memwall/memwall/speed/coef"
	"github.com/memwall/memwall/speed/stream"
)

// Tuned is a profile with the tables that it changes, for a memwall.Asker.
type Tuned struct {
	profile *Profile
	tables  map[string]*coef.Table
}

var _ memwall.Calibration = (*Tuned)(nil)

// Tune prepares the tables.
func (p *Profile) Tune() (*Tuned, error) {
	table, err := stream.Fitted()
	if err != nil {
		return nil, err
	}
	return &Tuned{p, map[string]*coef.Table{memwall.StreamTable: p.Apply(memwall.StreamTable, table)}}, nil
}

// Table with the machine's own offsets, where the profile has some of the device; else nil.
func (t *Tuned) Table(name, device string) *coef.Table {
	if !t.profile.Of(name, device) {
		return nil
	}
	return t.tables[name]
}
