package search_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/memwall/memwall/search"
)

// world is a random problem whose needs fall along some axes.
type world struct {
	settings []int
	falls    []bool
	saves    [][]float64 // by axis and setting
	prices   [][]float64
	extra    map[int]float64 // what full prices add, by the number of a point
	room     float64
	asked    int
}

func newWorld(r *rand.Rand) *world {
	w := &world{extra: map[int]float64{}}
	points := 1
	for range 1 + r.IntN(4) {
		n := 1 + r.IntN(5)
		falls := r.IntN(4) > 0
		saves, prices := make([]float64, n), make([]float64, n)
		for i := 1; i < n; i++ {
			saves[i], prices[i] = float64(r.IntN(10)), float64(r.IntN(6))
			if falls {
				saves[i] += saves[i-1]
				prices[i] += prices[i-1]
			}
		}
		w.settings, w.falls, w.saves, w.prices = append(w.settings, n), append(w.falls, falls), append(w.saves, saves),
			append(w.prices, prices)
		points *= n
	}
	for i := range points {
		w.extra[i] = float64(r.IntN(4))
	}
	w.room = float64(r.IntN(25))
	return w
}

func (w *world) sum(of [][]float64, p search.Point) (x float64) {
	for axis, s := range p {
		x += of[axis][s]
	}
	return x
}

func (w *world) number(p search.Point) (n int) {
	for axis, s := range p {
		n = n*w.settings[axis] + s
	}
	return n
}

func (w *world) problem(most int) *search.Problem {
	return &search.Problem{Settings: w.settings, Falls: w.falls, Most: most,
		Least: func(p search.Point) float64 { return w.sum(w.prices, p) },
		Price: func(p search.Point) float64 { return w.sum(w.prices, p) + w.extra[w.number(p)] },
		Fits: func(p search.Point) bool {
			w.asked++
			return w.sum(w.saves, p) >= w.room
		}}
}

// exhaustive asks every point: the slow twin.
func (w *world) exhaustive() (best float64, fits bool) {
	p := w.problem(1)
	n, _ := p.Points()
	at := make(search.Point, len(w.settings))
	for i := range n {
		rest := i
		for axis := len(at) - 1; axis >= 0; axis-- {
			at[axis] = rest % w.settings[axis]
			rest /= w.settings[axis]
		}
		if p.Fits(at) && (!fits || p.Price(at) < best) {
			best, fits = p.Price(at), true
		}
	}
	return best, fits
}

// TestNeverBeaten: no exhaustive search finds a cheaper point, and all points are decided.
func TestNeverBeaten(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	saved := 0
	for trial := range 3000 {
		w := newWorld(r)
		want, fits := w.exhaustive()
		all := w.asked
		w.asked = 0
		p := w.problem(1 + trial%3)
		got, err := p.Run(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if n, _ := p.Points(); got.Decided != n || got.Full != w.asked {
			t.Fatalf("trial %d: %d of %d points decided, %d said to be asked and %d were", trial, got.Decided, n, got.Full, w.asked)
		}
		if fits != (len(got.Best) > 0) || fits && got.Best[0].Price != want {
			t.Fatalf("trial %d: %v, and an exhaustive search finds %g (%v)", trial, got.Best, want, fits)
		}
		if !slices.IsSortedFunc(got.Best, func(a, b search.Found) int { return int(a.Price - b.Price) }) {
			t.Fatalf("trial %d: %v is not in order", trial, got.Best)
		}
		saved += all - w.asked
	}
	if saved == 0 {
		t.Error("no point was decided without asking")
	}
}

// TestSameTwice: the same problem has the same answer.
func TestSameTwice(t *testing.T) {
	for seed := range uint64(200) {
		a, _ := newWorld(rand.New(rand.NewPCG(seed, 3))).problem(4).Run(context.Background())
		b, _ := newWorld(rand.New(rand.NewPCG(seed, 3))).problem(4).Run(context.Background())
		if !slices.EqualFunc(a.Best, b.Best, func(x, y search.Found) bool { return x.Price == y.Price && slices.Equal(x.Point, y.Point) }) {
			t.Fatalf("%v and %v", a, b)
		}
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	p := &search.Problem{Settings: []int{100}, Falls: []bool{true}, Least: func(search.Point) float64 { return 0 },
		Fits: func(at search.Point) bool {
			if at[0] == 2 {
				cancel()
			}
			return false
		}}
	p.Falls[0] = false
	got, err := p.Run(ctx)
	if !errors.Is(err, context.Canceled) || got.Full != 3 {
		t.Errorf("%d asked, %v", got.Full, err)
	}
}

func TestPoints(t *testing.T) {
	if n, ok := (&search.Problem{Settings: []int{3, 4}}).Points(); n != 12 || !ok {
		t.Errorf("%d, %v", n, ok)
	}
	if _, ok := (&search.Problem{Settings: []int{1 << 16, 1 << 16}}).Points(); ok {
		t.Error("a space without bound is ranked")
	}
	if n, ok := (&search.Problem{Settings: []int{3, 0}}).Points(); n != 0 || !ok {
		t.Errorf("an axis without settings: %d, %v", n, ok)
	}
}

func TestFront(t *testing.T) {
	things := [][2]int{{1, 5}, {2, 4}, {2, 5}, {1, 5}, {3, 1}, {3, 3}}
	got := search.Front(len(things), func(i, j int) (better, worse int) {
		for k := range 2 {
			switch {
			case things[i][k] > things[j][k]:
				better++
			case things[i][k] < things[j][k]:
				worse++
			}
		}
		return better, worse
	})
	if !slices.Equal(got, []int{2, 5}) {
		t.Errorf("%v", got)
	}
}

// BenchmarkDecide is a space of a hundred thousand points of which few are sized.
func BenchmarkDecide(b *testing.B) {
	weighed := func(at search.Point) (x float64) {
		for i, s := range at {
			x += float64((i + 1) * s)
		}
		return x
	}
	p := &search.Problem{Settings: []int{10, 10, 10, 10, 10}, Falls: []bool{true, true, true, true, true}, Most: 5, Least: weighed,
		Price: weighed,
		Fits: func(at search.Point) bool {
			sum := 0
			for _, s := range at {
				sum += s
			}
			return sum >= 12
		}}
	decided, full := 0, 0
	for b.Loop() {
		r, err := p.Run(context.Background())
		if err != nil || len(r.Best) == 0 {
			b.Fatal(err)
		}
		decided, full = decided+r.Decided, r.Full
	}
	b.ReportMetric(float64(decided)/b.Elapsed().Seconds(), "plans/s")
	b.ReportMetric(float64(full), "sized")
}
