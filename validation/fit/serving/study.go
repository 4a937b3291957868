package main

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/memwall/memwall/speed/coef"
	"github.com/memwall/memwall/speed/serving"
)

const studyHeader = "way\tfigure\tgroup\trows\tmedian\tp90\tbias\tcovered\twidth\n"

// deviations are ln(predicted/measured) of a group, and its bands.
type deviations struct {
	logs, widths []float64
	inside       int
}

func (e *deviations) add(predicted, measured float64) {
	e.logs = append(e.logs, math.Log(predicted/measured))
}

// band adds that a band from low to high was to hold a measurement.
func (e *deviations) band(low, mid, high, measured float64) {
	e.widths = append(e.widths, (high-low)/mid)
	if low <= measured && measured <= high {
		e.inside++
	}
}

// line of a study: median and 90th percentile of the relative errors, the median of the signed ones, the share of
// measurements in their bands and the median width of these, all in percent.
func (e *deviations) line(b *bytes.Buffer, way, figure, group string) {
	if len(e.logs) == 0 {
		return
	}
	abs := make([]float64, len(e.logs))
	for i, x := range e.logs {
		abs[i] = math.Abs(math.Expm1(x))
	}
	slices.Sort(abs)
	slices.Sort(e.logs)
	n := len(abs)
	fmt.Fprintf(b, "%s\t%s\t%s\t%d\t%.1f\t%.1f\t%+.1f\t", way, figure, group, n, 100*abs[n/2], 100*abs[n*9/10], 100*math.Expm1(e.logs[n/2]))
	if len(e.widths) == n {
		slices.Sort(e.widths)
		fmt.Fprintf(b, "%.1f\t%.1f", 100*float64(e.inside)/float64(n), 100*e.widths[n/2])
	} else {
		b.WriteByte('\t')
	}
	b.WriteByte('\n')
}

// study lists the errors of predictions, of all engines and of each; with a table that has spreads, their bands.
func (s *servingRows) study(b *bytes.Buffer, way string, p map[*servingRow]left, t *coef.Table) {
	groups := map[string]*deviations{}
	var order []string
	for _, r := range s.rows {
		l, ok := p[r]
		if !ok {
			continue
		}
		for kind, measured := range r.measured() {
			for _, g := range r.groups() {
				name := r.figureName(kind) + "\t" + g
				if groups[name] == nil {
					groups[name] = &deviations{}
					order = append(order, name)
				}
				groups[name].add(l.figures[kind], measured)
				if spread, ok := spreadOf(t, kind, r); ok {
					low, high := spread.Band(l.figures[kind], l.vars[kind])
					groups[name].band(low, l.figures[kind], high, measured)
				}
			}
		}
	}
	slices.Sort(order)
	for _, name := range order {
		figure, group, _ := strings.Cut(name, "\t")
		groups[name].line(b, way, figure, group)
	}
}

func spreadOf(t *coef.Table, kind string, r *servingRow) (coef.Spread, bool) {
	if r.static {
		return coef.Spread{}, false
	}
	if s, ok := t.Spread(kind + "/" + serving.EngineOf(r.Ask.Engine)); ok {
		return s, true
	}
	return t.Spread(kind)
}

func (r *servingRow) figureName(kind string) string {
	if r.static {
		return "static batch " + kind
	}
	return kind
}

// groups that a row counts in. Rows that the fit leaves out are shown by their reason.
func (r *servingRow) groups() []string {
	if !r.fit {
		return []string{r.Note}
	}
	return []string{"all", serving.EngineOf(r.Ask.Engine)}
}

// study lists the errors of kernels whose devices, or whose sizes, were left out of the fit.
func (k *kernelRows) study(b *bytes.Buffer) error {
	for _, way := range []struct {
		name string
		key  func(i int) string
		k    int
	}{
		{"devices out", func(i int) string { return k.rows[i].Device }, 12},
		{"sizes out", func(i int) string { return fmt.Sprint(k.rows[i].Kind, k.rows[i].Size[len(k.rows[i].Size)/3:]) }, 8},
	} {
		groups := map[string]*deviations{}
		for _, f := range coef.Folds(len(k.rows), way.key, way.k) {
			keys := map[string]bool{}
			for _, i := range f {
				keys[way.key(i)] = true
			}
			t, err := k.fitBy(func(i int) bool { return keys[way.key(i)] })
			if err != nil {
				return err
			}
			for _, i := range f {
				name := k.rows[i].Kind + " " + k.rows[i].Format
				if groups[name] == nil {
					groups[name] = &deviations{}
				}
				groups[name].add(valueOf(t, &k.fits[i]), k.rows[i].Seconds)
			}
		}
		var names []string
		for name := range groups {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			groups[name].line(b, way.name, "kernel", name)
		}
	}
	return nil
}

// valueOf a row by a table.
func valueOf(t *coef.Table, r *coef.Row) float64 {
	c := make([]float64, len(r.Uses))
	for i := range r.Uses {
		c[i] = t.At(r.Uses[i]).Value
	}
	return r.Predict(c)
}
