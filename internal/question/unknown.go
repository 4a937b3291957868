package question

import (
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/generic"
	"github.com/memwall/memwall/ledger"
)

// sizingByWeights is the engine itself, or of a model whose architecture no family reads what every engine must hold: engines
// size by layers, and nobody knows them.
func sizingByWeights(e engine.Engine, unknownArch string, j *engine.Job) engine.Engine {
	if unknownArch == "" || engine.ReadsGGUF(e) {
		return e
	}
	j.Note("unknown_architecture", "warn", "model",
		"no model family reads the architecture %q: its weights are exact, its caches and activations unknown", unknownArch)
	return floor{}
}

// floor is what every engine must hold of an unknown model: its weights, beside caches of unknown size.
type floor struct{ generic.Engine }

// Sizer books the weights and what cannot be told.
func (f floor) Sizer(j *engine.Job) (engine.Sizer, error) {
	s, err := f.Engine.Sizer(j)
	return floorSizer{s}, err
}

type floorSizer struct{ weights engine.Sizer }

// Size adds caches of unknown size to each class of ranks.
func (s floorSizer) Size(b *ledger.Book, l engine.Load) []engine.Rank {
	ranks := s.weights.Size(b, l)
	for i := range ranks {
		ranks[i].Items = append(ranks[i].Items, ledger.Item{ID: "kv_cache", Name: "KV cache", Unknown: true, Basis: ledger.Assumed,
			Life: ledger.SemiPersistent, Place: ledger.Device, Source: "the architecture is unknown"})
	}
	return ranks
}
