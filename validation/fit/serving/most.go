package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/memwall/memwall/speed/coef"
	"github.com/memwall/memwall/speed/serving"
	"github.com/memwall/memwall/validation"
	"github.com/memwall/memwall/validation/fit/internal/study"
)

// most is the largest throughput of a row, to which nothing is fitted, in output tokens a second: what we say, with
// its band, and what a rule of thumb does.
type most struct {
	*validation.Row
	low, mid, high, naive float64
}

func loadMost(t *coef.Table) (out []most, err error) {
	sets, err := validation.Batches()
	if err != nil {
		return nil, err
	}
	p := newPlans()
	for i := range sets {
		if sets[i].Name != "throughput" {
			continue
		}
		for j := range sets[i].Rows {
			if r := &sets[i].Rows[j]; r.Refused == "" {
				m, err := p.most(r, t)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", r.Name(), err)
				}
				out = append(out, m)
			}
		}
	}
	return out, nil
}

// mostSequences that a server computes at once where nobody says: TensorRT-LLM's max_batch_size.
const mostSequences = 2048

func (p *plans) most(r *validation.Row, t *coef.Table) (most, error) {
	in, err := p.in(&r.Ask)
	if err != nil {
		return most{}, err
	}
	in.MaxSequences = mostSequences
	m, err := serving.CompileWith(in, t)
	if err != nil {
		return most{}, err
	}
	load := m.Most(int64(r.Ask.PromptTokens), int64(r.Ask.OutputTokens))
	got := drained(m, load, r.Requests)
	c, e := m.Elasticities(load)
	c.Throughput = got
	spread, ok := spreadOf(t, serving.SpreadThroughput, in.Engine)
	if !ok {
		return most{}, fmt.Errorf("the table says not how far throughputs are off")
	}
	low, high := spread.Band(c.Throughput, m.Variance(e.Throughput))
	return most{r, low, c.Throughput, high, naive(m, load, in.Replicas)}, nil
}

// drained is the rate of an offline run, which ends when its last request does: as many rounds of as many users as the server takes as
// the requests fill, and one of the rest. Requests that are alike and start together end together. 0 requests are endless.
func drained(m *serving.Model, l serving.Load, requests int64) float64 {
	if requests <= 0 {
		return m.Mean(l).Throughput
	}
	seconds := 0.0
	for left := requests; left > 0; left -= l.Users {
		round := l
		round.Users = min(l.Users, left)
		if whole := left / l.Users; whole > 0 {
			seconds += float64(whole) * float64(l.Users*l.Output) / m.Mean(round).Throughput
			left -= (whole - 1) * l.Users
			continue
		}
		round.Burst, round.Requests = true, round.Users
		seconds += float64(round.Users*l.Output) / m.Mean(round).Throughput
	}
	return float64(requests*l.Output) / seconds
}

// naive is the rule of thumb: steps of as many sequences as the caches hold read weights and caches at 80 % of the
// memory's rate, and prompts cost nothing.
func naive(m *serving.Model, load serving.Load, replicas int64) float64 {
	step := m.Decoding(load)
	memory, _ := m.Fractions(step)
	return 0.8 * float64(replicas*step.Decodes) / (memory * m.Step(step))
}

// mostStudy lists the errors of the largest throughput.
func mostStudy(b *bytes.Buffer, rows []most) {
	groups := study.Groups{}
	for i := range rows {
		r := &rows[i]
		engine := serving.EngineOf(r.Ask.Engine)
		for _, g := range []string{"all", engine, engine + " " + r.Ask.Model, engine + " " + r.device()} {
			groups.Of("most tokens a second\t"+g).AddBand(r.low, r.mid, r.high, r.Got["output_tokens_per_s"].Mid)
		}
	}
	lines(b, "never fitted", groups)
}

func (r *most) device() string {
	if _, one, many := strings.Cut(r.Ask.Hardware, "x"); many && r.Ask.Ranks() > 1 {
		return one
	}
	return r.Ask.Hardware
}

// mostFolds lists the largest throughputs, in tokens a second, and last those of a rule of thumb.
func mostFolds(rows []most) []byte {
	b := bytes.NewBufferString("line\tthroughput\tlow\thigh\tnaive\n")
	for i := range rows {
		r := &rows[i]
		fmt.Fprintf(b, "%d\t%.4g\t%.4g\t%.4g\t%.4g\n", r.Line, r.mid, r.low, r.high, r.naive)
	}
	return b.Bytes()
}
