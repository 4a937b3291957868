package check

import (
	"math"
	"slices"

	"github.com/memwall/memwall"
)

// Since sets a run beside an earlier one: plans go by their names.
func (r *Run) Since(base *Run, name string) {
	r.Base = name
	old := map[string]*Result{}
	for i := range base.Plans {
		old[base.Plans[i].Name] = &base.Plans[i]
	}
	for i := range r.Plans {
		p := &r.Plans[i]
		was := old[p.Name]
		if was == nil {
			p.New = true
			continue
		}
		delete(old, p.Name)
		p.Changes = changes(was, p)
	}
	for i := range base.Plans {
		if n := base.Plans[i].Name; old[n] != nil {
			r.Gone = append(r.Gone, n)
		}
	}
}

// changes between two results of one plan: outcome, verdict, figures, then the fields that explain them.
func changes(was, now *Result) (out []Change) {
	say := func(name, a, b string) {
		if a != b {
			out = append(out, Change{Name: name, Was: a, Now: b})
		}
	}
	say("outcome", string(was.Outcome), string(now.Outcome))
	say("verdict", string(was.Verdict), string(now.Verdict))
	for i := range bounds {
		if c, ok := bounds[i].change(&was.Figures, &now.Figures); ok {
			out = append(out, c)
		}
	}
	return append(out, fieldChanges(was.Plan, now.Plan)...)
}

// change of a figure, where it shows in the digits that are printed.
func (b *bound) change(was, now *Figures) (Change, bool) {
	x, y := b.of(was), b.of(now)
	c := Change{Name: b.name, Was: "unknown", Now: "unknown"}
	if x != nil {
		c.Was = b.print(*x)
	}
	if y != nil {
		c.Now = b.print(*y)
	}
	if x != nil && y != nil {
		sign := "+"
		if *y < *x {
			sign = "−"
		}
		c.By = sign + b.print(math.Abs(*y-*x))
	}
	return c, c.Was != c.Now
}

// fieldChanges are the fields of a request that differ.
func fieldChanges(was, now *memwall.Request) (out []Change) {
	if was == nil || now == nil {
		return nil
	}
	fields := memwall.Fields()
	for i := range fields {
		f := &fields[i]
		if slices.Contains([]string{"ask", "text"}, f.Name) {
			continue
		}
		if a, b := fieldText(f, was), fieldText(f, now); a != b {
			out = append(out, Change{Name: f.Name, Was: a, Now: b})
		}
	}
	return out
}

// fieldText is a field as people write it; a dash where nobody set it.
func fieldText(f *memwall.Field, r *memwall.Request) string {
	if f.Value(r).IsZero() {
		return "—"
	}
	return f.Text(r)
}
