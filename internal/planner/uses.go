package planner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/model/family"
	"github.com/memwall/memwall/score"
)

// use is the purpose that models are picked for.
type use struct {
	Name string
	// context is the context that a model must have room for if none is requested.
	context int64
	// Decode is the minimum useful decode rate of one user in tokens per second; 0 if nothing is generated token by token.
	Decode float64
	vision bool
}

// Silent reading takes 238 words per minute (Brysbaert 2019), about 5 tokens per second. Text to read should come twice as fast.
// Chat models think first: about two of three tokens are not read. Chains of thought and tool calls are waited for in full.
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

// UseOf returns the use named by a request; chat by default.
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

// wait halves the rate on computers without a GPU, where people tolerate reading speed.
func (u *use) wait(m *hardware.Machine) {
	if m.CPUOnly {
		u.Decode /= 2
	}
}

// takes reports whether a model is of the kind that a use calls for. A model built for a single use is picked for that use only.
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

// Points returns the points of a score; models without one sort last.
func Points(s *api.PickScore) float64 {
	if s == nil {
		return -1
	}
	return s.Value
}
