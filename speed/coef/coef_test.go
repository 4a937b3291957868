package coef_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/memwall/memwall/speed/coef"
)

// rates are made up of a start, an offset of a family and one of a device.
func problem(t *testing.T) *coef.Problem {
	t.Helper()
	p := &coef.Problem{
		Start: map[string]float64{"rate": 2, "floor": 0.01},
		Sigma: map[string]map[string]float64{"rate": {"family": 0.5, "device": 0.2}, "floor": {"family": 0.5, "size": 1}},
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for f := range 4 {
		for d := range 5 {
			for size := 1.0; size < 200; size *= 3 {
				p.Rows = append(p.Rows, row(f, d, size, rng.NormFloat64()*0.02))
			}
		}
	}
	return p
}

func truth(f, d int) (rate, floor float64) {
	return 2 * math.Exp(0.3*float64(f-1)+0.1*float64(d-2)), 0.01 * math.Exp(0.4*float64(f-2))
}

func row(f, d int, size, noise float64) coef.Row {
	rate, floor := truth(f, d)
	uses := uses(f, d)
	predict := func(c []float64) float64 { return c[1] + size/c[0] }
	return coef.Row{Name: fmt.Sprint(f, d, size), Uses: uses, Predict: predict, Weight: 1,
		Measured: predict([]float64{rate, floor}) * math.Exp(noise)}
}

func uses(f, d int) []coef.Use {
	family := coef.Level{Name: "family", Key: fmt.Sprint("f", f)}
	return []coef.Use{{Name: "rate", Levels: []coef.Level{family, {Name: "device", Key: fmt.Sprint("f", f, "d", d)}}}, {Name: "floor", Levels: []coef.Level{family}}}
}

// TestSolveFindsWhatMadeTheRows: with little noise, the coefficients of every device come back.
func TestSolveFindsWhatMadeTheRows(t *testing.T) {
	table, err := problem(t).Solve()
	if err != nil {
		t.Fatal(err)
	}
	for f := range 4 {
		for d := range 5 {
			rate, _ := truth(f, d)
			if got := table.At(uses(f, d)[0]); math.Abs(math.Log(got.Value/rate)) > 0.05 || got.Missing != 0 {
				t.Errorf("device %d of family %d: rate %g, made with %g", d, f, got.Value, rate)
			}
		}
	}
}

// TestInherits: a device without rows has its family's mean, and a wider variance; an unknown family wider.
func TestInherits(t *testing.T) {
	table, err := problem(t).Solve()
	if err != nil {
		t.Fatal(err)
	}
	known, device, family := table.At(uses(1, 0)[0]), table.At(uses(1, 9)[0]), table.At(uses(9, 9)[0])
	if mean, _ := truth(1, 2); math.Abs(math.Log(device.Value/mean)) > 0.1 {
		t.Errorf("an unseen device of family 1 has rate %g, the family's middle is %g", device.Value, mean)
	}
	if !(known.Var < device.Var && device.Var < family.Var) {
		t.Errorf("variances do not grow with what is unknown: %g, %g, %g", known.Var, device.Var, family.Var)
	}
}

// TestTableRoundTrip: what is written is read back, and written again as the same bytes.
func TestTableRoundTrip(t *testing.T) {
	p := problem(t)
	table, err := p.Solve()
	if err != nil {
		t.Fatal(err)
	}
	table.SetSpread("decode", coef.Spread{Residual: 0.1, Share: 0.5, Low: -1.5, High: 1.75, Rows: 10})
	text := table.Write()
	again, err := coef.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(again.Write(), text) {
		t.Errorf("written again:\n%s\nwas\n%s", again.Write(), text)
	}
	twice, _ := p.Solve()
	twice.SetSpread("decode", coef.Spread{Residual: 0.1, Share: 0.5, Low: -1.5, High: 1.75, Rows: 10})
	if !bytes.Equal(twice.Write(), text) {
		t.Error("the same rows gave another table")
	}
}

// TestKnownStays: with a table known, only what it lacks is fitted (a calibration).
func TestKnownStays(t *testing.T) {
	known, err := problem(t).Solve()
	if err != nil {
		t.Fatal(err)
	}
	own := &coef.Problem{Start: map[string]float64{"rate": 2, "floor": 0.01}, Sigma: map[string]map[string]float64{"rate": {"own": 0.5}}, Known: known}
	for size := 10.0; size < 200; size *= 2 {
		r := row(1, 0, size, 0)
		r.Measured *= 1.3
		r.Uses[0].Levels = append(r.Uses[0].Levels, coef.Level{Name: "own", Key: "me"})
		own.Rows = append(own.Rows, r)
	}
	table, err := own.Solve()
	if err != nil {
		t.Fatal(err)
	}
	if o, ok := table.Offset("rate", "own", "me"); !ok || math.Abs(o.Value+math.Log(1.3)) > 0.05 {
		t.Errorf("own offset %+v, want about %g", o, -math.Log(1.3))
	}
	for _, d := range []string{"f1d0", "f2d3"} {
		was, _ := known.Offset("rate", "device", d)
		if is, _ := table.Offset("rate", "device", d); is != was {
			t.Errorf("offset of %s became %+v, was %+v", d, is, was)
		}
	}
}

func TestSpreadCovers(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var e coef.Errors
	for i := range 4000 {
		v := []float64{0.0004, 0.04, 0.25}[i%3]
		e.Log, e.Var = append(e.Log, rng.NormFloat64()*math.Sqrt(0.0025+v)), append(e.Var, v)
	}
	s := e.Spread(0.9)
	for _, v := range []float64{0.0004, 0.04, 0.25} {
		in, n := 0, 0
		low, high := s.Band(1, v)
		for i, r := range e.Log {
			if e.Var[i] == v {
				n++
				if x := math.Exp(r); low <= x && x <= high {
					in++
				}
			}
		}
		if share := float64(in) / float64(n); share < 0.86 || share > 0.94 {
			t.Errorf("variance %g: the band %.2f..%.2f holds %.1f %%", v, low, high, 100*share)
		}
	}
}

func TestFoldsKeepGroups(t *testing.T) {
	key := func(i int) string { return fmt.Sprint(i * i % 17) }
	folds := coef.Folds(300, key, 5)
	in, n := map[string]int{}, 0
	for f, rows := range folds {
		for _, i := range rows {
			n++
			if was, ok := in[key(i)]; ok && was != f {
				t.Errorf("group %s is in folds %d and %d", key(i), was, f)
			}
			in[key(i)] = f
		}
	}
	if n != 300 {
		t.Errorf("%d rows in folds, want 300", n)
	}
}

func TestParseRefuses(t *testing.T) {
	head := "coefficient\tlevel\tkey\tvalue\tstderr\trows\n"
	for _, bad := range []string{"a\tb\n", "a\tb\tc\tx\t0\t0\n", "a\tb\tc\t1\tx\t0\n", "a\tb\tc\t1\t0\tx\n", "a\t\t\tNaN\t\t\n", "spread\tdecode\tother\t1\t\t\n"} {
		if _, err := coef.Parse([]byte(head + bad)); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

func TestSolveNamesTheRow(t *testing.T) {
	p := problem(t)
	p.Rows[3].Predict = func([]float64) float64 { return math.NaN() }
	if _, err := p.Solve(); err == nil || !bytes.Contains([]byte(err.Error()), []byte(p.Rows[3].Name)) {
		t.Errorf("error %v does not name the row", err)
	}
	p = problem(t)
	p.Rows[5].Measured = 0
	if _, err := p.Solve(); err == nil {
		t.Error("a row without a measurement was fitted")
	}
}

// TestNearest: the first of the levels that rows spoke of.
func TestNearest(t *testing.T) {
	table, err := problem(t).Solve()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		family, device, want string
	}{{"f1", "f1d0", "device"}, {"f1", "f1d9", "family"}, {"f9", "f9d0", ""}} {
		level, rows := table.Nearest("rate", coef.Level{Name: "device", Key: c.device}, coef.Level{Name: "family", Key: c.family})
		if level != c.want || (rows == 0) != (c.want == "") {
			t.Errorf("%s of %s: level %q with %d rows, want %q", c.device, c.family, level, rows, c.want)
		}
	}
}
