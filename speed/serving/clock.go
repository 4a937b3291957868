package serving

import (
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/speed"
)

// Clock computes the same step times as Step for callers that need millions: it caches times by token count for kernels
// that do not distinguish prompt tokens, by the tokens of all sharing ranks for experts, and by sequences and context
// for decoding attention. It is not safe for concurrent use.
type Clock struct {
	m      *Model
	stages []clockStage
	mixed  bool // a stage has experts
	draft  *drafter
	// tokens, outputs and all hold the seconds of kernels by how many of them a step has; 0 where nobody asked yet.
	tokens, outputs, all byTokens
	decode               [1 << 12]decodeTime
	at                   point // that a kernel is asked about
}

// clockStage has the kernels of a stage by what their time follows from.
type clockStage struct {
	stage *stage
	apart []apart // of sequences that go on, and of prompts
	joint []op
	mixed []op // experts
	own   float64
	alone bool
}

// apart is a kernel with a time for sequences that go on and another for prompts.
type apart struct {
	law   phased
	count float64
}

type phased interface {
	decoding(f *model.Features, d *device, c []float64) float64
	prefilling(p *point, d *device, c []float64) float64
}

// decodeTime is the time of decoding attention of so many sequences with so much context each.
type decodeTime struct {
	decodes, context int64
	seconds          float64
}

// Clock returns a Clock for the plan.
func (m *Model) Clock() *Clock {
	c := &Clock{m: m, draft: newDrafter(m)}
	for i := range m.stages {
		s := newClockStage(&m.stages[i])
		s.own, s.alone = s.stage.small*m.c[m.host.small]+m.c[m.host.step], m.alone()
		c.stages, c.mixed = append(c.stages, s), c.mixed || len(s.mixed) > 0
	}
	return c
}

func newClockStage(s *stage) clockStage {
	out := clockStage{stage: s}
	for _, o := range s.ops {
		if l, ok := o.law.(phased); ok {
			out.apart = append(out.apart, apart{l, o.count})
			continue
		}
		if _, ok := o.law.(*experts); ok {
			out.mixed = append(out.mixed, o)
			continue
		}
		out.joint = append(out.joint, o)
	}
	return out
}

// Step returns the time of a batch in seconds, equal to Model.Step up to rounding, plus drafting if the plan
// speculates. Batches that cannot be decomposed (kernels launched one by one, prompts in a pipeline) are timed by
// Model.Step.
func (c *Clock) Step(b speed.Batch) (seconds float64) {
	seconds = c.draft.seconds(b)
	if c.indivisible(&b) {
		return seconds + c.m.Step(b)
	}
	return seconds + c.apart(b)
}

// indivisible reports whether a batch is timed as Model.Step does.
func (c *Clock) indivisible(b *speed.Batch) bool {
	return c.m.in.Eager || c.m.in.Dispatch.Kernels != "" || b.Prefill > 0 && len(c.stages) > 1
}

// apart composes the time of a batch from its kernels: those of decoding alone, and those of a step with prompts on one stage.
func (c *Clock) apart(b speed.Batch) (seconds float64) {
	decodes := computed(c.m.width, b.Decodes)
	seconds = c.tokens.remembered(decodes+b.Prefill, c.perTokens) + c.outputs.remembered(decodes+b.Finished, c.perOutputs)
	if c.mixed {
		seconds += c.all.remembered(int64(c.m.peers)*decodes+b.Prefill, c.perAll)
	}
	if b.Decodes > 0 {
		seconds += c.decoding(b.Decodes, b.Context)
	}
	c.at = point{batch: b}
	if b.Prefill > 0 {
		s := &c.stages[0]
		seconds = norm(seconds+s.prompts(c.m, &c.at), s.stage.launched(&c.m.in, float64(decodes+b.Prefill))*c.m.c[c.m.host.eager])
	}
	for i := range c.stages {
		seconds += c.stages[i].host(c.m, &b)
	}
	return seconds
}

