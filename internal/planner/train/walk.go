package train

import (
	"context"
	"maps"
	"math"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/internal/training"
	"github.com/memwall/memwall/plan"
)

// For every layout, virtual stages, micro-batches and recomputation are tried. Memory grows with the micro-batch and falls with
// recomputation, and a single chunk per stage keeps the fewest micro-batches in flight, so that a plan that does not fit rules out
// those that need more. If one pass is a whole step, gradients live shorter, and such plans are tried individually.

// Settings to try, least memory first.
var (
	chunkSettings = []int64{1, 2, 4, 8}
	titanChunks   = []int64{1, 2} // its schedules support no more
	microSettings = []int64{1, 2, 4, 8, 16}
)

// tryPlans tries all plans of a space. If none surely fits but one may, it settles for tight ones. An error comes with what had been
// found.
func tryPlans(ctx context.Context, s *space) (*found, error) {
	f, err := s.tryAll(ctx)
	if err != nil || f.kept.number > 0 || f.nearest == nil || f.nearest.Verdict != api.Tight {
		return f, err
	}
	tight := *s
	tight.settles = true
	return tight.tryAll(ctx)
}

// tryAll tries all plans of the first stage in which any fits.
func (s *space) tryAll(ctx context.Context) (f *found, err error) {
	f = &found{kept: kept{want: s.want, every: s.original.All}, tally: tally{seen: map[string]bool{}}}
	for _, f.space = range s.stages() {
		if err = f.trySites(ctx); err != nil || f.kept.number > 0 {
			break
		}
	}
	return f, err
}

// found is the result of searching a space.
type found struct {
	*space
	kept kept
	tally
}

func (f *found) trySites(ctx context.Context) error {
	for i := range f.sites {
		x := &f.sites[i]
		r := f.base
		x.set(&r)
		if err := f.outer(ctx, x, &r, 0); err != nil {
			return err
		}
	}
	return nil
}

// outer tries all settings of the outer axes starting from an index.
func (f *found) outer(ctx context.Context, x *site, r *api.Request, from int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if from == len(outerAxes) {
		f.reportProgress(x)
		f.inner(x, r)
		return nil
	}
	settings := outerAxes[from].choose(f.space, x, r)
	if len(settings) == 0 {
		return f.outer(ctx, x, r, from+1)
	}
	for _, set := range settings {
		to := *r
		set(&to)
		if groups := max(1, to.TP) * max(1, to.PP) * max(1, to.CP); groups > x.devices || x.devices%groups != 0 {
			continue
		}
		if err := f.outer(ctx, x, &to, from+1); err != nil {
			return err
		}
	}
	return nil
}

// outcome is the result of trying a plan.
type outcome int

const (
	refusedPlan outcome = iota
	fittingPlan
	shortPlan // does not fit, nor does anything that needs more
	oddPlan   // does not fit, which implies nothing about others
)

// shorts are the recomputation settings with which plans of a micro-batch do not fit.
type shorts map[string]bool

// inner tries the settings within a layout, unless the plan that needs the least memory already rules it out.
func (f *found) inner(x *site, r *api.Request) {
	micros, chunks := f.microsOf(r), f.chunksOf(r)
	if f.hopeless(x, r, micros, f.recomputesOf(r)) {
		for _, v := range chunks {
			f.evaluated.Decided += len(micros) * len(f.recomputesOf(virtual(r, v)))
		}
		return
	}
	var oneChunk []shorts // plans that do not fit with one chunk per stage, nor therefore with more
	for _, v := range chunks {
		to := virtual(r, v)
		recomputes := f.recomputesOf(to)
		short := make([]shorts, len(micros))
		for i, m := range micros {
			short[i] = shorts{}
			if oneChunk != nil && r.Schedule == "" {
				short[i] = maps.Clone(oneChunk[i])
			}
			to.MicroBatch = m
			f.chain(x, to, recomputes, short[i], short[max(0, i-1)])
		}
		if v == 1 {
			oneChunk = short
		}
	}
}

// virtual returns the request with a number of virtual stages.
func virtual(r *api.Request, v int64) *api.Request {
	to := *r
	to.VPP = v
	return &to
}

