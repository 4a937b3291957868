package validation

import (
	"github.com/memwall/memwall"
	"github.com/memwall/memwall/api"
)

// The measures of runs that others describe, asked end to end as their users would ask. No figure rests on any of them, and what a
// report leaves open is taken as the row's note says: what is off here is what a reader finds off. Bands of servers do rest on them
// (speed/serving/reported.tsv); here each is of the reports of all other sources.
var (
	askedTokens = Measure{Name: "reports asked, tokens", Target: 0.15,
		About: "time or rate of output tokens that a report states, asked as its user would; no row is fitted to"}
	askedPrompts = Measure{Name: "reports asked, prompts", Target: 0.20,
		About: "first token or rate of a prompt that a report states, asked likewise; no row is fitted to"}
)

// AskedMeasures are the measures in the order of the report.
var AskedMeasures = []*Measure{&askedTokens, &askedPrompts}

// askedFigures are the figures of such rows, where an answer has them, and their measures.
var askedFigures = []struct {
	name    string
	measure *Measure
	of      func(*api.Speed) (mid, low, high *float64)
}{
	{"decode_tokens_per_s", &askedTokens, func(s *api.Speed) (mid, low, high *float64) { return s.Decode, s.DecodeLow, s.DecodeHigh }},
	{"tpot_ms", &askedTokens, func(s *api.Speed) (mid, low, high *float64) { return s.TPOT, s.TPOTLow, s.TPOTHigh }},
	{"total_tokens_per_s", &askedTokens, func(s *api.Speed) (mid, low, high *float64) { return s.Total, s.TotalLow, s.TotalHigh }},
	{"ttft_ms", &askedPrompts, func(s *api.Speed) (mid, low, high *float64) { return s.TTFT, s.TTFTLow, s.TTFTHigh }},
	{"prefill_tokens_per_s", &askedPrompts, func(s *api.Speed) (mid, low, high *float64) { return s.Prefill, s.PrefillLow, s.PrefillHigh }},
}

// CompareAsked evaluates each of the reported runs.
func CompareAsked(asker *memwall.Asker) (Set, []Comparison, error) {
	set, err := readSet("asked", "rows/batches/asked.jsonl")
	set.File = "batches/asked.jsonl"
	if err != nil {
		return Set{}, nil, err
	}
	var out []Comparison
	for i := range set.Rows {
		r := &set.Rows[i]
		a, err := asker.Ask(&r.Ask)
		for _, f := range askedFigures {
			v, ok := r.Got[f.name]
			if !ok {
				continue
			}
			c := Comparison{Measure: f.measure, Row: r, Figure: f.name, Measured: v, Refused: r.Refused}
			if c.read(a, err, f.of); c.Refused == "" {
				c.judge()
			}
			out = append(out, c)
		}
	}
	withoutSource(out)
	return set, out, nil
}

// read takes a figure of an answer's speed, with its band.
func (c *Comparison) read(a *memwall.Answer, err error, of func(*api.Speed) (mid, low, high *float64)) {
	switch {
	case err != nil:
		c.Refused = err.Error()
	case a.Speed == nil:
		c.Refused = "the answer has no speed"
	default:
		mid, low, high := of(a.Speed)
		if mid == nil || low == nil || high == nil {
			c.Refused = "the answer lacks the figure"
			return
		}
		c.Ours = Range{*mid, *low, *high}
	}
}
