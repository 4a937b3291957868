package validation

import (
	"bufio"
	_ "embed"
	"fmt"
	"strconv"
	"strings"

	"github.com/memwall/memwall"
)

// Predictions of each row of single streams by coefficients that were fitted without it: without any row of its
// model, and without any row of its hardware. The fit (validation/fit/stream) writes them beside the
// coefficients, which themselves rest on all rows and so say nothing about rows unseen.
//
//go:embed rows/decode-folds.tsv
var streamFolds string

// The measures of single streams. The coefficients of each comparison never saw the row.
var (
	decodeModels   = Measure{Name: "decode, new model", About: "tokens/s of an answer to one user, its model left out of the fit", Target: 0.08}
	decodeHardware = Measure{Name: "decode, new device", About: "tokens/s of an answer to one user, its device left out of the fit", Target: 0.15}
	promptModels   = Measure{Name: "prompt, new model", About: "tokens/s of a prompt, its model left out of the fit", Target: 0.15}
	decodeSeveral  = Measure{Name: "decode, several devices", About: "tokens/s of an answer, layers split between devices, its model left out of the fit", Target: 0.15}
	promptSeveral  = Measure{Name: "prompt, several devices", About: "tokens/s of a prompt, layers split between devices, its model left out of the fit", Target: 0.15}
	promptHardware = Measure{Name: "prompt, new device", About: "tokens/s of a prompt, its device left out of the fit", Target: 0.15}
)

// StreamMeasures in the order of the report.
var StreamMeasures = []*Measure{&decodeModels, &decodeHardware, &promptModels, &promptHardware, &decodeSeveral, &promptSeveral}

// streamSet names the rows of single streams, which are a table.
const streamSet = "decode"

// Fold is how a row was predicted by a fit that lacked it, and by a rule of thumb.
type Fold struct {
	Models, Hardware Range
	// Naive: answers read the weights at 80 % of the memory's rate, prompts are multiplied at half the peak.
	Naive float64
}

// CompareStreams puts the stored predictions beside the measurements.
func CompareStreams() (Set, []Comparison, error) {
	rows, err := Streams()
	if err != nil {
		return Set{}, nil, err
	}
	folds, err := readFolds(streamFolds)
	if err != nil {
		return Set{}, nil, err
	}
	set := Set{Name: streamSet, File: "decode.tsv", About: "speeds of single streams: tables of llama.cpp's discussions, LocalScore, and benchmarks of several engines", Rows: make([]Row, len(rows))}
	var out []Comparison
	for i := range rows {
		set.Rows[i] = rows[i].asRow()
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

func (r *StreamRow) compare(row *Row, folds map[int]Fold) []Comparison {
	f, ok := folds[r.Line]
	prompt := strings.HasSuffix(r.Kind, "prefill")
	var out []Comparison
	add := func(m *Measure, ours Range) {
		c := Comparison{Measure: m, Row: row, Figure: r.Kind, Measured: Value{Text: strconv.FormatFloat(r.Rate, 'g', -1, 64), Mid: r.Rate}, Ours: ours, Naive: f.Naive, Refused: row.Refused}
		switch {
		case c.Refused != "":
		case !ok:
			c.Refused = "not predicted: " + r.unfit()
		default:
			c.judge()
		}
		out = append(out, c)
	}
	switch {
	case r.Count > 1 && prompt:
		add(&promptSeveral, f.Models)
	case r.Count > 1:
		add(&decodeSeveral, f.Models)
	case prompt:
		add(&promptModels, f.Models)
		add(&promptHardware, f.Hardware)
	default:
		add(&decodeModels, f.Models)
		add(&decodeHardware, f.Hardware)
	}
	return out
}

// unfit says why the fit left a row alone.
func (r *StreamRow) unfit() string {
	if r.Kind == "both" {
		return "the report has one rate for prompt and answer together"
	}
	return "the weights are larger than the devices, the rate is beyond the datasheet, or how devices share is not said"
}

func readFolds(text string) (map[int]Fold, error) {
	out := map[int]Fold{}
	scan := bufio.NewScanner(strings.NewReader(text))
	for n := 1; scan.Scan(); n++ {
		if n == 1 {
			continue
		}
		var line int
		var f Fold
		if _, err := fmt.Sscan(scan.Text(), &line, &f.Models.Mid, &f.Models.Low, &f.Models.High, &f.Hardware.Mid, &f.Hardware.Low, &f.Hardware.High, &f.Naive); err != nil {
			return nil, fmt.Errorf("decode-folds.tsv, line %d: %w", n, err)
		}
		out[line] = f
	}
	return out, scan.Err()
}