// hopeless reports whether a layout cannot be among the best, given the headroom of its plan that needs the least memory, and a
// lower bound on step time: no bubbles, no recomputation, and the matmul efficiency of the largest micro-batch.
func (f *found) hopeless(x *site, r *api.Request, micros []plan.Int, recomputes []string) bool {
	if f.original.All || r.Schedule != "" || r.GlobalBatch == 0 || f.kept.kinds[kindOf(x, r)] == nil {
		return false
	}
	to := *r
	to.VPP, to.MicroBatch, to.Recompute = 0, micros[0], recomputes[0]
	t, err := training.Trained(f.env, &to)
	f.evaluated.Full++
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
	bound := &candidate{site: x, kind: kindOf(x, r), perMillion: math.Inf(1), room: roomOf(&d), devices: f.countedDevices(x)}
	bound.setTime(m.Middle() / m.Tokens())
	return f.kept.cannotBeat(bound)
}

// chain tries recomputation settings, least memory first. short records which do not fit; below holds those that do not fit with a
// smaller micro-batch.
func (f *found) chain(x *site, r *api.Request, recomputes []string, short, below shorts) {
	alone := r.GlobalBatch > 0 && int64(r.MicroBatch)*x.replicas(r) >= int64(r.GlobalBatch)
	for i, w := range recomputes {
		f.evaluated.Decided++
		short[w] = short[w] || below[w] || i > 0 && short[recomputes[i-1]] && needsMore(w, recomputes[i-1])
		if short[w] && !alone {
			continue
		}
		r.Recompute = w
		short[w] = f.try(x, r) == shortPlan && !alone || short[w]
	}
}

// replicas returns the number of model replicas on the machines.
func (x *site) replicas(r *api.Request) int64 {
	return x.devices / max(1, max(1, r.TP)*max(1, r.PP)*max(1, r.CP))
}

// chunksOf returns the numbers of virtual stages to try: one without a pipeline.
func (s *space) chunksOf(r *api.Request) []int64 {
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

// microsOf returns the micro-batch sizes to try: the one given, else divisors of a replica's share of the global batch.
func (s *space) microsOf(r *api.Request) []plan.Int {
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

// try sizes a plan, and times it if it fits.
func (f *found) try(x *site, r *api.Request) outcome {
	t, err := training.Trained(f.env, r)
	if err != nil {
		f.refuse(api.AsError(err))
		return refusedPlan
	}
	f.evaluated.Full++
	f.rememberLists(t, r)
	deciding := t.Sizer.Deciding()
	ranks := t.EngineRanks(deciding)
	verdict := t.Question.Verdict(ranks)
	if r.Offload != nil && hostLeft(t, ranks) < 0 {
		verdict = api.DoesNotFit
	}
	if verdict != api.Fits && !(f.settles && verdict == api.Tight) {
		f.keepNearest(x, r, t, &deciding[0], ranks)
		if t.Job.Framework.Keep.Offloads || question.WorstVerdict(ranks) == api.Fits {
			return oddPlan
		}
		return shortPlan
	}
	p := f.candidate(x, r, t, &ranks[0])
	p.verdict = verdict
	f.kept.add(p)
	return fittingPlan
}

// rememberLists records the list words that a plan was sized with.
func (f *found) rememberLists(t *training.Training, r *api.Request) {
	if f.model == nil {
		f.model = question.ModelInfo(t.Question.Resolved, t.Question.Job)
	}
	for field := range f.among {
		f.seen[field+" "+api.FieldByName(field).Value(r).String()] = true
	}
}

// reportProgress reports the progress of a search, in sites.
func (f *found) reportProgress(x *site) {
	if !f.env.HasWatcher() {
		return
	}
	told := api.Progress{Phase: api.PhaseSearch, Done: x.number, Of: len(f.sites), Evaluated: f.evaluated.Copied()}
	if f.offloads {
		told.Phase = api.PhaseLoose
	}
	if len(f.kept.best) > 0 {
		told.Best = f.kept.best[0].words(f.original)
	}
	f.env.Report(told)
}
