package simulate

import (
	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/ledger"
)

// times explains request times: percentiles of the simulation, with the band from both edges of the step time.
func times(x *question.Explainer, v *api.Simulated) {
	for _, t := range []struct {
		at             string
		mid, low, high *api.Percentiles
	}{{"/wait_ms", v.Wait, nil, nil}, {"/ttft_ms", v.TTFT, FirstToken(v.Low), FirstToken(v.High)},
		{"/tpot_ms", v.TPOT, PerToken(v.Low), PerToken(v.High)}, {"/itl_ms", v.ITL, nil, nil},
		{"/e2e_ms", v.E2E, endToEnd(v.Low), endToEnd(v.High)}} {
		if t.mid == nil {
			continue
		}
		for _, p := range percentileNames {
			e := api.Explain{Value: p.of(t.mid), Low: p.of(t.mid), High: p.of(t.mid), Unit: "ms", Basis: ledger.Derived,
				Formula: p.words + " gaps", Source: question.SimulatedBy}
			if t.mid != v.ITL {
				e.Formula = p.words + " requests"
				e.Inputs = []api.ExplainInput{{Name: "requests", Value: float64(v.Requests.Finished), Origin: "played to their end"}}
			}
			if t.low != nil && t.high != nil {
				e.Low, e.High = min(e.Value, p.of(t.low)), max(e.Value, p.of(t.high))
			}
			x.Out[t.at+"/"+p.name] = e
		}
	}
}

// percentileNames are the percentiles of an answer, with descriptions.
var percentileNames = []struct {
	name, words string
	of          func(*api.Percentiles) float64
}{
	{"mean", "mean of", func(p *api.Percentiles) float64 { return p.Mean }},
	{"p50", "50th percentile of", func(p *api.Percentiles) float64 { return p.P50 }},
	{"p90", "90th percentile of", func(p *api.Percentiles) float64 { return p.P90 }},
	{"p99", "99th percentile of", func(p *api.Percentiles) float64 { return p.P99 }},
}
