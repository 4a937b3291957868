package validation

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/train/step"
	"github.com/memwall/memwall/validation/packed"
)

// Rows of measured training speed: what each source states of its run. Device is what the run had, Peaks another
// device whose peaks stand in where nobody publishes its own. Shapes of models that the catalog lacks are in train-models.tsv, as
// config.json has them.
const (
	trainSpeedRows  = packed.File("rows/train-speed.tsv")
	trainSourceRows = packed.File("rows/train-sources.txt")
	trainShapeRows  = packed.File("rows/train-models.tsv")
)

// TrainSpeed is a measured training speed.
type TrainSpeed struct {
	Line     int
	Source   string
	Model    string // id of the catalog or of train-models.tsv; the source's name where the row is refused
	Weights  string // recipe of the frozen base; "" for 16 bits
	Device   string
	Peaks    string
	Count    int
	Links    string // as a question's hardware has them, where the source says: link=nvlink:200GB/s,fabric=fabric:25GB/s
	Plan     plan.Plan
	Training plan.Training
	Extras   step.Extras
	Rate     float64 // tokens a second of one device
	Refused  string
}

// Name is where the row stands.
func (r *TrainSpeed) Name() string { return fmt.Sprintf("train-speed:%d", r.Line) }

// Publisher of the row: the repository or paper, whose pages are left out of a fit together.
func (r *TrainSpeed) Publisher() string {
	who, _, _ := strings.Cut(r.Source, ":")
	if strings.HasPrefix(r.Source, "arXiv:") {
		who, _, _ = strings.Cut(r.Source, " ")
	}
	return who
}

// Untold names a setting that the run depends on and that its source leaves out; "" where it is complete. Between ranks
// that hold experts, steps differ by half with the dispatcher, what it overlaps with and what runs in graphs.
func (r *TrainSpeed) Untold() string {
	if r.Plan.EP > 1 && !r.Extras.DropTokens && !r.Extras.ScatterMoE {
		return "how tokens are sent to experts"
	}
	return ""
}

// TrainSpeeds reads the measurements of training speed.
func TrainSpeeds() ([]TrainSpeed, error) {
	return measurements(trainSpeedRows, trainSourceRows, trainSpeed, func(r *TrainSpeed) *int { return &r.Line })
}

const trainCells = 29

func trainSpeed(cells, sources []string) (r TrainSpeed, err error) {
	if len(cells) != trainCells {
		return r, fmt.Errorf("%d cells, want %d", len(cells), trainCells)
	}
	c := cellReader{cells: cells}
	r = TrainSpeed{Model: c.text(0), Weights: c.text(2), Device: c.text(4), Count: int(c.integer(5)), Peaks: c.text(6), Links: c.text(7),
		Rate: c.float(26), Refused: c.text(28)}
	r.Plan.TP, r.Plan.PP, r.Plan.CP, r.Plan.EP, r.Plan.DP = c.integer(9), c.integer(10), c.integer(12), c.integer(13), c.integer(14)
	r.Plan.Attention = c.text(20)
	r.Training = plan.Training{Method: c.text(1), Precision: c.text(3), Framework: c.text(8), VPP: c.integer(11), Sharding: c.text(15),
		SequenceLength: plan.Int(c.integer(16)),
		MicroBatch:     plan.Int(c.integer(17)), GlobalBatch: plan.Int(c.integer(18)), Recompute: c.text(19), SequenceParallel: c.flag(21),
		Compile: c.flag(22), Fused: c.flag(23)}
	if list := c.text(24); list != "" {
		r.Training.Full = strings.Split(list, ",")
	}
	source := c.integer(27)
	if source < 0 || int(source) >= len(sources) {
		return r, fmt.Errorf("no source %d", source)
	}
	r.Source = sources[source]
	r.Extras.Report = r.Publisher()
	if c.err == nil {
		c.err = r.flags(strings.Fields(c.text(25)))
	}
	return r, c.err
}

// flag reads a setting that may be absent.
func (c *cellReader) flag(i int) *bool {
	if c.cells[i] == "" {
		return nil
	}
	on := c.cells[i] == "1"
	return &on
}

// flags are settings without a column.
func (r *TrainSpeed) flags(words []string) error {
	e, off := &r.Extras, plan.Offload{}
	for _, w := range words {
		name, value, _ := strings.Cut(w, "=")
		switch name {
		case "async-tp":
			e.AsyncTP = true
		case "gather-fp8":
			e.GatherFP8 = true
		case "drop-tokens":
			e.DropTokens = true
		case "scatter-moe":
			e.ScatterMoE = true
		case "mtp":
			e.Prediction = true
		case "params-host":
			off.Params = "host"
		case "activations-host":
			off.Activations = "host"
		case "optimizer-shards":
			n, err := strconv.ParseInt(value, 10, 64)
			if err != nil {
				return fmt.Errorf("optimizer-shards=%s is not a number", value)
			}
			e.OptimizerShards = n
		default:
			return fmt.Errorf("no setting is called %s", name)
		}
	}
	if off != (plan.Offload{}) {
		r.Plan.Offload = &off
	}
	return nil
}

// trainShapes are the configs of models that the catalog lacks, by id.
func trainShapes() (map[string]json.RawMessage, error) {
	out := map[string]json.RawMessage{}
	err := eachRow(trainShapeRows, func(_ int, cells []string) error {
		if len(cells) != 2 {
			return fmt.Errorf("%d cells, want 2", len(cells))
		}
		out[cells[0]] = json.RawMessage(cells[1])
		return nil
	})
	return out, err
}
