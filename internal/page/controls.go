package page

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/unit"
)

// controls draws the what-if controls: sliders for lengths and users that show where the verdict changes, and choices of formats
// and devices that show which would fit.
func (v *view) controls() {
	a := v.answer
	if a.Plan == nil || len(a.Devices) == 0 {
		return
	}
	v.add(whatIf(
		v.slider("ctx", "context", int64(a.Plan.Context), lengths(a), maxContext(a)),
		v.slider("users", "users", int64(a.Plan.Sequences), crowds, maxUsers(a)),
		v.choice("weights", "weights", a.Plan.Weights, formatChoices(a)),
		v.choice("kv", "KV cache", a.Plan.KV, []string{"bf16", "fp8", "q8_0", "q4_0"}),
		v.many()))
}

// trainControls draws the what-if controls of a training step.
func (v *view) trainControls() {
	a := v.answer
	if a.Plan == nil || len(a.Devices) == 0 {
		return
	}
	recompute := cmp.Or(a.Plan.Recompute, "none")
	v.add(whatIf(
		v.slider("seq", "tokens per sequence", int64(a.Plan.SequenceLength), lengths(a), nil),
		v.slider("micro-batch", "micro-batch", int64(a.Plan.MicroBatch), crowds, nil),
		v.choice("method", "method", a.Plan.Method, []string{"full", "lora", "qlora"}),
		v.choice("recompute", "recompute", recompute, []string{"none", "full"}),
		v.many()))
}

// whatIf returns a form of controls.
func whatIf(controls ...part) part {
	return el("form", class("ctl"), attr{"aria-label", "What if"}, all(controls))
}

var counts = []string{"1", "2", "4", "8"}

// crowds are the numbers of users on a slider.
var crowds = []int64{1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 128, 160, 192, 256, 320, 384, 512, 768, 1024}

// lengths returns the contexts on a slider: eight per doubling, up to the model's maximum.
func lengths(a *memwall.Answer) (out []int64) {
	most := int64(131_072)
	if a.Model != nil && a.Model.Context > 0 {
		most = a.Model.Context
	}
	for doubling := int64(1024); doubling < most; doubling *= 2 {
		for eighth := range int64(8) {
			if n := doubling + eighth*doubling/8; n < most {
				out = append(out, n)
			}
		}
	}
	return append(out, most)
}

func maxContext(a *memwall.Answer) *int64 {
	if a.KV == nil {
		return nil
	}
	return a.KV.MaxContext
}

func maxUsers(a *memwall.Answer) *int64 {
	if a.KV == nil {
		return nil
	}
	return a.KV.MaxSequences
}

// slider draws a slider over stops; the dark part of its track is where the plan fits.
func (v *view) slider(key, name string, value int64, stops []int64, most *int64) part {
	if value == 0 {
		return all(nil)
	}
	at, _ := slices.BinarySearch(stops, value)
	if at == len(stops) || stops[at] != value {
		stops = slices.Insert(slices.Clone(stops), at, value)
	}
	words := make([]string, len(stops))
	for i, n := range stops {
		words[i] = strconv.FormatInt(n, 10)
	}
	last := len(stops) - 1
	cliff, hint := 0, "" // without a known limit, no part of the track is dark
	if most != nil {
		cliff, _ = slices.BinarySearch(stops, *most+1)
		cliff = max(0, min(cliff-1, last))
		hint = "fits up to " + unit.Count(*most)
		if *most < 1 {
			hint = "none fits"
		}
	}
	track := fmt.Sprintf(`<svg class="trk" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true"><rect class="rest" width="100" height="4"/><rect class="fits" width="%.1f" height="4"/></svg>`, 100*float64(cliff)/float64(max(1, last)))
	return el("div", el("label", attr{"for", "s-" + key}, txt(name+" "), el("b", txt(unit.Count(value)))),
		el("div", class("slide"), raw(track), el("input", id("s-"+key), attr{"type", "range"}, attr{"min", "0"},
			attr{"max", fmt.Sprint(last)}, attr{"value", fmt.Sprint(at)}, attr{"data-key", key},
			attr{"data-stops", strings.Join(words, ",")}, attr{"aria-valuetext", unit.Count(value) + " " + name}, set("disabled"))),
		el("span", class("hint"), txt(hint)))
}

// formatChoices returns the formats that suit the engine: those of GGUF files if it reads these.
func formatChoices(a *memwall.Answer) []string {
	switch name, _, _ := strings.Cut(a.Plan.Engine, "@"); name {
	case "llama.cpp", "llama-server", "ollama":
		return []string{"f16", "q8_0", "q5_k_m", "q4_k_m"}
	}
	return []string{"bf16", "fp8", "awq-int4"}
}

// choice draws the values of a field, and the first change of it alone that makes the plan fit.
func (v *view) choice(key, name, value string, words []string) part {
	if w := mended(v.answer, key); w != "" && !slices.Contains(words, w) {
		words = append(slices.Clone(words), w)
	}
	return v.options(name, value, words, func(word string) *state { return v.state.with(key, word) })
}

// mended returns the field's value in the first change of it alone that makes the plan fit; "" if none does.
func mended(a *memwall.Answer, key string) string {
	f := fieldOf(key)
	for _, c := range a.Suggestions {
		if word, ok := c.Patch[f.Name].(string); ok && len(c.Patch) == 1 && c.Verdict == memwall.Fits && !c.Slow {
			return word
		}
	}
	return ""
}

// options draws values, each marked if the plan would fit with it; values without an answer are left out.
func (v *view) options(name, value string, words []string, with func(word string) *state) part {
	if !slices.Contains(words, value) && value != "" {
		words = append([]string{value}, words...)
	}
	out, hint := all{}, "none fits"
	for _, w := range words {
		s, a := with(w), v.answer
		if w != value {
			if a = judged(v, s); a == nil {
				continue
			}
		}
		if a.Verdict == memwall.Fits {
			hint = "✓ would fit"
		}
		out = append(out, el("a", class("opt "+lookOf[a.Verdict]), attr{"href", s.href()}, set("data-live"),
			when(w == value, attr{"aria-current", "true"}), txt(w)))
	}
	return el("fieldset", el("legend", txt(name)), el("div", class("seg"), out), el("span", class("hint"), txt(hint)))
}

// hardware returns the requested hardware and its number; none if several kinds or none are named.
func (v *view) hardware() (kind string, n int) {
	on := v.state.query.Get("on")
	if on == "" || strings.ContainsAny(on, "+,=") || v.state.query.Has("devices") {
		return "", 0
	}
	if n, kind, ok := hardware.CountOf(on); ok {
		return kind, n
	}
	return on, 1
}

// many draws other numbers of the same hardware, leaving the parallel layout to the planner.
func (v *view) many() part {
	kind, n := v.hardware()
	if n == 0 {
		return all(nil)
	}
	return v.options("devices", fmt.Sprint(n), counts, func(word string) *state {
		on := word + "x" + kind
		if word == "1" {
			on = kind
		}
		return v.state.with("on", on, "tp", "", "pp", "", "ep", "", "dp", "")
	})
}
