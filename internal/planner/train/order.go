package train

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/internal/planner"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/internal/training"
	"github.com/memwall/memwall/unit"
)

// trainPlan is a plan that fits.
type trainPlan struct {
	request    api.Request
	site       *trainSite
	kind       string // what is trained where by what
	number     int    // in the order of finding
	headroom   unit.Bytes
	room       int64   // the same in parts of the device
	perToken   float64 // seconds of all devices together; infinite where unknown
	perMillion float64 // dollars for a million tokens; infinite where unknown
	devices    int64   // where these are to be least; else 0, since time and money count them
}

func (p *trainPlan) timed() bool { return !math.IsInf(p.perToken, 0) }

func (p *trainPlan) priced() bool { return !math.IsInf(p.perMillion, 0) }

// plan with its figures.
func (s *trainSearch) plan(x *trainSite, r *api.Request, t *training.Training, d *engine.Rank) *trainPlan {
	p := &trainPlan{request: *r, site: x, kind: kindOf(x, r), headroom: question.Headroom(d), room: roomOf(d), perToken: math.Inf(1),
		perMillion: math.Inf(1), devices: s.counted(x)}
	if m, err := t.StepPredictor(t.Job.Training); err == nil {
		p.paced(m.Middle() / m.Tokens())
	}
	return p
}

// counted are the devices of a site where these are to be least.
func (s *trainSearch) counted(x *trainSite) int64 {
	if s.want == "devices" {
		return x.devices
	}
	return 0
}

// kindOf a plan is what is trained where by what.
func kindOf(x *trainSite, r *api.Request) string {
	return strings.Join([]string{x.words(), r.Method, r.Framework, r.Optimizer, r.Precision}, " ")
}

// roomParts of a device are what room is compared in: what plans need is not known to less.
const roomParts = 8

func roomOf(d *engine.Rank) int64 {
	return int64(question.Headroom(d)) * roomParts / max(1, int64(d.Usable.Bytes()))
}

// paced sets what a token takes.
func (p *trainPlan) paced(perToken float64) {
	p.perToken = perToken
	if p.site.perHour != nil {
		p.perMillion = perToken * *p.site.perHour / 3600 * 1e6
	}
}

// Bounds on what is kept.
const (
	mostKept  = 10_000 // of all that are found
	mostFront = 48
	mostKinds = 32
)

// trainFound keeps the best plans of each kind, those that no other beats in time, money and room, and those that rules
// of thumb would choose.
type trainFound struct {
	search *trainSearch
	number int
	best   []*trainPlan
	kinds  map[string]*trainPlan // the best of each
	names  []string              // of kinds, in the order of finding
	front  []*trainPlan
	chosen map[string]*trainPlan // by rules of thumb
	all    []*trainPlan          // only where all are asked for
}

func (f *trainFound) add(p *trainPlan) {
	p.number = f.number
	f.number++
	f.keepBest(p)
	f.keepFront(p)
	f.keepChosen(p)
	if f.search.original.All && len(f.all) < mostKept {
		f.all = append(f.all, p)
	}
}

// keepBest keeps the best of all and of each kind.
func (f *trainFound) keepBest(p *trainPlan) {
	if f.kinds == nil {
		f.kinds = map[string]*trainPlan{}
	}
	q := f.kinds[p.kind]
	if q == nil {
		f.names = append(f.names, p.kind)
	}
	if q == nil || f.search.order(p, q) < 0 {
		f.kinds[p.kind] = p
	}
	i, _ := slices.BinarySearchFunc(f.best, p, f.search.order)
	if i < planner.MaxCandidates {
		f.best = slices.Insert(f.best, i, p)
		f.best = f.best[:min(len(f.best), planner.MaxCandidates)]
	}
}

// keepFront keeps plans that no other beats.
func (f *trainFound) keepFront(p *trainPlan) {
	if !p.timed() {
		return
	}
	for _, q := range f.front {
		if better, worse := q.against(p); worse == 0 && (better > 0 || f.search.order(q, p) < 0) {
			return
		}
	}
	f.front = slices.DeleteFunc(f.front, func(q *trainPlan) bool {
		_, worse := p.against(q)
		return worse == 0
	})
	f.front = append(f.front, p)
}

