package validation

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/memwall/memwall/stat"
)

// TestTau: worked by hand, from pairs right, wrong and tied.
func TestTau(t *testing.T) {
	for _, c := range []struct {
		what           string
		measured, ours []float64
		want           float64
	}{
		{"as measured", []float64{30, 20, 10}, []float64{3, 2, 1}, 1},
		{"the reverse", []float64{30, 20, 10}, []float64{1, 2, 3}, -1},
		{"one of three pairs wrong", []float64{30, 20, 10}, []float64{3, 1, 2}, 1. / 3},
		{"two of six pairs wrong", []float64{40, 30, 20, 10}, []float64{3, 4, 1, 2}, 2. / 6},
		{"measured alike, within the noise", []float64{100, 99, 50}, []float64{3, 2, 1}, 2 / math.Sqrt(2*3)},
		{"ours alike", []float64{30, 20, 10}, []float64{2, 2, 1}, 2 / math.Sqrt(3*2)},
		{"alike in both", []float64{100, 99, 50}, []float64{2, 2, 1}, 1},
		{"ours tells none apart", []float64{30, 20, 10}, []float64{1, 1, 1}, 0},
		{"measured all alike", []float64{100, 99.5, 99}, []float64{3, 2, 1}, 0},
		// the example of scipy.stats.kendalltau: https://docs.scipy.org/doc/scipy/reference/generated/scipy.stats.kendalltau.html
		{"scipy", []float64{12, 2, 1, 12, 2}, []float64{1, 4, 7, 1, 0}, -0.47140452079103173},
	} {
		if got := pairsOf(c.measured, c.ours).tau(); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: %g, want %g", c.what, got, c.want)
		}
	}
}

// TestRegret: what the plan that comes first loses of the best.
func TestRegret(t *testing.T) {
	for _, c := range []struct {
		what           string
		measured, ours []float64
		want           float64
	}{
		{"the best", []float64{40, 30, 10}, []float64{3, 2, 1}, 0},
		{"the second", []float64{40, 30, 10}, []float64{2, 3, 1}, 0.25},
		{"the last", []float64{40, 30, 10}, []float64{1, 2, 3}, 0.75},
		{"either of two", []float64{40, 30, 10}, []float64{3, 3, 1}, 0.125},
		{"any", []float64{40, 30, 10}, []float64{0, 0, 0}, 1. / 3},
	} {
		if got := regret(c.measured, c.ours); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: %g, want %g", c.what, got, c.want)
		}
	}
}

// slowTau is tau-b as its author defines it: the correlation of the signs of all differences.
func slowTau(measured, ours []float64) float64 {
	var both, m2, o2 float64
	for i := range measured {
		for j := range measured {
			m, o := float64(faster(measured[i], measured[j])), float64(cmp.Compare(ours[i], ours[j]))
			both, m2, o2 = both+m*o, m2+m*m, o2+o*o
		}
	}
	if m2*o2 == 0 {
		return 0
	}
	return both / math.Sqrt(m2*o2)
}

// slowRegret lists the plans by what is said of them, and averages over those that share the first place.
func slowRegret(measured, ours []float64) float64 {
	at := make([]int, len(ours))
	for i := range at {
		at[i] = i
	}
	slices.SortFunc(at, func(a, b int) int { return cmp.Compare(ours[b], ours[a]) })
	var first []float64
	for _, i := range at {
		if ours[i] == ours[at[0]] {
			first = append(first, measured[i])
		}
	}
	sum := 0.0
	for _, x := range first {
		sum += x
	}
	return 1 - sum/float64(len(first))/slices.Max(measured)
}

