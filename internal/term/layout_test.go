package term

import (
	"math/rand/v2"
	"sort"
	"strings"
	"testing"

	"github.com/memwall/memwall/unit"
)

// Whatever a name holds, nothing that a terminal obeys gets through.
func FuzzClean(f *testing.F) {
	f.Add("\x1b]0;title\x07", true)
	f.Fuzz(func(t *testing.T, s string, only bool) {
		for _, r := range Clean(s, only) {
			if r < ' ' || r >= 0x7f && r < 0xa0 || only && r > 0x7f && string(r) != NoBreak {
				t.Errorf("%q keeps %q", s, r)
			}
		}
	})
}

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
	r := rand.New(rand.NewPCG(1, 2))
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
		got := Apportion(n, amounts)
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

func TestAlign(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		list := []Text{Say("GiB")}
		for range 1 + r.IntN(8) {
			b := unit.Bytes(r.Int64N(1 << (10 + r.IntN(35))))
			list = append(list, Say(GiB(b, 1+r.IntN(2))))
		}
		Column(list, Decimal)
		at, width := -1, list[0].Cells()
		for _, x := range list {
			s := x.String()
			if x.Cells() != width {
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
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		var words []string
		for range r.IntN(12) {
			words = append(words, strings.Repeat("w", 1+r.IntN(30)))
		}
		n := 5 + r.IntN(40)
		var rejoined []string
		for _, l := range Say(strings.Join(words, " ")).Wrap(n) {
			if l.Cells() > n {
				t.Fatalf("%q is wider than %d", l.String(), n)
			}
			rejoined = append(rejoined, strings.ReplaceAll(l.String(), " ", ""))
		}
		if strings.Join(rejoined, "") != strings.Join(words, "") {
			t.Fatalf("letters were lost: %q", rejoined)
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
		if got := Shorten(c.s, c.n, "…"); got != c.want || Cells(got) > max(c.n, Cells(c.want)) {
			t.Errorf("shorten(%q, %d) = %q, not %q", c.s, c.n, got, c.want)
		}
	}
	for n := 3; n < 40; n++ {
		if got := Shorten("Qwen3-Coder-480B-A35B-Instruct-FP8", n, "…"); Cells(got) > n {
			t.Errorf("%q has %d cells, not %d", got, Cells(got), n)
		}
	}
}

// Names from files cannot speak to the terminal.
func TestClean(t *testing.T) {
	for in, want := range map[string]string{"a\x1b[31mb": "a?[31mb", "x\ny": "x?y", "\u202egpj": "?gpj", "über": "über"} {
		if got := Clean(in, false); got != want {
			t.Errorf("clean(%q) = %q, not %q", in, got, want)
		}
	}
	if got := Clean("2 × H100 · ±0.5 ≥ ¹ über", true); got != "2 x H100, +/-0.5 >= [1] ?ber" {
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
		b := Banded{g(c.v), g(c.low), g(c.high)}
		if got := GiB(b.Mid, b.Decimals()); got != c.number || b.Band() != c.band {
			t.Errorf("%v: %q %q, not %q %q", c, got, b.Band(), c.number, c.band)
		}
	}
	if a, b, name := Pair(Banded{g(1366), g(1366), g(1366)}, g(2048)); a != "1.33" || b != "2.00" || name != "TiB" {
		t.Error(a, b, name)
	}
}
