package planner

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/internal/planner/change"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/internal/stable"
	"github.com/memwall/memwall/internal/timing"
	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/score"
	"github.com/memwall/memwall/unit"
)

// picker searches for models that the hardware runs.
type picker struct {
	env       *question.Env
	asked     api.Request
	use       use
	machine   hardware.Machine
	evaluated api.Evaluated
}

// pickContexts are the contexts that picks are sized at in addition to the requested one.
var pickContexts = []int64{8192, 32768, 131072}

// usualPicks is the number of models to find, unless all are requested.
const usualPicks = 8

// Pick answers which models a machine runs for a use, best published score first, or fastest first. Each is in the best commonly
// served format that leaves room for the context and its users and is fast enough. Pick stops early when ctx ends.
func Pick(ctx context.Context, a *question.Env, r *api.Request) (*api.Answer, error) {
	if r.Hardware == "" {
		return nil, &api.Error{Code: api.BadField, Field: "hardware", Message: "hardware is missing", Hint: "memwall pick --on rtx-4090"}
	}
	if err := r.Plan.Check(); err != nil {
		return nil, err
	}
	if r.Weights != "" && dtype.FindRecipe(r.Weights) == nil {
		return nil, &api.Error{Code: api.BadField, Field: "weights", Value: api.Shorten(r.Weights),
			Message: fmt.Sprintf("weights = %q is not a known format or recipe", api.Shorten(r.Weights)),
			Hint:    "memwall formats lists them: bf16, fp8, awq, q4_k_m, …"}
	}
	u, err := UseOf(r)
	if err != nil {
		return nil, err
	}
	p := &picker{env: a.Remembering(), asked: *r, use: u}
	p.asked.Ask, p.asked.Goal, p.asked.Use = "fit", nil, ""
	m, notes, err := p.env.Find(r.Hardware, int(r.Devices))
	if err != nil {
		return nil, err
	}
	p.machine = m
	if s := p.granted(); s != nil {
		s.Set(&p.asked)
		if p.machine, _, err = p.env.Find(p.asked.Hardware, int(r.Devices)); err != nil {
			return nil, err
		}
		notes = append(notes, hardware.Note{Code: "granted", Text: s.Short + ": " + s.Words + " on the kernel's command line"})
	}
	if p.use.wait(&m); m.CPUOnly && !m.Host.Memory.Known {
		return nil, &api.Error{Code: api.BadField, Field: "hardware", Value: api.Shorten(r.Hardware),
			Message: fmt.Sprintf("how much memory %s has is not known", m.Name), Hint: "--on " + m.Name + ",host=8GiB"}
	}
	if r.Context == 0 {
		p.asked.Context = plan.Int(u.context)
	}
	if p.asked.Engine == "" {
		p.asked.Engine = p.engine()
	}
	shown := p.asked
	shown.Ask, shown.Use = api.AskPick, u.Name
	out := &api.Answer{Plan: &shown}
	for _, n := range notes {
		out.Notes = append(out.Notes, api.Note{Code: n.Code, Severity: "info", Field: "hardware", Text: n.Text})
	}
	if out.Picks, err = p.patiently(ctx); err != nil && len(out.Picks) == 0 {
		return nil, err
	}
	if now := p.use.Decode; now < u.Decode && !m.CPUOnly {
		out.Notes = append(out.Notes, api.Note{Code: "slow_hardware", Severity: "info", Field: "hardware",
			Text: fmt.Sprintf("what is near the best gives less than %g tokens a second here: listed from %g on", u.Decode, now)})
	}
	if r.Goal != nil && r.Goal.Minimize == "latency" {
		shown.Goal = r.Goal
		stable.Sort(out.Picks, func(a, b api.Pick) int { return -cmp.Compare(DecodeOf(a.Speed), DecodeOf(b.Speed)) })
	}
	if scored := func(k api.Pick) bool { return k.Score != nil }; !r.All && slices.ContainsFunc(out.Picks, scored) {
		out.Picks = slices.DeleteFunc(out.Picks, func(k api.Pick) bool { return !scored(k) })
	}
	if !r.All {
		out.Picks = out.Picks[:min(len(out.Picks), usualPicks)]
	}
	headings(out.Picks)
	p.noteHost(out)
	out.Evaluated = &p.evaluated
	return NoteStopped(ctx, out), nil
}

// granted returns the change to the largest share of unified memory that the GPU can have where it is a persistent kernel setting,
// with which anyone running models on such a machine starts. It returns nil if the GPU cannot have more.
func (p *picker) granted() *change.Setting {
	s := grantedOn(&p.machine, p.asked.Hardware)
	if len(s) == 0 || p.machine.Groups[0].Device.Unified.Rule != "gtt" {
		return nil
	}
	return &s[0]
}

