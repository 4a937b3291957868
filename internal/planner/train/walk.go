package train

import (
	"context"
	"math"
	"slices"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/internal/training"
	"github.com/memwall/memwall/plan"
)

// What is tried of every layout: chunks of stages, micro-batches, recomputation. Needs grow with the micro-batch and
// fall with recomputation, and one chunk holds fewest micro-batches at once, so that a plan that does not fit decides
// those that need more. Where one pass is a whole step gradients live shorter, and such plans are decided alone.

// Settings that are tried, the least needs first.
var (
	chunkSettings     = []int64{1, 2, 4, 8}
	titanChunks       = []int64{1, 2} // its schedules have no more
	microSettings     = []int64{1, 2, 4, 8, 16}
	recomputeSettings = []string{"full", "selective", "none"}
)

// run tries all plans, and those that keep states on the host where no other fits.
func (s *trainSearch) run(ctx context.Context) error {
	if err := s.runSites(ctx); err != nil || s.found.number > 0 {
		return err
	}
	s.offloads = true
	return s.runSites(ctx)
}

func (s *trainSearch) runSites(ctx context.Context) error {
	for i := range s.sites {
		s.site = i
		r := s.asked
		s.sites[i].set(&r)
		if err := s.outer(ctx, &s.sites[i], &r, 0); err != nil {
			return err
		}
	}
	return nil
}

// outer tries all settings of the outer axes from one on.
func (s *trainSearch) outer(ctx context.Context, x *trainSite, r *api.Request, from int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if from == len(outerAxes) {
		s.reportProgress(s.site)
		s.inner(x, r)
		return nil
	}
	settings := outerAxes[from].choose(s, x, r)
	if len(settings) == 0 {
		return s.outer(ctx, x, r, from+1)
	}
	for _, set := range settings {
		to := *r
		set(&to)
		if groups := max(1, to.TP) * max(1, to.PP) * max(1, to.CP); groups > x.devices || x.devices%groups != 0 {
			continue
		}
		if err := s.outer(ctx, x, &to, from+1); err != nil {
			return err
		}
	}
	return nil
}

// outcome of trying a plan.
type outcome int

const (
	refusedPlan outcome = iota
	fittingPlan
	shortPlan // it does not fit, nor does what needs more
	oddPlan   // it does not fit, and says nothing of others
)

// inner tries what goes with a layout, unless the plan of it that needs least decides all.
func (s *trainSearch) inner(x *trainSite, r *api.Request) {
	micros, recomputes, chunks := s.microsOf(r), s.recomputesOf(r), s.chunksOf(r)
	if s.hopeless(x, r, micros, recomputes) {
		s.evaluated.Decided += len(micros) * len(recomputes) * len(chunks)
		return
	}
	var whole [][]bool // which plans do not fit with stages in one chunk: none of them does with more
	for _, v := range chunks {
		short := make([][]bool, len(micros))
		for i, m := range micros {
			short[i] = make([]bool, len(recomputes))
			if whole != nil && r.Schedule == "" {
				copy(short[i], whole[i])
			}
			to := *r
			to.VPP, to.MicroBatch = v, m
			s.chain(x, &to, recomputes, short[i], short[max(0, i-1)])
		}
		if v == 1 {
			whole = short
		}
	}
}

// hopeless: a layout cannot be among the best, by the room that its plan of least needs leaves, and the time of a step
// without bubbles and recomputation, with the products of the largest micro-batch.
func (s *trainSearch) hopeless(x *trainSite, r *api.Request, micros []plan.Int, recomputes []string) bool {
	if s.original.All || r.Schedule != "" || r.GlobalBatch == 0 || s.found.kinds[kindOf(x, r)] == nil {
		return false
	}
	to := *r
	to.VPP, to.MicroBatch, to.Recompute = 0, micros[0], recomputes[0]
	t, err := training.Trained(s.env, &to)
	s.evaluated.Full++
	if err != nil || t.Job.Framework.Keep.Offloads {
		return false
	}
	ideal, replicas := *t.Job.Training, x.replicas(r)
	ideal.Recompute, ideal.Schedule = "none", "zb-h2"
	for _, m := range micros {
		if m >= ideal.MicroBatch && int64(m)*replicas <= int64(r.GlobalBatch) {
			ideal.MicroBatch, ideal.Accumulation = m, r.GlobalBatch/(m*plan.Int(replicas))
		}
	}
	m, err := t.StepPredictor(&ideal)
	if err != nil {
		return false
	}
	ranks := t.Sizer.Deciding()
	d := t.EngineRank(&ranks[0])
	bound := &trainPlan{site: x, kind: kindOf(x, r), perMillion: math.Inf(1), room: roomOf(&d), devices: s.counted(x)}
	bound.paced(m.Middle() / m.Tokens())
	return s.found.hopeless(bound)
}

