package train

import (
	"slices"
	"strings"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/plan"
)

// learning is what blocks contribute to the gradient when only some are trained.
type learning uint8

const (
	learns learning = iota
	passes          // frozen, after one that is trained: the gradient passes through
	still           // frozen, before all that are trained: autograd records nothing
	ways
)

// thaw says which blocks are trained; nil if all are.
type thaw struct {
	trained []bool
	lowest  int // first block that a gradient must reach, -1 for the embedding
}

func thawOf(j *Job) *thaw {
	trained, _ := j.Training.Layers(int64(len(j.Model.Decoder().Layers)))
	if trained == nil {
		return nil
	}
	t := &thaw{trained: trained, lowest: slices.Index(trained, true)}
	if full, _ := roles(j.Training.Full); slices.ContainsFunc(full, dtype.Role.Embedding) {
		t.lowest = -1
	}
	return t
}

func (t *thaw) learning(layer int) learning {
	switch {
	case t == nil || t.trained[layer]:
		return learns
	case layer > t.lowest:
		return passes
	}
	return still
}

// split divides a rank's identically stored layers by what they contribute to the gradient.
func (t *thaw) split(pl *engine.Placed, k *engine.KindCount) (n [ways]float64) {
	if t == nil {
		n[learns] = float64(k.Count)
		return n
	}
	for l := pl.First; l < pl.Last; l++ {
		if int(pl.Weights.Layers[l]) == k.Variant {
			n[t.learning(l)]++
		}
	}
	return n
}

// groups are the modules of a block that are frozen as a unit.
var groups = map[string]func(dtype.Role) bool{
	"self_attn": func(r dtype.Role) bool { return strings.HasPrefix(string(r), "attn_") && !r.Norm() },
	"mlp":       func(r dtype.Role) bool { return strings.HasPrefix(string(r), "ffn_") && !r.Norm() || r.Expert() },
	"norms":     dtype.Role.Norm,
}

// freezes returns a function that reports which tensors of a block are frozen.
func freezes(j *Job) func(dtype.Role) bool {
	named, _ := roles(j.Training.Frozen)
	return func(r dtype.Role) bool {
		return slices.Contains(named, r) || slices.ContainsFunc(j.Training.Frozen, func(name string) bool {
			g := groups[name]
			return g != nil && g(r)
		})
	}
}

// as returns how blocks keep values given what they contribute to the gradient.
func (l learning) as(s model.Style) model.Style {
	s.Frozen = s.Frozen || l == passes
	return s
}

func checkThawed(j *Job) error {
	t, layers := j.Training, len(j.Model.Decoder().Layers)
	switch _, ok := t.Layers(int64(layers)); {
	case t.Thawed == "":
		return nil
	case !ok:
		return impossible("trained_layers", t.Thawed, plan.ThawedForms,
			"trained_layers = %s of the %d layers of %s", t.Thawed, layers, j.Model.ID)
	case t.Method != "full":
		return impossible("trained_layers", t.Thawed, "--method full",
			"trained_layers: beside adapters (method = %s) all layers are frozen", t.Method)
	}
	return nil
}
