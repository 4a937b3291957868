package card

import (
	"cmp"
	"strings"
	"sync"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/internal/stable"
	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/unit"
)

// Suggestion is a name that somebody may be typing, and what tells it from others. Bytes are the weights of a model in the
// Format that it is published in, or the memory of a device.
type Suggestion struct {
	ID     string     `json:"id"`
	Name   string     `json:"name"`
	Format string     `json:"format,omitempty"`
	Bytes  unit.Bytes `json:"bytes,omitempty"`
	Date   string     `json:"date,omitempty"` // a model's year and month, a device's year
}

// mostSuggestions of one answer.
const mostSuggestions = 8

// candidate is a name before it is ranked.
type candidate struct {
	names   []string // the first is what is typed
	known   bool     // many ask for it
	date    string
	entry   *catalog.Entry // of a model
	details func() Suggestion
}

// SuggestModels returns completions of model names, likeliest first: names with the prefix, then names with a word of the prefix,
// then names containing it; among these, models in Ollama's library first, then the newest.
func SuggestModels(letters string) []Suggestion { return suggest(letters, models()) }

// SuggestHardware returns completions of devices in the same order; devices for rent come first.
func SuggestHardware(letters string) []Suggestion { return suggest(letters, devices()) }

var models = sync.OnceValue(func() (out []candidate) {
	for _, e := range catalog.All() {
		out = append(out, candidate{append([]string{e.ID, e.Name, e.Hub}, e.Aliases...),
			catalog.LibraryFormat(e.ID) != "" || catalog.InLibrary(e.ID, "") != "", e.Released, &e,
			func() Suggestion { return modelSuggestion(&e) }})
	}
	return out
})

func modelSuggestion(e *catalog.Entry) Suggestion {
	out := Suggestion{ID: e.ID, Name: e.Name, Date: e.Released}
	s, err := e.Spec()
	if err != nil {
		return out
	}
	m := s.Model(e.ID)
	if out.Format = e.Weights; out.Format == "" && m.Native != nil {
		out.Format = m.Native.Name
	}
	if r := dtype.FindRecipe(out.Format); r != nil {
		out.Bytes = m.Store(r).Bytes()
	}
	return out
}

var devices = sync.OnceValue(func() (out []candidate) {
	for _, r := range Devices("") {
		date := ""
		if r.Year > 0 {
			date = unit.Fixed(float64(r.Year), 0)
		}
		out = append(out, candidate{[]string{r.ID, r.Name}, len(hardware.Prices(r.ID)) > 0, date, nil, func() Suggestion {
			return Suggestion{ID: r.ID, Name: r.Name, Bytes: r.Memory.Bytes(), Date: date}
		}})
	}
	return out
})

// suggest offers the likeliest of what was typed.
func suggest(letters string, list []candidate) (out []Suggestion) {
	hits := ranked(letters, list)
	for _, h := range hits[:min(mostSuggestions, len(hits))] {
		out = append(out, h.details())
	}
	return out
}

// ranked are the candidates that letters match, the likeliest first.
func ranked(letters string, list []candidate) (out []*candidate) {
	type placed struct {
		*candidate
		rank int
	}
	var hits []placed
	for i := range list {
		if rank := rankOf(letters, list[i].names); rank < unlike {
			hits = append(hits, placed{&list[i], rank})
		}
	}
	stable.Sort(hits, func(a, b placed) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(rankKnown(a.known), rankKnown(b.known)), cmp.Compare(b.date, a.date))
	})
	for _, h := range hits {
		out = append(out, h.candidate)
	}
	return out
}

func rankKnown(yes bool) int {
	if yes {
		return 0
	}
	return 1
}

// How near a name is to what was typed.
const (
	same = iota
	begins
	hasWord
	contained
	unlike
)

// rankOf the nearest of some names. Case and marks do not count.
func rankOf(letters string, names []string) int {
	typed, best := fold(letters), unlike
	for _, n := range names {
		switch f := fold(n); {
		case n == "":
		case f == typed:
			best = min(best, same)
		case strings.HasPrefix(f, typed):
			best = min(best, begins)
		case wordBegins(n, typed):
			best = min(best, hasWord)
		}
	}
	if best == unlike && matches(letters, names...) {
		return contained
	}
	return best
}

// wordBegins: what follows a mark in a name begins so.
func wordBegins(name, typed string) bool {
	for i := range name {
		if i > 0 && strings.ContainsRune("-_/ .", rune(name[i-1])) && strings.HasPrefix(fold(name[i:]), typed) {
			return true
		}
	}
	return false
}
