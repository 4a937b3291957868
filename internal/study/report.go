package study

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/card"
	"github.com/memwall/memwall/internal/stable"
	"github.com/memwall/memwall/spell"
	"github.com/memwall/memwall/stat"
)

// Tally takes answers one after the other, and reports what they come to.
type Tally struct {
	study    *Study
	factors  []int  // of designs: all but the seed
	asked    []bool // of these: says what is wanted
	measures []Measure
	answered int64
	failures map[string]int64
	designs  map[string]*design
	vary     []*variance // by measure
}

// design is all of a question but its seed, with what its seeds came to.
type design struct {
	levels  []int64
	n, held int64
	values  [][]Figure // by measure
}

// NewTally returns the tally of a study.
func NewTally(s *Study) *Tally {
	t := &Tally{study: s, measures: Measures(s.Ask), failures: map[string]int64{}, designs: map[string]*design{}}
	for i := range s.Factors {
		if s.Factors[i].Name != "seed" {
			t.factors = append(t.factors, i)
		}
	}
	for range t.measures {
		t.vary = append(t.vary, newVariance(len(s.Factors)))
	}
	return t
}

// Add an answer. What failed, or does not fit, is counted and compared with nothing.
func (t *Tally) Add(index int64, verdict, failure string, figures Figures) {
	t.answered++
	switch {
	case failure != "":
		t.failures[failure]++
		return
	case verdict == string(memwall.DoesNotFit):
		t.failures["does not fit"]++
		return
	}
	levels := t.study.Levels(index)
	d := t.design(levels)
	d.n++
	if f, judged := figures[held]; !judged || f.Value > 0 {
		d.held++
	}
	for i, m := range t.measures {
		if f, ok := figures[m.Name]; ok {
			d.values[i] = append(d.values[i], f)
			t.vary[i].add(levels, f.Value)
		}
	}
}

func (t *Tally) design(levels []int64) *design {
	var at []int64
	for _, f := range t.factors {
		at = append(at, levels[f])
	}
	key := fmt.Sprint(at)
	d := t.designs[key]
	if d == nil {
		d = &design{levels: at, values: make([][]Figure, len(t.measures))}
		t.designs[key] = d
	}
	return d
}

// asks tells a factor that says what is wanted from one that can be chosen.
func asks(name string) bool {
	return name == "model" || name == "goal" || name == "trace" || name == "workload" || strings.HasPrefix(name, "workload.")
}

// Report what came, by some measures or, where none is named, by the first two that differ between answers. per are the
// factors that say what is wanted, where those are not the model, the workload and the goal.
func (t *Tally) Report(names, per []string) (*card.Study, error) {
	by, err := t.chosen(names)
	if err == nil {
		err = t.cases(per)
	}
	if err != nil {
		return nil, err
	}
	out := &card.Study{Name: t.study.Name, Ask: t.study.Ask, Criterion: t.study.criterion(), Points: t.study.Points(), Answered: t.answered,
		Failures: counted(t.failures)}
	for i, f := range t.factors {
		out.Factors = append(out.Factors, t.study.Factors[f].Name)
		if t.asked[i] {
			out.Asked = append(out.Asked, t.study.Factors[f].Name)
		}
	}
	for _, m := range by {
		one := &t.measures[m]
		out.Measures = append(out.Measures, card.StudyMeasure{Name: one.Name, More: one.More, Label: one.Label, Unit: one.Unit})
		if v := t.vary[m]; v.n > 1 {
			out.Sensitivity = append(out.Sensitivity, t.sensitivity(m))
		}
	}
	all := t.compared(by)
	out.Cases = grouped(all)
	t.entitle(all, out.Cases)
	out.Overall = overall(all, out.Cases)
	for _, p := range all {
		out.Designs = append(out.Designs, p.Design)
	}
	return out, nil
}

// cases parts the factors into those that say what is wanted and those that can be chosen.
func (t *Tally) cases(per []string) error {
	t.asked = make([]bool, len(t.factors))
	var all []string
	for i, f := range t.factors {
		name := t.study.Factors[f].Name
		all = append(all, name)
		t.asked[i] = slices.Contains(per, name) || len(per) == 0 && asks(name)
	}
	for _, name := range per {
		if !slices.Contains(all, name) && name != "none" {
			return &memwall.Error{Code: memwall.BadField, Field: "per", Value: name,
				Message: fmt.Sprintf("the study has no factor %q", name), Hint: "some of " + strings.Join(all, ", ") + ", or none"}
		}
	}
	return nil
}

// parted levels of a design: of what is wanted, and of what can be chosen.
func (t *Tally) parted(levels []int64) (wanted, chosen []int64) {
	for i, l := range levels {
		if t.asked[i] {
			wanted = append(wanted, l)
		} else {
			chosen = append(chosen, l)
		}
	}
	return wanted, chosen
}

