package card

import (
	"slices"
	"strings"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/quality"
	"github.com/memwall/memwall/unit"
)

// Quality is a published figure of a model in a format.
type Quality struct {
	Model   string `json:"model"`
	Catalog string `json:"catalog,omitempty"`
	Format  string `json:"format"`
	// How the row's format relates to the one asked: same, near or made.
	How    quality.How    `json:"how,omitempty"`
	Note   string         `json:"note,omitempty"`
	Target quality.Target `json:"target"`
	// Activations are their bits where they are quantised too.
	Activations int     `json:"activation_bits,omitempty"`
	Metric      string  `json:"metric"`
	Baseline    Maybe   `json:"baseline"`
	Value       float64 `json:"value"`
	// Percent is value over baseline, less one.
	Percent Maybe  `json:"percent"`
	Refused string `json:"refused,omitempty"`
	Source  string `json:"source"`
	// Shown marks the rows that a card draws: one of each model and format, of caches every metric.
	Shown bool `json:"shown"`
}

// Maybe is a number, null where it is unknown.
type Maybe = *float64

func qualities(rows quality.Published) (out []Quality) {
	typical := rows.Typical()
	for _, r := range rows {
		q := Quality{
			Model: r.Model(), Catalog: r.CatalogID(), Format: r.Format.Name, How: r.Format.How, Note: r.Format.Note,
			Target: r.Format.Target, Activations: r.Format.Activations,
			Metric: r.Metric.Name, Value: r.Value.Number, Refused: r.Refused, Source: r.Source.Citation, Shown: slices.Contains(typical, r),
		}
		if r.Based {
			q.Baseline = &r.Baseline.Number
		}
		if d, ok := r.Delta(); ok && r.Source.Baseline == "" {
			q.Percent = &d
		}
		out = append(out, q)
	}
	return out
}

// Published is a format that sources name and measure.
type Published struct {
	Name   string         `json:"name"`
	Target quality.Target `json:"target"`
	As     string         `json:"stands_for,omitempty"`
	Note   string         `json:"note,omitempty"`
	// Bits of an element as sources count them, 0 where none does.
	Least  float64 `json:"bits_least,omitempty"`
	Most   float64 `json:"bits_most,omitempty"`
	Models int     `json:"models"`
	// Quality is left out of lists.
	Quality []Quality `json:"quality,omitempty"`
}

// PublishedOf returns the card of a name used by sources; nil if there is none.
func PublishedOf(name string) *Published {
	rows := quality.Named(strings.TrimSpace(name))
	if len(rows) == 0 {
		return nil
	}
	f := rows[0].Format
	out := &Published{Name: f.Name, Target: f.Target, As: f.As, Note: f.Note, Quality: qualities(rows)}
	models := map[string]bool{}
	for _, r := range rows {
		models[r.Model()] = true
		if b := r.Bits; b > 0 {
			if out.Least == 0 || b < out.Least {
				out.Least = b
			}
			out.Most = max(out.Most, b)
		}
	}
	out.Models = len(models)
	return out
}

// MeasuredOnly returns the formats that sources measure but that cannot be sized.
func MeasuredOnly(filter string) (out []*Published) {
	for _, name := range quality.Unresolved() {
		if matches(filter, name) {
			p := PublishedOf(name)
			p.Quality = nil
			out = append(out, p)
		}
	}
	return out
}

// Method is guidance about a quantization method.
type Method struct {
	ID      string         `json:"id"`
	Name    string         `json:"name"`
	Target  quality.Target `json:"target"`
	Formats []string       `json:"formats"`
	// Bits of an element, scales included.
	Least       float64             `json:"bits_least,omitempty"`
	Most        float64             `json:"bits_most,omitempty"`
	Calibration quality.Calibration `json:"calibration"`
	// ComputesIn is what hardware multiplies where it can, On the architectures of the catalog that have a rate
	// for it; "" is 16 bits everywhere.
	ComputesIn string   `json:"computes_in,omitempty"`
	On         []OnChip `json:"on,omitempty"`
	Engines    []string `json:"engines"`
	Prefill    string   `json:"prefill"`
	Decode     string   `json:"decode"`
	When       string   `json:"when"`
	Source     string   `json:"source"`
}

// OnChip lists a vendor's architectures.
type OnChip struct {
	Vendor        string   `json:"vendor"`
	Architectures []string `json:"architectures"`
}

// Methods returns the matching guidance; a method's full name matches only that one.
func Methods(filter string) (out []*Method) {
	for _, m := range quality.Methods() {
		c := methodCard(&m)
		if strings.EqualFold(filter, c.ID) {
			return []*Method{c}
		}
		if matches(filter, append([]string{c.ID, c.Name, string(c.Target)}, c.Formats...)...) {
			out = append(out, c)
		}
	}
	return out
}

func methodCard(m *quality.Method) *Method {
	if m == nil {
		return nil
	}
	c := &Method{ID: m.ID, Name: m.Name, Target: m.Target, Formats: []string{}, Calibration: m.Calibration, Engines: m.Engines,
		Prefill: m.Prefill, Decode: m.Decode, When: m.When, Source: m.Source}
	c.Least, c.Most = m.Bits()
	for _, r := range m.Recipes {
		c.Formats = append(c.Formats, r.Name)
	}
	for _, f := range m.Formats {
		c.Formats = append(c.Formats, f.Name)
	}
	if m.Arithmetic != nil {
		c.ComputesIn, c.On = m.Arithmetic.Name, computesIn(m.Arithmetic)
	}
	return c
}

// peakOf is a device's rate of multiplications in a format.
func peakOf(d *hardware.Device, f *dtype.Format) hardware.Fact[unit.FLOPRate] {
	switch f {
	case dtype.I8:
		return d.Peaks.INT8
	case dtype.FP8E4M3:
		return d.Peaks.FP8
	case dtype.FP4E2M1:
		return d.Peaks.FP4
	}
	return hardware.Fact[unit.FLOPRate]{}
}

// computesIn lists the architectures of which a device has a rate in a format, vendors in the order of the catalog.
func computesIn(f *dtype.Format) (out []OnChip) {
	for _, d := range hardware.All() {
		if !peakOf(&d, f).Known {
			continue
		}
		at := slices.IndexFunc(out, func(o OnChip) bool { return o.Vendor == d.Vendor })
		if at < 0 {
			at, out = len(out), append(out, OnChip{Vendor: d.Vendor})
		}
		if !slices.Contains(out[at].Architectures, d.Architecture) {
			out[at].Architectures = append(out[at].Architectures, d.Architecture)
		}
	}
	return out
}
