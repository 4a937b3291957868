package study

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/memwall/memwall/internal/card"
)

const goaled = "study: x\nask: sim\nmodels: [llama-3.1-8b, qwen3-8b]\nhardware: [h100, l40s, 2xl40s]\nplan: {max_num_seqs: [8, 16], " +
	"weights: [bf16, fp8]}\ngoals: [{ttft_ms: {p99: 500}}]\nseeds: 1..4\n"

// TestCases: of any answers, the best of a case is one that does what is wanted with all seeds, has the least of the first
// measure of those that do, and is on the front; no design that fails with a seed is. What is best overall does so in all
// cases, and has the least on average of all that do. The slow and obvious way is this test's.
func TestCases(t *testing.T) {
	s := read(t, goaled)
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		tally := NewTally(s)
		for i := range s.Points() {
			if rng.IntN(20) == 0 {
				continue // not answered yet
			}
			figures := Figures{"usd_per_hour": {Value: float64(s.Levels(i)[1] + 1)}, "ttft_p99_ms": {Value: float64(rng.IntN(900))},
				held: {}}
			if rng.IntN(12) > 0 {
				figures[held] = Figure{Value: 1}
			}
			tally.Add(i, "fits", "", figures)
		}
		r, err := tally.Report([]string{"ttft_p99_ms", "usd_per_hour"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if r.Criterion != card.KeepsGoal || len(r.Cases) != 2 || r.Cases[0].Name != "Llama 3.1 8B" {
			t.Fatalf("%+v", r)
		}
		sums, n := map[string]float64{}, map[string]int{}
		for i := range r.Cases {
			checkCase(t, r, &r.Cases[i])
			for _, d := range r.Designs[r.Cases[i].From : r.Cases[i].From+r.Cases[i].Designs] {
				if d.Held == d.Seeds {
					sums[d.Name] += d.Spreads[0].Mean
					n[d.Name]++
				}
			}
		}
		least, of := "", 0
		for name := range sums {
			if n[name] == 2 {
				if of++; least == "" || sums[name] < sums[least] {
					least = name
				}
			}
		}
		switch {
		case least == "" && r.Overall != nil, least != "" &&
			(r.Overall == nil || sums[r.Overall.Name] != sums[least] || r.Overall.Of != of):
			t.Errorf("overall %+v, want %q of %d", r.Overall, least, of)
		}
	}
}

func checkCase(t *testing.T, r *card.Study, c *card.StudyCase) {
	t.Helper()
	held, least := 0, -1
	for i := c.From; i < c.From+c.Designs; i++ {
		d := &r.Designs[i]
		if d.Front && d.Held < d.Seeds {
			t.Errorf("%s is on the front with %d of %d seeds", d.Name, d.Held, d.Seeds)
		}
		if d.Held < d.Seeds {
			continue
		}
		if held++; least < 0 || d.Spreads[0].Mean < r.Designs[least].Spreads[0].Mean {
			least = i
		}
	}
	switch {
	case held != c.Held:
		t.Errorf("%+v, and %d do what is wanted", c, held)
	case held == 0 && c.Best >= 0, held > 0 && (c.Best < 0 || !r.Designs[c.Best].Front ||
		r.Designs[c.Best].Spreads[0].Mean != r.Designs[least].Spreads[0].Mean):
		t.Errorf("%+v, and the least is %d", c, least)
	case held == 0 && c.Nearest >= 0 && r.Designs[c.Nearest].Held == 0:
		t.Errorf("%+v: the nearest never does it", c)
	}
}

// TestNames: levels are called as people know them, each by a name of its own.
func TestNames(t *testing.T) {
	s := read(t, "ask: fit\nmodels: [llama-3.1-8b, Meta-Llama-3.1-8B-Instruct, qwen3-32b]\nhardware: [rtx-4090, 2xl40s, "+
		"rtx-4090+rtx-3060, p5.48xlarge, 'name=own,memory=24GiB', 8xh100]\n"+
		"plan: {weights: [fp8, q4_k_m], context: [8k, 32k], enforce_eager: [true, false]}\n")
	want := [][]string{{"llama-3.1-8b", "Meta-Llama-3.1-8B-Instruct", "Qwen3 32B"},
		{"RTX 4090", "2 × L40S", "RTX 4090 + RTX 3060 12GB", "p5.48xlarge", "own", "8 × H100 SXM 80GB"},
		{"fp8", "q4_k_m"}, {"context 8k", "context 32k"}, {"enforce_eager true", "enforce_eager false"}}
	for i := range s.Factors {
		name := s.Factors[i].names()
		var got []string
		for l := range s.Factors[i].Levels() {
			got = append(got, name(l))
		}
		if fmt.Sprint(got) != fmt.Sprint(want[i]) {
			t.Errorf("%s: %q, want %q", s.Factors[i].Name, got, want[i])
		}
	}
}
