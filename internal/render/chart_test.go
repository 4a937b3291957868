package render_test

import (
	"encoding/xml"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/card"
	"github.com/memwall/memwall/internal/render/svg"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/plan"
)

// unpricedFleets are fleets of which one kind has no price, one misses the goal, and one was not played.
func unpricedFleets(t testing.TB) *memwall.Answer {
	a := answer(t, "fleets")
	for i := range a.Candidates {
		f := a.Candidates[i].Fleet
		if f.Hardware == "l40s" {
			f.USDPerHour, f.USDPerHourLow, f.USDPerHourHigh = nil, nil, nil
		}
	}
	a.Candidates[4].Fleet.Meets, a.Candidates[3].Simulated = "no", nil
	a.Plan.Goal.TPOT, a.Plan.Goal.TTFT["p50"] = nil, 500
	return a
}

// noFleet is an answer that nothing holds.
func noFleet(t testing.TB) *memwall.Answer {
	a := answer(t, "fleets")
	miss := a.Candidates[0]
	a.Candidates, a.Pareto, a.Best, a.NearestMiss = nil, nil, nil, &miss
	return a
}

// piped is a plan with a pipeline.
func piped(schedule string, stages, chunks, micro int64) *memwall.Answer {
	r := &memwall.Request{Ask: "train"}
	r.Plan.PP, r.Training.Schedule, r.Training.VPP, r.Training.Accumulation = stages, schedule, chunks, plan.Int(micro)
	return &memwall.Answer{Ask: "train", Plan: r}
}

func roofed(t testing.TB) *memwall.Roofline {
	r, err := (&memwall.Asker{}).Roofline(&memwall.Request{Ask: "fit", Model: "llama-3.1-8b", Hardware: "h100-sxm-80gb"})
	if err != nil || r == nil {
		t.Fatal(err)
	}
	return r
}

// crowded is a plan with more and more users.
func crowded(t testing.TB) svg.Chart {
	c, ok := svg.CrowdChart(crowdOf(t), "l")
	if !ok {
		t.Fatal("no chart of a crowd")
	}
	return c
}

// pipelined is a pipeline of eight stages.
func pipelined(t testing.TB) svg.Chart {
	c, ok := svg.ScheduleChart(piped("1f1b", 8, 0, 128), "k")
	if !ok {
		t.Fatal("no chart of a schedule")
	}
	return c
}

func crowdOf(t testing.TB) (out []*memwall.Answer) {
	for n := int64(1); n <= 64; n *= 2 {
		r := &memwall.Request{Ask: "fit", Model: "llama-3.1-8b", Hardware: "h100-sxm-80gb"}
		r.Sequences = plan.Int(n)
		a, err := (&memwall.Asker{}).Size(r)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, a)
	}
	return out
}

// charts are the pictures of plans, by name.
func charts(t testing.TB) map[string][]byte {
	return map[string][]byte{
		"fleets-front":      svg.PlanFront(answer(t, "fleets")),
		"fleets-curve":      svg.PlanCurve(answer(t, "fleets")),
		"unpriced-front":    svg.PlanFront(unpricedFleets(t)),
		"unpriced-curve":    svg.PlanCurve(unpricedFleets(t)),
		"no-fleet-front":    svg.PlanFront(noFleet(t)),
		"no-fleet-curve":    svg.PlanCurve(noFleet(t)),
		"plan-train-front":  svg.PlanFront(answer(t, "plan-train")),
		"train-cost-front":  svg.PlanFront(answer(t, "plan-train-cost")),
		"plan-ladder-front": svg.PlanFront(answer(t, "plan")),
		"train-phases":      svg.Phases(answer(t, "train")),
		"train-short":       svg.Phases(answer(t, "train-short")),
		"schedule-gpipe":    svg.Schedule(piped("gpipe", 4, 0, 8)),
		"schedule-1f1b":     svg.Schedule(piped("1f1b", 8, 0, 128)),
		"schedule-chunks":   svg.Schedule(piped("interleaved", 4, 2, 8)),
		"schedule-zero":     svg.Schedule(piped("zb-h1", 4, 0, 8)),
		"roofline":          svg.Roofline(roofed(t)),
		"crowd":             svg.Crowd(crowdOf(t)),
		"sim":               svg.Sim(answer(t, "sim")),
		"study":             svg.Study(read[card.Study](t, "cards/study")),
	}
}

