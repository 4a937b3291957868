package timing

import (
	"strconv"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/ledger"
)

// ExplainSpeed explains times by the parts of a decode step, and other figures by their inputs.
func ExplainSpeed(x *question.Explainer, v *api.Speed, source string) {
	if x == nil || v == nil {
		return
	}
	source += x.Nearest
	const at = "/speed/"
	var names []string
	var inputs []api.ExplainInput
	for i, p := range v.Parts {
		names = append(names, p.Name)
		inputs = append(inputs, api.ExplainInput{Name: p.Name, Value: p.MS, Origin: "ms, " + string(p.Bound)})
		formula, made := part(x, &p)
		explainTime(x, at+"parts/"+strconv.Itoa(i)+"/ms", &p.MS, nil, nil, formula, "ms", source, made...)
	}
	explainTime(x, at+"tpot_ms", v.TPOT, v.TPOTLow, v.TPOTHigh, strings.Join(names, " + "), "ms", source, inputs...)
	if v.TPOT != nil {
		explainTime(x, at+"decode_tokens_per_s", v.Decode, v.DecodeLow, v.DecodeHigh, "1000 / tpot_ms", "tok/s", source,
			api.ExplainInput{Name: "tpot_ms", Value: *v.TPOT, Origin: "a step, for a token of each user"})
	}
	for _, f := range []struct {
		name           string
		mid, low, high *float64
		unit, law      string
	}{
		{"prefill_tokens_per_s", v.Prefill, v.PrefillLow, v.PrefillHigh, "tok/s", ""},
		{"total_tokens_per_s", v.Total, v.TotalLow, v.TotalHigh, "tok/s", ""},
		{"ttft_ms", v.TTFT, v.TTFTLow, v.TTFTHigh, "ms", ""},
		{"ttft_unloaded_ms", v.Unloaded, v.UnloadedLow, v.UnloadedHigh, "ms", ""},
		{"joules_per_token", v.JoulesPerToken, v.JoulesPerTokenLow, v.JoulesPerTokenHigh, "J", "docs/formulas.md#power and "},
		{"usd_per_million_tokens", v.USDPerMillion, v.USDPerMillionLow, v.USDPerMillionHigh, "$", ""},
	} {
		if f.mid != nil {
			text, inputs := formulaOf(x, f.name, *f.mid)
			explainTime(x, at+f.name, f.mid, f.low, f.high, text, f.unit, f.law+source, inputs...)
		}
	}
}

// part returns the formula of a part of a step, or its number if there is none.
func part(x *question.Explainer, p *api.SpeedPart) (text string, inputs []api.ExplainInput) {
	return formulaOf(x, p.Name, p.MS)
}

// formulaOf returns the formula of a named figure, or the figure itself if there is none.
func formulaOf(x *question.Explainer, name string, v float64) (text string, inputs []api.ExplainInput) {
	for _, f := range x.Timing {
		if f.Part != name {
			continue
		}
		for _, in := range f.Inputs {
			inputs = append(inputs, api.ExplainInput{Name: in.Name, Value: in.Value, Origin: in.Origin})
		}
		return f.Text, inputs
	}
	return ledger.Number(v), nil
}

// basis returns the basis of times.
func basis(x *question.Explainer) ledger.Basis {
	if x.Assumed {
		return ledger.Assumed
	}
	return ledger.Measured
}

// explainTime explains a figure based on measurements, with its edges.
func explainTime(x *question.Explainer, at string, mid, low, high *float64, formula, unitName, source string, inputs ...api.ExplainInput) {
	if mid == nil {
		return
	}
	e := api.Explain{Value: *mid, Low: *mid, High: *mid, Unit: unitName, Basis: basis(x), Formula: formula, Inputs: inputs, Source: source}
	if low != nil && high != nil {
		e.Low, e.High = *low, *high
		for _, edge := range []struct {
			name string
			v    float64
		}{{"_low", *low}, {"_high", *high}} {
			x.Out[at+edge.name] = api.Explain{Value: edge.v, Low: edge.v, High: edge.v, Unit: unitName, Basis: basis(x),
				Formula: ledger.Number(edge.v), Source: "90 % band: " + source}
		}
	}
	x.Out[at] = e
}
