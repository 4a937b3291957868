package memwall

import (
	"strconv"
	"strings"

	"github.com/memwall/memwall/ledger"
)

// speed explains the figures of time by the parts of a decode step, and those by what they were made of.
func (x *explainer) speed(v *Speed, source string) {
	if x == nil || v == nil {
		return
	}
	const at = "/speed/"
	var names []string
	var inputs []ExplainInput
	for i, p := range v.Parts {
		names = append(names, p.Name)
		inputs = append(inputs, ExplainInput{Name: p.Name, Value: p.MS, Origin: "ms, " + string(p.Bound)})
		formula, made := x.part(&p)
		x.timed(at+"parts/"+strconv.Itoa(i)+"/ms", &p.MS, nil, nil, formula, "ms", source, made...)
	}
	x.timed(at+"tpot_ms", v.TPOT, v.TPOTLow, v.TPOTHigh, strings.Join(names, " + "), "ms", source, inputs...)
	if v.TPOT != nil {
		x.timed(at+"decode_tokens_per_s", v.Decode, v.DecodeLow, v.DecodeHigh, "1000 / tpot_ms", "tok/s", source, ExplainInput{Name: "tpot_ms", Value: *v.TPOT, Origin: "a step, for a token of each user"})
	}
	for _, f := range []struct {
		name           string
		mid, low, high *float64
		unit           string
	}{
		{"prefill_tokens_per_s", v.Prefill, v.PrefillLow, v.PrefillHigh, "tok/s"}, {"total_tokens_per_s", v.Total, v.TotalLow, v.TotalHigh, "tok/s"},
		{"ttft_ms", v.TTFT, v.TTFTLow, v.TTFTHigh, "ms"}, {"ttft_unloaded_ms", v.Unloaded, v.UnloadedLow, v.UnloadedHigh, "ms"},
		{"joules_per_token", v.JoulesPerToken, v.JoulesPerTokenLow, v.JoulesPerTokenHigh, "J"}, {"usd_per_million_tokens", v.USDPerMillion, v.USDPerMillionLow, v.USDPerMillionHigh, "$"},
	} {
		if f.mid != nil {
			text, inputs := x.made(f.name, *f.mid)
			x.timed(at+f.name, f.mid, f.low, f.high, text, f.unit, source, inputs...)
		}
	}
}

// part is the formula of a part of a step; its number where nobody wrote one.
func (x *explainer) part(p *SpeedPart) (text string, inputs []ExplainInput) {
	return x.made(p.Name, p.MS)
}

// made is the formula of a figure by its name; the figure itself where nobody wrote one.
func (x *explainer) made(name string, v float64) (text string, inputs []ExplainInput) {
	for _, f := range x.timing {
		if f.Part != name {
			continue
		}
		for _, in := range f.Inputs {
			inputs = append(inputs, ExplainInput{Name: in.Name, Value: in.Value, Origin: in.Origin})
		}
		return f.Text, inputs
	}
	return ledger.Number(v), nil
}

// basis of figures of time.
func (x *explainer) basis() ledger.Basis {
	if x.assumed {
		return ledger.Assumed
	}
	return ledger.Measured
}

// timed is a figure that rests on measurements; its edges are explained too.
func (x *explainer) timed(at string, mid, low, high *float64, formula, unitName, source string, inputs ...ExplainInput) {
	if mid == nil {
		return
	}
	e := Explain{Value: *mid, Low: *mid, High: *mid, Unit: unitName, Basis: x.basis(), Formula: formula, Inputs: inputs, Source: source}
	if low != nil && high != nil {
		e.Low, e.High = *low, *high
		for _, edge := range []struct {
			name string
			v    float64
		}{{"_low", *low}, {"_high", *high}} {
			x.out[at+edge.name] = Explain{Value: edge.v, Low: edge.v, High: edge.v, Unit: unitName, Basis: x.basis(), Formula: ledger.Number(edge.v), Source: "90 % band: " + source}
		}
	}
	x.out[at] = e
}
