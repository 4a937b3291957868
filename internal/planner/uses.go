package planner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/model/family"
	"github.com/memwall/memwall/score"
)

// use is what models are picked for.
type use struct {
	Name string
	// context is what a model must have room for where none is asked for.
	context int64
	// Decode is the least speed in tokens a second of one user that is of use; 0 where nothing is generated token by token.
	Decode float64
	vision bool
}

// Silent reading takes 238 words a minute (Brysbaert 2019), some 5 tokens a second. What is read should come twice as fast; models that
// chat think first, and of three tokens some two are thought and not read; chains of thought and calls of tools are all waited for.
const readAlong, thinksFirst, waitedFor = 10, 15, 20

var uses = []use{
	{Name: score.Chat, context: 8192, Decode: thinksFirst},
	{Name: score.Coding, context: 32768, Decode: waitedFor},
	{Name: score.Reasoning, context: 32768, Decode: waitedFor},
	{Name: score.Agents, context: 65536, Decode: waitedFor},
	{Name: score.Vision, context: 8192, Decode: thinksFirst, vision: true},
	{Name: score.LongContext, context: 131072, Decode: readAlong},
	{Name: score.Embedding, context: 512},
	{Name: score.OCR, context: 4096, Decode: readAlong},
	{Name: score.Speech, context: 448},
}

// UseOf is the use that a request names; chat where it names none.
func UseOf(r *api.Request) (use, error) {
	if r.Use == "" {
		return uses[0], nil
	}
	i := slices.IndexFunc(uses, func(u use) bool { return u.Name == r.Use })
	if i < 0 {
		return use{}, &api.Error{Code: api.BadField, Field: "use", Value: api.Shorten(r.Use),
			Message: fmt.Sprintf("use = %q is nothing that models are picked for", api.Shorten(r.Use)),
			Hint:    strings.Join(score.Uses(), ", ")}
	}
	return uses[i], nil
}

// takes reports whether a model is of the kind that a use asks for. A model that is made for one use alone is picked for that one.
func (u *use) takes(n *catalog.Network) bool {
	id, m := n.Entry.ID, n.Model
	if u.Name == score.Embedding {
		_, scored := score.Of(id, u.Name)
		return scored
	}
	if special := score.Special(id); special != "" || u.Name == score.OCR || u.Name == score.Speech {
		return special == u.Name
	}
	return m.Samples() && m.Remembers() && !n.Drafts && (!u.vision || m.Part(family.PartVision) != nil)
}

func scoreOf(id string, u *use) *api.PickScore {
	s, ok := score.Of(id, u.Name)
	if !ok {
		return nil
	}
	out := &api.PickScore{Benchmark: s.Benchmark.ID, Name: s.Benchmark.Name, Value: s.Value, Rows: s.Rows}
	if s.Row != nil {
		out.Published, out.Date, out.Source = true, s.Row.Date, s.Row.Source
	}
	return out
}

// Points of a score; models without one stand behind all that have one.
func Points(s *api.PickScore) float64 {
	if s == nil {
		return -1
	}
	return s.Value
}
