package serving

import "github.com/memwall/memwall/speed"

// Figures of a closed loop with their bands.
type Figures struct {
	PerToken      speed.Figure // seconds between tokens
	First         speed.Figure // seconds to the first token, bursts and queues included
	FirstUnloaded speed.Figure // the same of a single user
	Throughput    speed.Figure // output tokens a second, all users together
	// Batch is how many sequences a replica computes at once: fewer than its users where its caches are full.
	Batch float64
	// Step is an average step without a prompt, Parts where its time goes; Bound is what limits the loop.
	Step  float64
	Parts []speed.Part
	Bound speed.Bound
}

// Kinds of spread in the table.
const (
	SpreadPerToken   = "tpot"
	SpreadFirst      = "ttft"
	SpreadThroughput = "throughput"
)

// Closed gives the steady state of a load.
func (m *Model) Closed(l Load) Figures {
	c, e := m.Elasticities(l)
	p := m.loop(l)
	decode, _ := m.batches(l, &p)
	f := Figures{
		PerToken:   m.band(SpreadPerToken, c.PerToken, m.variance(e.PerToken)),
		First:      m.band(SpreadFirst, c.First, m.variance(e.First)),
		Throughput: m.band(SpreadThroughput, c.Throughput, m.variance(e.Throughput)),
		Batch:      p.batch, Step: p.decode, Parts: m.Parts(decode),
	}
	f.Bound = speed.Largest(f.Parts)
	if m.Saturated(l) {
		f.Bound = speed.Capacity
	}
	alone := Load{Users: 1, Prompt: l.Prompt, Output: l.Output}
	if l.Users <= 1 {
		f.FirstUnloaded = f.First
		return f
	}
	c, e = m.Elasticities(alone)
	f.FirstUnloaded = m.band(SpreadFirst, c.First, m.variance(e.First))
	return f
}

// Variances of the logarithms of the figures that the coefficients' own leave.
func (m *Model) Variances(l Load) (perToken, first, throughput float64) {
	_, e := m.Elasticities(l)
	return m.variance(e.PerToken), m.variance(e.First), m.variance(e.Throughput)
}

// band around a figure. A table without a spread of that kind, of a fit that is not finished, gives none.
func (m *Model) band(kind string, mid, variance float64) speed.Figure {
	s, ok := m.table.Spread(kind + "/" + m.in.Engine)
	if !ok {
		s, ok = m.table.Spread(kind)
	}
	if !ok {
		return speed.Figure{Mid: mid, Low: mid, High: mid}
	}
	low, high := s.Band(mid, variance)
	return speed.Figure{Mid: mid, Low: low, High: high}
}

// Static is a batch that starts together and ends together, as a library's generate runs it: seconds to the first
// token, and for each further one. Sequences that find no room in the caches wait for the next round.
func (m *Model) Static(l Load) Closed {
	users := float64(max(1, l.Users)) / float64(max(1, m.in.Replicas))
	chunk := m.in.ChunkTokens
	if chunk <= 0 {
		chunk = ChunkTokens
	}
	room := m.room(users, l)
	b := max(1, int64(room+0.5))
	step := m.Step(speed.Batch{Decodes: b, Context: l.Prompt + l.Output/2})
	first := m.prompts(b, l.Prompt, chunk)
	rounds := users / room
	c := Closed{PerToken: step * rounds, First: first * rounds}
	c.Throughput = float64(l.Users) * float64(l.Output) / (c.First + float64(max(0, l.Output-1))*c.PerToken)
	return c
}

// prompts of a static batch go through in steps of as many whole prompts as fit, or in pieces.
func (m *Model) prompts(b, prompt, chunk int64) (seconds float64) {
	each := max(1, chunk/max(1, prompt))
	if prompt > chunk {
		pieces := (prompt + chunk - 1) / chunk
		length := prompt / pieces
		return float64(b*pieces) * m.Step(speed.Batch{Prefill: length, Prompts: 1, Cached: (prompt - length) / 2, Finished: 1})
	}
	full, rest := b/each, b%each
	seconds = float64(full) * m.Step(speed.Batch{Prefill: each * prompt, Prompts: each, Finished: each})
	if rest > 0 {
		seconds += m.Step(speed.Batch{Prefill: rest * prompt, Prompts: rest, Finished: rest})
	}
	return seconds
}

// Most is the load that gives the most tokens a second: as many users as the caches hold.
func (m *Model) Most(prompt, output int64) Load {
	const many = 1 << 20 // users where nothing bounds them
	l := Load{Users: many, Prompt: prompt, Output: output}
	l.Users = int64(m.room(many, l)) * max(1, m.in.Replicas)
	return l
}
