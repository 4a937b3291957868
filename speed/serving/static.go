package serving

import (
	"math"

	"github.com/memwall/memwall/speed"
)

// Whole are the figures of a batch that starts together and ends together, as a library's generate runs it:
// seconds to the first token, for each further one, and to the end.
type Whole struct{ First, PerToken, Total float64 }

// Static gives the figures of a static batch. Sequences that find no room in the caches wait for the next round.
func (m *Model) Static(l Load) Whole {
	rounds, runs := m.static(l)
	var w Whole
	for _, r := range runs {
		t := rounds * r.times * m.Step(r.batch)
		if r.batch.Prefill > 0 {
			w.First += t
		} else {
			w.PerToken += t
		}
	}
	w.Total = w.First + math.Max(0, float64(l.Output-1))*w.PerToken
	return w
}

// StaticElasticities are those of the figures of a static batch.
func (m *Model) StaticElasticities(l Load) (w Whole, first, perToken, total []float64) {
	w = m.Static(l)
	rounds, runs := m.static(l)
	first, perToken, total = make([]float64, len(m.c)), make([]float64, len(m.c)), make([]float64, len(m.c))
	slope := make([]float64, len(m.c))
	for _, r := range runs {
		clear(slope)
		m.slopes(r.batch, 1, m.Values(), slope)
		for i, s := range slope {
			s *= rounds * r.times
			if r.batch.Prefill > 0 {
				first[i] += s / w.First
				total[i] += s / w.Total
			} else {
				perToken[i] += s / w.PerToken
				total[i] += float64(l.Output-1) * s / w.Total
			}
		}
	}
	return w, first, perToken, total
}

// run is a step, and how many like it there are.
type run struct {
	batch speed.Batch
	times float64
}

// static lists the steps of a round: those of the prompts, and one that decodes.
func (m *Model) static(l Load) (rounds float64, runs []run) {
	users := float64(max(1, l.Users)) / float64(max(1, m.in.Replicas))
	room := m.room(users, l)
	b := max(1, int64(room+0.5))
	runs = m.prompts(b, max(1, l.Prompt))
	if l.Output > 1 {
		runs = append(runs, run{speed.Batch{Decodes: b, Context: l.Prompt + l.Output/2}, 1})
	}
	return math.Max(1, users/room), runs
}

// prompts of a static batch go through in steps of as many whole prompts as fit, or in pieces.
func (m *Model) prompts(b, prompt int64) (out []run) {
	chunk := m.chunk()
	if prompt > chunk {
		pieces := (prompt + chunk - 1) / chunk
		length := prompt / pieces
		return []run{{speed.Batch{Prefill: length, Prompts: 1, Cached: (prompt - length) / 2, Finished: 1}, float64(b * pieces)}}
	}
	each := chunk / prompt
	full, rest := b/each, b%each
	if full > 0 {
		out = append(out, run{speed.Batch{Prefill: each * prompt, Prompts: each, Finished: each}, float64(full)})
	}
	if rest > 0 {
		out = append(out, run{speed.Batch{Prefill: rest * prompt, Prompts: rest, Finished: rest}, 1})
	}
	return out
}

// chunk is the most tokens of prompts in a step.
func (m *Model) chunk() int64 {
	if m.in.ChunkTokens > 0 {
		return m.in.ChunkTokens
	}
	return ChunkTokens
}