// chain tries the settings of recomputation from the least needs on. short says which do not fit, below which do not
// with a smaller micro-batch.
func (s *trainSearch) chain(x *trainSite, r *api.Request, recomputes []string, short, below []bool) {
	alone := r.GlobalBatch > 0 && int64(r.MicroBatch)*x.replicas(r) >= int64(r.GlobalBatch)
	for i, w := range recomputes {
		s.evaluated.Decided++
		short[i] = short[i] || below[i] || i > 0 && short[i-1] && needsMore(w, recomputes[i-1])
		if short[i] && !alone {
			continue
		}
		r.Recompute = w
		short[i] = s.try(x, r) == shortPlan && !alone || short[i]
	}
}

// needsMore: what a setting of recomputation keeps holds all that another does; some of the blocks and some of the
// operators cannot be compared.
func needsMore(than, w string) bool { return w == "full" || than == "none" }

// replicas of the model that machines hold.
func (x *trainSite) replicas(r *api.Request) int64 {
	return x.devices / max(1, max(1, r.TP)*max(1, r.PP)*max(1, r.CP))
}

// chunksOf a stage: one where there is no pipeline.
func (s *trainSearch) chunksOf(r *api.Request) []int64 {
	if list := s.numbers("vpp"); list != nil && r.PP > 1 {
		return list
	}
	if r.VPP > 0 || r.PP <= 1 || !grouped(r) || r.Schedule != "" && r.Schedule != "interleaved" {
		return []int64{r.VPP}
	}
	if f := frameworkOf(r); f.Name == "torchtitan" {
		return titanChunks
	}
	return chunkSettings
}

// microsOf a request: what is given, else those that divide what a replica has of the global batch.
func (s *trainSearch) microsOf(r *api.Request) []plan.Int {
	if list := s.original.Among["micro_batch"]; list != nil {
		return list
	}
	if r.MicroBatch > 0 || r.Accumulation > 0 && r.GlobalBatch > 0 {
		return []plan.Int{r.MicroBatch}
	}
	out := make([]plan.Int, len(microSettings))
	for i, n := range microSettings {
		out[i] = plan.Int(n)
	}
	return out
}

// recomputesOf a request, the most first.
func (s *trainSearch) recomputesOf(r *api.Request) []string {
	list := s.among["recompute"]
	if list == nil && r.Recompute != "" {
		return []string{r.Recompute}
	}
	if list == nil {
		list = recomputeSettings
	}
	return list
}

// try sizes a plan, and times it where it fits.
func (s *trainSearch) try(x *trainSite, r *api.Request) outcome {
	t, err := training.Trained(s.env, r)
	if err != nil {
		s.refuse(api.AsError(err))
		return refusedPlan
	}
	s.evaluated.Full++
	s.rememberLists(t, r)
	ranks := t.Sizer.Deciding()
	same := t.EngineRanks(ranks)
	if t.Question.Verdict(same) != api.Fits {
		s.keepNearest(x, r, t, &ranks[0], same)
		if t.Job.Framework.Keep.Offloads || question.WorstVerdict(same) == api.Fits {
			return oddPlan
		}
		return shortPlan
	}
	s.found.add(s.plan(x, r, t, &same[0]))
	return fittingPlan
}

// rememberLists remembers what lists a plan was sized with.
func (s *trainSearch) rememberLists(t *training.Training, r *api.Request) {
	if s.model == nil {
		s.model = question.ModelInfo(t.Question.Resolved, t.Question.Job)
	}
	for field := range s.among {
		s.seen[field+" "+api.FieldByName(field).Value(r).String()] = true
	}
}

// leastFirst sorts settings of recomputation by what they leave to hold, and drops what is there twice.
func leastFirst(words []string) []string {
	rank := map[string]int{"full": -1, "none": 1}
	out := slices.Clone(words)
	slices.SortStableFunc(out, func(a, b string) int { return rank[a] - rank[b] })
	return slices.Compact(out)
}
