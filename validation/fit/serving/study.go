package main

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"github.com/memwall/memwall/speed/coef"
	"github.com/memwall/memwall/speed/serving"
	"github.com/memwall/memwall/validation/fit/internal/study"
)

const studyHeader = "way\tfigure\tgroup\trows\tmedian\tp90\tbias\tcovered\twidth\n"

// lines of a study, one a group, in their order: median and 90th percentile of the relative errors, the median
// of the signed ones, the share of measurements in their bands and the median width of these, all in percent. A
// group is named by its figure and itself.
func lines(b *bytes.Buffer, way string, groups study.Groups) {
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		e := groups[name]
		fmt.Fprintf(b, "%s\t%s\t%d\t%.1f\t%.1f\t%+.1f\t", way, name, e.Rows(), 100*e.Off(0.5), 100*e.Off(0.9), 100*e.Bias())
		if e.Banded() {
			fmt.Fprintf(b, "%.1f\t%.1f\n", 100*e.Cover(), 100*e.Width())
		} else {
			b.WriteString("\t\n")
		}
	}
}

// study lists the errors of predictions, of all engines and of each; with a table that has spreads, their bands where evidence is so near.
func (s *servingRows) study(b *bytes.Buffer, way, near string, p map[*servingRow]left, t *coef.Table) {
	groups := study.Groups{}
	for _, r := range s.rows {
		l, ok := p[r]
		if !ok {
			continue
		}
		for kind, measured := range r.measured() {
			mid := l.figures[kind]
			for _, g := range r.groups() {
				e := groups.Of(r.figureName(kind) + "\t" + g)
				if spread, ok := r.spread(t, kind+near); ok {
					low, high := spread.Band(mid, l.vars[kind])
					e.AddBand(low, mid, high, measured)
				} else {
					e.Add(mid, measured)
				}
			}
		}
	}
	lines(b, way, groups)
}

func (r *servingRow) spread(t *coef.Table, kind string) (coef.Spread, bool) {
	if r.static {
		return coef.Spread{}, false
	}
	return spreadOf(t, kind, r.group())
}

// spreadOf a figure: the engine's own, else that of all.
func spreadOf(t *coef.Table, kind, engine string) (coef.Spread, bool) {
	if s, ok := t.Spread(kind + "/" + engine); ok {
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
	if r.Ask.Disaggregated != nil {
		return []string{serving.SpreadPools, serving.SpreadPools + " " + serving.EngineOf(r.Ask.Engine)}
	}
	return []string{"all", r.group()}
}
