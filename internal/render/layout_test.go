package render

import (
	"encoding/xml"
	"io"
	"math/rand/v2"
	"sort"
	"strings"
	"testing"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/unit"
)

// random makes numbers that are the same in every run.
func random() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

// slowShare is the largest-remainder method (Hamilton) as a list of quotas sorted by their fractions.
func slowShare(n int, amounts []unit.Bytes) []int {
	total := 0.0
	for _, a := range amounts {
		total += float64(a)
	}
	type quota struct {
		at   int
		frac float64
	}
	out := make([]int, len(amounts))
	var quotas []quota
	left := n
	for i, a := range amounts {
		q := float64(a) / total * float64(n)
		out[i] = int(q)
		left -= out[i]
		quotas = append(quotas, quota{i, q - float64(out[i])})
	}
	sort.SliceStable(quotas, func(i, j int) bool { return quotas[i].frac > quotas[j].frac })
	for i := range left {
		out[quotas[i].at]++
	}
	return out
}

func TestShare(t *testing.T) {
	r := random()
	for range 2000 {
		n := 8 + r.IntN(100)
		amounts := make([]unit.Bytes, 1+r.IntN(7))
		total := unit.Bytes(0)
		for i := range amounts {
			if r.IntN(4) > 0 {
				amounts[i] = unit.Bytes(r.Int64N(1 << (1 + r.IntN(40))))
			}
			total += amounts[i]
		}
		got := share(n, amounts)
		if total == 0 {
			continue
		}
		sum, missing := 0, false
		for i := range got {
			sum += got[i]
			missing = missing || amounts[i] > 0 && got[i] == 0
			if amounts[i] == 0 && got[i] > 0 {
				t.Errorf("share(%d, %v) = %v gives cells to nothing", n, amounts, got)
			}
		}
		if sum != n || missing {
			t.Errorf("share(%d, %v) = %v", n, amounts, got)
		}
		want := slowShare(n, amounts)
		atLeastOne(want, amounts)
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("share(%d, %v) = %v, slowly %v", n, amounts, got, want)
				break
			}
		}
	}
}

