package memwall

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/train"
)

// Plans of training: tensor, pipeline, context and expert groups, chunks of stages, micro-batches, recomputation and
// sharding. What is given is pinned. A plan is sized first, and timed only where it fits.

// trainAxis is a field and the values to try; 0 and "" stay as the framework has them.
type trainAxis struct {
	field  string
	values int
	set    func(r *Request, i int)
	words  func(i int) string
}

// planTrain searches the plans of a training run, the fastest first.
func (a *Asker) planTrain(ctx context.Context, r *Request) (*Answer, error) {
	asker := a.remembering()
	asked := *r
	asked.Ask, asked.For, asked.Goal, asked.Explain = askTrain, "", nil, false
	var notes []Note
	fill := func(field, value string, set func()) {
		set()
		notes = append(notes, Note{Code: "default_used", Severity: "info", Field: field, Text: field + " = " + value + " by default"})
	}
	if asked.Hardware == "" {
		return nil, &Error{Code: BadField, Field: "hardware", Message: "hardware is missing: a search for plans of training needs devices", Hint: "memwall plan " + asked.Model + " --train --on 8xh100"}
	}
	m, _, err := asker.find(asked.Hardware, int(asked.Devices))
	if err != nil {
		return nil, err
	}
	n := int64(m.Devices())
	if asked.Framework == "" && n > 1 {
		fill("framework", groupFramework, func() { asked.Framework = groupFramework })
	}
	if asked.GlobalBatch == 0 && asked.Accumulation == 0 {
		batch := max(usualBatch, n)
		fill("global_batch", fmt.Sprint(batch), func() { asked.GlobalBatch = plan.Int(batch) })
	}
	s := &trainSearch{asker: asker, asked: &asked, original: r}
	if err := s.run(ctx, trainAxes(&asked, n, int64(m.PerNode)), 0, nil); err != nil && len(s.found) == 0 {
		return nil, err
	}
	if len(s.found) == 0 && s.refused != nil {
		return nil, s.refused
	}
	return s.answer(notes), nil
}

const (
	groupFramework = "megatron" // it has all the groups that are searched
	usualBatch     = 1024
)

// trainSearch goes through all plans.
type trainSearch struct {
	asker           *Asker
	asked, original *Request
	found           []Candidate
	nearest         *Candidate
	model           *ModelInfo
	evaluated       Evaluated
	refused         error // why the last plan was, where none was sized
}

// trainAxes are the fields that nobody gave.
func trainAxes(r *Request, devices, perNode int64) (out []trainAxis) {
	ints := func(field string, given int64, values []int64, set func(*Request, int64)) {
		if given > 0 || len(values) < 2 {
			return
		}
		out = append(out, trainAxis{field, len(values), func(r *Request, i int) { set(r, values[i]) }, func(i int) string { return fmt.Sprintf("%s %d", field, values[i]) }})
	}
	words := func(field, given string, values []string, set func(*Request, string)) {
		if given == "" {
			out = append(out, trainAxis{field, len(values), func(r *Request, i int) { set(r, values[i]) }, func(i int) string { return strings.TrimSpace(field + " " + values[i]) }})
		}
	}
	ints("tp", r.TP, divisors(devices, max(1, perNode)), func(r *Request, n int64) { r.TP = n })
	ints("pp", r.PP, divisors(devices, 64), func(r *Request, n int64) { r.PP = n })
	ints("cp", r.CP, divisors(devices, contextRanks(int64(r.SequenceLength))), func(r *Request, n int64) { r.CP = n })
	ints("vpp", r.VPP, []int64{1, 2, 4}, func(r *Request, n int64) { r.VPP = n })
	ints("micro-batch", int64(r.MicroBatch), []int64{1, 2, 4, 8}, func(r *Request, n int64) { r.MicroBatch = plan.Int(n) })
	words("recompute", r.Recompute, []string{"none", "selective", "full"}, func(r *Request, s string) { r.Recompute = s })
	return out
}

