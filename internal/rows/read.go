package rows

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/calibrate"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/safe"
)

// Bounds on what is read.
const (
	MaxBytes    = 16 << 20 // of a file of rows
	maxRow      = 64 << 10
	maxRows     = 100_000
	maxFigures  = 400
	maxWord     = 200
	maxMeasured = 1e15
)

// Error describes which row of a file is rejected, why, and how to fix it.
type Error struct {
	At, Field, Value, Why, Fix string
}

func (e *Error) Error() string {
	at := e.At
	if e.Field != "" {
		at += ": " + e.Field
		if e.Value != "" {
			at += fmt.Sprintf(" = %q", e.Value)
		}
	}
	return at + " " + e.Why
}

// Is reports whether a file holds rows, and not the result of a benchmark.
func Is(data []byte) bool {
	head, _, _ := bytes.Cut(bytes.TrimSpace(data), []byte("\n"))
	return bytes.Contains(data[:min(len(data), maxRow)], []byte(`"memwall/row/`)) && len(head) > 0 && head[0] == '{'
}

// Read reads rows: one, or one a line. The first that cannot be is an *Error, so that a file is taken whole or not at all.
func Read(data []byte) ([]*Row, error) {
	if len(data) > MaxBytes {
		return nil, &Error{At: "the file", Why: fmt.Sprintf("has more than %d MiB", MaxBytes>>20), Fix: "split it"}
	}
	d := json.NewDecoder(bytes.NewReader(data))
	var out []*Row
	for d.More() {
		at := fmt.Sprintf("row %d", len(out)+1)
		if len(out) == maxRows {
			return nil, &Error{At: at, Why: fmt.Sprintf("is more than the %d that a file may have", maxRows), Fix: "split it"}
		}
		var one json.RawMessage
		if err := d.Decode(&one); err != nil {
			return nil, &Error{At: at, Why: "is not JSON: " + err.Error(),
				Fix: "one JSON object a line, as memwall compare --share writes it"}
		}
		r, err := parse(at, one)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	if len(out) == 0 {
		return nil, &Error{At: "the file", Why: "holds no row", Fix: "memwall compare LOG --share writes one"}
	}
	return out, nil
}

// parse reads a row and checks all of it.
func parse(at string, data []byte) (*Row, error) {
	if len(data) > maxRow {
		return nil, &Error{At: at, Why: fmt.Sprintf("has more than %d KiB", maxRow>>10), Fix: "a row is of one run"}
	}
	var is struct {
		Schema string `json:"schema"`
	}
	if err := json.Unmarshal(data, &is); err != nil {
		return nil, &Error{At: at, Why: "is not a row: " + plain(err.Error()), Fix: "memwall compare LOG --share writes one"}
	}
	if err := known(at, is.Schema); err != nil {
		return nil, err
	}
	r := &Row{}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(r); err != nil {
		return nil, &Error{At: at, Why: "cannot be read: " + plain(err.Error()),
			Fix: "fields of a row are those that memwall compare --share writes"}
	}
	err := r.check(at)
	return r, err
}

// known refuses rows of other schemas; those of a newer one say what to do.
func known(at, schema string) error {
	if schema == Schema {
		return nil
	}
	e := &Error{At: at, Field: "schema", Value: clip(schema), Why: "is not read here: " + Schema + " is",
		Fix: "rows are written by memwall compare LOG --share"}
	if strings.HasPrefix(schema, "memwall/row/") {
		e.Why, e.Fix = "is of a newer memwall; this one reads "+Schema, "install a newer memwall; nothing was changed"
	}
	return e
}

// words that a row may hold.
var (
	licences = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.+-]{0,63}$`)
	days     = regexp.MustCompile(`^20\d\d-[01]\d-[0-3]\d$`)
	engines  = regexp.MustCompile(`^[a-z][a-z0-9._-]{1,40}(@[A-Za-z0-9.+_-]{1,60})?$`)
)

// check refuses what is not stated, is out of bounds or no plain text.
func (r *Row) check(at string) error {
	bad := func(field, value, why, fix string) error { return &Error{at, field, clip(value), why, fix} }
	switch {
	case !text(r.Source):
		return bad("source", r.Source, "is missing or no plain text", `an address where the figures can be read, or "own"`)
	case !licences.MatchString(r.Licence):
		return bad("licence", r.Licence, "is not an SPDX identifier", "CC0-1.0 for figures of your own")
	case !text(r.By):
		return bad("by", r.By, "is missing or no plain text", "the version of memwall that predicted")
	case r.Engine != "" && !engines.MatchString(r.Engine):
		return bad("engine", r.Engine, "is not an engine", "such as vllm@0.12.0")
	case r.Date != "" && !days.MatchString(r.Date):
		return bad("date", r.Date, "is not a day", "such as 2026-11-27")
	case len(r.Figures) == 0 || len(r.Figures) > maxFigures:
		return bad("figures", fmt.Sprint(len(r.Figures)), "are none or too many", fmt.Sprintf("1 to %d", maxFigures))
	}
	if err := r.checkPlan(at); err != nil {
		return err
	}
	for i := range r.Figures {
		if err := r.Figures[i].check(fmt.Sprintf("%s, figure %d", at, i+1)); err != nil {
			return err
		}
	}
	return nil
}

// checkPlan reads the request, which names a model and hardware and nothing that is somebody's own.
func (r *Row) checkPlan(at string) error {
	p, err := api.Decode(r.Ask)
	if err != nil {
		e := api.AsError(err)
		return &Error{at, "ask." + e.Field, e.Value, "is not a field of a plan: " + plain(e.Message), e.Hint}
	}
	r.plan = p
	if _, left := redacted(p); len(left) > 0 {
		return &Error{at, "ask." + left[0], "", "is not shared in rows", "leave it out"}
	}
	if !modelName.MatchString(p.Model) {
		return &Error{at, "ask.model", clip(p.Model), "is not a name of a model", "a catalog id, or org/name of the hub"}
	}
	if _, _, err := hardware.Parse(p.Hardware, int(p.Devices)); err != nil {
		return &Error{at, "ask.hardware", clip(p.Hardware), "is not known hardware", "a name of memwall hardware"}
	}
	return nil
}

func (f *Figure) check(at string) error {
	bad := func(field, value, why, fix string) error { return &Error{at, field, clip(value), why, fix} }
	switch {
	case !text(f.Name):
		return bad("name", f.Name, "is missing or no plain text", "the engine's name of the figure")
	case f.Device != "" && !text(f.Device):
		return bad("device", f.Device, "is not plain text", "such as DP0 or CUDA0")
	case f.Unit != "" && !text(f.Unit):
		return bad("unit", f.Unit, "is not plain text", "such as GiB or tokens/s")
	case f.Test != "" && f.Test.Unit() == "":
		return bad("test", string(f.Test), "is not a test", strings.Join(calibrate.Tests(), ", "))
	case f.Test != "" && f.Unit != f.Test.Unit():
		return bad("unit", f.Unit, "is not the unit of "+string(f.Test), f.Test.Unit())
	case !(f.Measured >= 0 && f.Measured <= maxMeasured):
		return bad("measured", fmt.Sprint(f.Measured), "is out of bounds", "0 to 1e15")
	case !(f.Deviation >= 0 && f.Deviation <= maxMeasured):
		return bad("deviation", fmt.Sprint(f.Deviation), "is out of bounds", "0 to 1e15")
	case min(f.Prompt, f.Answer, f.Depth, f.Users) < 0 || max(f.Prompt, f.Answer, f.Depth, f.Users) > 1e9:
		return bad("prompt", fmt.Sprint(f.Prompt), "or another count of the load is out of bounds", "0 to 1e9")
	}
	for _, x := range []*float64{f.Predicted, f.Low, f.High} {
		if x != nil && !(math.Abs(*x) <= maxMeasured) {
			return bad("predicted", fmt.Sprint(*x), "is out of bounds", "-1e15 to 1e15")
		}
	}
	return nil
}

// text is plain: something, not long, and of letters that may be shown.
func text(s string) bool {
	return s != "" && len(s) <= maxWord && safe.Text(s, "") == s
}

// plain is a message of others without letters that a terminal obeys.
func plain(s string) string { return clip(safe.Text(s, "")) }

// clip bounds what a hostile file makes us repeat.
func clip(s string) string {
	if len(s) > maxWord {
		return safe.Text(s[:maxWord], "") + "…"
	}
	return safe.Text(s, "")
}
