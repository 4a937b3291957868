package memwall

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/plan"
)

// Situations that nobody wrote down: models, machines and loads drawn together, the same in every run.

var (
	drawnModels = []string{"llama-3.1-8b", "llama-3.3-70b", "qwen3-32b", "qwen3-30b-a3b", "gpt-oss-20b", "gpt-oss-120b", "gemma-3-27b",
		"deepseek-v2-lite", "mixtral-8x7b", "qwen3-next-80b-a3b", "qwen2.5-72b", "glm-4.5-air"}
	drawnMachines = []string{"rtx-3060", "rtx-4090", "2xrtx-3090", "rtx-4060-ti-16gb,host=64GiB", "rtx-5090,host=32GiB", "l4", "2xl40s",
		"h100", "4xa100-40gb", "8xh100", "m4-16gb", "m4-max-64gb", "m3-ultra-256gb", "strix-halo-64gb"}
	drawnContexts = []int64{0, 4096, 32768, 131072}
	drawnUsers    = []int64{1, 1, 4, 64}
)

// drawn is a situation.
func drawn(r *rand.Rand) Request {
	q := Request{Ask: "fit", Model: drawnModels[r.IntN(len(drawnModels))], Hardware: drawnMachines[r.IntN(len(drawnMachines))]}
	q.Context, q.Sequences = plan.Int(drawnContexts[r.IntN(len(drawnContexts))]), plan.Int(drawnUsers[r.IntN(len(drawnUsers))])
	return q
}

// situation names a request in a failure.
func situation(r *Request) string {
	return fmt.Sprintf("%s on %s, %d users of %d tokens", r.Model, r.Hardware, r.Sequences, r.Context)
}

// TestLawsOfAdvice: a cure that is applied gives what was promised; what loses nothing does not stand behind what loses and is no
// faster; nothing fits while a memory is overfull; a plan fits as a question of fit as it does in a search.
func TestLawsOfAdvice(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(24, 11))
	cured := 0
	for range 25 {
		q, one := drawn(r), asker().Remembering()
		a, err := one.Ask(&q)
		if err != nil {
			continue
		}
		nothingOverfull(t, &q, a)
		losslessFirst(t, &q, a.Suggestions)
		for _, s := range a.Suggestions {
			p, err := Patch(&q, s.Patch)
			if err != nil {
				t.Fatalf("%s, %s: %v", situation(&q), s.Change, err)
			}
			b, err := one.Ask(p)
			if err != nil {
				t.Errorf("%s, %s: %v", situation(&q), s.Change, err)
				continue
			}
			cured++
			if b.Verdict != s.Verdict || a.Devices[0].Needed-b.Devices[0].Needed != s.Saves {
				t.Errorf("%s, %s: %s and %d saved, promised %s and %d", situation(&q), s.Change, b.Verdict,
					a.Devices[0].Needed-b.Devices[0].Needed, s.Verdict, s.Saves)
			}
			nothingOverfull(t, p, b)
		}
	}
	if cured < 40 {
		t.Errorf("only %d cures were applied", cured)
	}
}

// nothingOverfull checks a plan that fits against each memory that it names, and the one that device and host share.
func nothingOverfull(t *testing.T, r *Request, a *Answer) {
	t.Helper()
	if a.Verdict != Fits {
		return
	}
	taken := int64(0)
	for i := range a.Devices {
		d := &a.Devices[i]
		if taken += int64(d.Needed) * d.Count; d.Headroom < 0 {
			t.Errorf("%s fits with %s short", situation(r), -d.Headroom)
		}
	}
	if a.Host == nil {
		return
	}
	if a.Host.Capacity > 0 && a.Host.Headroom < 0 {
		t.Errorf("%s fits with %s of the host short", situation(r), -a.Host.Headroom)
	}
	q, err := asker().env().Prepare(r)
	if err != nil {
		t.Fatal(err)
	}
	if pool := question.UnifiedPool(q.Job.Machine); pool > 0 && taken+int64(a.Host.Needed) > int64(pool) {
		t.Errorf("%s fits with %d of %d in one memory", situation(r), taken+int64(a.Host.Needed), int64(pool))
	}
}

