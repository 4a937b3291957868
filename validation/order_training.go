package validation

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// trainingOrder is a kind of order of runs of training, by tokens a second of a device.
type trainingOrder struct {
	kind     OrderKind
	measures []*Measure
	group    func(*TrainSpeed) string
}

// Who trains has a model, a length of sequences and a batch that the recipe asks for; how the batch is cut and what is
// computed again is the plan. A batch left open makes pipelines and overheads cheap at will, a length or a method left open
// makes it another job.
var trainingKinds = []trainingOrder{
	{OrderKind{"training, same batch", "tokens/s of a device, for the same sequences, batch and method on the same devices, all that the source published left out of the fit", true},
		unseenSources, (*TrainSpeed).job},
	{OrderKind{"training, new model", "as 'training, same batch', the model left out of the fit", false},
		[]*Measure{&trainModels}, (*TrainSpeed).job},
	{OrderKind{"training, one release", "as 'training, same batch', of one release of a framework", false},
		unseenSources, (*TrainSpeed).release},
	{OrderKind{"training, any batch", "tokens/s of a device by plans and batches, for the same sequences and method on the same devices",
		false},
		unseenSources, (*TrainSpeed).method},
	{OrderKind{"training, any job", "tokens/s of a device, of all that was measured of a model on the same devices", false},
		unseenSources, (*TrainSpeed).machineName},
}

var unseenSources = []*Measure{&trainSources, &trainUntold}

func trainingOrders(all []Comparison) (out []ordered, err error) {
	rows, err := trainLines()
	if err != nil {
		return nil, err
	}
	trainer, err := NewTrainer()
	if err != nil {
		return nil, err
	}
	thumbs := thumbTrainer{trainer, map[int]float64{}}
	for i := range trainingKinds {
		k := &trainingKinds[i]
		o := ordered{kind: &k.kind}
		for j := range all {
			c := &all[j]
			if c.Refused != "" || !slices.Contains(k.measures, c.Measure) {
				continue
			}
			r := rows[c.Row.Line]
			if r == nil {
				return nil, fmt.Errorf("%s is not a row of training speed", c.Row.Name())
			}
			if group := k.group(r); group != "" {
				o.trials = append(o.trials, trial{r.Model + " · " + r.Device, group, r.planText(),
					Option{r.settings(), c.Measured.Mid, c.Ours.Mid, thumbs.rate(r)}})
			}
		}
		out = append(out, o)
	}
	return out, nil
}

// trainLines are the rows of training speed by their line.
func trainLines() (map[int]*TrainSpeed, error) {
	rows, err := TrainSpeeds()
	if err != nil {
		return nil, err
	}
	out := map[int]*TrainSpeed{}
	for i := range rows {
		out[rows[i].Line] = &rows[i]
	}
	return out, nil
}

// machineName is of model and hardware, with the links that the source states.
func (r *TrainSpeed) machineName() string {
	device := r.Device
	if r.Count > 1 {
		device = fmt.Sprintf("%dx%s", r.Count, r.Device)
	}
	return r.Model + " · " + device + prefixed(",", r.Links)
}

// method names what is trained, on sequences of what length.
func (r *TrainSpeed) method() string {
	return fmt.Sprintf("%s · %s of %d tokens", r.machineName(), r.Training.Method, r.Training.SequenceLength)
}

// job is "" where the source does not say how large a batch is.
func (r *TrainSpeed) job() string {
	if r.Training.GlobalBatch == 0 {
		return ""
	}
	return fmt.Sprintf("%s · batch %d", r.method(), r.Training.GlobalBatch)
}

func (r *TrainSpeed) release() string {
	if r.job() == "" {
		return ""
	}
	return r.job() + " · " + r.Training.Framework
}

// planText holds all that makes a plan, so that only runs of the same plan agree in it.
func (r *TrainSpeed) planText() string {
	extras := r.Extras
	extras.Report = ""
	text, err := json.Marshal([]any{r.Weights, &r.Plan, &r.Training, extras})
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// settings of a run.
func (r *TrainSpeed) settings() []Setting {
	p, t := &r.Plan, &r.Training
	framework, version, _ := strings.Cut(t.Framework, "@")
	return []Setting{
		{ofEngine, framework}, {ofVersion, version}, {"method", t.Method}, {ofWeights, cmp.Or(r.Weights, "bf16")},
		{"precision", t.Precision},
		{ofSplit, ways{{"tp", p.TP}, {"pp", p.PP}, {"vpp", t.VPP}, {"cp", p.CP}, {"ep", p.EP}}.String() + prefixed(" ", t.Sharding)},
		{ofLengths, fmt.Sprintf("%d tokens", t.SequenceLength)}, {"batch", fmt.Sprintf("batch %d by %d", t.GlobalBatch, t.MicroBatch)},
		{"recompute", prefixed("recompute ", t.Recompute)}, {"kernels", r.kernels()},
	}
}

func (r *TrainSpeed) kernels() string {
	t := &r.Training
	out := []string{r.Plan.Attention}
	for _, f := range []struct {
		name string
		on   *bool
	}{{"sequence-parallel", t.SequenceParallel}, {"compiled", t.Compile}, {"fused", t.Fused}} {
		if f.on != nil && *f.on {
			out = append(out, f.name)
		}
	}
	return strings.TrimSpace(strings.Join(out, " "))
}
