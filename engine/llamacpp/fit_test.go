package llamacpp

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/plan"
)

// openFitter prepares --fit for a plan with free memory of each device.
func openFitter(t testing.TB, e Engine, j *engine.Job, free ...int64) *fitter {
	t.Helper()
	g := e.givenIn(j.Plan)
	j.Plan.Fit = "off"
	e.Defaults(j)
	r := e.rules(j)
	f, err := newFitter(e, j, &r, g)
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range free {
		f.target[i] += n - f.free[i]
		f.free[i] = n
	}
	return f
}

// TestFitOfAUser: what --fit measured and chose in a log of Ollama 0.31 with Hermes 3 Llama 3.1 8B in q4_0, 32,768
// tokens, on a GeForce RTX 2060 with 5,141 MiB free. The log cuts MiB off.
func TestFitOfAUser(t *testing.T) {
	e := Engine{Ollama}
	j := jobOf(t, "llama-3.1-8b", "q4_0", machineOf(t, "rtx-2060"), engine.V(0, 31, 0), plan.Plan{Context: 32768, Sequences: 1})
	f := openFitter(t, e, j, 5141<<20)
	for _, c := range []struct {
		layers        int
		used, weights int64
	}{{0, 248, 0}, {33, 8392, 4155}, {15, 4089, 2049}, {16, 4334, 2166}} {
		m, err := f.measure(trial{shares: []share{{layers: c.layers}}})
		if err != nil {
			t.Fatal(err)
		}
		if m.used[0]>>20 != c.used || m.weights[0]>>20 != c.weights {
			t.Errorf("%d layers: %d MiB, %d of them weights; the log has %d and %d", c.layers, m.used[0]>>20, m.weights[0]>>20, c.used, c.weights)
		}
	}
	out, err := f.run()
	if err != nil || out.failed != "" || out.trial.layers() != 15 {
		t.Errorf("--fit chose 15 layers, ours %+v (%v)", out, err)
	}
}

// fitCases are plans that need --fit.
var fitCases = []struct{ model, hardware string }{
	{"llama-3.1-8b", "rtx-3060-12gb"}, {"llama-3.1-70b", "rtx-4090"}, {"llama-3.1-70b", "rtx-4090+rtx-3060-12gb"}, {"qwen3-30b-a3b", "rtx-3060-12gb"},
	{"qwen3-235b-a22b", "2xrtx-4090"}, {"qwen3-235b-a22b", "rtx-3060-12gb+rtx-4090+rtx-2060"}, {"gpt-oss-120b", "rtx-4090"}, {"glm-4.5-air", "rtx-4090"},
	{"gemma-3-27b", "rtx-3060-12gb"}, {"gemma-3n-e4b", "rtx-2060"}, {"deepseek-v2-lite", "rtx-2060"}, {"qwen3-next-80b-a3b", "2xrtx-3060-12gb"},
}

// TestFitLaws: what --fit chooses keeps its margins; its words, read again, are what it measured; and what it
// measured is what the plan then takes.
func TestFitLaws(t *testing.T) {
	for _, c := range fitCases {
		for _, open := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s on %s, open %v", c.model, c.hardware, open), func(t *testing.T) {
				p := plan.Plan{Sequences: 1}
				if !open {
					p.Context = 8192
				}
				fitLaw(t, jobOf(t, c.model, "q4_k_m", machineOf(t, c.hardware), Latest, p))
			})
		}
	}
}

