package quant

import (
	"bufio"
	"encoding/json"
	"io"
	"math"
)

// Record is the stored measurement of a tensor, to resume interrupted work.
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

// Record returns the record of a tensor; nil if it is trivial to measure.
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
		r.Survey = &Survey{NaN: s.NaN, Inf: s.Inf} // sums of what is not a number are none, and JSON has no word for them
	}
	return r
}

// Recorded maps tensor names to records.
type Recorded map[string]*Record

// maxRecord is the maximum length of a line: a survey is a few kilobytes.
const maxRecord = 1 << 20

// ReadRecords reads records, one per line; invalid lines, such as a truncated one, are skipped.
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

// Of returns the recorded measurement of a tensor; nil if not all of the formats were tried on it.
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
