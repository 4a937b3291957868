package train

import (
	"slices"
	"strings"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/plan"
)

// learning is what blocks do for the gradient where only some of them train.
type learning uint8

const (
	learns learning = iota
	passes          // frozen, above one that trains: the gradient goes through it
	still           // frozen, below all that train: autograd records nothing of it
	ways
)

// thaw says which blocks train; nil where all do.
type thaw struct {
	trained []bool
	lowest  int // the first block that a gradient must reach, -1 for the embedding below it
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

// split counts a rank's layers that are stored alike by what they do for the gradient.
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

// groups are modules of a block that freeze as a whole.
var groups = map[string]func(dtype.Role) bool{
	"self_attn": func(r dtype.Role) bool { return strings.HasPrefix(string(r), "attn_") && !r.Norm() },
	"mlp":       func(r dtype.Role) bool { return strings.HasPrefix(string(r), "ffn_") && !r.Norm() || r.Expert() },
	"norms":     dtype.Role.Norm,
}

// freezes says which tensors of a block do not train.
func freezes(j *Job) func(dtype.Role) bool {
	named, _ := roles(j.Training.Frozen)
	return func(r dtype.Role) bool {
		return slices.Contains(named, r) || slices.ContainsFunc(j.Training.Frozen, func(name string) bool {
			g := groups[name]
			return g != nil && g(r)
		})
	}
}

// as is how blocks keep values for what they do for the gradient.
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
