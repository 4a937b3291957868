// Package train searches the plans of a training run: machines, frameworks and groups of ranks, the best by time, cost
// or devices, with reasons.
package train

import (
	"cmp"
	"context"
	"fmt"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/planner"
	"github.com/memwall/memwall/internal/planner/change"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/internal/training"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/train"
	"github.com/memwall/memwall/train/config"
	"github.com/memwall/memwall/train/step"
	"github.com/memwall/memwall/unit"
)

// Plans of training: which machine, how many of it, which framework, how ranks share the model, micro-batches and
// recomputation. What is given is pinned, what is absent is searched, a list is a set to search. A plan is sized
// first, and timed only where it fits.
//
// sites.go has the machines, axes.go what is searched on each, walk.go how,
// order.go what is wanted least of, why.go which term decides, pins.go what of a
// request contradicts itself.

// trainSearch goes through all plans of training.
type trainSearch struct {
	env       *question.Env
	original  *api.Request
	asked     api.Request // as a question of training, its lists cut to their first words
	among     map[string][]string
	want      string
	layers    int64
	experts   int64 // of a layer
	context   int64
	titan     bool // torchtitan has the model
	sites     []trainSite
	notes     []api.Note
	found     trainFound
	seen      map[string]bool // words of lists that a plan was sized with
	model     *api.ModelInfo
	nearest   *api.Candidate
	evaluated api.Evaluated
	refused   []*api.Error // why plans were, each reason once
	offloads  bool         // plans that keep states on the host
	site      int          // at hand
}

// Plan searches the plans of a training run.
func Plan(ctx context.Context, a *question.Env, r *api.Request) (*api.Answer, error) {
	s, err := newTrainSearch(a, r)
	if err != nil {
		return nil, err
	}
	if err := s.run(ctx); err != nil && s.found.number == 0 {
		return nil, err
	}
	if s.evaluated.Full == 0 {
		return nil, s.refusal()
	}
	return planner.NoteStopped(ctx, s.answer()), nil
}

func newTrainSearch(a *question.Env, r *api.Request) (*trainSearch, error) {
	s := &trainSearch{env: a.Remembering(), original: r, asked: *r}
	s.asked.Ask, s.asked.For, s.asked.Goal, s.asked.Explain, s.asked.All, s.asked.MaxDevices, s.asked.Among = api.AskTrain, "", nil, false,
		false, 0, nil
	for _, prepare := range []func() error{s.goal, s.choices, s.network, s.machines, s.batch, s.sequences, s.pins} {
		if err := prepare(); err != nil {
			return nil, err
		}
	}
	s.found.search, s.seen = s, map[string]bool{}
	return s, nil
}

// goal reads what is wanted least of. Bounds of serving are no goal of training.
func (s *trainSearch) goal() error {
	g := s.original.Goal
	if g == nil {
		g = &api.Goal{}
	}
	switch {
	case len(g.TTFT) > 0 || len(g.TPOT) > 0 || g.Attainment > 0 || g.Sure || g.QualityLoss != nil:
		return &api.Error{Code: api.BadField, Field: "goal",
			Message: "bounds on answers and on quality are goals of serving, and these plans train",
			Hint:    "goal.minimize: latency, cost or devices"}
	case g.Minimize == "quality_loss":
		return &api.Error{Code: api.BadField, Field: "goal.minimize", Value: g.Minimize,
			Message: "how good the trained model gets is not known, and plans are not ranked by it", Hint: "latency, cost or devices"}
	}
	if _, ok := change.PriceOfDoubling[g.Minimize]; !ok {
		return &api.Error{Code: api.BadField, Field: "goal.minimize", Value: api.Shorten(g.Minimize),
			Message: fmt.Sprintf("goal.minimize = %q is not known", api.Shorten(g.Minimize)), Hint: "latency, cost or devices"}
	}
	usual := "latency"
	if r := s.original; r.Hardware == api.AnyHardware && r.Method != "" {
		usual = "cost" // a fine-tune on whatever is rented: hundreds of devices would end it sooner, and nobody asks for them
	}
	s.want = cmp.Or(g.Minimize, usual)
	return nil
}

// network reads what of the model bounds the groups.
func (s *trainSearch) network() error {
	q, err := s.env.Open(&s.asked)
	if err != nil {
		return err
	}
	t := &training.Training{Question: q, Job: &train.Job{Plan: &q.Request.Plan, Training: &q.Request.Training}}
	if err := t.CheckLayers(); err != nil {
		return err
	}
	if err := t.Models(); err != nil {
		return err
	}
	m := t.Job.Model
	s.layers, s.experts, s.context = int64(len(m.Decoder().Layers)), m.Traits.Experts, m.Context
	s.titan = config.Trains("torchtitan", q.Resolved.ID, q.Resolved.Hub)
	return nil
}

// Global batches in sequences, where nobody gives one: of whole models, and of adapters.
const (
	usualBatch = 1024
	tunedBatch = 64
)

// batch is the same for all plans, so that they do the same work: a multiple of what each has of devices.
func (s *trainSearch) batch() error {
	if s.asked.GlobalBatch > 0 || s.asked.Accumulation > 0 {
		return nil
	}
	n, most := int64(1), int64(16*usualBatch)
	for i := range s.sites {
		most = max(most, s.sites[i].devices)
		if lcm := n / gcd(n, s.sites[i].devices) * s.sites[i].devices; lcm <= most {
			n = lcm
		}
	}
	usual := int64(usualBatch)
	if m := s.asked.Method; m != "" && m != "full" {
		usual = tunedBatch
	}
	n = unit.CeilDiv(usual, n) * n
	s.asked.GlobalBatch = plan.Int(n)
	s.note("default_used", "info", "global_batch", "global_batch = %d by default", n)
	return nil
}

