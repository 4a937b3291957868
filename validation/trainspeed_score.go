package validation

import (
	"fmt"
	"strconv"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/validation/packed"
)

// Predictions of each row of training speed by coefficients that were fitted without it: without any row of its
// publisher, of its model, and of the family of its devices. The fit (validation/fit/training) writes them.
const trainFolds packed.File = "rows/train-folds.tsv"

// The measures of training speed. The coefficients of each comparison never saw the row.
var (
	trainSources = Measure{Name: "training, new source", About: "tokens/s of a device in training, all that its source published left out of the fit", Target: 0.10}
	trainModels  = Measure{Name: "training, new model", About: "tokens/s of a device in training, its model left out of the fit",
		Target: 0.10}
	trainFamilies = Measure{Name: "training, new device", About: "tokens/s of a device in training, the family of its devices left out of the fit", Target: 0.15}
	trainUntold   = Measure{Name: "training, settings not told", About: "tokens/s of a device in training where the source leaves out how tokens are sent to experts, all that it published left out of the fit", Target: 0.25}
)

// TrainMeasures are the measures in the order of the report.
var TrainMeasures = []*Measure{&trainSources, &trainModels, &trainFamilies, &trainUntold}

// measures of a row: those of complete runs by what was left out, in the order of the folds.
func (r *TrainSpeed) measures() []*Measure {
	if r.Untold() != "" {
		return TrainMeasures[3:]
	}
	return TrainMeasures[:3]
}

// trainSet names the rows of training speed, which are a table.
const trainSet = "train-speed"

// trainCols are the columns of trainFolds after the line: a figure with its band for each measure, and the rule of thumb.
const (
	trainCols  = 10
	ofConstant = 9
)

// CompareTrainSpeeds compares the stored predictions with the measurements.
func CompareTrainSpeeds() (Set, []Comparison, error) {
	rows, err := TrainSpeeds()
	if err != nil {
		return Set{}, nil, err
	}
	f, err := readFolds(trainFolds, trainCols)
	if err != nil {
		return Set{}, nil, err
	}
	set := Set{Name: trainSet, File: "train-speed.tsv", About: "speeds of pre-training and fine-tuning that frameworks' authors and users published", Rows: make([]Row, len(rows))}
	var out []Comparison
	for i := range rows {
		set.Rows[i] = rows[i].asRow()
		c := Comparison{Row: &set.Rows[i], Figure: "tokens/s of a device",
			Measured: Value{Text: strconv.FormatFloat(rows[i].Rate, 'g', -1, 64), Mid: rows[i].Rate}}
		if x, ok := f[rows[i].Line]; ok {
			c.Naive = x[ofConstant]
		}
		for j, m := range rows[i].measures() {
			c.Measure = m
			out = append(out, f.compare(c, 3*j, "not predicted: the rate is beyond the datasheet"))
		}
	}
	return set, out, nil
}

func (r *TrainSpeed) asRow() Row {
	ask := memwall.Request{}
	ask.Model, ask.Weights, ask.Engine, ask.Hardware = r.Model, r.Weights, r.Training.Framework, r.Device
	if r.Count > 1 {
		ask.Hardware = fmt.Sprintf("%dx%s", r.Count, r.Device)
	}
	return Row{Set: trainSet, Line: r.Line, Source: r.Source, Ask: ask, Got: map[string]Value{"tokens_per_s_per_device": {Mid: r.Rate}},
		Refused: r.Refused}
}