// headings marks the best pick by score and, among those near it, the fastest and the one with the longest context. Of picks that
// are about as fast, or as long, the better one is marked: nobody takes a weaker model for a tenth more.
func headings(picks []api.Pick) {
	if len(picks) == 0 {
		return
	}
	points := func(k *api.Pick) float64 { return Points(k.Score) }
	first := func(from []*api.Pick, of func(*api.Pick) float64) *api.Pick {
		return slices.MaxFunc(from, func(a, b *api.Pick) int { return cmp.Compare(of(a), of(b)) })
	}
	var all []*api.Pick
	for i := range picks {
		all = append(all, &picks[i])
	}
	best := first(all, points)
	best.First = append(best.First, "best")
	far := (1 - nearShare) * math.Abs(points(best)) // error rates are negative scores
	near := slices.DeleteFunc(all, func(k *api.Pick) bool { return points(best)-points(k) > far })
	most := func(name string, of func(*api.Pick) float64) {
		top := of(first(near, of))
		k := first(slices.DeleteFunc(slices.Clone(near), func(k *api.Pick) bool { return of(k) < alikeShare*top }), points)
		k.First = append(k.First, name)
	}
	most("fastest", func(k *api.Pick) float64 { return cmp.Or(DecodeOf(k.Speed), prefillOf(k.Speed)) })
	most("longest", func(k *api.Pick) float64 {
		if k.MaxContext == nil {
			return 0
		}
		return float64(*k.MaxContext)
	})
}

// nearShare is the fraction of the best score from which a score counts as near it: below, a model is of another class.
const nearShare = 0.7

// alikeShare is the fraction of the highest speed or longest context from which a pick's counts as equal to it.
const alikeShare = 0.9

// DecodeOf returns the decode rate of one user in tokens per second; 0 if unknown.
func DecodeOf(v *api.Speed) float64 {
	if v == nil || v.Decode == nil {
		return 0
	}
	return *v.Decode
}

func prefillOf(v *api.Speed) float64 {
	if v == nil || v.Prefill == nil {
		return 0
	}
	return *v.Prefill
}

// engine returns the engine that people run on such devices: vLLM on data-center memory, elsewhere llama.cpp, which does not
// support speech.
func (p *picker) engine() string {
	if p.use.Name == score.Speech || len(p.machine.Groups) > 0 && strings.HasPrefix(p.machine.Groups[0].Device.Kind, "HBM") {
		return "vllm"
	}
	return "llama.cpp"
}

// listedModel is a model of the catalog.
type listedModel struct {
	*catalog.Network
	params int64
	score  *api.PickScore
}

// patiently picks at the speed that a use calls for, and at half of it if that leaves only models far below the best that memory
// holds: owners of slow computers wait rather than take a much weaker model.
func (p *picker) patiently(ctx context.Context) ([]api.Pick, error) {
	models := p.models()
	out, err := p.picks(ctx, models)
	if err != nil || p.use.Decode == 0 || p.machine.CPUOnly || !p.farBehind(out, models) {
		return out, err
	}
	asked := p.use.Decode
	p.use.Decode /= 2
	slower, err := p.picks(ctx, models)
	if err == nil && p.farBehind(out, heldBy(slower, models)) {
		return slower, nil
	}
	p.use.Decode = asked
	return out, nil
}

// farBehind reports whether the best pick is far below the best of the models whose weights the devices hold.
func (p *picker) farBehind(picks []api.Pick, among []listedModel) bool {
	best := 0.0
	for i := range picks {
		best = max(best, Points(picks[i].Score))
	}
	i := slices.IndexFunc(among, func(l listedModel) bool {
		return p.mayFitAtAll(&l)
	})
	return i >= 0 && best < waitShare*Points(among[i].score)
}

// waitShare is the fraction of the best score below which people rather wait twice as long.
const waitShare = 0.75

// heldBy returns the models that were picked.
func heldBy(picks []api.Pick, models []listedModel) (out []listedModel) {
	for _, l := range models {
		if slices.ContainsFunc(picks, func(k api.Pick) bool { return k.Model == l.Entry.ID }) {
			out = append(out, l)
		}
	}
	return out
}

