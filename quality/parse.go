package quality

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// parse reads and indexes the tables; its error lists every invalid line.
func parse(f files) (*table, error) {
	p := parser{
		table:   &table{ids: names{weights: map[string]int{}, kv: map[cacheKey]int{}, own: map[string]int{}}},
		sources: map[string]*Source{}, metrics: map[string]*Metric{}, models: map[string]*subject{}, formats: map[formatKey]*Format{},
	}
	for _, step := range []struct {
		file, text string
		read       func(*cells) error
	}{{"sources", f.sources, p.source}, {"metrics", f.metrics, p.metric}, {"models", f.models, p.model}, {"formats", f.formats, p.format},
		{"rows", f.rows, p.row}} {
		if err := each(step.file, step.text, step.read); err != nil {
			return nil, err
		}
	}
	p.table.index()
	return p.table, nil
}

type parser struct {
	*table
	sources map[string]*Source
	metrics map[string]*Metric
	models  map[string]*subject
	formats map[formatKey]*Format
}

// formatKey identifies a format; source is "" for the default meaning of a name.
type formatKey struct{ name, target, source string }

func (p *parser) source(c *cells) error {
	s := &Source{ID: c.text("source"), Citation: c.text("citation"), Baseline: c.text("baseline")}
	if s.ID == "" || s.Citation == "" || p.sources[s.ID] != nil {
		return c.wrong("source")
	}
	p.sources[s.ID] = s
	return nil
}

func (p *parser) metric(c *cells) (err error) {
	m := &Metric{Name: c.text("metric"), Kind: Kind(c.text("kind")), order: len(p.metrics)}
	if m.Name == "" || p.metrics[m.Name] != nil {
		return c.wrong("metric")
	}
	if !slices.Contains([]Kind{Perplexity, Accuracy, PrintedLoss, Divergence}, m.Kind) {
		return c.wrong("kind")
	}
	switch c.text("better") {
	case "lower":
		m.LowerIsBetter = true
	case "higher":
	default:
		return c.wrong("better")
	}
	m.Noise, _, err = c.number("noise")
	p.metrics[m.Name] = m
	return err
}

func (p *parser) model(c *cells) (err error) {
	s := &subject{name: c.text("model"), catalog: c.text("catalog"), family: c.text("family")}
	if s.name == "" || p.models[s.name] != nil {
		return c.wrong("model")
	}
	s.billions, _, err = c.number("params_b")
	p.models[s.name] = s
	p.table.models = append(p.table.models, s)
	return err
}

func (p *parser) format(c *cells) error {
	f := &Format{Name: c.text("format"), Target: Target(c.text("target")), As: c.text("as"), How: How(c.text("how")), Note: c.text("note")}
	key := formatKey{f.Name, c.text("target"), c.text("source")}
	switch {
	case f.Name == "" || p.formats[key] != nil:
		return c.wrong("format")
	case !slices.Contains([]Target{Weights, KVCache, Both}, f.Target):
		return c.wrong("target")
	case !slices.Contains([]How{"", Same, Made, Near}, f.How) || (f.As == "") != (f.How == ""):
		return c.wrong("how")
	case key.source != "" && p.sources[key.source] == nil:
		return c.wrong("source")
	}
	if !p.ids.resolve(f) {
		return c.wrong("as")
	}
	if a := c.text("activations"); a != "" {
		n, err := strconv.Atoi(a)
		if err != nil {
			return c.wrong("activations")
		}
		f.Activations = n
	}
	p.formats[key] = f
	p.table.formats = append(p.table.formats, f)
	return nil
}

func (p *parser) row(c *cells) (err error) {
	r := Row{Bits: 0, Source: p.sources[c.text("source")], Metric: p.metrics[c.text("metric")], model: p.models[c.text("model")],
		Refused: c.text("refused")}
	r.Format = p.formats[formatKey{c.text("format"), c.text("target"), c.text("source")}]
	if r.Format == nil {
		r.Format = p.formats[formatKey{c.text("format"), c.text("target"), ""}]
	}
	switch {
	case r.Source == nil:
		return c.wrong("source")
	case r.Metric == nil:
		return c.wrong("metric")
	case r.model == nil:
		return c.wrong("model")
	case r.Format == nil:
		return c.wrong("format")
	}
	if r.Bits, _, err = c.number("bits"); err != nil {
		return err
	}
	if err := r.figures(c); err != nil {
		return err
	}
	p.rows = append(p.rows, r)
	return nil
}

// figures parses value and baseline. A loss printed in percent of a baseline is converted to the remainder of 100.
func (r *Row) figures(c *cells) (err error) {
	var known bool
	if r.Value.Number, known, err = c.number("value"); err != nil || !known {
		return c.wrong("value")
	}
	if r.Baseline.Number, r.Based, err = c.number("baseline"); err != nil {
		return err
	}
	r.Value.half, r.Baseline.half = halfUnit(c.text("value")), halfUnit(c.text("baseline"))
	if r.Metric.Kind == PrintedLoss {
		r.Value.Number = 100 - r.Value.Number
		r.Baseline = Figure{Number: 100}
	}
	if r.Metric.Kind != Divergence && (!(r.Value.Number > 0) || r.Based && !(r.Baseline.Number > 0)) {
		return fmt.Errorf("%s.tsv, %s: a %s of %s, from %s", c.file, c.line, r.Metric.Name, c.text("value"), c.text("baseline"))
	}
	return nil
}

// halfUnit returns half of the last digit of a printed number, its maximum rounding error.
func halfUnit(s string) float64 {
	_, fraction, _ := strings.Cut(s, ".")
	half := 0.5
	for range fraction {
		half /= 10
	}
	return half
}