// against another plan: in how many ways it is better, and in how many worse: time, money, room, and devices where these are
// to be least.
func (p *trainPlan) against(q *trainPlan) (better, worse int) {
	for _, c := range []int{cmp.Compare(q.perToken, p.perToken), cmp.Compare(q.perMillion, p.perMillion), cmp.Compare(p.room, q.room),
		cmp.Compare(q.devices, p.devices)} {
		switch {
		case c > 0:
			better++
		case c < 0:
			worse++
		}
	}
	return better, worse
}

// order of plans by what is wanted least of. What is not known comes last.
func (s *trainSearch) order(a, b *trainPlan) int {
	time, money := cmp.Compare(a.perToken, b.perToken), cmp.Compare(a.perMillion, b.perMillion)
	rest := cmp.Or(-cmp.Compare(a.headroom, b.headroom), cmp.Compare(a.number, b.number))
	switch s.want {
	case "cost":
		return cmp.Or(money, time, rest)
	case "devices":
		return cmp.Or(cmp.Compare(a.site.devices, b.site.devices), time, money, rest)
	}
	return cmp.Or(time, money, rest)
}

// ranked are the plans of an answer: the best of all, the best of each kind, and the front.
func (f *trainFound) ranked() (out []*trainPlan) {
	order := f.search.order
	for _, name := range f.names {
		out = append(out, f.kinds[name])
	}
	slices.SortFunc(out, order)
	out = out[:min(len(out), mostKinds)]
	slices.SortFunc(f.front, order)
	out = append(append(append(out, f.best...), f.front[:min(len(f.front), mostFront)]...), f.all...)
	slices.SortFunc(out, order)
	return slices.Compact(out)
}

// indices of those plans of an answer that are on the front.
func (f *trainFound) indices(plans []*trainPlan) (out []int) {
	on := map[*trainPlan]bool{}
	for _, p := range f.front {
		on[p] = true
	}
	for i, p := range plans {
		if on[p] {
			out = append(out, i)
		}
	}
	return out
}

// hopeless: no plan of a layout can be the best of its kind, one of the best of all or on the front, where none takes
// less than bound and leaves more room.
func (f *trainFound) hopeless(bound *trainPlan) bool {
	order := f.search.order
	bound.number = f.number
	if q := f.kinds[bound.kind]; q == nil || order(q, bound) > 0 || len(f.best) < planner.MaxCandidates ||
		order(f.best[planner.MaxCandidates-1], bound) > 0 {
		return false
	}
	return slices.ContainsFunc(f.front, func(q *trainPlan) bool {
		_, worse := q.against(bound)
		return worse == 0
	})
}

// words say in which fields a plan differs from what was asked.
func (p *trainPlan) words(asked *api.Request) string {
	r := &p.request
	var out []string
	if name := p.site.words(); name != asked.Hardware {
		out = append(out, name)
	}
	for _, w := range []struct{ is, was string }{{r.Method, asked.Method}, {r.Framework, asked.Framework}, {r.Optimizer, asked.Optimizer},
		{r.Precision, asked.Precision}} {
		if w.is != w.was {
			out = append(out, w.is)
		}
	}
	for _, n := range []struct {
		name    string
		is, was int64
	}{{"tp", r.TP, asked.TP}, {"pp", r.PP, asked.PP}, {"vpp", r.VPP, asked.VPP}, {"cp", r.CP, asked.CP}, {"ep", r.EP, asked.EP}} {
		if n.is > 1 && n.is != n.was {
			out = append(out, fmt.Sprintf("%s %d", n.name, n.is))
		}
	}
	if r.SequenceParallel != nil && asked.SequenceParallel == nil && *r.SequenceParallel {
		out = append(out, "sp")
	}
	if r.Sharding != asked.Sharding && r.Sharding != "none" {
		out = append(out, r.Sharding)
	}
	if r.MicroBatch != asked.MicroBatch {
		out = append(out, fmt.Sprintf("micro-batch %d", r.MicroBatch))
	}
	if r.Recompute != asked.Recompute {
		out = append(out, "recompute "+r.Recompute)
	}
	if r.Offload != nil && asked.Offload == nil {
		out = append(out, training.OffloadWords(*r.Offload))
	}
	return strings.Join(out, ", ")
}
