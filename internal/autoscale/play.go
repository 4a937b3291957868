package autoscale

import (
	"context"
	"errors"
	"math"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/scale"
)

// field is what policies play on.
type field struct {
	r          *memwall.Request
	asked      *Asked
	load       *scale.Load
	curve      *scale.Curve
	contenders []contender
	start      float64
}

// share of requests that must keep the goal.
func (f *field) share() float64 {
	if a := f.r.Goal.Attainment; a > 0 {
		return a
	}
	return f.asked.Attainment
}

func (f *field) fleet() *scale.Fleet {
	a := f.asked
	begin := int(math.Ceil(f.load.Rates[0] / f.curve.Holds(f.share())))
	if f.curve.Holds(f.share()) == 0 {
		begin = a.Most
	}
	return &scale.Fleet{Curve: f.curve, Least: a.Least, Most: a.Most, Begin: begin, Start: f.start, Grace: a.Grace,
		Scrape: a.Scrape, MaxWaiting: a.Queue,
		Classes: f.r.Workload.Priorities, Evicted: a.Evicted, Notice: a.Notice, Seed: a.Seed}
}

// play all policies, and the oracle.
func (r *ScalingReport) play(ctx context.Context, f *field) error {
	f.start = r.Start.Seconds
	r.goal(f)
	holds := f.curve.Holds(f.share())
	r.Replica = Replica{Holds: holds, Capacity: f.curve.Capacity(), In: f.curve.In(holds), USD: r.Replica.USD}
	if r.Replica.Holds == 0 {
		return nil // no replica keeps the goal, not even for one request: nothing to scale
	}
	stop := func() bool { return ctx.Err() != nil }
	var played []*scale.Replay
	for i := range f.contenders {
		p, err := f.contend(&f.contenders[i], stop)
		if err != nil {
			return stopped(err)
		}
		if p.replay != nil {
			played = append(played, p.replay)
			r.figures(p, f)
		}
		r.Policies = append(r.Policies, *p)
	}
	best, by, err := scale.Oracle(f.load, f.fleet(), f.share(), played, stop)
	if err != nil {
		return stopped(err)
	}
	if best != nil {
		r.Oracle = &Policy{Name: "oracle", replay: best, schedule: by}
		r.figures(r.Oracle, f)
	}
	r.judge()
	return nil
}

func stopped(err error) error {
	if errors.Is(err, scale.ErrStopped) {
		return &memwall.Error{Code: memwall.Limit, Field: "load", Message: "stopped before the policies were played",
			Hint: "more time, or one --policy"}
	}
	return err
}

func (r *ScalingReport) goal(f *field) {
	one := func(by map[string]float64) *float64 {
		for _, ms := range by {
			return &ms
		}
		return nil
	}
	r.Goal = Goal{TTFT: one(f.r.Goal.TTFT), TPOT: one(f.r.Goal.TPOT), Share: f.share()}
}

// contend plays a policy: with the target that is given, or the cheapest that keeps the goal.
func (f *field) contend(c *contender, stop func() bool) (*Policy, error) {
	s := &setting{curve: f.curve, share: f.share(), least: f.asked.Least, most: f.asked.Most}
	p := &Policy{Name: c.name}
	if c.kind == nil {
		policy, err := c.make(s)
		if err != nil {
			return nil, err
		}
		p.replay, err = scale.Play(f.load, f.fleet(), policy, stop)
		if err != nil && !errors.Is(err, scale.ErrStopped) {
			p.Error, p.replay, err = err.Error(), nil, nil
		}
		return p, err
	}
	if !c.kind.tuned {
		var err error
		p.replay, err = scale.Play(f.load, f.fleet(), c.kind.make(s), stop)
		return p, err
	}
	return p, f.tune(c, s, p, stop)
}

// tune a target: the cheapest that keeps the goal, or what keeps most of it. One that swings replicas to and fro has to be cheaper than the
// best of the others by worthSwinging.
func (f *field) tune(c *contender, s *setting, p *Policy, stop func() bool) error {
	all := s.targets()
	if f.asked.Target != "" {
		given, err := targeted(f.asked.Target)
		if err != nil {
			return err
		}
		s.metric, s.target = given.metric, given.target
		all = []setting{*s}
	}
	var calm, any tried
	for i := range all {
		replay, err := scale.Play(f.load, f.fleet(), c.kind.make(&all[i]), stop)
		if err != nil {
			return err
		}
		any.take(replay, &all[i], f.share())
		if replay.Oscillates(f.load, f.curve.Holds(f.share())) == nil {
			calm.take(replay, &all[i], f.share())
		}
	}
	best := any
	if calm.replay != nil && calm.replay.Kept() >= f.share() && calm.replay.ReplicaSeconds < worthSwinging*any.replay.ReplicaSeconds {
		best = calm
	}
	p.replay, p.Metric, p.Target, p.Tuned = best.replay, best.by.metric.Name, &best.by.target, len(all) > 1
	return nil
}

// worthSwinging is how much dearer a target may be that does not swing.
const worthSwinging = 1.1

// tried is the best of the targets that were tried.
type tried struct {
	replay *scale.Replay
	by     *setting
}

func (t *tried) take(replay *scale.Replay, by *setting, share float64) {
	if t.replay == nil || better(replay, t.replay, share) {
		t.replay, t.by = replay, by
	}
}

// better: it keeps the goal and the other does not, or is cheaper, or keeps more where neither does.
func better(a, b *scale.Replay, share float64) bool {
	keepsA, keepsB := a.Kept() >= share, b.Kept() >= share
	switch {
	case keepsA != keepsB:
		return keepsA
	case keepsA:
		return a.ReplicaSeconds < b.ReplicaSeconds
	}
	return a.Kept() > b.Kept()
}

// figures of a replay.
func (r *ScalingReport) figures(p *Policy, f *field) {
	x := p.replay
	p.Kept, p.Met = x.Kept(), x.Kept() >= f.share()
	p.TTFT = [2]float64{1000 * x.First.Quantile(0.5), 1000 * x.First.Quantile(0.99)}
	p.TPOT = [2]float64{1000 * x.PerToken.Quantile(0.5), 1000 * x.PerToken.Quantile(0.99)}
	p.Mean, p.Peak, p.Hours = x.ReplicaSeconds/f.load.Seconds(), x.Peak, x.ReplicaSeconds/3600
	if usd := r.Replica.USD; usd != nil {
		all := *usd * p.Hours
		p.USD = &all
	}
	p.Changes, p.Shed, p.Lost, p.Evictions = x.Ups+x.Downs, x.Shed, x.Lost, x.Evictions
	if o := x.Oscillates(f.load, f.curve.Holds(f.share())); o != nil {
		p.Swings = &Swings{o.Period, o.Turns, o.From, o.To, o.Begin, o.Seconds}
	}
	if len(x.Classes) > 1 {
		for _, c := range x.Classes {
			p.Classes = append(p.Classes, ClassShare{c.Good / max(1e-9, c.Arrived), c.Shed})
		}
	}
	for i := range x.Parts {
		p.Parts = append(p.Parts, PartFigures{x.Parts[i].Ready, x.Parts[i].Billed, x.Parts[i].Good})
	}
}

// judge policies by the oracle, and name the cheapest that keeps the goal.
func (r *ScalingReport) judge() {
	var best *Policy
	for i := range r.Policies {
		p := &r.Policies[i]
		if !p.Met {
			continue
		}
		if best == nil || p.Hours < best.Hours {
			best, r.Best = p, p.Name
		}
		if r.Oracle != nil {
			regret := p.Hours/r.Oracle.Hours - 1
			p.Regret = &regret
		}
	}
}
