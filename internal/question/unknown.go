package question

import (
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/generic"
	"github.com/memwall/memwall/ledger"
)

// sizingByWeights returns the engine, or for an unknown architecture a stand-in that only sizes weights, since engines
// size by layers.
func sizingByWeights(e engine.Engine, unknownArch string, j *engine.Job) engine.Engine {
	if unknownArch == "" || engine.ReadsGGUF(e) {
		return e
	}
	j.Note("unknown_architecture", "warn", "model",
		"no model family reads the architecture %q: its weights are exact, its caches and activations unknown", unknownArch)
	return floor{}
}

// floor is the lower bound for an unknown model: its weights, with caches of unknown size.
type floor struct{ generic.Engine }

// Sizer books the weights and items of unknown size.
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