// picks returns picks from the models, best score first.
func (p *picker) picks(ctx context.Context, models []listedModel) (out []api.Pick, err error) {
	for i, l := range models {
		p.reportProgress(i, len(models), out)
		if err := ctx.Err(); err != nil {
			return out, err
		}
		if slices.ContainsFunc(out, func(o api.Pick) bool { return supersedes(&o, &l) }) {
			continue
		}
		if k, ok := p.best(&l); ok {
			out = append(out, k)
		}
		if !p.asked.All && len(out) == usualPicks {
			break
		}
	}
	return out, nil
}

// supersedes reports whether o is a newer model of the same line, with nearly as many parameters and no lower score.
func supersedes(o *api.Pick, l *listedModel) bool {
	diff := o.Parameters - l.params
	return lineOf(o.Model) == lineOf(l.Entry.ID) && max(diff, -diff) < o.Parameters/25 && o.Released >= l.Entry.Released
}

// models returns the catalog's models of the requested kind, best score first, followed by those without a score, newest first.
func (p *picker) models() (out []listedModel) {
	ids := catalog.IDs()
	from := p.since(ids)
	for _, id := range ids {
		scored := scoreOf(id, &p.use)
		if scored == nil && catalog.Released(id) < from {
			continue
		}
		n, err := catalog.Built(id)
		if err != nil {
			continue
		}
		m := n.Model
		if !p.use.takes(n) || m.Remembers() && m.Context > 0 && m.Context < int64(p.asked.Context) {
			continue
		}
		out = append(out, listedModel{n, m.Params(), scored})
	}
	stable.Sort(out, bestFirst)
	return out
}

// bestFirst orders by score, then by date, then by size.
func bestFirst(a, b listedModel) int {
	return cmp.Or(-cmp.Compare(Points(a.score), Points(b.score)), -cmp.Compare(a.Entry.Released, b.Entry.Released),
		-cmp.Compare(a.params, b.params))
}

// recent is the number of years for which a model stays in demand.
const recent = 2

// since returns the first release month to consider, unless all models are requested.
func (p *picker) since(ids []string) string {
	if p.asked.All {
		return ""
	}
	newest := ""
	for _, id := range ids {
		newest = max(newest, catalog.Released(id))
	}
	year, month, _ := strings.Cut(newest, "-")
	n, err := strconv.Atoi(year)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%d-%s", n-recent, month)
}

// usualFormats are the formats in which people run models published by others, best first.
var (
	usualGGUF = []string{"q8_0", "q6_k", "q5_k_m", "q4_k_m"}
	usualHub  = []string{"", "fp8", "awq"}
)

func (p *picker) formats(e *catalog.Entry) []string {
	switch {
	case p.asked.Weights != "":
		return []string{p.asked.Weights}
	case p.asked.Engine != "llama.cpp" && e.Weights == "" && p.use.Decode > 0 && p.computesFP8():
		return usualHub[1:]
	case p.asked.Engine != "llama.cpp":
		return usualHub
	case e.Weights != "" && dtype.FindRecipe(e.Weights) != nil && dtype.FindRecipe(e.Weights).InGGUF() != nil:
		return []string{e.Weights} // quantized by its publisher; nothing larger is better
	}
	return usualGGUF
}

// computesFP8 reports whether all devices have FP8 matmuls. FP8 loses next to nothing and doubles speed and capacity, so that
// nobody serves more bits there (Kurtic et al. 2024, arXiv 2411.02355).
func (p *picker) computesFP8() bool {
	return !slices.ContainsFunc(p.machine.Groups, func(g hardware.Group) bool { return !g.Device.Peaks.FP8.Known })
}

// best returns a pick in the first format that stays on the devices with room for the context and its users, and is fast enough. If
// there is none for a mixture of experts, it uses the smallest format with as few experts on the host as possible.
func (p *picker) best(l *listedModel) (api.Pick, bool) {
	formats := p.formats(l.Entry)
	for _, name := range formats {
		p.evaluated.Decided++
		if !p.mayFit(l, name) {
			continue
		}
		r := p.asked
		r.Model, r.Weights = l.Entry.ID, name
		if k, ok := p.tryPlan(l, &r); ok {
			return k, true
		}
	}
	return p.hosted(l, formats[len(formats)-1])
}

// tryPlan sizes a plan and returns it as a pick if it fits and is fast enough.
func (p *picker) tryPlan(l *listedModel, r *api.Request) (api.Pick, bool) {
	q, ranks, err := p.env.SizedRanks(r)
	p.evaluated.Full++
	if err != nil || q.Verdict(ranks) != api.Fits {
		return api.Pick{}, false // not loaded by the engine, or without room
	}
	k := p.picked(l, q, ranks)
	return k, p.use.Decode == 0 || k.Speed == nil || DecodeOf(k.Speed) >= p.use.Decode
}

