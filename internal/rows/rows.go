// Package rows holds users' measurements together with the predictions for them: rows are shared, checked, kept in a
// local store, and shown as evidence with answers.
//
// See rows.go for the form of a row, read.go for what is rejected, redact.go for what may leave a machine, store.go for
// storage, judge.go for the rule that excludes outliers, evidence.go for what answers show of them.
package rows

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/calibrate"
)

// Schema is the schema of a row. Fields may be added to it; a row of another schema is not read.
const Schema = "memwall/row/1"

// Row is a run: the plan that was run, and each figure that was measured of it beside what memwall said.
type Row struct {
	Schema string `json:"schema"`
	// By is the version of memwall that said the predicted figures.
	By string `json:"by"`
	// Engine as it named itself, "vllm@0.12.0".
	Engine string `json:"engine,omitempty"`
	Date   string `json:"date,omitempty"` // of the run, "2026-11-27", where it is told
	// Source is where the figures can be read, "own" for a run of the user's; Licence is an SPDX identifier.
	Source  string `json:"source"`
	Licence string `json:"licence"`
	// Ask is the plan as a fit request, less what names somebody's files.
	Ask     json.RawMessage `json:"ask"`
	Figures []Figure        `json:"figures"`

	plan *api.Request
}

// Figure is a measured value. Of memory it has the engine's name for it, of speed a test and its load.
type Figure struct {
	Name      string         `json:"name"`
	Device    string         `json:"device,omitempty"`
	Unit      string         `json:"unit,omitempty"`
	Test      calibrate.Test `json:"test,omitempty"`
	Prompt    int64          `json:"prompt,omitempty"`
	Answer    int64          `json:"answer,omitempty"`
	Depth     int64          `json:"depth,omitempty"`
	Users     int64          `json:"users,omitempty"`
	Measured  float64        `json:"measured"`
	Deviation float64        `json:"deviation,omitempty"` // of repeated runs
	// Predicted is null where memwall had no figure; Low and High are its band.
	Predicted *float64 `json:"predicted"`
	Low       *float64 `json:"low,omitempty"`
	High      *float64 `json:"high,omitempty"`
}

// Plan is the row's request.
func (r *Row) Plan() *api.Request { return r.plan }

// Line is the row as it lies in files: JSON on a line.
func (r *Row) Line() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(r); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// ID tells rows apart: it follows from all that a row holds.
func (r *Row) ID() string {
	line, err := r.Line()
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(line)
	return hex.EncodeToString(sum[:6])
}

// kindMemory are the figures that are bytes.
const kindMemory = "memory"

// Kind of a figure, within which ratios are compared: a test of speed, memory, or "" for counts that follow from others.
func (f *Figure) Kind() string {
	switch {
	case f.Test != "":
		return string(f.Test)
	case f.Unit == "GiB" || f.Unit == "MiB" || f.Unit == "GB" || f.Unit == "MB":
		return kindMemory
	}
	return ""
}

// Ratio is measured over predicted; false where there is no prediction, or nothing to divide.
func (f *Figure) Ratio() (float64, bool) {
	if f.Predicted == nil || !(*f.Predicted > 0) || !(f.Measured > 0) {
		return 0, false
	}
	return f.Measured / *f.Predicted, true
}