// TestOrderTwins: tau and regret are those of the slow definitions, and keep their laws.
func TestOrderTwins(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		n := 2 + random.IntN(8)
		measured, ours, back, stretched := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range n {
			measured[i], ours[i] = 1+float64(random.IntN(100))/20, float64(1+random.IntN(6))
			back[i], stretched[i] = -ours[i], math.Exp(ours[i])
		}
		tau, lost := pairsOf(measured, ours).tau(), regret(measured, ours)
		if x := slowTau(measured, ours); math.Abs(tau-x) > 1e-12 {
			t.Fatalf("tau of %v by %v: %g, the slow one %g", measured, ours, tau, x)
		}
		if x := slowRegret(measured, ours); math.Abs(lost-x) > 1e-12 {
			t.Fatalf("regret of %v by %v: %g, the slow one %g", measured, ours, lost, x)
		}
		switch {
		case math.Abs(tau) > 1+1e-12 || lost < 0 || lost >= 1:
			t.Fatalf("%v by %v: tau %g, regret %g", measured, ours, tau, lost)
		case pairsOf(measured, back).tau() != -tau:
			t.Fatalf("%v: the reverse of %v has a tau of %g, not %g", measured, ours, pairsOf(measured, back).tau(), -tau)
		case pairsOf(measured, stretched).tau() != tau || regret(measured, stretched) != lost:
			t.Fatalf("%v by %v: the order alone is to count", measured, ours)
		case regret(measured, measured) != 0:
			t.Fatalf("%v: choosing by what was measured loses something", measured)
		}
	}
}

// TestChoices: runs of one plan count once, by their median; two plans have no order, nor have three that were measured
// alike; and what is set otherwise is named.
func TestChoices(t *testing.T) {
	of := func(group, plan string, measured, ours float64) trial {
		return trial{"x on y", group, plan, Option{[]Setting{{ofEngine, plan[:1]}, {ofVersion, plan}, {ofWeights, "bf16"}}, measured, ours, 0}}
	}
	got := choices([]trial{
		of("a", "x1", 90, 50), of("a", "x1", 110, 70), of("a", "x2", 80, 61), of("a", "y1", 40, 40),
		of("two", "x1", 90, 50), of("two", "x2", 80, 60),
		of("alike", "x1", 100, 1), of("alike", "x2", 99, 2), of("alike", "y1", 99.5, 3),
	})
	if len(got) != 1 {
		t.Fatalf("%d groups, want 1: %+v", len(got), got)
	}
	c := &got[0]
	if c.Group != "a" || len(c.Options) != 3 || c.Options[0].Measured != 100 || c.Options[0].Ours != 60 || c.Pairs != 3 || c.Right != 2 || c.Tau != 1./3 || math.Abs(c.Regret-0.2) > 1e-12 || c.Thumb != nil {
		t.Errorf("%+v", c)
	}
	if x, ok := c.Misordered(); !ok || x.Fast != "x1" || x.Slow != "x2" || x.Measured != 1.25 {
		t.Errorf("misordered: %+v", x)
	}
	o := sumOrder(&OrderKind{}, got)
	if o.Subjects != 1 || c.Subject != "x on y" {
		t.Errorf("%d models on devices, the first %q", o.Subjects, c.Subject)
	}
	if d := o.Differing(); len(d) != 2 || d[0] != (Apart{ofEngine, 2, 2}) || d[1] != (Apart{ofVersion, 1, 0}) {
		t.Errorf("differing: %+v", d)
	}
}

// asServed compares rows as the set "serving" is, with predictions in place of the stored ones.
func asServed(t *testing.T, lines string, predict func(*Row) timing) []Comparison {
	t.Helper()
	s, err := parse("serving", []byte(`{"about":"x","source":"x"}`+lines))
	if err != nil {
		t.Fatal(err)
	}
	var out []Comparison
	for i := range s.Rows {
		r := &s.Rows[i]
		p := predict(r)
		out = append(out,
			Comparison{Measure: &tokenPlans, Row: r, Measured: r.Got["tpot_ms"], Ours: exactly(p.token)},
			Comparison{Measure: &firstPlans, Row: r, Measured: r.Got["ttft_ms"], Ours: exactly(p.first)})
	}
	return out
}