// host returns the time of the engine's own code in a step: the terms of hostTerms, with the stage's precomputed.
func (s *clockStage) host(m *Model, b *speed.Batch) float64 {
	t := s.own
	if b.Prefill == 0 || !s.alone {
		t += float64(b.Decodes) * m.c[m.host.request]
	}
	if b.Prefill > 0 && !m.in.graphed(float64(computed(m.width, b.Decodes)+b.Prefill)) {
		t += m.c[m.host.prompt]
	}
	return t
}

// byTokens caches kernel seconds by number of tokens, in pages, since the steps of a run use few of all numbers.
type byTokens [mostTokens / page]*[page]float64

// mostTokens are those of which times are kept, a page of them at a time.
const mostTokens, page = 1 << 16, 1 << 6

// remembered is what of returns for n, from the table if it is there.
func (t *byTokens) remembered(n int64, of func(n float64) float64) float64 {
	if n >= mostTokens {
		return of(float64(n))
	}
	p := &t[n/page]
	if *p == nil {
		*p = new([page]float64)
	}
	s := &(*p)[n%page]
	if *s == 0 {
		*s = of(float64(n))
	}
	return *s
}

// perTokens are the kernels of so many tokens without logits.
func (c *Clock) perTokens(n float64) float64 { return c.jointly(n, 0) }

// perOutputs is what rows with logits add.
func (c *Clock) perOutputs(n float64) float64 { return c.jointly(1, n) - c.jointly(1, 0) }

// perAll are the experts of so many tokens of all ranks that share them.
func (c *Clock) perAll(n float64) (seconds float64) {
	c.at = point{all: n}
	for i := range c.stages {
		for j := range c.stages[i].mixed {
			o := &c.stages[i].mixed[j]
			seconds += c.m.times(o) * o.seconds(&c.at, &c.m.device, c.m.c)
		}
	}
	return seconds
}

func (c *Clock) jointly(tokens, outputs float64) (seconds float64) {
	c.at = point{tokens: tokens, outputs: outputs}
	for i := range c.stages {
		for j := range c.stages[i].joint {
			o := &c.stages[i].joint[j]
			seconds += c.m.times(o) * o.seconds(&c.at, &c.m.device, c.m.c)
		}
	}
	return seconds
}

// decoding is the time of attention and scans of sequences that go on.
func (c *Clock) decoding(decodes, context int64) float64 {
	e := &c.decode[uint64(decodes*0x9E3779B1^context*0x85EBCA77)%uint64(len(c.decode))]
	if e.decodes != decodes || e.context != context {
		*e = decodeTime{decodes, context, c.going(speed.Batch{Decodes: decodes, Context: context})}
	}
	return e.seconds
}

func (c *Clock) going(b speed.Batch) (seconds float64) {
	for i := range c.stages {
		f, _ := c.stages[i].stage.rank.Apart(b)
		for _, a := range c.stages[i].apart {
			seconds += c.m.c[c.m.host.overlap] * a.count * a.law.decoding(&f, &c.m.device, c.m.c)
		}
	}
	return seconds
}

// prompts is the time of attention and scans of the prompts of a step.
func (s *clockStage) prompts(m *Model, p *point) (seconds float64) {
	b := p.batch
	b.Decodes = 0
	_, p.prefill = s.stage.rank.Apart(b)
	for _, a := range s.apart {
		seconds += m.c[m.host.overlap] * a.count * a.law.prefilling(p, &m.device, m.c)
	}
	return seconds
}

// Front returns the seconds that a request with the given prompt spends before the scheduler sees it.
func (m *Model) Front(prompt int64) float64 {
	return m.c[m.host.front] + float64(prompt)*m.c[m.host.token]
}

// Stages returns the number of pipeline stages of a replica.
func (m *Model) Stages() int { return len(m.stages) }
