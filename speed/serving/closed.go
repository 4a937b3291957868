package serving

import (
	"math"

	"github.com/memwall/memwall/speed"
)

// Load is a closed-loop load: each user sends one request after another, with Prompt and Output tokens on average.
// Burst says that all start at once, as in benchmarks, so that the first prompts queue.
type Load struct {
	Users, Prompt, Output int64
	Burst                 bool
	// Requests is the total number sent; 0 means PerUser for each user.
	Requests int64
	// Alike says that all requests have the same lengths. If prompts have steps of their own, requests that start
	// together then end together, and every request is part of a burst.
	Alike bool
}

// PerUser is the number of requests that benchmarks send per user by default: num_prompts = 10 × max_concurrency
// (SemiAnalysisAI/InferenceX, benchmarks/benchmark_lib.sh; sgl-project/sgl-cookbook).
const PerUser = 10

// loop is the steady state of a closed loop, in seconds and sequences.
type loop struct {
	users, batch   float64 // of a replica: asking, computed at once
	output, chunks float64
	decode, mixed  float64 // seconds of a step without and with a piece of a prompt
	full           float64 // of a step with as many prompts of a burst as it takes
	expected       float64 // tokens that a sequence gains in a step
	stages         float64 // of a pipeline, which work on as many batches at a time
	front, wait    float64
	reading        float64 // of the prompt: its tokens, one by one
	together       float64 // share of the requests that start in a burst
	each, group    int64   // prompts that go through in one step: of a burst, and otherwise
	// Of a first token: tokens that it waits for to be sent with them, steps until the scheduler looks for new
	// requests, and steps that its prompt waits for others.
	held, admit, joined float64
	alone               bool
}

// ChunkTokens is the default number of tokens per step.
const ChunkTokens = 8192

// loop measures the steps of a load.
func (m *Model) loop(l Load) loop {
	p, b := m.shape(l)
	p.decode, p.mixed = m.Step(b.decode), m.step(b.mixed, m.peers)
	if p.full = p.mixed; b.full != b.mixed {
		p.full = m.step(b.full, m.peers)
	}
	p.drafts(m, b.decode)
	return p
}

// shape is the loop of a load before its steps are timed.
func (m *Model) shape(l Load) (p loop, b kinds) {
	users := float64(l.Users) / float64(max(1, m.in.Replicas))
	p = loop{users: math.Max(1, users), output: float64(l.Output), alone: m.alone(), stages: float64(len(m.stages)), expected: 1}
	p.batch = m.room(p.users, l)
	h, c := &m.host, m.c
	p.reading = float64(l.Prompt) * c[h.token]
	p.front, p.wait, p.together = c[h.front], c[h.wait], m.together(l)
	p.admit, p.joined = float64(max(1, m.in.AdmitEvery)-1)/2, share(c[h.batch])*float64(m.in.BatchWait)
	p.held = share(c[h.stream]) * math.Min(float64(max(1, m.in.StreamInterval)-1), math.Max(0, p.output-1))
	b = m.batches(l, &p)
	return p, b
}

// drafts adds what speculation takes and gives.
func (p *loop) drafts(m *Model, decode speed.Batch) {
	p.expected = m.in.Speculation.Expected()
	p.decode += m.in.Speculation.drafting(m, decode)
}

// kinds of steps: without prompts; with a piece of one, or with those that come in a step; with as many of a burst as it takes.
type kinds struct{ decode, mixed, full speed.Batch }

// batches are the steps of a loop; p learns into how many pieces prompts go. The sequences of a pipeline are spread over its stages.
func (m *Model) batches(l Load, p *loop) (k kinds) {
	p.chunks = math.Max(1, math.Ceil(float64(l.Prompt)/float64(m.chunk())))
	length := max(1, int64(math.Round(float64(l.Prompt)/p.chunks)))
	p.each = max(1, min(int64(p.batch), m.chunk()/max(1, l.Prompt)))
	p.group = p.arrivals()
	b, context := max(1, int64(math.Round(p.batch/p.stages))), l.Prompt+l.Output/2
	k.decode = speed.Batch{Decodes: b, Context: context}
	with := func(prompts int64) speed.Batch {
		s := speed.Batch{Prefill: prompts * length, Prompts: prompts, Cached: max(0, l.Prompt-length) / 2, Finished: prompts}
		if !p.alone {
			s.Decodes, s.Context = max(0, b-prompts), context
		}
		return s
	}
	k.mixed = with(p.group)
	if k.full = k.mixed; p.together > 0 {
		k.full = with(p.each)
	} else {
		p.each = p.group
	}
	return k
}

// arrivals are the prompts of a step that has any: requests end at the end of a step, batch/output of them on average, and as many
// come then.
func (p *loop) arrivals() int64 {
	if p.chunks > 1 {
		return 1
	}
	n := p.batch / math.Max(1, p.output) * (1 + 2*p.admit)
	return max(1, int64(math.Round(math.Min(float64(p.each), n/-math.Expm1(-n)))))
}

