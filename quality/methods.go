package quality

import (
	_ "embed" // the guidance
	"slices"
	"strings"
	"sync"

	"github.com/memwall/memwall/dtype"
)

//go:embed methods.tsv
var methodsText string

// Method is a quantization method: what it requires, what runs it and when to use it. These are sourced facts and
// advice; nothing is computed from them.
type Method struct {
	ID, Name string
	Target   Target
	// Recipes are the method's weight recipes, the most typical first, or Formats its cache formats; neither if it
	// applies to any format.
	Recipes []*dtype.Recipe
	Formats []*dtype.Format
	// Calibration is what quantizing requires besides the weights.
	Calibration Calibration
	// Arithmetic is the format that capable hardware multiplies in; nil if everything is widened to 16 bits.
	Arithmetic *dtype.Format
	// Engines that can load it.
	Engines []string
	// Prefill and Decode describe the effect on speed.
	Prefill, Decode string
	When            string
	Source          string
}

// Calibration says what data a method requires.
type Calibration string

const (
	NoData       Calibration = "none"
	OptionalData Calibration = "optional" // optional, but helps
	NeedsData    Calibration = "data"     // sample text
	Training     Calibration = "training"
)

var guidance = sync.OnceValue(func() []Method {
	list, err := parseMethods(methodsText)
	if err != nil {
		panic("quality: " + err.Error()) // embedded: a test parses them
	}
	return list
})

// Methods returns the guidance: weights, then caches.
func Methods() []Method { return slices.Clone(guidance()) }

// MethodOf returns the method of a recipe, or nil.
func MethodOf(r *dtype.Recipe) *Method {
	for _, m := range guidance() {
		if slices.Contains(m.Recipes, r) {
			return &m
		}
	}
	return nil
}

// MethodOfCache returns the method of a cache format, or nil.
func MethodOfCache(f *dtype.Format) *Method {
	for _, m := range guidance() {
		if slices.Contains(m.Formats, f) {
			return &m
		}
	}
	return nil
}

// Bits returns the range of bits per element over the method's formats, scales included; 0 if it applies to any.
func (m *Method) Bits() (least, most float64) {
	var all []float64
	for _, r := range m.Recipes {
		all = append(all, r.BulkBits())
	}
	for _, f := range m.Formats {
		all = append(all, cacheBits(f))
	}
	if len(all) == 0 {
		return 0, 0
	}
	return slices.Min(all), slices.Max(all)
}

func parseMethods(text string) (list []Method, err error) {
	err = each("methods", text, func(c *cells) error {
		m := Method{
			ID: c.text("method"), Name: c.text("name"), Target: Target(c.text("target")), Calibration: Calibration(c.text("calibration")),
			Engines: strings.Fields(c.text("engines")),
			Prefill: c.text("prefill"), Decode: c.text("decode"), When: c.text("when"), Source: c.text("source"),
		}
		if err := m.readFormats(c); err != nil {
			return err
		}
		if !slices.Contains([]Calibration{NoData, OptionalData, NeedsData, Training}, m.Calibration) {
			return c.wrong("calibration")
		}
		if slices.ContainsFunc(list, func(o Method) bool { return o.ID == m.ID }) {
			return c.wrong("method")
		}
		for _, needed := range []string{"method", "name", "prefill", "decode", "when", "source"} {
			if c.text(needed) == "" {
				return c.wrong(needed)
			}
		}
		list = append(list, m)
		return nil
	})
	return list, err
}

func (m *Method) readFormats(c *cells) error {
	for name := range strings.FieldsSeq(c.text("formats")) {
		r, f := dtype.FindRecipe(name), dtype.FindFormat(name)
		switch {
		case m.Target == Weights && r != nil && r.Name == name:
			m.Recipes = append(m.Recipes, r)
		case m.Target == KVCache && f != nil && f.Name == name:
			m.Formats = append(m.Formats, f)
		default:
			return c.wrong("formats")
		}
	}
	if a := c.text("arithmetic"); a != "" {
		if m.Arithmetic = dtype.FindFormat(a); m.Arithmetic == nil {
			return c.wrong("arithmetic")
		}
	}
	return nil
}
