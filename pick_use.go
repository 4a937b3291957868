package memwall

import (
	"fmt"
	"slices"
	"strings"

	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/model/family"
	"github.com/memwall/memwall/score"
)

// use is what models are picked for.
type use struct {
	name string
	// context is what a model must have room for where none is asked for.
	context int64
	// decode is the least speed in tokens a second of one user that is of use; 0 where nothing is generated token by token.
	decode float64
	vision bool
}

// Silent reading takes 238 words a minute (Brysbaert 2019), some 5 tokens a second. A chat should be twice as fast as it is
// read; what nobody reads along with, chains of thought and calls of tools, is waited for.
const readAlong, waitedFor = 10, 20

var uses = []use{
	{name: score.Chat, context: 8192, decode: readAlong},
	{name: score.Coding, context: 32768, decode: waitedFor},
	{name: score.Reasoning, context: 32768, decode: waitedFor},
	{name: score.Agents, context: 65536, decode: waitedFor},
	{name: score.Vision, context: 8192, decode: readAlong, vision: true},
	{name: score.LongContext, context: 131072, decode: readAlong},
	{name: score.Embedding, context: 512},
	{name: score.OCR, context: 4096, decode: readAlong},
	{name: score.Speech, context: 448},
}

// useOf is the use that a request names; chat where it names none.
func useOf(r *Request) (use, error) {
	if r.Use == "" {
		return uses[0], nil
	}
	i := slices.IndexFunc(uses, func(u use) bool { return u.name == r.Use })
	if i < 0 {
		return use{}, &Error{Code: BadField, Field: "use", Value: shorten(r.Use), Message: fmt.Sprintf("use = %q is nothing that models are picked for", shorten(r.Use)), Hint: strings.Join(score.Uses(), ", ")}
	}
	return uses[i], nil
}

// takes reports whether a model is of the kind that a use asks for. A model that is made for one use alone is picked for that one.
func (u *use) takes(e *catalog.Entry, s *family.Spec, m *model.Model) bool {
	if special := score.Special(e.ID); special != "" || u.name == score.OCR || u.name == score.Speech {
		return special == u.name
	}
	if u.name == score.Embedding {
		_, scored := score.Of(e.ID, u.name)
		return scored
	}
	return m.Samples() && m.Remembers() && (!u.vision || s.Model(e.ID).Part(family.PartVision) != nil)
}

// PickScore is how good a model is at a use, on the scale of a public benchmark.
type PickScore struct {
	Benchmark string  `json:"benchmark"`
	Name      string  `json:"name"`
	Value     float64 `json:"value"`
	// Published is false where Value is estimated from Rows figures of other benchmarks.
	Published bool   `json:"published"`
	Rows      int    `json:"rows"`
	Date      string `json:"date,omitempty"`
	Source    string `json:"source,omitempty"`
}

func scoreOf(id string, u *use) *PickScore {
	s, ok := score.Of(id, u.name)
	if !ok {
		return nil
	}
	out := &PickScore{Benchmark: s.Benchmark.ID, Name: s.Benchmark.Name, Value: s.Value, Rows: s.Rows}
	if s.Row != nil {
		out.Published, out.Date, out.Source = true, s.Row.Date, s.Row.Source
	}
	return out
}

// points of a score; models without one stand behind all that have one.
func (s *PickScore) points() float64 {
	if s == nil {
		return -1
	}
	return s.Value
}
