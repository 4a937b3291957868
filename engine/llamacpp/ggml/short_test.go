package ggml

import (
	"slices"
	"testing"

	"github.com/memwall/memwall/lifetime"
)

var allShapes = []Shape{{Flash: true}, {}, {Flash: true, Streams: true}, {Flash: true, QuantisedK: true, QuantisedV: true}, {Streams: true, QuantisedK: true}}

// TestShortenedIsFull: what few layers give, repeated, is what all layers give, for every model and shape.
func TestShortenedIsFull(t *testing.T) {
	short, all := 0, 0
	for _, id := range decoders(t) {
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
