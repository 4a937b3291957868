package calibrate

import (
	"github.com/memwall/memwall"
	"github.com/memwall/memwall/speed/coef"
	"github.com/memwall/memwall/speed/serving"
	"github.com/memwall/memwall/speed/stream"
)

// Tuned is a profile with the tables it adjusts, for a memwall.Asker.
type Tuned struct {
	profile *Profile
	tables  map[string]*coef.Table
}

var _ memwall.Calibration = (*Tuned)(nil)

// Tune prepares the tables.
func (p *Profile) Tune() (*Tuned, error) {
	t := &Tuned{p, map[string]*coef.Table{}}
	for name, fitted := range map[string]func() (*coef.Table, error){memwall.StreamTable: stream.Fitted,
		memwall.ServingTable: serving.Fitted} {
		table, err := fitted()
		if err != nil {
			return nil, err
		}
		t.tables[name] = p.Apply(name, table)
	}
	return t, nil
}

// Table returns the table with the machine's own offsets if the profile has any for the device, else nil.
func (t *Tuned) Table(name, device string) *coef.Table {
	if !t.profile.Of(name, device) {
		return nil
	}
	return t.tables[name]
}
