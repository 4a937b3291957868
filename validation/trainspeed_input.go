package validation

import (
	"encoding/json"
	"fmt"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/model/family"
	"github.com/memwall/memwall/train/step"
)

// Trainer compiles rows of training speed. It caches models, since many rows share one.
type Trainer struct {
	shapes map[string]json.RawMessage
	models map[string]*model.Model
	stored map[string]*model.Weights
}

// NewTrainer reads the shapes of models that the catalog lacks.
func NewTrainer() (*Trainer, error) {
	shapes, err := trainShapes()
	return &Trainer{shapes, map[string]*model.Model{}, map[string]*model.Weights{}}, err
}

// Compile the run of a row.
func (t *Trainer) Compile(r *TrainSpeed) (*step.Model, error) {
	m, err := t.model(r.Model)
	if err != nil {
		return nil, err
	}
	w, err := t.weights(m, r.Weights)
	if err != nil {
		return nil, err
	}
	machine, err := r.machine()
	if err != nil {
		return nil, err
	}
	return step.Compile(step.Input{Model: m, Weights: w, Machine: machine, Plan: &r.Plan, Training: &r.Training, Extras: r.Extras})
}

func (t *Trainer) model(id string) (*model.Model, error) {
	if m := t.models[id]; m != nil {
		return m, nil
	}
	spec, err := t.spec(id)
	if err != nil {
		return nil, err
	}
	t.models[id] = spec.Model(id)
	return t.models[id], nil
}

func (t *Trainer) spec(id string) (*family.Spec, error) {
	if config, ok := t.shapes[id]; ok {
		c, err := family.ParseConfig(config)
		if err != nil {
			return nil, err
		}
		return family.FromConfig(c)
	}
	e, err := catalog.Find(id)
	if err != nil {
		return nil, err
	}
	return e.Spec()
}

func (t *Trainer) weights(m *model.Model, recipe string) (*model.Weights, error) {
	if recipe == "" {
		recipe = "bf16"
	}
	key := m.ID + "/" + recipe
	if w := t.stored[key]; w != nil {
		return w, nil
	}
	how := dtype.FindRecipe(recipe)
	if how == nil {
		return nil, fmt.Errorf("no recipe is called %q", recipe)
	}
	t.stored[key] = m.Store(how)
	return t.stored[key], nil
}

// machine of a row, with the peaks of another device where its own are not published.
func (r *TrainSpeed) machine() (*hardware.Machine, error) {
	text := r.Device
	if r.Count > 1 {
		text = fmt.Sprintf("%dx%s", r.Count, r.Device)
	}
	if r.Links != "" {
		text += "," + r.Links
	}
	m, _, err := hardware.Parse(text, 0)
	if err != nil || r.Peaks == "" {
		return &m, err
	}
	other, _, err := hardware.Find(r.Peaks)
	if err != nil {
		return nil, err
	}
	m.Groups[0].Device.Peaks = other.Peaks
	return &m, nil
}
