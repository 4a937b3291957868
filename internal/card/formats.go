package card

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/quality"
	"github.com/memwall/memwall/spell"
	"github.com/memwall/memwall/unit"
)

// Format is a number format, or the blocks of one.
type Format struct {
	Name string `json:"name"`
	// Bits of an element, block scales included.
	Bits     float64 `json:"bits"`
	Elements int64   `json:"block_elements"`
	Block    int64   `json:"block_bytes"`
	// PerBillion is what a billion elements take.
	PerBillion unit.Bytes `json:"bytes_per_billion"`
	Float      *Float     `json:"float,omitempty"`
	Layout     string     `json:"layout,omitempty"`
	GGUF       *int       `json:"gguf_type,omitempty"`
	Native     string     `json:"native,omitempty"`
	Not        string     `json:"not_native,omitempty"`
	Scaling    string     `json:"scaling,omitempty"`
	StoredBy   string     `json:"stored_by,omitempty"`
	Why        string     `json:"why,omitempty"`
	Beside     *Format    `json:"beside,omitempty"`
	Recipes    []string   `json:"recipes,omitempty"`
	// Recipe is the one of the same name, when there is one.
	Recipe *Recipe `json:"recipe,omitempty"`
	Source string  `json:"source,omitempty"`
	// Cache is guidance about a KV cache in the format, CacheQuality what was measured of one.
	Cache        *Method   `json:"cache,omitempty"`
	CacheQuality []Quality `json:"cache_quality,omitempty"`
}

// Float is the range of a floating-point format.
type Float struct {
	Exponent       int     `json:"exponent_bits"`
	Fraction       int     `json:"fraction_bits"`
	Largest        float64 `json:"largest"`
	SmallestNormal float64 `json:"smallest_normal"`
	Smallest       float64 `json:"smallest_subnormal"`
	Epsilon        float64 `json:"epsilon"`
}

// Recipe is a named quantisation of a whole model.
type Recipe struct {
	Name    string   `json:"name"`
	Title   string   `json:"title,omitempty"`
	Aliases []string `json:"aliases,omitempty"`
	Store   string   `json:"store"`
	Base    string   `json:"base"`
	// Bits of an element of a large matrix that the recipe quantises, scales included.
	Bits float64 `json:"bits"`
	Note string  `json:"note,omitempty"`
	// On is the whole of a common model, with what the recipe leaves alone.
	On []StoredOn `json:"on,omitempty"`
	// Method is guidance, Quality what was measured of models in the recipe.
	Method  *Method   `json:"method,omitempty"`
	Quality []Quality `json:"quality,omitempty"`
}

// StoredOn is a model in a recipe.
type StoredOn struct {
	Model string `json:"model"`
	Name  string `json:"name"`
	StoredIn
}

// billion elements, rounded up to whole blocks of every format.
const billion = 1_000_000_000

func format(f *dtype.Format) *Format {
	out := &Format{Name: f.Name, Bits: f.Bits(), Elements: f.BlockElems, Block: f.BlockBytes, PerBillion: f.Row(billion), Layout: f.Note}
	if f.GGML != dtype.NoGGML {
		n := f.GGML
		out.GGUF = &n
	}
	if x := f.Float; x != nil {
		out.Float = &Float{x.Exponent, x.Fraction, x.Max(), x.SmallestNormal(), x.SmallestSubnormal(), x.Epsilon()}
	}
	return out
}

// Formats returns the plain formats, followed by those of GGUF files.
func Formats(filter string) (plain, blocks []*Format) {
	for _, f := range dtype.Plain {
		if f.Float != nil || dtype.UseOf(f) != nil {
			plain = appendMatching(plain, f, filter)
		}
	}
	for _, f := range dtype.GGML {
		if f.BlockElems > 1 {
			blocks = appendMatching(blocks, f, filter)
		}
	}
	return plain, blocks
}

func appendMatching(list []*Format, f *dtype.Format, filter string) []*Format {
	if !matches(filter, f.Name) {
		return list
	}
	out := format(f)
	if u := dtype.UseOf(f); u != nil {
		out.Native, out.StoredBy = u.Native, u.StoredBy
	}
	return append(list, out)
}

// FormatOf returns the card of a format; nil if there is none of the name.
func FormatOf(name string) *Format {
	f := dtype.FindFormat(name)
	if f == nil {
		return nil
	}
	out := format(f)
	if u := dtype.UseOf(f); u != nil {
		out.Native, out.Not, out.Scaling, out.StoredBy, out.Why, out.Source = u.Native, u.Not, u.Scaling, u.StoredBy, u.Why, u.Source
		if u.Beside != nil {
			out.Beside = format(u.Beside)
		}
	}
	for _, r := range dtype.Recipes() {
		if r.Base == f {
			out.Recipes = append(out.Recipes, r.Name)
		}
	}
	out.Cache, out.CacheQuality = methodCard(quality.MethodOfCache(f)), qualities(quality.OfCacheFormat(f))
	out.Recipe = RecipeOf(name)
	return out
}

// stores names where files in a recipe come from.
var stores = map[dtype.Store]string{dtype.Checkpoint: "hub", dtype.GGUF: "gguf", dtype.MLX: "mlx"}

// Recipes returns the named quantizations, each with the size of one common model.
func Recipes(filter string) (out []*Recipe) {
	for _, r := range dtype.Recipes() {
		if matches(filter, append([]string{r.Name, r.Title}, r.Aliases...)...) {
			out = append(out, recipe(r).on(r, examples[:1]))
		}
	}
	return out
}

func recipe(r *dtype.Recipe) *Recipe {
	return &Recipe{Name: r.Name, Title: r.Title, Aliases: r.Aliases, Store: stores[r.Store], Base: r.Base.Name, Bits: r.BulkBits(),
		Note: r.Note}
}

// examples are the models that a recipe's card is computed on.
var examples = []string{"llama-3.1-8b", "llama-3.1-70b", "qwen3-30b-a3b"}

// RecipeOf returns the card of a recipe with its size on common models; nil if there is none of the name.
func RecipeOf(name string) *Recipe {
	r := dtype.FindRecipe(name)
	if r == nil {
		return nil
	}
	out := recipe(r).on(r, examples)
	out.Method, out.Quality = methodCard(quality.MethodOf(r)), qualities(quality.OfRecipe(r))
	return out
}

// on adds the sizes of models of the catalog.
func (out *Recipe) on(r *dtype.Recipe, ids []string) *Recipe {
	for _, id := range ids {
		e, err := catalog.Find(id)
		if err != nil {
			continue
		}
		s, err := e.Spec()
		if err != nil {
			continue
		}
		if r.Store == dtype.GGUF {
			s = s.Converted()
		}
		m := s.Model(e.ID)
		out.On = append(out.On, StoredOn{e.ID, e.Name, stored(m, m.Store(r), r.Name, false)})
	}
	return out
}

// NoFormat returns the error for a name that is neither a format nor a recipe.
func NoFormat(name string) *memwall.Error {
	var names []string
	for _, list := range [][]*dtype.Format{dtype.Plain, dtype.GGML} {
		for _, f := range list {
			names = append(names, f.Name)
		}
	}
	for _, r := range dtype.Recipes() {
		names = append(names, r.Name)
	}
	names = append(names, quality.FormatNames()...)
	e := &memwall.Error{Code: memwall.BadField, Field: "format", Value: name, Message: fmt.Sprintf("no format or recipe called %q", name),
		Hint: "memwall formats lists them"}
	if near := spell.Nearest(name, names); len(near) > 0 {
		e.Hint = "did you mean: " + strings.Join(near, ", ")
	}
	return e
}