// chosen measures, by their places.
func (t *Tally) chosen(names []string) (by []int, err error) {
	const few = 2
	if len(names) == 0 {
		for i, v := range t.vary {
			if len(by) < few && v.n > 0 && v.most > v.least {
				by = append(by, i)
			}
		}
		return by, nil
	}
	var all []string
	for _, m := range t.measures {
		all = append(all, m.Name)
	}
	for _, name := range names {
		i := slices.Index(all, name)
		if i < 0 {
			hint := "one of " + strings.Join(all, ", ")
			if near := spell.Nearest(name, all); len(near) > 0 {
				hint = "did you mean: " + strings.Join(near, ", ")
			}
			return nil, &memwall.Error{Code: memwall.BadField, Field: "of", Value: name,
				Message: fmt.Sprintf("answers to %s have no figure %q", t.study.Ask, name), Hint: hint}
		}
		by = append(by, i)
	}
	return by, nil
}

func counted(all map[string]int64) (out []card.Count) {
	for _, what := range slices.Sorted(maps.Keys(all)) {
		out = append(out, card.Count{What: what, N: all[what]})
	}
	stable.Sort(out, func(a, b card.Count) int { return cmp.Compare(b.N, a.N) })
	return out
}

// placed is a design with where it stands.
type placed struct {
	card.Design
	levels, wanted, chosen []int64
	at                     []float64 // by measure, less is better
}

// compared designs, case by case: those on the front first, then others that do what is wanted, and by the measures.
func (t *Tally) compared(by []int) []*placed {
	cases := map[string][]*placed{}
	var all []*placed
	names := t.names()
	for _, d := range t.designs {
		one := t.placed(d, by, names)
		if all = append(all, one); one.holds() {
			key := fmt.Sprint(one.wanted)
			cases[key] = append(cases[key], one)
		}
	}
	for _, of := range cases {
		at := make([][]float64, len(of))
		for i := range of {
			at[i] = of[i].at
		}
		for _, i := range front(at) {
			of[i].Front = len(by) > 0
		}
	}
	stable.Sort(all, func(a, b *placed) int {
		return cmp.Or(slices.Compare(a.wanted, b.wanted), -compareBool(a.Front, b.Front), -compareBool(a.holds(), b.holds()),
			slices.Compare(a.at, b.at), slices.Compare(a.levels, b.levels))
	})
	return all
}

// names of the levels of each factor of designs.
func (t *Tally) names() (out []func(int64) string) {
	for _, f := range t.factors {
		out = append(out, t.study.Factors[f].names())
	}
	return out
}

func (t *Tally) placed(d *design, by []int, names []func(int64) string) *placed {
	one := &placed{Design: card.Design{Seeds: d.n, Held: d.held}, levels: d.levels, at: make([]float64, len(by))}
	one.wanted, one.chosen = t.parted(d.levels)
	for i, f := range t.factors {
		one.Levels = append(one.Levels, t.study.Factors[f].Level(d.levels[i]))
		one.Names = append(one.Names, names[i](d.levels[i]))
	}
	for i, m := range by {
		s := spreadOf(d.values[m])
		one.Spreads = append(one.Spreads, s)
		switch {
		case s == nil:
			one.at[i] = math.Inf(1) // what is not known is not better than what is
		case t.measures[m].More:
			one.at[i] = -s.Mean
		default:
			one.at[i] = s.Mean
		}
	}
	return one
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// front of places of which less is better in everything: those that no other is as good as in all and better than in one.
// Once they are sorted, none is beaten by a later one. What is known in nothing is on no front.
func front(at [][]float64) (out []int) {
	order := make([]int, len(at))
	for i := range order {
		order[i] = i
	}
	stable.Sort(order, func(a, b int) int { return slices.Compare(at[a], at[b]) })
	for _, i := range order {
		known := !slices.Contains(at[i], math.Inf(1))
		if known && !slices.ContainsFunc(out, func(j int) bool { return beats(at[j], at[i]) }) {
			out = append(out, i)
		}
	}
	return out
}

func beats(a, b []float64) bool {
	better := false
	for i := range a {
		if a[i] > b[i] {
			return false
		}
		better = better || a[i] < b[i]
	}
	return better
}

// spreadOf values over seeds; nil of none.
func spreadOf(all []Figure) *card.Spread {
	if len(all) == 0 {
		return nil
	}
	s := &card.Spread{}
	values := make([]float64, len(all))
	var low, high float64
	banded := true
	for i, f := range all {
		values[i] = f.Value
		s.Mean += f.Value
		if banded = banded && f.Low != nil && f.High != nil; banded {
			low, high = low+min(*f.Low, *f.High), high+max(*f.Low, *f.High)
		}
	}
	n := float64(len(all))
	s.Mean, low, high = s.Mean/n, low/n, high/n
	s.P5, s.P50, s.P95 = stat.Quantile(values, 0.05), stat.Median(values), stat.Quantile(values, 0.95)
	if banded {
		s.Low, s.High = &low, &high
	}
	return s
}