// TestServingOrders: foreign rows fall into groups by load, and by load of each device.
func TestServingOrders(t *testing.T) {
	lines := ""
	for _, x := range []struct {
		hardware string
		tp       int
		weights  string
		users    int
		tpot     string
	}{
		{"4xh200", 4, "bf16", 64, "20"}, {"4xh200", 4, "fp8", 64, "15"}, {"4xh200", 2, "fp8", 64, "18"}, // one load
		{"4xh200", 4, "bf16", 32, "12"},                                        // another, with one plan
		{"2xh200", 2, "fp8", 32, "16"}, {"h200-sxm-141gb", 1, "fp8", 16, "22"}, // as many users of each device as the first
	} {
		lines += fmt.Sprintf("\n"+`{"ask":{"model":"qwen3-8b","engine":"vllm@0.19.0","hardware":%q,"tp":%d,"weights":%q,"sequences":%d,"prompt_tokens":1000,"output_tokens":101},"got":{"ttft_ms":"100","tpot_ms":%q}}`, x.hardware, x.tp, x.weights, x.users, x.tpot)
	}
	orders, err := Orders(asServed(t, lines, func(r *Row) timing { return timing{100 / r.Got["tpot_ms"].Mid, 100} }))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"serving, same load": "1 groups, 3 plans, tau -1.00", "serving, by TPOT": "1 groups, 3 plans, tau -1.00",
		"serving, replicas": "1 groups, 5 plans, tau -1.00", "serving, one engine": "1 groups, 5 plans, tau -1.00",
	}
	for i := range orders {
		o := &orders[i]
		if w := want[o.Kind.Name]; w != "" && w != fmt.Sprintf("%d groups, %d plans, tau %.2f", len(o.Choices), o.Plans, o.Tau) {
			t.Errorf("%s: %d groups, %d plans, tau %.2f; want %s", o.Kind.Name, len(o.Choices), o.Plans, o.Tau, w)
		}
		delete(want, o.Kind.Name)
		if o.Kind.Name == "serving, same load" && (o.Choices[0].Group != "qwen3-8b · 4xh200-sxm-141gb · 1000 in, 101 out · 64 users" || o.Thumb == nil) {
			t.Errorf("%+v", o.Choices[0])
		}
	}
	if len(want) > 0 {
		t.Errorf("no groups: %v", want)
	}
}

// TestServedRate: 64 users who each get 101 tokens in 0.1 s + 100 × 20 ms, on four devices.
func TestServedRate(t *testing.T) {
	s, err := parse("serving", []byte(`{"about":"x","source":"x"}`+"\n"+`{"ask":{"model":"qwen3-8b","hardware":"4xh200","sequences":64,"prompt_tokens":1000,"output_tokens":101},"got":{"ttft_ms":"100","tpot_ms":"20"}}`))
	if err != nil {
		t.Fatal(err)
	}
	run, err := serves(&s.Rows[0].Ask)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := run.rate(timing{20, 100}), 64*101/2.1/4; math.Abs(got-want) > 1e-9 {
		t.Errorf("%g tokens/s, want %g", got, want)
	}
	if got := run.pace(timing{20, 100}); got != 50 {
		t.Errorf("%g tokens/s of a user, want 50", got)
	}
}

// TestNoise: runs that a source repeated on other days differ by less than is taken for noise, but for a few.
func TestNoise(t *testing.T) {
	sets, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	all, err := CompareServing(sets)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := plansOut.served(all, works{})
	if err != nil {
		t.Fatal(err)
	}
	repeats := map[string][]float64{}
	for _, s := range rows {
		key := s.plan + s.sameLoad()
		repeats[key] = append(repeats[key], s.rate(s.measured))
	}
	var apart []float64
	for _, rates := range repeats {
		if len(rates) > 1 {
			apart = append(apart, 1-slices.Min(rates)/slices.Max(rates))
		}
	}
	half, most := stat.Median(apart), stat.Quantile(apart, 0.75)
	t.Logf("%d plans ran twice: half are within %.4f, three of four within %.4f, nine of ten within %.4f", len(apart), half, most, stat.Quantile(apart, 0.9))
	if len(apart) < 50 || half > 0.007 || most > 0.014 || most > noise {
		t.Errorf("of %d plans that ran twice half are within %.4f, three of four within %.4f: a noise of %.2f is not what they show", len(apart), half, most, noise)
	}
}

