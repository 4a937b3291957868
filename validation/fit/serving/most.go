package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/memwall/memwall/speed/coef"
	"github.com/memwall/memwall/speed/serving"
	"github.com/memwall/memwall/validation"
)

// mostStudy lists the errors of the largest throughput, on rows to which nothing is fitted.
func mostStudy(b *bytes.Buffer, t *coef.Table) error {
	sets, err := validation.Batches()
	if err != nil {
		return err
	}
	groups := map[string]*deviations{}
	p := newPlans()
	for i := range sets {
		if sets[i].Name != "throughput" {
			continue
		}
		for j := range sets[i].Rows {
			r := &sets[i].Rows[j]
			if r.Refused != "" {
				continue
			}
			got, err := p.most(r, t)
			if err != nil {
				return fmt.Errorf("%s: %w", r.Name(), err)
			}
			engine := serving.EngineOf(r.Ask.Engine)
			_, device, many := strings.Cut(r.Ask.Hardware, "x")
			if !many || r.Ask.Ranks() < 2 {
				device = r.Ask.Hardware
			}
			for _, g := range []string{"all", engine, engine + " " + r.Ask.Model, engine + " " + device} {
				if groups[g] == nil {
					groups[g] = &deviations{}
				}
				groups[g].add(got, r.Got["output_tokens_per_s"].Mid)
			}
		}
	}
	var names []string
	for name := range groups {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		groups[name].line(b, "never fitted", "most tokens a second", name)
	}
	return nil
}

// mostSequences that a server computes at once where nobody says: TensorRT-LLM's max_batch_size.
const mostSequences = 2048

func (p *plans) most(r *validation.Row, t *coef.Table) (float64, error) {
	in, err := p.in(&r.Ask)
	if err != nil {
		return 0, err
	}
	in.MaxSequences = mostSequences
	m, err := serving.CompileWith(in, t)
	if err != nil {
		return 0, err
	}
	return m.Mean(m.Most(int64(r.Ask.PromptTokens), int64(r.Ask.OutputTokens))).Throughput, nil
}
