package quality

import (
	"math"
	"testing"
)

var eight = Model{ID: "llama-3-8b", Parameters: 8_030_261_248}

// near compares with the digits that a source prints.
func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 0.006 {
		t.Errorf("%s: %.4f, want %.3f", what, got, want)
	}
}

// TestPublishedChanges: changes that sources print, or that follow from two of their figures.
func TestPublishedChanges(t *testing.T) {
	for _, c := range []struct {
		what           string
		model          Model
		from, to       string
		low, mid, high float64
		rows           int
		level          Level
	}{
		{"llama.cpp perplexity README: 6.231634 → 6.234284", eight, "bf16", "Q8_0", 0.0425, 0.0425, 0.0425, 1, Exact},
		{"two rows: without and with an importance matrix", eight, "f16", "q4_k_m", 2.428, 2.622, 2.816, 2, Exact},
		{"back again: 6.407115 and 6.382937 → 6.2316", eight, "q4_k_m", "bf16", -2.739, -2.555, -2.371, 2, Exact},
		{"AWQ README of omniserve, two digits: 6.14 → 6.54", eight, "bf16", "awq-4bit", 6.347, 6.515, 6.683, 1, Exact}, // ±0.005 of each
		{"the same file's GPTQ to AWQ: 6.56 → 6.54", eight, "gptq", "awq", -0.457, -0.305, -0.153, 1, Exact},
		{"no row of 3.1: the family's", Model{ID: "llama-3.1-8b"}, "bf16", "q6_k", 0.349, 0.349, 0.349, 1, Family},
		{"of a family, the sizes around: Llama 2 70B, 3.32 → 3.41", Model{ID: "llama-2-40b", Parameters: 40e9}, "bf16", "awq", 2.406, 2.711,
			3.017, 1, FamilyNear},
		{"no row, no family: models of like size", Model{ID: "olmo2-7b", Parameters: 7e9}, "bf16", "q6_k", 0.109, 0.241, 0.349, 0, Similar},
	} {
		p := OfWeights(c.model, c.from, c.to).Perplexity
		if p == nil {
			t.Errorf("%s: unknown", c.what)
			continue
		}
		if c.level == Similar {
			checkBand(t, c.what, p)
			continue
		}
		near(t, c.what+": low", p.Low, c.low)
		near(t, c.what+": mid", p.Mid, c.mid)
		near(t, c.what+": high", p.High, c.high)
		if p.Rows != c.rows || p.Level != c.level || p.Source.Citation == "" || p.OnModel == "" {
			t.Errorf("%s: %d rows at %v of %s", c.what, p.Rows, p.Level, p.OnModel)
		}
	}
}

// checkBand: a band over several models holds its middle and says how many they are.
func checkBand(t *testing.T, what string, c *Change) {
	t.Helper()
	if !(c.Low <= c.Mid && c.Mid <= c.High && c.Low < c.High) || c.Models < 2 || c.Rows < c.Models || c.Level != Similar {
		t.Errorf("%s: %+v", what, c)
	}
}

// TestAccuracy: where accuracy alone is published it says of which test, and less is worse; the noise that its
// maintainers tell of a test is in the band.
func TestAccuracy(t *testing.T) {
	e := OfWeights(Model{ID: "deepseek-r1"}, "bf16", "fp8")
	if e.Best() != nil {
		t.Errorf("a model of 671B that nobody measured: %+v", e.Best())
	}
	a := OfWeights(Model{ID: "qwen3-8b"}, "bf16", "mxfp4-all").Best()
	if a == nil || a.Metric.Name != "mmlu-0shot" || a.Metric.Kind != Accuracy {
		t.Fatalf("%+v", a)
	}
	near(t, "72.96 → 66.18", a.Mid, -9.293)
	if low, mid, high := a.Worse(); !(low <= mid && mid <= high) || mid != -a.Mid {
		t.Errorf("worse by %g..%g..%g", low, mid, high)
	}
	kv := OfCache(Model{ID: "gpt-oss-120b"}, Cache{K: "bf16"}, Cache{K: "fp8"}).Accuracy
	if kv == nil || kv.Metric.Name != "gsm8k" {
		t.Fatalf("%+v", kv)
	}
	near(t, "0.9161 → 0.9163", kv.Mid, 0.022)
	near(t, "a point of noise is 1.09 %", kv.High-kv.Mid, 1/0.9161+0.011)
}

