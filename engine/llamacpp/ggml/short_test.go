package ggml

import (
	"errors"
	"slices"
	"testing"

	"github.com/memwall/memwall/lifetime"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/model/catalog"
)

var allShapes = []Shape{{Flash: true}, {}, {Flash: true, Streams: true}, {Flash: true, QuantisedK: true, QuantisedV: true}, {Streams: true, QuantisedK: true}}

// TestShortenedIsFull: what few layers give, repeated, is what all layers give, for every model and shape.
func TestShortenedIsFull(t *testing.T) {
	short, all := 0, 0
	for _, id := range lowerable(t) {
		m := converted(t, id)
		for _, s := range allShapes {
			g, err := Lower(m, s)
			if err != nil {
				t.Fatalf("%s: %v", id, err)
			}
			want := g.Compile()
			got, err := Compile(m, s)
			if err != nil {
				t.Fatalf("%s: %v", id, err)
			}
			if !slices.Equal(got.Forms, want.Forms) || got.Program.Slots != want.Program.Slots || !slices.EqualFunc(segments(got), segments(want), slices.Equal[[]lifetime.Event]) {
				t.Errorf("%s %+v: shortened lowering differs from the full one", id, s)
			}
			all++
			if settles(t, id, s) {
				short++
			}
		}
	}
	t.Logf("%d of %d are lowered from fewer layers", short, all)
}

// lowerable are the models of the catalog whose steps all have a rule: nearly all that are decoders alone.
func lowerable(t *testing.T) (ids []string) {
	t.Helper()
	decoders := 0
	for _, id := range catalog.IDs() {
		m := converted(t, id)
		if generates(m) {
			decoders++
		}
		_, err := Lower(m, allShapes[0])
		var unknown *UnknownError
		switch {
		case err == nil:
			ids = append(ids, id)
		case !errors.As(err, &unknown):
			t.Errorf("%s: %v", id, err)
		}
	}
	if 10*len(ids) < 9*decoders {
		t.Errorf("%d of %d decoders can be lowered", len(ids), decoders)
	}
	return ids
}

// generates tells decoders alone from encoders and from what attends to an encoder's output.
func generates(m *model.Model) bool {
	alone := true
	m.Decoder().Each(func(k *model.Kind, _ int64) {
		for i := range k.Ops {
			a := k.Ops[i].Attn
			alone = alone && (a == nil || !a.Bidirectional && !a.CrossEncoder)
		}
	})
	return alone
}

// settles tells whether a model is lowered from fewer layers than it has.
func settles(t *testing.T, id string, s Shape) bool {
	m := converted(t, id)
	for factor := 1; factor <= 2; factor++ {
		layers, reps := shorten(m.Decoder().Layers, factor)
		if 2*len(layers) > len(m.Decoder().Layers) {
			return false
		}
		g, err := lower(m, layers, s)
		if err != nil {
			t.Fatal(err)
		}
		if g.Compile().lengthen(reps) {
			return true
		}
	}
	return false
}

func segments(c *Compiled) (out [][]lifetime.Event) {
	for _, s := range c.Program.Order {
		out = append(out, c.Program.Segments[s])
	}
	return out
}
