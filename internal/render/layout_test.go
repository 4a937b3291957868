package render_test

import (
	"encoding/xml"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/render"
	"github.com/memwall/memwall/internal/render/svg"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/unit"
)

// random makes numbers that are the same in every run.
func random() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

func randomDevice(r *rand.Rand) *memwall.Device {
	d := &memwall.Device{Name: "X", Ranks: "0", Count: 1 + r.Int64N(8)}
	for _, id := range []string{"weights", "optimizer", "activations", "graphs", "driver", "kv_cache", "draft.kv_cache", "draft.weights",
		"something"} {
		if r.IntN(3) == 0 {
			continue
		}
		b := unit.Bytes(r.Int64N(40 << 30))
		it := memwall.Item{ID: id, Name: id, Bytes: b, Low: b - b/unit.Bytes(2+r.Int64N(100)), High: b + b/unit.Bytes(2+r.Int64N(100)),
			Basis: ledger.Basis(r.IntN(5)), Unknown: r.IntN(20) == 0}
		d.Ledger = append(d.Ledger, it)
		d.Needed += it.Bytes
		d.NeededLow += it.Low
		d.NeededHigh += it.High
	}
	if r.IntN(5) > 0 {
		d.Usable = unit.Bytes(1 + r.Int64N(120<<30))
		d.Capacity = d.Usable + unit.Bytes(r.Int64N(1<<30))
		d.Headroom = d.Usable - d.Needed
	}
	if r.IntN(2) == 0 {
		d.Limit = "0.92 × 79.17 seen by torch"
	}
	return d
}

// A bar has exactly the cells it was given, each part that is not zero has one, and the cache stands last.
func TestBarFills(t *testing.T) {
	r := random()
	for range 2000 {
		d := randomDevice(r)
		b := term.BarOf(d)
		n := 16 + r.IntN(90)
		x := b.Draw(n)
		if got := x.Cells.Cells(); got != n {
			t.Fatalf("%d cells of %d: %q for %+v", got, n, x.Cells.String(), b)
		}
		s := x.Cells.String()
		if (d.Usable > 0) != strings.Contains(s, "│") {
			t.Errorf("limit %v: %q", d.Usable, s)
		}
		if d.Usable > 0 && d.Headroom < 0 && !strings.Contains(s, "╳") {
			t.Errorf("over the limit by %v: %q", -d.Headroom, s)
		}
		if d.Headroom >= 0 && strings.Contains(s, "╳") {
			t.Errorf("nothing is over the limit: %q", s)
		}
		for i := range d.Ledger {
			if glyph := string(term.Looks[term.FamilyFor(d.Ledger[i].ID)].Glyph); d.Ledger[i].Bytes > 0 && !strings.Contains(s, glyph) &&
				d.Headroom >= 0 {
				t.Errorf("no %s in %q", glyph, s)
			}
		}
		if i, j := strings.IndexRune(s, '▓'), strings.LastIndexAny(s, "█▚▒░"); i >= 0 && i < j {
			t.Errorf("the cache is not last: %q", s)
		}
	}
}

// Screens of any answer keep their width and never fail.
func TestRandomAnswers(t *testing.T) {
	r := random()
	for range 300 {
		a := &memwall.Answer{Verdict: []memwall.Verdict{memwall.Fits, memwall.Tight, memwall.DoesNotFit, memwall.Unknown, "odd"}[r.IntN(5)],
			Model: &memwall.ModelInfo{ID: strings.Repeat("name-", r.IntN(30))}, Plan: &memwall.Request{Hardware: "x"}}
		for range 1 + r.IntN(12) {
			a.Devices = append(a.Devices, *randomDevice(r))
		}
		a.Flags = map[string]string{"e": "run --file " + strings.Repeat("long/", r.IntN(60)) + " --a b 'c d'"}
		st := term.Style{Width: 20 + r.IntN(120), ASCII: r.IntN(2) == 0}
		for _, opt := range []render.FitOptions{{}, {ByLife: true, Notes: true}} {
			for _, l := range strings.Split(render.Fit(a, opt, st), "\n") {
				checkLine(t, "random", l, st.Cells(), false)
			}
		}
		if err := wellFormed(svg.Ledger(a)); err != nil {
			t.Fatal(err)
		}
	}
}

func wellFormed(data []byte) error {
	d := xml.NewDecoder(strings.NewReader(string(data)))
	for {
		if _, err := d.Token(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// The formula and its values are read by nobody but people, and must stay beside each other.
func TestFormulaLines(t *testing.T) {
	a := answer(t, "fits")
	for at, e := range a.Explain {
		for _, c := range render.Chunks(render.Tokenise(e.Formula, e.Inputs)) {
			if term.Cells(c.Name) != term.Cells(c.Value) {
				t.Errorf("%s: %q over %q", at, c.Name, c.Value)
			}
		}
	}
}

func TestFind(t *testing.T) {
	a := answer(t, "ranks")
	for name, n := range map[string]int{"kv_cache": 4, "needed": 4, "devices/0/usable_bytes": 1, "/devices/0/usable_bytes": 1,
		"max_context": 1, "nothing": 0} {
		if got := render.Find(a, name); len(got) != n {
			t.Errorf("Find(%q) = %v, not %d", name, got, n)
		}
	}
}
