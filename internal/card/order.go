package card

import (
	"fmt"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/internal/stable"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/quality"
)

// Order is the formats that a model may be stored in, least loss first.
type Order struct {
	Model   string   `json:"model"`
	Name    string   `json:"name,omitempty"`
	Formats []Ranked `json:"formats"`
}

// Ranked is a format at its place.
type Ranked struct {
	StoredIn
	// Perplexity and Accuracy are the changes from 16 bits; null where nobody published any.
	Perplexity *Moved `json:"perplexity"`
	Accuracy   *Moved `json:"accuracy"`
	// Guess says how the place was found where no row decides it.
	Guess string `json:"guess,omitempty"`
}

// Moved is a change in percent.
type Moved struct {
	Metric string  `json:"metric"`
	Low    float64 `json:"low"`
	Mid    float64 `json:"mid"`
	High   float64 `json:"high"`
	Rows   int     `json:"rows"`
	Models int     `json:"models"`
	// Level says whose rows they are: those of the model, of its family, or of models of its size; On is the one of
	// the middle.
	Level  string `json:"level"`
	On     string `json:"on"`
	Source string `json:"source"`
}

func moved(c *quality.Change) *Moved {
	if c == nil {
		return nil
	}
	return &Moved{c.Metric.Name, c.Low, c.Mid, c.High, c.Rows, c.Models, c.Level.String(), c.OnModel, c.Source.Citation}
}

// OrderOf ranks the formats that make a model smaller, and its published format.
func OrderOf(src memwall.ModelSource, ref, filter string) (*Order, error) {
	r, err := src.Model(ref)
	if err != nil {
		return nil, err
	}
	if r.Spec == nil {
		return nil, &memwall.Error{Code: memwall.Unsupported, Field: "model", Value: ref,
			Message: fmt.Sprintf("which formats %s may take is not known: its layers are not described", ref),
			Hint:    "a model of the catalog, or its config.json"}
	}
	out := &Order{Model: r.ID, Name: r.Name}
	out.rank(r, filter)
	return out, nil
}

// place is a format with what sorts it.
type place struct {
	ranked Ranked
	rank   quality.Rank
}

func (o *Order) rank(r *memwall.Resolved, filter string) {
	m, converted := r.Spec.Model(r.ID), r.Spec.Converted().Model(r.ID)
	as := func(recipe *dtype.Recipe) *model.Model {
		if recipe.Store == dtype.GGUF {
			return converted
		}
		return m
	}
	published := publishedIn(r)
	order := quality.NewOrder(quality.Model{ID: r.ID, Parameters: m.Params(), Native: published, Bits: func(recipe *dtype.Recipe) float64 {
		return as(recipe).LayerBits(as(recipe).Store(recipe))
	}})
	wide := m.Store(dtype.FindRecipe("bf16")).Bytes()
	var places []place
	for _, recipe := range dtype.Recipes() {
		of := as(recipe)
		s := stored(of, of.Store(recipe), recipe.Name, recipe.Name == published)
		if (s.Published || s.Bytes < wide && !quality.Wide(recipe)) &&
			matches(filter, append([]string{recipe.Name, recipe.Title}, recipe.Aliases...)...) {
			k := order.Weights(recipe)
			places = append(places, place{Ranked{s, moved(k.Effect.Perplexity), moved(k.Effect.Accuracy), k.Guess}, k})
		}
	}
	stable.Sort(places, func(a, b place) int { return quality.Compare(a.rank, b.rank) })
	for _, p := range places {
		o.Formats = append(o.Formats, p.ranked)
	}
}

// publishedIn is the recipe that the makers publish.
func publishedIn(r *memwall.Resolved) string {
	if r.Recipe != "" && r.Weights == nil {
		return r.Recipe
	}
	if m := r.Spec.Model(r.ID); m.Native != nil {
		return m.Native.Name
	}
	return ""
}