// hosted keeps the experts of as few layers on the host as leave enough room on the devices.
func (p *picker) hosted(l *listedModel, format string) (api.Pick, bool) {
	if p.asked.Engine != "llama.cpp" || l.Model.ActiveParams() == l.params || p.asked.CPUMoE != nil || question.SpareHost(&p.machine) == 0 {
		return api.Pick{}, false
	}
	with := func(layers int) *api.Request {
		r, n := p.asked, plan.Int(layers)
		r.Model, r.Weights, r.CPUMoE = l.Entry.ID, format, &n
		return &r
	}
	fits := func(layers int) bool {
		q, ranks, err := p.env.SizedRanks(with(layers))
		p.evaluated.Full++
		return err == nil && q.Verdict(ranks) == api.Fits
	}
	all := len(l.Model.Decoder().Layers)
	if !fits(all) {
		return api.Pick{}, false
	}
	fewest := 1 + sort.Search(all-1, func(n int) bool { return fits(n + 1) })
	k, ok := p.tryPlan(l, with(fewest))
	return k, ok && k.Host <= question.SpareHost(&p.machine)
}

// noteHost notes the assumed host if it was not given and a pick depends on it.
func (p *picker) noteHost(out *api.Answer) {
	onHost := slices.ContainsFunc(out.Picks, func(k api.Pick) bool { return k.Plan.CPUMoE != nil })
	if onHost && !p.machine.Host.Memory.Known {
		out.Notes = append(out.Notes, api.Note{Code: "host_assumed", Severity: "info", Field: "hardware",
			Text: fmt.Sprintf("host memory is not given: %s assumed; --on %s,host=64GiB sets it", question.UsualHost, p.machine.Name)})
	}
}

// mayFit reports whether the weights alone are smaller than the memory of all devices.
func (p *picker) mayFit(l *listedModel, recipe string) bool {
	r := dtype.FindRecipe(cmp.Or(recipe, l.Entry.Weights, "bf16"))
	room := p.machine.Memory()
	return r == nil || room == 0 || l.Stored(r) <= room
}

func (p *picker) picked(l *listedModel, q *question.Question, ranks []engine.Rank) api.Pick {
	a := timing.SizedAnswer(q, ranks)
	k := api.Pick{
		Model: l.Entry.ID, Name: l.Entry.Name, Released: l.Entry.Released, Parameters: l.params, Active: l.Model.ActiveParams(),
		Weights: q.Request.Weights, Score: l.score,
		Headroom: a.Devices[0].Headroom, Host: weightsOnHost(ranks), Speed: a.Speed, Plan: a.Plan, Flags: q.Flags(),
	}
	asPublished := *a.Plan
	asPublished.Weights = cmp.Or(l.Entry.Weights, dtype.BF16.Name)
	k.Quality = question.QualityOf(q.Judged(), &asPublished, a.Plan)
	k.MaxContext = q.MaxContext(q.Job.Load().Sequences)
	if t := q.Job.Model.Context; t > 0 && (k.MaxContext == nil || *k.MaxContext > t) {
		k.MaxContext = &t
	}
	contexts := append([]int64{int64(p.asked.Context)}, pickContexts...)
	slices.Sort(contexts)
	for _, c := range slices.Compact(contexts) {
		if t := q.Job.Model.Context; t > 0 && c > t {
			continue
		}
		ranks := q.Sizes(engine.Load{Context: c, Sequences: q.Job.Load().Sequences})
		question.DecidingFirst(ranks)
		k.Contexts = append(k.Contexts, api.PickedAt{Context: c, Needed: ranks[0].Needed().Bytes, Verdict: q.Verdict(ranks)})
	}
	return k
}

// weightsOnHost returns the bytes of weights that all ranks keep in host memory.
func weightsOnHost(ranks []engine.Rank) (n unit.Bytes) {
	for i := range ranks {
		for _, it := range ranks[i].Host {
			if strings.HasPrefix(it.ID, "weights") {
				n += it.Bytes
			}
		}
	}
	return n
}

// reportProgress reports the progress of a search for models.
func (p *picker) reportProgress(done, of int, found []api.Pick) {
	if !p.env.HasWatcher() {
		return
	}
	told := api.Progress{Phase: api.PhaseSearch, Done: done, Of: of, Evaluated: p.evaluated.Copied()}
	if len(found) > 0 {
		told.Best = found[0].Model
	}
	p.env.Report(told)
}
