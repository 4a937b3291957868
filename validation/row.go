package validation

import (
	"bufio"
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/validation/packed"
)

// static are rows that only fits read: a program that asks for none of them does not carry them.
//
//go:embed rows/batches/static.jsonl
var static []byte

// Set is one collection of measurements.
type Set struct {
	Name  string
	About string
	Rows  []Row
	// File is where the rows lie, below rows; "" is the name as JSON lines.
	File string
}

func (s *Set) file() string { return cmp.Or(s.File, s.Name+".jsonl") }

// Row is a measurement: the question that asks for it, and the figures that were measured.
type Row struct {
	Set    string
	Line   int
	Source string
	Ask    memwall.Request
	Got    map[string]Value
	// Fit: constants were fitted to this row, so it says nothing about rows unseen.
	Fit bool
	// Requests is how many were sent in all; 0 where the report does not say. Alike: all had the same lengths.
	Requests int64
	Alike    bool
	// Kernel is what was timed alone, where the row is of no model.
	Kernel string
	// Refused says why the row cannot be used.
	Refused string
	Note    string
}

// Name is where the row stands: "vllm-logs:12".
func (r *Row) Name() string { return fmt.Sprintf("%s:%d", r.Set, r.Line) }

// line is a row as it is written. The first line of a file is its header: about, and what all rows share.
type line struct {
	About    string           `json:"about"`
	Source   string           `json:"source"`
	Ask      json.RawMessage  `json:"ask"`
	Got      map[string]Value `json:"got"`
	Fit      bool             `json:"fit"`
	Refused  string           `json:"refused"`
	Note     string           `json:"note"`
	Requests int64            `json:"requests"`
	Alike    bool             `json:"alike"`
}

// Load reads the embedded sets whose questions are asked.
func Load() ([]Set, error) { return load("rows/*.jsonl") }

// Batches reads the sets "static" and "throughput", of runs that no question asks for: batches that start and end
// together, whose errors are in speed/serving/leftout.tsv, and as many users as a server takes (throughput.go).
func Batches() ([]Set, error) {
	alone, err := parse("static", static)
	if err != nil {
		return nil, err
	}
	most, err := throughputs()
	return []Set{alone, most}, err
}

func load(pattern string) ([]Set, error) {
	files, err := packed.Glob(pattern)
	if err != nil {
		return nil, err
	}
	var sets []Set
	for _, f := range files {
		s, err := readSet(strings.TrimSuffix(f.Name(), ".jsonl"), f)
		if err != nil {
			return nil, err
		}
		sets = append(sets, s)
	}
	return sets, nil
}

func readSet(name string, file packed.File) (Set, error) {
	data, err := file.Read()
	if err != nil {
		return Set{}, err
	}
	return parse(name, data)
}

func parse(name string, data []byte) (Set, error) {
	s := Set{Name: name}
	var header line
	scan := bufio.NewScanner(bytes.NewReader(data))
	scan.Buffer(nil, 1<<20)
	for n := 1; scan.Scan(); n++ {
		var l line
		d := json.NewDecoder(bytes.NewReader(scan.Bytes()))
		d.DisallowUnknownFields()
		if err := d.Decode(&l); err != nil {
			return s, fmt.Errorf("%s, line %d: %w", name, n, err)
		}
		if n == 1 {
			header, s.About = l, l.About
			continue
		}
		r, err := l.row(&header)
		if err != nil {
			return s, fmt.Errorf("%s, line %d: %w", name, n, err)
		}
		r.Set, r.Line = name, n
		s.Rows = append(s.Rows, r)
	}
	return s, scan.Err()
}

func (l *line) row(header *line) (Row, error) {
	r := Row{Source: l.Source, Got: l.Got, Fit: l.Fit, Refused: l.Refused, Note: l.Note, Requests: l.Requests, Alike: l.Alike}
	if r.Source == "" {
		r.Source = header.Source
	}
	if l.Ask == nil {
		return r, nil
	}
	ask, err := memwall.Decode(merge(header.Ask, l.Ask))
	if err != nil {
		return r, err
	}
	if ask.Ask != "sim" {
		ask.Ask = "fit"
	}
	r.Ask = *ask
	return r, nil
}

// merge joins two JSON objects; the fields of b win.
func merge(a, b json.RawMessage) json.RawMessage {
	if a == nil {
		return b
	}
	all := map[string]json.RawMessage{}
	for _, x := range []json.RawMessage{a, b} {
		if json.Unmarshal(x, &all) != nil {
			return b
		}
	}
	out, err := json.Marshal(all)
	if err != nil {
		return b
	}
	return out
}
