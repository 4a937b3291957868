package quant

import (
	"bufio"
	"encoding/json"
	"io"
	"math"
)

// Record is what is remembered of a tensor that was measured, so that work that was stopped goes on where it ended.
type Record struct {
	Tensor  string        `json:"tensor"`
	Kept    string        `json:"kept,omitempty"`
	Weighed bool          `json:"weighed,omitempty"`
	Survey  *Survey       `json:"survey,omitempty"`
	Tried   []RecordTried `json:"tried,omitempty"`
}

// RecordTried is one format of a Record.
type RecordTried struct {
	Format string `json:"format"`
	Tried
}

// Record of a tensor; nil for one that is measured in no time.
func (m *Measured) Record() *Record {
	if m.Survey == nil {
		return nil
	}
	s := *m.Survey
	s.Inputs, s.Sample = nil, nil
	r := &Record{Tensor: m.Name, Kept: m.Kept, Weighed: m.Weighed, Survey: &s}
	for _, t := range m.Tried {
		name := t.Format.Name
		t.Format = nil
		r.Tried = append(r.Tried, RecordTried{name, t})
	}
	if m.Kept != "" {
		r.Survey = &Survey{NaN: s.NaN, Inf: s.Inf} // sums of what is no number are none, and JSON has no word for them
	}
	return r
}

// Recorded are records by the names of their tensors.
type Recorded map[string]*Record

// maxRecord is the longest line that is read: a survey is a few kilobytes.
const maxRecord = 1 << 20

// ReadRecords reads records, one a line; what is none, such as a line that was cut off, is passed over.
func ReadRecords(r io.Reader) Recorded {
	out := Recorded{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxRecord)
	for lines.Scan() {
		x := &Record{}
		if json.Unmarshal(lines.Bytes(), x) == nil && x.Survey != nil {
			out[x.Tensor] = x
		}
	}
	return out
}

// Of a tensor: what would be measured again; nil when not all of the formats were tried on it.
func (r Recorded) Of(t *Tensor, formats []*Format, weighed Asks) *Measured {
	x := r[t.Name]
	if x == nil {
		return nil
	}
	m := &Measured{Tensor: t, Kept: x.Kept, Survey: x.Survey, Weighed: x.Weighed}
	if m.Kept != "" {
		return m
	}
	known := weighed
	if !x.Weighed {
		known = Nothing
	}
	for _, f := range formats {
		if !t.Takes(f) || f.Asks > known {
			continue
		}
		tried := x.tried(f)
		if tried == nil {
			return nil
		}
		m.Tried = append(m.Tried, *tried)
	}
	return m
}

func (r *Record) tried(f *Format) *Tried {
	for i := range r.Tried {
		if t := r.Tried[i].Tried; r.Tried[i].Format == f.Name && t.Error.Elements > 0 && !math.IsNaN(t.Error.Noise) {
			t.Format = f
			return &t
		}
	}
	return nil
}