// contextRanks are worth trying where sequences are long.
func contextRanks(sequence int64) int64 {
	switch {
	case sequence >= 65536:
		return 16
	case sequence >= 16384:
		return 4
	}
	return 1
}

// divisors of n, at most so many.
func divisors(n, most int64) (out []int64) {
	for d := int64(1); d <= min(n, most); d++ {
		if n%d == 0 {
			out = append(out, d)
		}
	}
	return out
}

// run tries all settings of the axes from one on.
func (s *trainSearch) run(ctx context.Context, axes []trainAxis, from int, words []string) error {
	if from == len(axes) {
		s.evaluated.Decided++
		return s.try(words)
	}
	saved := *s.asked
	for i := range axes[from].values {
		if err := ctx.Err(); err != nil {
			return err
		}
		axes[from].set(s.asked, i)
		if !possible(s.asked) {
			s.evaluated.Decided++
			*s.asked = saved
			continue
		}
		if err := s.run(ctx, axes, from+1, append(words, axes[from].words(i))); err != nil {
			return err
		}
		*s.asked = saved
	}
	return nil
}

// possible rules out groups of more devices than there are, and chunks without a pipeline, before they are sized.
func possible(r *Request) bool {
	groups := max(1, r.TP) * max(1, r.PP) * max(1, r.CP)
	return r.Devices == 0 || groups <= r.Devices && r.Devices%groups == 0 && (r.VPP <= 1 || r.PP > 1 || r.PP == 0)
}

// try sizes a plan, and times it where it fits.
func (s *trainSearch) try(words []string) error {
	t, err := s.asker.trained(s.asked)
	if err != nil {
		s.refused = err
		return nil
	}
	s.evaluated.Full++
	ranks := t.sizer.Deciding()
	d := t.rank(&ranks[0])
	same := t.same(ranks)
	v := t.q.verdict(same)
	c := Candidate{Change: strings.Join(words, ", "), Verdict: v, Headroom: headroom(&d)}
	if s.model == nil {
		s.model = t.q.modelInfo()
	}
	if v != Fits {
		if s.nearest == nil || c.Headroom > s.nearest.Headroom {
			s.keepPlan(&c, t)
			s.nearest = &c
		}
		return nil
	}
	if m, step, err := t.step(); err == nil {
		c.Step = trainingStep(&step, m.Tokens())
	}
	s.keep(c, t)
	return nil
}

// same are the ranks as verdicts know them.
func (t *training) same(ranks []train.Rank) (out []engine.Rank) {
	for i := range ranks {
		out = append(out, t.rank(&ranks[i]))
	}
	return out
}

func (s *trainSearch) keepPlan(c *Candidate, t *training) {
	c.Plan, c.Patch = t.q.plan(), patchOf(s.original, s.asked)
	delete(c.Patch, "ask")
	delete(c.Patch, "for")
}

// keep the fastest.
func (s *trainSearch) keep(c Candidate, t *training) {
	i, _ := slices.BinarySearchFunc(s.found, c, func(a, b Candidate) int {
		return cmp.Or(-cmp.Compare(paceOf(&a), paceOf(&b)), -1)
	})
	if i >= maxCandidates {
		return
	}
	s.keepPlan(&c, t)
	s.found = slices.Insert(s.found, i, c)
	s.found = s.found[:min(len(s.found), maxCandidates)]
}

// paceOf is the tokens a second of a device; 0 where unknown.
func paceOf(c *Candidate) float64 {
	if c.Step == nil {
		return 0
	}
	return c.Step.PerDevice
}

func (s *trainSearch) answer(notes []Note) *Answer {
	shown := *s.original
	out := &Answer{Model: s.model, Plan: &shown, Verdict: DoesNotFit, Candidates: s.found, NearestMiss: s.nearest, Evaluated: &s.evaluated, Notes: notes}
	if len(s.found) > 0 {
		out.Best, out.Verdict, out.NearestMiss = &s.found[0], Fits, nil
	}
	return out
}