func TestCharts(t *testing.T) {
	for name, got := range charts(t) {
		checkChart(t, name, got)
		file := filepath.Join("testdata", "golden", name+".svg")
		if *update {
			if err := os.WriteFile(file, got, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(got), "\n")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestNarrowCharts: on a telephone no words of a chart lie on others or outside.
func TestNarrowCharts(t *testing.T) {
	for name, c := range map[string]svg.Chart{
		"front": svg.PlanFrontChart(answer(t, "fleets"), "a"), "curve": svg.PlanCurveChart(answer(t, "fleets"), "b"),
		"unpriced front": svg.PlanFrontChart(unpricedFleets(t), "c"), "unpriced curve": svg.PlanCurveChart(unpricedFleets(t), "d"),
		"training": svg.PlanFrontChart(answer(t, "plan-train"), "e"), "costs": svg.PlanFrontChart(answer(t, "plan-train-cost"), "f"),
		"sim": svg.SimChart(answer(t, "sim"), "g"), "growing": svg.SimChart(answer(t, "sim-grows"), "h"), "crowd": crowded(t),
		"phases": svg.PhasesChart(answer(t, "train"), "i", 1136), "roofline": svg.RooflineChart(roofed(t), "j"), "schedule": pipelined(t),
	} {
		checkChart(t, name+", narrow", []byte(c.Narrow))
		checkChart(t, name+", wide", []byte(c.Wide))
	}
}

// box is where a text lies.
type box struct {
	left, right, top, bottom float64
	words                    string
}

// checkChart: a picture is well formed, its words lie within it and on no others, and no figure of it is none.
func checkChart(t *testing.T, name string, svg []byte) {
	t.Helper()
	if err := wellFormed(svg); err != nil {
		t.Errorf("%s: %v", name, err)
	}
	for _, none := range []string{"NaN", "Inf", "%!"} {
		if strings.Contains(string(svg), none) {
			t.Errorf("%s: %s in it", name, none)
		}
	}
	texts, width, height := boxes(t, svg)
	if len(texts) == 0 {
		t.Errorf("%s: no words", name)
	}
	for i, b := range texts {
		if b.left < 0 || b.right > width || b.top < 0 || b.bottom > height {
			t.Errorf("%s: %q lies outside: %.0f to %.0f, %.0f to %.0f of %.0f", name, b.words, b.left, b.right, b.top, b.bottom, height)
		}
		for _, o := range texts[:i] {
			if b.left < o.right && o.left < b.right && b.top < o.bottom && o.top < b.bottom {
				t.Errorf("%s: %q lies on %q", name, b.words, o.words)
			}
		}
	}
}

// boxes of all texts, by the widths that letters have at most.
func boxes(t *testing.T, svg []byte) (out []box, width, height float64) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(string(svg)))
	var at map[string]string
	for {
		token, err := d.Token()
		if err != nil {
			return out, width, height
		}
		switch x := token.(type) {
		case xml.StartElement:
			at = map[string]string{"": x.Name.Local}
			for _, a := range x.Attr {
				at[a.Name.Local] = a.Value
			}
			if x.Name.Local == "svg" {
				view := strings.Fields(at["viewBox"])
				width, height = pixels(t, view[0])+pixels(t, view[2]), pixels(t, view[3])
			}
		case xml.CharData:
			if at[""] == "text" {
				out = append(out, boxOf(t, at, string(x)))
			}
			at = nil
		}
	}
}

func boxOf(t *testing.T, at map[string]string, words string) box {
	letter := svg.SvgLetter
	switch class, _, _ := strings.Cut(at["class"], " "); class {
	case "h":
		letter = 8.4
	case "t":
		letter = svg.StrongLetter
	}
	x, y, wide := pixels(t, at["x"]), pixels(t, at["y"]), float64(term.Cells(words))*letter
	switch at["text-anchor"] {
	case "middle":
		x -= wide / 2
	case "end":
		x -= wide
	}
	return box{x, x + wide, y - 10, y + 3, words}
}

func pixels(t *testing.T, s string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// Charts of any answer can be read.
func TestRandomCharts(t *testing.T) {
	r := random()
	for range 300 {
		a := randomFleets(r)
		checkChart(t, "front", svg.PlanFront(a))
		checkChart(t, "curve", svg.PlanCurve(a))
		if t.Failed() {
			t.Fatalf("%+v", a.Plan.Goal)
		}
	}
}

// spread is a figure anywhere from a thousandth to a million, or none.
func spread(r *rand.Rand) *float64 {
	if r.IntN(8) == 0 {
		return nil
	}
	x := math.Pow(10, 9*r.Float64()-3)
	return &x
}

func spreadPercentiles(r *rand.Rand) *memwall.Percentiles {
	x := spread(r)
	if x == nil {
		return nil
	}
	return &memwall.Percentiles{Mean: *x, P50: *x, P90: 2 * *x, P99: *x * (1 + 100*r.Float64())}
}

func randomFleets(r *rand.Rand) *memwall.Answer {
	a := &memwall.Answer{Model: &memwall.ModelInfo{ID: strings.Repeat("model-", r.IntN(6))},
		Plan: &memwall.Request{Goal: &memwall.Goal{TTFT: map[string]float64{}, TPOT: map[string]float64{}}}}
	for _, bounds := range []map[string]float64{a.Plan.Goal.TTFT, a.Plan.Goal.TPOT} {
		for _, p := range []string{"p50", "p99"} {
			if x := spread(r); x != nil && r.IntN(2) == 0 {
				bounds[p] = *x
			}
		}
	}
	for i := range r.IntN(20) {
		c := memwall.Candidate{Change: strings.Repeat("x", 1+r.IntN(40)) + ", " + strings.Repeat("word ", r.IntN(30))}
		c.Fleet = &memwall.Fleet{Hardware: "device-" + strconv.Itoa(r.IntN(4)), Replicas: r.Int64N(5000), Devices: r.Int64N(50_000),
			Meets: []string{"yes", "no", "likely"}[r.IntN(3)], USDPerHour: spread(r), USDPerHourLow: spread(r), USDPerHourHigh: spread(r)}
		c.Simulated = &memwall.Simulated{TTFT: spreadPercentiles(r), TPOT: spreadPercentiles(r),
			Low: &memwall.Edge{TPOT: spreadPercentiles(r)}, High: &memwall.Edge{TTFT: spreadPercentiles(r)}}
		for j := range r.IntN(9) {
			c.Fleet.Curve = append(c.Fleet.Curve, memwall.CurvePoint{Share: float64(j) / 4, TTFT: spreadPercentiles(r),
				TPOT: spreadPercentiles(r), Met: r.IntN(2) == 0})
		}
		if r.IntN(3) == 0 {
			a.Pareto = append(a.Pareto, i)
		}
		a.Candidates = append(a.Candidates, c)
	}
	return a
}
