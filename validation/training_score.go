package validation

import (
	"fmt"

	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/train"
	"github.com/memwall/memwall/unit"
	"github.com/memwall/memwall/validation/packed"
)

// Predictions of each row by constants and bands that were fitted without its source (validation/fit/trainmem).
const trainingFolds packed.File = "rows/train-memory-folds.tsv"

// trainingCols are three figures with their bands, in GiB.
const trainingCols = 9

// The measures of training memory, by the counter that was read; constants and bands never saw the row's source. What
// frameworks keep was read from their code and checked on these rows, so that allocated bytes say how well the rules hold
// and are no blind test of a framework unseen.
var (
	trainAllocated = Measure{Name: "training, allocated", About: "torch.cuda.max_memory_allocated of a training run", Target: 0.05}
	trainReserved  = Measure{Name: "training, reserved", About: "torch.cuda.max_memory_reserved of a training run", Target: 0.12}
	trainSMI       = Measure{Name: "training, nvidia-smi", About: "memory in use that nvidia-smi shows of a training run", Target: 0.12}
	trainUnknown   = Measure{Name: "training, counter unknown", About: "memory of a training run that nobody says the counter of: headers of scripts, rounded", Target: 0.15}
	trainFits      = Measure{Name: "training, runs or not", About: "whether a run ended for want of memory (1 it ran, 0 it did not)",
		Target: 0}
)

// TrainingMeasures are the measures in the order of the report.
var TrainingMeasures = []*Measure{&trainAllocated, &trainReserved, &trainSMI, &trainUnknown, &trainFits}

const trainingSet = "train-memory"

// CompareTraining sizes every run and compares the figures with the measurements.
func CompareTraining() (Set, []Comparison, error) {
	rows, err := Trainings()
	if err != nil {
		return Set{}, nil, err
	}
	left, err := readFolds(trainingFolds, trainingCols)
	if err != nil {
		return Set{}, nil, err
	}
	set := Set{Name: trainingSet, File: "train-memory.tsv", About: "memory of training runs: benchmarks of frameworks, their tests and their documents", Rows: make([]Row, len(rows))}
	var out []Comparison
	for i := range rows {
		set.Rows[i] = rows[i].asRow()
		out = append(out, rows[i].compare(&set.Rows[i], left)...)
	}
	return set, out, nil
}

func (r *TrainingRow) asRow() Row {
	ask := r.Ask
	ask.Model, ask.Hardware, ask.Engine = r.Model, r.Machine, r.Ask.Framework
	if r.Dims != nil {
		ask.Model = fmt.Sprintf("%d layers of %d", r.Dims.Layers, r.Dims.Hidden)
	}
	got := map[string]Value{}
	if r.GiB > 0 {
		got[r.Counter] = gibs(r.GiB)
	}
	if r.SMI > 0 {
		got["nvidia-smi"] = gibs(r.SMI)
	}
	got["ran"] = Value{Text: "ran out", Mid: 0}
	if !r.OOM {
		got["ran"] = Value{Text: "ran", Mid: 1}
	}
	return Row{Set: trainingSet, Line: r.Line, Source: r.Source, Ask: ask, Got: got, Refused: r.Refused}
}

func gibs(x float64) Value {
	return Value{Text: fmt.Sprintf("%.2f GiB", x), Mid: x * (1 << 30), Half: 0.005 * (1 << 30)}
}

func (r *TrainingRow) compare(row *Row, left folds) (out []Comparison) {
	var ranks []train.Rank
	refused := r.Refused
	if refused == "" {
		var err error
		if ranks, err = r.Predict(); err != nil {
			refused = err.Error()
		}
	}
	add := func(m *Measure, figure string, ours Range) {
		c := Comparison{Measure: m, Row: row, Figure: figure, Measured: row.Got[figure], Ours: ours, Refused: refused}
		if refused == "" {
			c.judge()
		}
		out = append(out, c)
	}
	x := left[r.Line]
	for _, f := range []struct {
		name string
		m    *Measure
		at   int
	}{{"allocated", &trainAllocated, 0}, {"reserved", &trainReserved, 3}, {"nvidia-smi", &trainSMI, 6}, {"unknown", &trainUnknown, 3}} {
		if _, ok := row.Got[f.name]; !ok {
			continue
		}
		var ours Range
		if x != nil {
			ours = Range{x[f.at] * (1 << 30), x[f.at+1] * (1 << 30), x[f.at+2] * (1 << 30)}
		}
		add(f.m, f.name, ours)
	}
	if r.Machine != "" {
		add(&trainFits, "ran", fits(ranks))
	}
	return out
}

// fits is 1 where what a rank needs by the best estimate is no more than its device has, within the edges of its band: 0 at the
// lower one where the band crosses, and 1 at the upper one.
func fits(ranks []train.Rank) Range {
	x := exactly(1)
	for i := range ranks {
		r := &ranks[i]
		n := ledger.At(r.Needed, ledger.Device)
		holds := func(bytes unit.Bytes) float64 { return float64(count(r.Unlimited || float64(bytes) <= r.Usable.V)) }
		x = Range{Low: min(x.Low, holds(n.High)), Mid: min(x.Mid, holds(n.Bytes)), High: min(x.High, holds(n.Low))}
	}
	return x
}

// Verdicts counts verdicts on runs with known outcomes: Said is that it certainly fits, Denied that it does not, Tight that the
// band crosses the device's memory. Likely counts those that fit by the best estimate.
type Verdicts struct {
	Ran, RanSaid, RanTight, RanDenied, RanLikely int
	Out, OutSaid, OutTight, OutDenied, OutLikely int
}

// TrainingVerdicts counts the verdicts of comparisons.
func TrainingVerdicts(all []Comparison) (v Verdicts) {
	for i := range all {
		c := &all[i]
		if c.Measure != &trainFits || c.Refused != "" {
			continue
		}
		said, denied, likely := c.Ours.Low > 0, c.Ours.High == 0, c.Ours.Mid > 0
		if c.Measured.Mid > 0 {
			v.Ran, v.RanSaid, v.RanDenied, v.RanTight, v.RanLikely = v.Ran+1, v.RanSaid+count(said), v.RanDenied+count(denied),
				v.RanTight+count(!said && !denied), v.RanLikely+count(likely)
			continue
		}
		v.Out, v.OutSaid, v.OutDenied, v.OutTight, v.OutLikely = v.Out+1, v.OutSaid+count(said), v.OutDenied+count(denied),
			v.OutTight+count(!said && !denied), v.OutLikely+count(likely)
	}
	return v
}

// Balanced is the mean share of right verdicts over runs that ran and runs that did not, where tight says that it may run.
func (v Verdicts) Balanced() float64 {
	return (share(v.Ran-v.RanDenied, v.Ran) + share(v.OutDenied, v.Out)) / 2
}

// BestEstimate is the same where the middle of what is needed decides.
func (v Verdicts) BestEstimate() float64 {
	return (share(v.RanLikely, v.Ran) + share(v.Out-v.OutLikely, v.Out)) / 2
}