// room is how many sequences the caches of a replica hold at a time. TensorRT-LLM keeps room for the longest that
// a request may become, others for what it is.
func (m *Model) room(users float64, l Load) float64 {
	b := users
	if m.in.MaxSequences > 0 {
		b = math.Min(b, float64(m.in.MaxSequences))
	}
	if m.in.CacheTokens > 0 {
		each := float64(l.Prompt) + float64(l.Output)/2
		if m.in.Engine == "tensorrt-llm" {
			each = float64(l.Prompt + l.Output)
		}
		b = math.Min(b, float64(m.in.CacheTokens)/math.Max(1, each))
	}
	return math.Max(1, b)
}

// Saturated reports whether requests wait for space in the caches.
func (m *Model) Saturated(l Load) bool {
	users := math.Max(1, float64(l.Users)/float64(max(1, m.in.Replicas)))
	return m.room(users, l) < users
}

// stall is how much longer the others' steps take for one prompt. The stages of a pipeline go on with other batches
// meanwhile; replicas that share experts compute prompts together, of which each then has its own.
func (p *loop) stall() float64 { return p.stalls(p.mixed, p.group) }

// crowded is the same of a prompt in a burst.
func (p *loop) crowded() float64 { return p.stalls(p.full, p.each) }

// stalls of a prompt in a step of so many seconds and prompts.
func (p *loop) stalls(step float64, prompts int64) float64 {
	e := p.chunks * math.Max(step-p.decode, 0.05*step)
	if p.alone {
		e = p.chunks * step
	}
	return e / float64(prompts) / p.stages
}

// prompt is what a prompt's own steps take: its pieces follow each other through a pipeline.
func (p *loop) prompt() float64 { return p.mixed * (1 + (p.chunks-1)/p.stages) }

// together is the share of requests that start in a burst: the first of each user.
func (m *Model) together(l Load) float64 {
	switch {
	case !l.Burst:
		return 0
	case l.Alike && m.alone():
		return 1
	}
	return l.first()
}

// first is the share of the requests that are the first of a user.
func (l *Load) first() float64 {
	if l.Requests > 0 {
		return math.Min(1, float64(l.Users)/float64(l.Requests))
	}
	return 1. / PerUser
}

// perToken is the mean time between the tokens of a request: a step, and the stalls that the prompts of the
// others cause during its life. In a closed loop each of the others starts once during that life.
//
//	decode/expected + (stall × (1 - together) + crowded × together/2) × (batch - 1) / (output - 1)
func (p *loop) perToken() float64 {
	return p.decode/p.expected + p.others()
}

// others is what their prompts add to the time of a token.
func (p *loop) others() float64 {
	return (p.stall()*(1-p.together) + p.crowded()*p.together/2) * (p.batch - 1) / math.Max(1, p.output-1)
}

// first is the mean time to the first token:
//
//	front + reading + (wait/2 × (batch-1)/batch + admit + joined) × decode + prompt + stall/2 × rho/(1-rho) × (1-together)
//	 + together × (batch + each - 2)/2 × crowded + (users-batch)/batch × life + held × perToken
//
// the engine's own time, also for each token of the prompt, the steps of others that are under way and those until the scheduler looks for requests and
// others have joined, the prompt's
// own steps, prompts that came before (of which rho is the load), the burst at the start, the wait for room in the
// caches (Little's law), and the wait for tokens that are sent together with the first.
func (p *loop) first() float64 {
	return p.front + p.reading + (p.underway()+p.admit+p.joined)*p.decode + p.prompt() + p.queue() + (p.users-p.batch)/p.batch*p.life() + p.held*p.perToken()
}

// underway are the steps that a request finds under way and waits for: none where nobody else is served.
func (p *loop) underway() float64 { return p.wait / 2 * (p.batch - 1) / p.batch }

// life of a request behind the queue.
func (p *loop) life() float64 { return p.prompt() + p.output*p.perToken() }

// queue is the wait for the prompts of others.
func (p *loop) queue() float64 {
	rho := p.rho()
	return 0.5*p.stall()*rho/(1-rho)*(1-p.together) + p.together*(p.batch+float64(p.each)-2)/2*p.crowded()
}

// rho is the share of the time that prompts of others take. The bound keeps the wait finite where an estimate of the life
// of a request is shorter than its prompts: a loop that is closed cannot ask for more than all of the time.
func (p *loop) rho() float64 {
	return math.Min(p.batch*p.stall()/p.life(), 0.97) * (p.batch - 1) / p.batch
}

// Closed holds the mean figures of a closed loop: seconds per token and to the first token, and output tokens a second
// of all users.
type Closed struct{ PerToken, First, Throughput float64 }

// Mean returns the mean figures of a load.
func (m *Model) Mean(l Load) Closed {
	p := m.loop(l)
	return m.closed(&p, l)
}

func (m *Model) closed(p *loop, l Load) Closed {
	c := Closed{PerToken: p.perToken(), First: p.first()}
	life := c.First + math.Max(0, p.output-1)*c.PerToken
	c.Throughput = float64(max(l.Users, 1)) * p.output / life
	return c
}

// With returns a view of the model with other coefficients, in the order of Uses.
func (m *Model) With(c []float64) *Model {
	v := *m
	v.c = c
	return &v
}

// Values returns the coefficients, in the order of Uses.
func (m *Model) Values() []float64 { return append([]float64(nil), m.c...) }
