// Package enginetest prepares catalog jobs for the tests of engines.
package enginetest

import (
	"math"
	"testing"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/plan"
)

// Case is a plan on a machine, with a model of the catalog.
type Case struct {
	Model, Hardware string // no hardware: no bounds
	Version         engine.Version
	Plan            plan.Plan
}

// Job builds the case without an engine's defaults.
func (c Case) Job(t testing.TB) *engine.Job {
	t.Helper()
	e, err := catalog.Find(c.Model)
	if err != nil {
		t.Fatal(err)
	}
	s, err := e.Spec()
	if err != nil {
		t.Fatal(err)
	}
	p := c.Plan
	p.Context, p.Sequences = max(1, p.Context), max(1, p.Sequences)
	m := s.Model(e.ID)
	j := &engine.Job{Model: m, Plan: &p, Version: c.Version}
	j.Weights = m.Store(recipe(t, &p, e, m.Native))
	if c.Hardware != "" {
		h, _, err := hardware.Parse(c.Hardware, 0)
		if err != nil {
			t.Fatal(err)
		}
		j.Machine = &h
	}
	return j
}

func recipe(t testing.TB, p *plan.Plan, e *catalog.Entry, native *dtype.Format) *dtype.Recipe {
	t.Helper()
	name := "bf16"
	switch {
	case p.Weights != "":
		name = p.Weights
	case e.Weights != "":
		name = e.Weights
	case native != nil:
		name = native.Name
	}
	r := dtype.FindRecipe(name)
	if r == nil {
		t.Fatalf("no recipe %q", name)
	}
	return r
}

// Sizer takes the case through an engine's defaults and checks.
func (c Case) Sizer(t testing.TB, e engine.Engine) (*engine.Job, engine.Sizer) {
	t.Helper()
	if c.Version == (engine.Version{}) {
		c.Version = e.Latest()
	}
	j := c.Job(t)
	e.Defaults(j)
	if err := e.Check(j); err != nil {
		t.Fatalf("%s: %v", c.Model, err)
	}
	s, err := e.Sizer(j)
	if err != nil {
		t.Fatalf("%s: %v", c.Model, err)
	}
	return j, s
}

// Ranks sizes the case's own load.
func (c Case) Ranks(t testing.TB, e engine.Engine) []engine.Rank {
	t.Helper()
	j, s := c.Sizer(t, e)
	return s.Size(nil, j.Load())
}

// CheckRank holds the laws of a rank: every formula evaluates to its number, bands hold their values, and
// what is fixed with the pool gives what may be used.
func CheckRank(t testing.TB, b *ledger.Book, r *engine.Rank) {
	t.Helper()
	for _, items := range [][]ledger.Item{r.Items, r.Beside} {
		ledger.Leaves(items, func(it *ledger.Item) {
			checkNum(t, b, it.ID+" "+it.Name, it.Why, float64(it.Bytes))
			if it.Low > it.Bytes || it.High < it.Bytes || it.Low < 0 || it.Bytes < 0 {
				t.Errorf("%s: %d..%d around %d", it.Name, it.Low, it.High, it.Bytes)
			}
		})
	}
	if r.Unlimited {
		return
	}
	checkNum(t, b, "usable", r.Usable, r.Usable.V)
	if fixed := ledger.Sum(r.Items).Bytes - r.KV.Needed; r.KV.Preallocated && r.KV.Pool > 0 && fixed+r.KV.Pool != r.Usable.Bytes() {
		t.Errorf("fixed %d + pool %d is not usable %d", fixed, r.KV.Pool, r.Usable.Bytes())
	}
}

func checkNum(t testing.TB, b *ledger.Book, name string, n ledger.Num, want float64) {
	t.Helper()
	f := b.Formula(n)
	v, err := ledger.Eval(f.Text, f.Inputs)
	if err != nil || math.Abs(v-want) > 0.5 {
		t.Errorf("%s: %q gives %g, not %g (%v)", name, f.Text, v, want, err)
	}
}

// CheckMonotone holds that more context and more sequences never need less.
func CheckMonotone(t testing.TB, s engine.Sizer) {
	t.Helper()
	needed := func(l engine.Load) (n int64) {
		for _, r := range s.Size(nil, l) {
			n = max(n, int64(r.Needed().Bytes))
		}
		return n
	}
	last := int64(0)
	for c := int64(1); c <= 1<<18; c = c*3/2 + 7 {
		n := needed(engine.Load{Context: c, Sequences: 3})
		if n < last {
			t.Errorf("%d bytes at a context of %d, %d before", n, c, last)
		}
		last = n
	}
	last = 0
	for q := int64(1); q <= 1<<12; q = q*2 + 1 {
		n := needed(engine.Load{Context: 4096, Sequences: q})
		if n < last {
			t.Errorf("%d bytes for %d sequences, %d before", n, q, last)
		}
		last = n
	}
}

// Print finds a printed figure by its name; nil when the rank has none.
func Print(r *engine.Rank, name string) *engine.Print {
	for i := range r.Prints {
		if r.Prints[i].Name == name {
			return &r.Prints[i]
		}
	}
	return nil
}
