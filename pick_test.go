package memwall

import (
	"slices"
	"strings"
	"testing"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/planner"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/score"
)

// sameSpeed: a pick is as fast as its plan; one that makes vectors reads, and generates nothing.
func sameSpeed(plan, pick *Speed, r *Request) bool {
	if r.Use != score.Embedding || plan == nil || pick == nil {
		return planner.DecodeOf(plan) == planner.DecodeOf(pick)
	}
	return pick.Decode == nil && *pick.Prefill == *plan.Prefill
}

// TestPicks: what is picked fits when it is asked, at the context that was given, is fast enough for its use, and the list is
// in order of scores.
func TestPicks(t *testing.T) {
	for _, r := range []Request{
		{Hardware: "rtx-3060"}, {Hardware: "h100", Plan: plan.Plan{Context: 32768, Sequences: 8}}, {Hardware: "m4-max", Use: score.Coding},
		{Hardware: "cpu,host=64GiB@80GB/s"},
		{Hardware: "rtx-4090", Use: score.Embedding}, {Hardware: "2xrtx-3090", Use: score.LongContext},
		{Hardware: "rtx-4070", Use: score.Agents},
	} {
		a := asked(t, api.AskPick, r)
		if len(a.Picks) < 3 {
			t.Errorf("%s runs %d models", r.Hardware, len(a.Picks))
		}
		u, err := planner.UseOf(&r)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(r.Hardware, "cpu") {
			u.Decode /= 2 // waited for as long as it is read
		}
		for i, k := range a.Picks {
			b := asked(t, "fit", *k.Plan)
			if b.Verdict != Fits || b.Devices[0].Headroom != k.Headroom || !sameSpeed(b.Speed, k.Speed, &r) {
				t.Errorf("%s on %s: %s with %d free, picked with %d", k.Model, r.Hardware, b.Verdict, b.Devices[0].Headroom, k.Headroom)
			}
			if k.Speed != nil && k.Speed.Decode != nil && planner.DecodeOf(k.Speed) < u.Decode {
				t.Errorf("%s on %s: %g tokens a second for %s", k.Model, r.Hardware, planner.DecodeOf(k.Speed), u.Name)
			}
			if i > 0 && planner.Points(k.Score) > planner.Points(a.Picks[i-1].Score) {
				t.Errorf("%s stands behind a worse model", k.Model)
			}
		}
		for _, name := range []string{"best", "fastest", "longest"} {
			if n := len(slices.DeleteFunc(slices.Clone(a.Picks), func(k Pick) bool { return !slices.Contains(k.First, name) })); n != 1 {
				t.Errorf("%s: %d are %s", r.Hardware, n, name)
			}
		}
	}
}

// TestFirstPicks: what people who run models at home recommend for a card, first. Names are families: a newer size of the same
// is as good an answer. Sources: the scores themselves and the sizes of files; threads of r/LocalLLaMA on cards of 12, 16 and 24 GB.
func TestFirstPicks(t *testing.T) {
	for _, c := range []struct{ hardware, use, first string }{
		{"rtx-3060", "", "qwen3.6-35b-a3b"}, {"rtx-4060-ti-16gb", "", "qwen3.6-35b-a3b"}, {"rtx-3090", "", "qwen3.8-27b"},
		{"rtx-4090", "", "qwen3.8-27b"},
		{"rtx-5090", "", "qwen3.8-27b"}, {"rx-7900-xtx", "", "qwen3.8-27b"}, {"strix-halo", "", "qwen3."}, {"m4-max-36gb", "", "qwen3."},
		{"cpu,host=16GiB@50GB/s", "", "qwen3.5-"}, {"2xrtx-3090", "", "qwen3.8-27b"},
		{"h100", "", "qwen3.8-27b"}, {"rtx-4090", score.Coding, "qwen3.8-27b"}, {"rtx-4090", score.Vision, "qwen3.8-27b"},
		{"rtx-3060", score.LongContext, "qwen3.6-35b-a3b"},
		{"rtx-3060", score.Embedding, "qwen3-embedding-8b"},
		// where memory is large and slow, mixtures of experts; where all is slow, people wait and take no model of one billion
		{"strix-halo-128gb", "", "qwen3.6-35b-a3b"}, {"dgx-spark", "", "qwen3.6-35b-a3b"}, {"m4-16gb", score.Coding, "qwen3.5-9b"},
		{"m4-16gb", score.Reasoning, "qwen3.5-"}, {"m4-16gb", score.LongContext, "qwen3.5-"}, {"m1-8gb", "", "qwen3.5-4b"},
	} {
		a := asked(t, api.AskPick, Request{Hardware: c.hardware, Use: c.use})
		if len(a.Picks) == 0 || !strings.HasPrefix(a.Picks[0].Model, c.first) {
			t.Errorf("%s for %s: %+v first, want %s", c.hardware, c.use, a.Picks[:min(1, len(a.Picks))], c.first)
		}
	}
}

// TestPicksOfOneUse: what is made for one use is picked for that use alone, and what sees nothing is not picked for pictures.
func TestPicksOfOneUse(t *testing.T) {
	for _, name := range score.Uses() {
		for _, k := range asked(t, api.AskPick, Request{Hardware: "h100", Use: name, All: true}).Picks {
			if special := score.Special(k.Model); special != "" && special != name {
				t.Errorf("%s, made for %s, is picked for %s", k.Model, special, name)
			}
			if name == score.Vision && (strings.HasPrefix(k.Model, "gpt-oss") || strings.HasPrefix(k.Model, "llama-3.1")) {
				t.Errorf("%s sees nothing", k.Model)
			}
		}
	}
	if _, err := Ask(&Request{Ask: api.AskPick, Hardware: "h100", Use: "poetry"}); err == nil || !strings.Contains(err.Error(), "poetry") {
		t.Errorf("poetry: %v", err)
	}
}