// orderBound names the line of bounds.tsv: median, p90 and max are regrets, equal is the share of pairs in the order
// measured, and cover the median tau.
func orderBound(o *Order) string { return "order: " + o.Kind.Name }

func (b bound) brokenBy(o *Order) bool {
	return o.Regret > b.median+slackBound || o.RegretP90 > b.p90+slackBound || o.RegretMax > b.max+slackBound ||
		o.RightShare() < b.equal-slackBound || o.Tau < b.cover-slackBound || len(o.Choices) < b.used
}

// boundOrders: no order is worse than it was.
func boundOrders(t *testing.T, all []Order, held map[string]bound) {
	t.Helper()
	for i := range all {
		o := &all[i]
		b, ok := held[orderBound(o)]
		if !ok {
			t.Errorf("%s has no bounds: go test ./validation -tighten", orderBound(o))
			continue
		}
		if b.brokenBy(o) {
			t.Errorf("%s: worse than %s allows: tau %.4f, %.4f of pairs right, regret %.4f, p90 %.4f, max %.4f, %d groups", orderBound(o), boundsFile, o.Tau, o.RightShare(), o.Regret, o.RegretP90, o.RegretMax, len(o.Choices))
		}
	}
}

func writeOrder(o *Order, held map[string]bound) string {
	b := bound{o.Regret, o.RegretP90, o.RegretMax, o.RightShare(), o.Tau, len(o.Choices)}
	if h, ok := held[orderBound(o)]; ok {
		b = bound{min(b.median, h.median), min(b.p90, h.p90), min(b.max, h.max), max(b.equal, h.equal), max(b.cover, h.cover), max(b.used, h.used)}
	}
	return fmt.Sprintf("%s\t%.4f\t%.4f\t%.4f\t%.4f\t%.4f\t%d\n", orderBound(o), b.median, b.p90, b.max, b.equal, b.cover, b.used)
}

// TestReportedOrders: every kind has groups, whose pairs add up, and none is better for being turned round.
func TestReportedOrders(t *testing.T) {
	all := report(t).Orders
	if kinds := len(servingKinds) + 1 + len(trainingKinds); len(all) != kinds {
		t.Errorf("%d kinds of orders, want %d", len(all), kinds)
	}
	held := bounds(t)
	for i := range all {
		o := &all[i]
		sum := 0
		for _, a := range o.Differing() {
			sum += a.Pairs
		}
		if sum != o.Pairs || o.Right > o.Pairs || o.Plans < fewest*len(o.Choices) || o.Thumb == nil {
			t.Errorf("%s: %d of %d pairs, %d right; %d plans in %d groups; rule of thumb %v", o.Kind.Name, sum, o.Pairs, o.Right, o.Plans, len(o.Choices), o.Thumb)
		}
		if b, ok := held[orderBound(o)]; ok && !b.brokenBy(turned(o)) {
			t.Errorf("%s: bounds allow the order turned round", o.Kind.Name)
		}
	}
}

// turned is an order with our figures turned round.
func turned(o *Order) *Order {
	var list []Choice
	for i := range o.Choices {
		options := slices.Clone(o.Choices[i].Options)
		for j := range options {
			options[j].Ours = 1 / options[j].Ours
		}
		if c, ok := choice(o.Choices[i].Group, options); ok {
			list = append(list, c)
		}
	}
	out := sumOrder(o.Kind, list)
	return &out
}
