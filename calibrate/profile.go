package calibrate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/memwall/memwall/speed/coef"
)

// Schema identifies the format of a profile.
const Schema = "memwall/calibration/1"

// Profile is the result of a calibration, for use in later runs.
type Profile struct {
	Schema  string   `json:"schema"`
	Offsets []Offset `json:"offsets"`
	// Own describes figures of which the machine has several, with their agreement.
	Own []Own `json:"own,omitempty"`
	// Observations is the number of figures it is based on.
	Observations int `json:"observations"`
	// Before and After are median errors, as fractions: of the table alone, and cross-validated with the calibration.
	Before *float64 `json:"error_before"`
	After  *float64 `json:"error_left_out"`
}

// Offset is added to the logarithm of a device's coefficient.
type Offset struct {
	Table       string  `json:"table"`
	Coefficient string  `json:"coefficient"`
	Key         string  `json:"key"` // of the device, as in the table
	Value       float64 `json:"value"`
	StdErr      float64 `json:"stderr"`
	Rows        int     `json:"rows"`
}

// effect returns the offset as a factor.
func (o Offset) effect() Effect {
	f := math.Exp(o.Value)
	return Effect{o, f, f * o.StdErr}
}

// Limits of a profile.
const (
	maxProfile = 1 << 20
	maxOffsets = 2000
	maxOffset  = 5.0
)

// Write returns the profile's file content.
func (p *Profile) Write() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	err := e.Encode(p)
	return b.Bytes(), err
}

// ReadProfile parses what Write returned. The error says what is wrong.
func ReadProfile(data []byte) (*Profile, error) {
	if len(data) > maxProfile {
		return nil, errors.New("a calibration has no more than 1 MiB")
	}
	var p Profile
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return nil, fmt.Errorf("is not a calibration: %w", err)
	}
	switch {
	case d.More():
		return nil, errors.New("goes on behind the calibration")
	case p.Schema != Schema:
		return nil, fmt.Errorf("has the schema %q, and %s is read", clip(p.Schema), Schema)
	case len(p.Offsets)+len(p.Own) > maxOffsets:
		return nil, fmt.Errorf("has %d offsets, more than %d", len(p.Offsets)+len(p.Own), maxOffsets)
	}
	for i := range p.Own {
		if err := p.Own[i].check(); err != nil {
			return nil, fmt.Errorf("figure %d of its own: %w", i+1, err)
		}
	}
	for i := range p.Offsets {
		if err := p.Offsets[i].check(); err != nil {
			return nil, fmt.Errorf("offset %d: %w", i+1, err)
		}
	}
	return &p, nil
}

func (o *Offset) check() error {
	switch {
	case o.Table == "" || o.Coefficient == "" || o.Key == "" || len(o.Table)+len(o.Coefficient)+len(o.Key) > maxWord:
		return errors.New("table, coefficient and key name it")
	case !(math.Abs(o.Value) <= maxOffset):
		return fmt.Errorf("value %g is not an offset", o.Value)
	case !(o.StdErr >= 0 && o.StdErr <= maxOffset):
		return fmt.Errorf("stderr %g is none", o.StdErr)
	}
	return nil
}

// Apply returns a copy of a table with the profile's offsets applied.
func (p *Profile) Apply(name string, t *coef.Table) *coef.Table {
	var shifts []coef.Shift
	for _, o := range p.Offsets {
		if o.Table == name {
			shifts = append(shifts, coef.Shift{Coefficient: o.Coefficient, Level: deviceLevel, Key: o.Key,
				By: coef.Offset{Value: o.Value, StdErr: o.StdErr, Rows: o.Rows}})
		}
	}
	own := map[string]float64{}
	for _, o := range p.Own {
		if o.Table == name {
			own[o.Figure] = o.Variance
		}
	}
	return t.Shifted(shifts).WithOwn(own)
}

// Of reports whether the profile has offsets for a device in a table.
func (p *Profile) Of(table, key string) bool {
	for _, o := range p.Offsets {
		if o.Table == table && o.Key == key {
			return true
		}
	}
	return false
}

// KeepOwn adds an older profile's offsets for devices not in this one, and returns their number.
func (p *Profile) KeepOwn(old *Profile) (kept int) {
	var more []Offset
	for _, o := range old.Offsets {
		if !p.Of(o.Table, o.Key) {
			more = append(more, o)
		}
	}
	for _, o := range old.Own {
		if !p.Of(o.Table, o.Key) {
			p.Own = append(p.Own, o)
		}
	}
	p.Offsets = append(p.Offsets, more...)
	return len(more)
}