func fitLaw(t *testing.T, j *engine.Job) {
	e := Engine{Server}
	f := openFitter(t, e, j)
	out, err := f.run()
	if err != nil || out.failed != "" {
		t.Fatalf("%+v, %v", out, err)
	}
	m, err := f.measure(out.trial)
	if err != nil {
		t.Fatal(err)
	}
	if slack := surplus(f.target, m.used); out.trial.layers() > 0 && !f.meets(m.used) && slack >= 0 {
		t.Errorf("%v used of %v", m.used, f.target)
	}
	again := *j.Plan
	out.trial.write(&again)
	again.OverrideTensor = out.trial.overrides(f.layers, func(at int) string { return placeName(j, f.rules, at) })
	k := *j
	k.Plan, k.Notes = &again, nil
	k.Plan.Mmap, k.Plan.DryRun = new(bool), yes(true)
	e.Defaults(&k)
	s := sizerOf(t, e, &k)
	if got := s.dryRun(); !slices.Equal(got.used, m.used) {
		t.Errorf("-ngl %d -ts %q -ot %q take %v, measured were %v", *again.GPULayers, again.TensorSplit, again.OverrideTensor, got.used, m.used)
	}
}

// TestFitGivesUp: --fit moves nothing that somebody placed, and says what.
func TestFitGivesUp(t *testing.T) {
	for _, c := range []struct {
		hardware, says string
		change         func(*plan.Plan)
	}{
		{"rtx-4090", "gpu_layers = 81 is given", func(p *plan.Plan) { p.GPULayers = layers(81) }},
		{"2xrtx-3060-12gb", "tensor_split is given", func(p *plan.Plan) { p.TensorSplit = "1,1" }},
		{"2xrtx-3060-12gb", "split_mode = row", func(p *plan.Plan) { p.SplitMode = "row" }},
		{"rtx-4090", "override_tensor is given", func(p *plan.Plan) { p.OverrideTensor = "ffn_up=CPU" }},
	} {
		p := plan.Plan{Context: 8192, Sequences: 1}
		p.Fit = "on"
		c.change(&p)
		j := jobOf(t, "llama-3.1-70b", "q4_k_m", machineOf(t, c.hardware), Latest, p)
		Engine{CLI}.Defaults(j)
		found := false
		for _, n := range j.Notes {
			found = found || n.Code == "fit_failed" && strings.Contains(n.Text, c.says)
		}
		if !found {
			t.Errorf("%s: %v", c.says, j.Notes)
		}
	}
}

// TestFitShortens: where no context is given, one device takes the longest that it has room for, and a given
// one stays.
func TestFitShortens(t *testing.T) {
	p := plan.Plan{Sequences: 1}
	p.Fit = "on"
	j := jobOf(t, "llama-3.1-8b", "q4_k_m", machineOf(t, "rtx-3060-12gb"), Latest, p)
	Engine{CLI}.Defaults(j)
	n := j.Plan.ContextTotal
	if n%256 != 0 || n < fitContext || n >= 131072 || *j.Plan.GPULayers != -1 || j.Plan.Context != n {
		t.Fatalf("-c %d, a slot %d, -ngl %d", n, j.Plan.Context, *j.Plan.GPULayers)
	}
	longer := *j.Plan
	longer.ContextTotal, longer.Context, longer.Fit = n+512, 0, "off"
	k := *j
	k.Plan, k.Notes = &longer, nil
	f := openFitter(t, Engine{CLI}, &k)
	if m, err := f.measure(trial{}); err != nil || f.meets(m.used) {
		t.Errorf("%d tokens more fit too: %v of %v, %v", 512, m.used, f.target, err)
	}
}

// TestFitMargins: numbers of MiB, one or one for each.
func TestFitMargins(t *testing.T) {
	for text, want := range map[string]string{"": "[1073741824 1073741824]", "512": "[536870912 536870912]", "0,2048": "[0 2147483648]"} {
		got, err := fitMargins(text, 2)
		if err != nil || fmt.Sprint(got) != want {
			t.Errorf("%q is %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"1,2,3", "-1", "x", "1e3", "99999999999"} {
		if got, err := fitMargins(text, 2); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}

func BenchmarkFit(b *testing.B) {
	for _, c := range fitCases {
		b.Run(c.model+" on "+c.hardware, func(b *testing.B) {
			j := jobOf(b, c.model, "q4_k_m", machineOf(b, c.hardware), Latest, plan.Plan{Sequences: 1})
			f := openFitter(b, Engine{Server}, j)
			for b.Loop() {
				f.known = knownOf(j)
				if _, err := f.run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
