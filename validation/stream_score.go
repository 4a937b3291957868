package validation

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/validation/packed"
)

// Predictions of each row of single streams by coefficients that were fitted without it: without any row of its
// model, without any row of its hardware, and without what its source measured on that hardware. The fit (validation/fit/stream) writes
// them, and last what a rule of thumb says: answers read the weights at 80 % of the memory's rate, prompts are multiplied at half the peak.
const streamFolds packed.File = "rows/decode-folds.tsv"

// The measures of single streams. The coefficients of each comparison never saw the row.
var (
	decodeModels = Measure{Name: "decode, new model", About: "tokens/s of an answer to one user, its model left out of the fit",
		Target: 0.08}
	decodeHardware = Measure{Name: "decode, new device", About: "tokens/s of an answer to one user, its device left out of the fit",
		Target: 0.15}
	promptModels  = Measure{Name: "prompt, new model", About: "tokens/s of a prompt, its model left out of the fit", Target: 0.15}
	decodeSeveral = Measure{Name: "decode, several devices", About: "tokens/s of an answer, layers split between devices, its model left out of the fit", Target: 0.15}
	promptSeveral = Measure{Name: "prompt, several devices", About: "tokens/s of a prompt, layers split between devices, its model left out of the fit", Target: 0.15}
	decodeReports = Measure{Name: "decode, new report", About: "tokens/s of an answer to one user, its report left out of the fit",
		Target: 0.08}
	promptReports  = Measure{Name: "prompt, new report", About: "tokens/s of a prompt, its report left out of the fit", Target: 0.12}
	promptHardware = Measure{Name: "prompt, new device", About: "tokens/s of a prompt, its device left out of the fit", Target: 0.15}
)

// StreamMeasures are the measures in the order of the report.
var StreamMeasures = []*Measure{&decodeModels, &decodeHardware, &promptModels, &promptHardware, &decodeReports, &promptReports,
	&decodeSeveral, &promptSeveral, &decodeSpilled, &promptSpilled}

// streamSet names the rows of single streams, which are a table.
const streamSet = "decode"

// Columns of streamFolds.
const (
	ofModels   = 0 // with its band
	ofHardware = 3
	ofReport   = 6
	ofThumb    = 9
	streamCols = 10
)

// CompareStreams compares the stored predictions with the measurements, and evaluates models larger than their device.
func CompareStreams(asker *memwall.Asker) (Set, []Comparison, error) {
	rows, err := Streams()
	if err != nil {
		return Set{}, nil, err
	}
	folds, err := readFolds(streamFolds, streamCols)
	if err != nil {
		return Set{}, nil, err
	}
	set := Set{Name: streamSet, File: "decode.tsv", About: "speeds of single streams: tables of llama.cpp's discussions, LocalScore, and benchmarks of several engines", Rows: make([]Row, len(rows))}
	var out []Comparison
	for i := range rows {
		set.Rows[i] = rows[i].asRow()
		if _, predicted := folds[rows[i].Line]; !predicted {
			if c, ok := rows[i].spilled(asker, &set.Rows[i]); ok {
				out = append(out, c)
				continue
			}
		}
		out = append(out, rows[i].compare(&set.Rows[i], folds)...)
	}
	return set, out, nil
}

func (r *StreamRow) asRow() Row {
	ask := memwall.Request{}
	ask.Model, ask.Weights, ask.Engine, ask.Hardware = r.Model, r.Weights, r.Engine, r.Device
	if r.Count > 1 {
		ask.Hardware = fmt.Sprintf("%dx%s", r.Count, r.Device)
	}
	return Row{Set: streamSet, Line: r.Line, Source: r.Source, Ask: ask, Got: map[string]Value{r.Kind: {Mid: r.Rate}}, Refused: r.Refused}
}

func (r *StreamRow) compare(row *Row, f folds) []Comparison {
	c := Comparison{Row: row, Figure: r.Kind, Measured: r.measured()}
	if x, ok := f[r.Line]; ok {
		c.Naive = x[ofThumb]
	}
	var out []Comparison
	add := func(m *Measure, column int) {
		c.Measure = m
		out = append(out, f.compare(c, column, "not predicted: "+r.unfit()))
	}
	prompt := r.ofPrompt()
	switch {
	case r.Count > 1 && prompt:
		add(&promptSeveral, ofModels)
	case r.Count > 1:
		add(&decodeSeveral, ofModels)
	case prompt:
		add(&promptModels, ofModels)
		add(&promptHardware, ofHardware)
		add(&promptReports, ofReport)
	default:
		add(&decodeModels, ofModels)
		add(&decodeHardware, ofHardware)
		add(&decodeReports, ofReport)
	}
	return out
}

func (r *StreamRow) ofPrompt() bool { return strings.HasSuffix(r.Kind, "prefill") }

func (r *StreamRow) measured() Value {
	return Value{Text: strconv.FormatFloat(r.Rate, 'g', -1, 64), Mid: r.Rate}
}

// unfit says why the fit left a row alone.
func (r *StreamRow) unfit() string {
	if r.Kind == "both" {
		return "the report has one rate for prompt and answer together"
	}
	return "the weights are larger than the devices, the rate is beyond the datasheet, or how devices share is not said"
}