func randomDevice(r *rand.Rand) *memwall.Device {
	d := &memwall.Device{Name: "X", Ranks: "0", Count: 1 + r.Int64N(8)}
	for _, id := range []string{"weights", "optimizer", "activations", "graphs", "driver", "kv_cache", "draft.kv_cache", "draft.weights", "something"} {
		if r.IntN(3) == 0 {
			continue
		}
		b := unit.Bytes(r.Int64N(40 << 30))
		it := memwall.Item{ID: id, Name: id, Bytes: b, Low: b - b/unit.Bytes(2+r.Int64N(100)), High: b + b/unit.Bytes(2+r.Int64N(100)), Basis: ledger.Basis(r.IntN(5)), Unknown: r.IntN(20) == 0}
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
		b := barOf(d)
		n := 16 + r.IntN(90)
		x := b.draw(n)
		if got := x.x.cells(); got != n {
			t.Fatalf("%d cells of %d: %q for %+v", got, n, x.x.string(), b)
		}
		s := x.x.string()
		if (b.usable > 0) != strings.Contains(s, "│") {
			t.Errorf("limit %v: %q", b.usable, s)
		}
		if d.Usable > 0 && d.Headroom < 0 && !strings.Contains(s, "╳") {
			t.Errorf("over the limit by %v: %q", -d.Headroom, s)
		}
		if d.Headroom >= 0 && strings.Contains(s, "╳") {
			t.Errorf("nothing is over the limit: %q", s)
		}
		for _, p := range b.parts {
			if glyph := string(looks[p.family].glyph); !strings.Contains(s, glyph) && d.Headroom >= 0 {
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
		st := Style{Width: 20 + r.IntN(120), ASCII: r.IntN(2) == 0}
		for _, opt := range []FitOptions{{}, {ByLife: true, Notes: true}} {
			for _, l := range strings.Split(Fit(a, opt, st), "\n") {
				checkLine(t, "random", l, st.width(), false)
			}
		}
		if err := wellFormed(SVG(a)); err != nil {
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

func TestAlign(t *testing.T) {
	r := random()
	for range 500 {
		list := []text{say("GiB")}
		for range 1 + r.IntN(8) {
			b := unit.Bytes(r.Int64N(1 << (10 + r.IntN(35))))
			list = append(list, say(gib(b, 1+r.IntN(2))))
		}
		column(list, decimal)
		at, width := -1, list[0].cells()
		for _, x := range list {
			s := x.string()
			if x.cells() != width {
				t.Fatalf("%q is not %d wide", s, width)
			}
			if i := strings.IndexByte(s, '.'); i >= 0 {
				if at >= 0 && i != at {
					t.Fatalf("points apart in %q", s)
				}
				at = i
			}
		}
	}
}

func TestWrap(t *testing.T) {
	r := random()
	for range 500 {
		var words []string
		for range r.IntN(12) {
			words = append(words, strings.Repeat("w", 1+r.IntN(30)))
		}
		n := 5 + r.IntN(40)
		var rejoined []string
		for _, l := range say(strings.Join(words, " ")).wrap(n) {
			if l.cells() > n {
				t.Fatalf("%q is wider than %d", l.string(), n)
			}
			rejoined = append(rejoined, strings.ReplaceAll(l.string(), " ", ""))
		}
		if strings.Join(rejoined, "") != strings.Join(words, "") {
			t.Fatalf("letters were lost: %q", rejoined)
		}
	}
}

// A shell reads a broken command as the one that was given.
func TestCommandLines(t *testing.T) {
	r := random()
	for range 500 {
		command := "vllm serve"
		for range r.IntN(10) {
			command += " --" + strings.Repeat("x", 1+r.IntN(30)) + " " + strings.Repeat("v", 1+r.IntN(70))
		}
		width := 40 + r.IntN(80)
		shell := ""
		for i, l := range commandLines(command, width) {
			if cells(l) > width {
				t.Fatalf("%q is wider than %d", l, width)
			}
			if i > 0 {
				shell += "\n"
			}
			shell += l
		}
		shell = strings.ReplaceAll(shell, "\\\n", "")
		if got := strings.Join(strings.Fields(shell), " "); got != command {
			t.Fatalf("%q became %q", command, got)
		}
	}
}

func TestShorten(t *testing.T) {
	for _, c := range []struct {
		s    string
		n    int
		want string
	}{
		{"Llama-3.1-70B-Instruct", 30, "Llama-3.1-70B-Instruct"},
		{"Llama-3.1-Nemotron-70B-Instruct", 20, "Llama-3.1-…-Instruct"},
		{"abcdefghijklmnop", 9, "abcd…mnop"},
	} {
		if got := shorten(c.s, c.n, "…"); got != c.want || cells(got) > max(c.n, cells(c.want)) {
			t.Errorf("shorten(%q, %d) = %q, not %q", c.s, c.n, got, c.want)
		}
	}
	for n := 3; n < 40; n++ {
		if got := shorten("Qwen3-Coder-480B-A35B-Instruct-FP8", n, "…"); cells(got) > n {
			t.Errorf("%q has %d cells, not %d", got, cells(got), n)
		}
	}
}

// Names from files cannot speak to the terminal.
func TestClean(t *testing.T) {
	for in, want := range map[string]string{"a\x1b[31mb": "a?[31mb", "x\ny": "x?y", "\u202egpj": "?gpj", "über": "über"} {
		if got := clean(in, false); got != want {
			t.Errorf("clean(%q) = %q, not %q", in, got, want)
		}
	}
	if got := clean("2 × H100 · ±0.5 ≥ ¹ über", true); got != "2 x H100, +/-0.5 >= [1] ?ber" {
		t.Error(got)
	}
}

func TestBands(t *testing.T) {
	g := func(x float64) unit.Bytes { return unit.Bytes(x * float64(unit.GiB)) }
	for _, c := range []struct {
		v, low, high float64
		number, band string
	}{
		{65.71, 65.71, 65.71, "65.71", ""},
		{1.84, 1.82, 1.86, "1.84", " ±0.02"},
		{69.5, 68.9, 70.1, "69.5", " ±0.6"},
		{23.3, 23.3, 23.6, "23.3", " +0.3 −0.0"},
		{0.001, 0.001, 0.001, "<0.01", ""},
		{1000.5, 1000.5, 1000.5, "1,000.50", ""},
	} {
		b := banded{g(c.v), g(c.low), g(c.high)}
		if got := gib(b.v, b.decimals()); got != c.number || b.band() != c.band {
			t.Errorf("%v: %q %q, not %q %q", c, got, b.band(), c.number, c.band)
		}
	}
	if a, b, name := pair(banded{g(1366), g(1366), g(1366)}, g(2048)); a != "1.33" || b != "2.00" || name != "TiB" {
		t.Error(a, b, name)
	}
}

// The formula and its values are read by nobody but people, and must stay beside each other.
func TestFormulaLines(t *testing.T) {
	a := answer(t, "fits")
	for at, e := range a.Explain {
		for _, c := range chunks(tokenise(e.Formula, e.Inputs)) {
			if cells(c.name) != cells(c.value) {
				t.Errorf("%s: %q over %q", at, c.name, c.value)
			}
		}
	}
}

func TestFind(t *testing.T) {
	a := answer(t, "ranks")
	for name, n := range map[string]int{"kv_cache": 4, "needed": 4, "devices/0/usable_bytes": 1, "/devices/0/usable_bytes": 1, "max_context": 1, "nothing": 0} {
		if got := Find(a, name); len(got) != n {
			t.Errorf("Find(%q) = %v, not %d", name, got, n)
		}
	}
}
