package serving

import (
	"math"

	"github.com/memwall/memwall/speed"
)

// Load is what users ask for: each of them one request after the other, of Prompt tokens and Output tokens in the
// mean. Burst says that all start at once, as benchmarks do, so that the first prompts queue.
type Load struct {
	Users, Prompt, Output int64
	Burst                 bool
}

// loop is the steady state of a closed loop, in seconds and sequences.
type loop struct {
	users, batch   float64 // of a replica: asking, computed at once
	output, chunks float64
	decode, mixed  float64 // seconds of a step without and with a piece of a prompt
	peers          float64
	front, wait    float64
	burst, share   float64
	alone          bool
}

// ChunkTokens of a step where the plan does not say.
const ChunkTokens = 8192

// loop measures the steps of a load.
func (m *Model) loop(l Load) loop {
	users := float64(l.Users) / float64(max(1, m.in.Replicas))
	p := loop{users: math.Max(1, users), output: float64(l.Output), alone: m.alone(), peers: m.peers}
	p.batch = m.room(p.users, l)
	decode, mixed := m.batches(l, &p)
	p.decode, p.mixed = m.Step(decode), m.Step(mixed)
	h, c := &m.host, m.c
	p.front, p.wait, p.burst, p.share = c[h.front], c[h.wait], c[h.burst], c[h.share]
	if !l.Burst {
		p.burst = 0
	}
	return p
}

// batches are a step without and one with a piece of a prompt; p learns into how many pieces prompts go.
func (m *Model) batches(l Load, p *loop) (decode, mixed speed.Batch) {
	chunk := m.in.ChunkTokens
	if chunk <= 0 {
		chunk = ChunkTokens
	}
	p.chunks = math.Ceil(float64(l.Prompt) / float64(chunk))
	length := int64(math.Round(float64(l.Prompt) / p.chunks))
	b, context := int64(math.Round(p.batch)), l.Prompt+l.Output/2
	decode = speed.Batch{Decodes: b, Context: context}
	mixed = speed.Batch{Prefill: length, Prompts: 1, Cached: (l.Prompt - length) / 2, Finished: 1}
	if !p.alone {
		mixed.Decodes, mixed.Context = b-1, context
	}
	return decode, mixed
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
		b = math.Min(b, float64(m.in.CacheTokens)/each)
	}
	return math.Max(1, b)
}

// stall is how much longer the others' steps take for one prompt.
func (p *loop) stall() float64 {
	e := p.chunks * math.Max(p.mixed-p.decode, 0.05*p.mixed)
	if p.alone {
		e = p.chunks * p.mixed
	}
	return e / math.Pow(p.peers, p.share)
}

// together is the share of requests that start in a burst.
func (p *loop) together() float64 { return p.burst / (1 + p.burst) }

// perToken is the mean time between the tokens of a request: a step, and the stalls that the prompts of the
// others cause during its life. In a closed loop each of the others starts once during that life.
//
//	decode + stall × (batch - 1) / (output - 1) × (1 - together/2)
func (p *loop) perToken() float64 {
	return p.decode + p.stall()*(p.batch-1)/math.Max(1, p.output-1)*(1-p.together()/2)
}

// first is the mean time to the first token:
//
//	front + wait × decode/2 + prefill + stall/2 × rho/(1-rho) × (1-together) + together × (batch-1)/2 × stall + (users-batch)/batch × life
//
// the engine's own time, the step that is under way, the prompt's own steps, prompts that came before (of which
// rho is the load), the burst at the start, and the wait for room in the caches (Little's law).
func (p *loop) first() float64 {
	e, together := p.stall(), p.together()
	own := p.chunks * p.mixed
	life := own + p.output*p.perToken()
	rho := math.Min(p.batch*e/life, 0.97) * (p.batch - 1) / p.batch
	return p.front + p.wait*p.decode/2 + own + 0.5*e*rho/(1-rho)*(1-together) + together*(p.batch-1)/2*e + (p.users-p.batch)/p.batch*life
}

// Closed are the figures of a closed loop in the mean, in seconds.
type Closed struct {
	PerToken, First float64
}

// Mean figures of a load.
func (m *Model) Mean(l Load) Closed {
	p := m.loop(l)
	return Closed{PerToken: p.perToken(), First: p.first()}
}

// Saturated reports whether requests wait for room in the caches.
func (m *Model) Saturated(l Load) bool {
	users := math.Max(1, float64(l.Users)/float64(max(1, m.in.Replicas)))
	return m.room(users, l) < users
}

// With gives a view of the model with other coefficients, in the order of Uses.
func (m *Model) With(c []float64) *Model {
	v := *m
	v.c = c
	return &v
}