// loses reports whether a change stores in fewer bits.
func loses(s *api.Suggestion, from *Request) bool {
	for field, now := range map[string]string{"weights": from.Weights, "kv": from.KV} {
		to, ok := s.Patch[field].(string)
		if ok && dtype.FindRecipe(to) != nil && (now == "" || to != now) {
			return true
		}
		if ok && field == "kv" {
			return true
		}
	}
	return false
}

// losslessFirst checks the order of cures that mend and need nothing to be bought: one that stores less stands before one that does
// not only where it is faster.
func losslessFirst(t *testing.T, r *Request, all []api.Suggestion) {
	t.Helper()
	mends := func(s *api.Suggestion) bool { return s.Verdict == Fits && !replaces(s) && s.Speed != nil }
	for i := range all {
		for j := i + 1; j < len(all); j++ {
			x, y := &all[i], &all[j]
			if mends(x) && mends(y) && loses(x, r) && !loses(y, r) && y.Patch["context"] == nil && y.Patch["sequences"] == nil &&
				*y.Speed >= *x.Speed {
				t.Errorf("%s: %s (× %.2f) stands before %s (× %.2f), which loses nothing", situation(r), x.Change, *x.Speed, y.Change,
					*y.Speed)
			}
		}
	}
}

// TestMoreMemoryKeepsFits: a device or a host with more memory never makes a plan that fits one that does not.
func TestMoreMemoryKeepsFits(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 7))
	sizes := []string{"24GB,bandwidth=1000GB/s", "32GB,bandwidth=1000GB/s", "48GB,bandwidth=1000GB/s", "96GB,bandwidth=1000GB/s"}
	hosts := []string{"rtx-4090,host=32GiB", "rtx-4090,host=64GiB", "rtx-4090,host=128GiB", "rtx-4090,host=512GiB"}
	macs := []string{"m4-max-36gb", "m4-max-48gb", "m4-max-64gb", "m4-max-128gb"}
	compared, all := 0, plan.Int(-1)
	for range 25 {
		q, one := drawn(r), asker().Remembering()
		for n, ladder := range [][]string{sizes, hosts, macs} {
			last := Verdict("")
			for _, on := range ladder {
				p := q
				p.Hardware, p.Engine, p.Weights = on, "llama.cpp", "q4_k_m"
				if p.CPUMoE = nil; n == 1 {
					p.CPUMoE = &all
				}
				a, err := one.Size(&p)
				if err != nil {
					continue
				}
				if compared++; question.VerdictSeverity[a.Verdict] > question.VerdictSeverity[last] && last != "" {
					t.Errorf("%s: %s, and %s with less memory", situation(&p), a.Verdict, last)
				}
				last = a.Verdict
			}
		}
	}
	if compared < 100 {
		t.Errorf("only %d plans were compared", compared)
	}
}

// TestFitAgreesWithPlan: the candidates of a search fit as questions of fit do, to the byte.
func TestFitAgreesWithPlan(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(8, 1))
	compared := 0
	for range 5 {
		q, one := drawn(r), asker().Remembering()
		q.Ask = api.AskPlan
		a, err := one.Ask(&q)
		if err != nil {
			continue
		}
		for _, c := range append(a.Candidates, a.Ladder...) {
			p, err := Patch(&q, c.Patch)
			if err != nil {
				t.Fatal(err)
			}
			p.Ask = "fit"
			b, err := one.Size(p)
			if err != nil {
				t.Errorf("%s, %s: %v", situation(&q), c.Change, err)
				continue
			}
			if compared++; b.Verdict != c.Verdict || b.Devices[0].Headroom != c.Headroom {
				t.Errorf("%s, %s: %s with %s free, and %s with %s as a question of fit", situation(&q), c.Change, c.Verdict, c.Headroom,
					b.Verdict, b.Devices[0].Headroom)
			}
		}
	}
	if compared < 20 {
		t.Errorf("only %d plans were compared", compared)
	}
}