// usualSequence is a length in tokens, where nobody gives one.
const usualSequence = 4096

// sequences are the same for all plans too: as long, and filled where samples can be packed.
func (s *trainSearch) sequences() error {
	r := &s.asked
	if r.SequenceLength == 0 {
		r.SequenceLength = usualSequence
		if s.context > 0 {
			r.SequenceLength = plan.Int(min(usualSequence, s.context))
		}
		s.note("default_used", "info", "sequence_length", "sequence_length = %d by default", r.SequenceLength)
	}
	if r.Packing == nil && r.Data == "" && (r.Objective == "" || r.Objective == "pretrain" || r.Objective == "sft") {
		yes := true
		r.Packing = &yes
		s.note("default_used", "info", "packing", "packing = true by default")
	}
	return nil
}

func gcd(a, b int64) int64 {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}

func (s *trainSearch) note(code, severity, field, format string, args ...any) {
	s.notes = append(s.notes, api.Note{Code: code, Severity: severity, Field: field, Text: fmt.Sprintf(format, args...)})
}

// answer ranks what was found, and says what decides.
func (s *trainSearch) answer() *api.Answer {
	shown := *s.original
	if g := s.original.Goal; s.want == "cost" && (g == nil || g.Minimize == "") {
		shown.Goal = &api.Goal{Minimize: s.want}
		s.note("default_used", "info", "goal.minimize", "goal.minimize = %s by default", s.want)
	}
	out := &api.Answer{Model: s.model, Plan: &shown, Verdict: api.DoesNotFit, NearestMiss: s.nearest, Evaluated: &s.evaluated}
	ranked := s.found.ranked()
	s.remark(ranked)
	if len(ranked) > 0 {
		s.fill(out, ranked)
	}
	out.Notes = s.notes
	return out
}

// fill gives the answer candidates, the front, surprises and files.
func (s *trainSearch) fill(out *api.Answer, ranked []*trainPlan) {
	out.Verdict, out.NearestMiss = api.Fits, nil
	best := s.detail(ranked[0])
	for _, p := range ranked {
		c, d := s.candidate(p)
		c.Why = s.why(d, best)
		out.Candidates = append(out.Candidates, c)
	}
	out.Best, out.Pareto = &out.Candidates[0], s.found.indices(ranked)
	out.Surprises = s.surprises(best)
	out.Config = best.training.Config()
	out.Best.Files = out.Config
	s.remarkHost(best)
	for _, n := range best.training.Notes() {
		if n.Severity != "info" || n.Code == "no_config" || n.Code == "fabric_assumed" {
			s.notes = append(s.notes, n)
		}
	}
}

// trainDetail is a plan asked again, with how long its step takes and of what.
type trainDetail struct {
	*trainPlan
	training *training.Training
	step     step.Step
	tokens   float64 // of a step
}

// detail of a plan that was found.
func (s *trainSearch) detail(p *trainPlan) *trainDetail {
	d := &trainDetail{trainPlan: p}
	d.training, _ = training.Trained(s.env, &p.request) // it was, when the plan was found
	if m, v, err := d.training.Step(); err == nil {
		d.step, d.tokens = v, m.Tokens()
	}
	return d
}

// onHost is what the ranks of a node keep in its memory.
func (d *trainDetail) onHost() unit.Bytes {
	needs := question.HostNeeds(d.training.Question.Job, d.training.EngineRanks(d.training.Sizer.Deciding()))
	return needs.High
}

// candidate is a plan as an answer shows it.
func (s *trainSearch) candidate(p *trainPlan) (api.Candidate, *trainDetail) {
	d := s.detail(p)
	c := api.Candidate{Change: p.words(s.original), Verdict: api.Fits, Headroom: p.headroom, Capacity: p.site.capacity,
		USDPerHour: p.site.perHour}
	c.Plan, c.Patch = d.training.Question.Plan(), s.patch(&p.request)
	if room, known := question.HostCapacity(d.training.Question.Job.Machine); known && p.request.Offload != nil {
		left := room.Bytes() - d.onHost()
		c.HostHeadroom = &left
	}
	if !p.timed() {
		return c, d
	}
	c.Step = training.TrainingStep(&d.step, d.tokens)
	if n := int64(p.request.Tokens); n > 0 {
		c.Run = d.training.Run(&d.step, d.tokens, n)
	}
	if p.priced() {
		c.Cost = question.Rounded(p.perMillion)
	}
	return c, d
}

// patch from what was asked to a plan.
func (s *trainSearch) patch(r *api.Request) map[string]any {
	out := change.PatchOf(s.original, r)
	for _, f := range []string{"ask", "for", "goal", "all", "max_devices", "among"} {
		delete(out, f)
	}
	return out
}

// reportProgress tells how far a search for plans that train is, in sites.
func (s *trainSearch) reportProgress(done int) {
	if !s.env.HasWatcher() {
		return
	}
	told := api.Progress{Phase: api.PhaseSearch, Done: done, Of: len(s.sites), Evaluated: s.evaluated.Copied()}
	if s.offloads {
		told.Phase = api.PhaseLoose
	}
	if len(s.found.best) > 0 {
		told.Best = s.found.best[0].words(s.original)
	}
	s.env.Report(told)
}