// TestPrintedLoss: a loss of 1.50 % of MMLU is a change of −1.50 %.
func TestPrintedLoss(t *testing.T) {
	a := OfWeights(Model{ID: "llama-3.1-8b"}, "bf16", "fp8-tensor").Accuracy
	if a == nil || a.Metric.Kind != PrintedLoss {
		t.Fatalf("%+v", a)
	}
	near(t, "1.50", a.Mid, -1.5)
	if _, mid, _ := a.Worse(); mid <= 0 {
		t.Errorf("a loss is better by %g", -mid)
	}
}

// TestCache: keys and values apart.
func TestCache(t *testing.T) {
	both := OfCache(eight, Cache{K: "f16"}, Cache{K: "q8_0"}).Perplexity
	values := OfCache(eight, Cache{K: "bf16", V: "f16"}, Cache{"f16", "q5_1"}).Perplexity
	if both == nil || values == nil {
		t.Fatal("unknown")
	}
	near(t, "6.229753 → 6.234369", both.Mid, 0.074)
	if between := OfCache(eight, Cache{K: "q8_0"}, Cache{"f16", "q5_1"}).Perplexity; between == nil ||
		math.Abs(100*((1+values.Mid/100)/(1+both.Mid/100)-1)-between.Mid) > 1e-4 {
		t.Errorf("%+v does not follow from %g and %g", between, both.Mid, values.Mid)
	}
}

// TestUnknown: nobody measured it, or nobody knows the name.
func TestUnknown(t *testing.T) {
	for _, c := range []struct {
		m        Model
		from, to string
	}{
		{eight, "bf16", "q9_k"}, {eight, "", "q4_k_m"}, {eight, "bf16", "mlx-4bit"}, {eight, "bf16", "bf16"}, {eight, "q4_k_m", "Q4_K_M"},
		{Model{}, "bf16", "q4_k_m"}, {Model{ID: "no-such-model"}, "bf16", "q4_k_m"}, {Model{Parameters: -1}, "bf16", "q4_k_m"},
		{Model{Parameters: 1e15}, "bf16", "q4_k_m"}, {eight, "q4_k_m", "awq-4bit"}, // two sources
	} {
		if e := OfWeights(c.m, c.from, c.to); e.Perplexity != nil {
			t.Errorf("%+v from %q to %q: %+v", c.m, c.from, c.to, e.Perplexity)
		}
	}
	for _, c := range []Cache{{K: "q9"}, {}, {"f16", "q2_k"}, {K: "f16"}} {
		if e := OfCache(eight, Cache{K: "f16"}, c); e != (Effect{}) {
			t.Errorf("%+v: %+v", c, e)
		}
	}
}

// TestOwnNames: names that sources use are asked for as they stand.
func TestOwnNames(t *testing.T) {
	tuned := OfWeights(Model{ID: "qwen3-8b"}, "bf16", "q4_k_m-autoround").Best()
	if tuned == nil || tuned.Format.Name != "q4_k_m-autoround" || tuned.Format.How != Made {
		t.Fatalf("%+v", tuned)
	}
	if plain := OfWeights(Model{ID: "qwen3-8b"}, "bf16", "q4_k_m").Accuracy; plain != nil && plain.Format.How != Same {
		t.Errorf("a special way of making it answers for the recipe: %+v", plain.Format)
	}
	// a table without baselines compares its rows all the same
	if c := OfWeights(Model{ID: "llama-2-7b"}, "aqlm-2bit-2x8", "AQLM-2bit-1x16").Perplexity; c == nil {
		t.Error("two rows of one table are not compared")
	} else {
		near(t, "6.69 → 5.92", c.Mid, -11.51)
	}
}

// TestChain: what two formats cost follows from what each costs, where one table has all.
func TestChain(t *testing.T) {
	cost := func(from, to string) float64 {
		c := OfWeights(Model{ID: "llama-2-13b"}, from, to).Perplexity
		if c == nil {
			t.Fatalf("%s to %s is unknown", from, to)
		}
		return 1 + c.Mid/100
	}
	if whole, parts := cost("bf16", "awq"), cost("bf16", "gptq")*cost("gptq", "awq"); math.Abs(whole-parts) > 1e-9 {
		t.Errorf("%g in one step, %g in two", whole, parts)
	}
	if back := cost("awq", "gptq") * cost("gptq", "awq"); math.Abs(back-1) > 1e-12 {
		t.Errorf("there and back is %g", back)
	}
}

func BenchmarkOfWeights(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		OfWeights(eight, "bf16", "q4_k_m")
	}
}

func BenchmarkNewOrder(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		NewOrder(eight)
	}
}
