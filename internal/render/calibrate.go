package render

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall/calibrate"
	"github.com/memwall/memwall/unit"
)

// coefficientWords say what a coefficient is.
var coefficientWords = map[string]string{
	"read": "share of the memory rate, weights", "unpack": "rate of unpacking weights", "launch": "time of a kernel beside its work", "step": "time of a step beside its kernels",
	"cache": "time of reading the cache", "multiply": "share of the peak, prompts", "prepare": "time of a kernel of a prompt", "attend": "share of the peak, attention", "scatter": "work of experts, prompts",
	"product.memory": "share of the memory rate, products", "product.compute": "share of the peak, products", "product.floor": "least time of a product",
	"attention.memory": "share of the memory rate, cache", "attention.prefill": "share of the peak, attention", "attention.floor": "least time of attention",
	"pointwise.memory": "share of the memory rate, the rest", "host.launch": "time of a launch",
	"link.call": "time of a collective beside its bytes", "link.ring": "share of the link's rate",
}

// Calibration draws what a benchmark taught: what was used, how far the table was off, and what is not like it.
func Calibration(r *calibrate.Report, st Style) string {
	p := newPage(st)
	p.heading("calibrated", plural(int64(r.Profile.Observations), "figure", "figures")+" of "+r.Format)
	p.errors(r.Profile)
	p.effects(r)
	for i := range r.Refused {
		p.labelled("not used", r.Refused[i].At+": "+Refusal(&r.Refused[i]))
		if i == 9 && len(r.Refused) > 10 {
			p.labelled("", fmt.Sprintf("and %s more: --json", unit.Count(int64(len(r.Refused)-10))))
			break
		}
	}
	if r.Kept > 0 {
		p.labelled("kept", "what the file says of other devices")
	}
	p.labelled("written", r.Written)
	return p.String()
}

func (p *page) errors(c *calibrate.Profile) {
	if c.Before == nil {
		return
	}
	fact := "median " + percent(*c.Before) + " off before"
	if c.After != nil {
		fact += ", " + percent(*c.After) + " on figures that were left out"
	}
	p.labelled("errors", fact)
}

func percent(x float64) string { return unit.Significant(100*x, 2) + " %" }

func (p *page) effects(r *calibrate.Report) {
	list, still := r.Effects()
	p.blank()
	tb := &table{sides: []side{left, decimal, decimal, left}}
	tb.row(say("of this machine", dim), say("×", dim), say("±", dim), nil)
	for _, e := range list {
		what := coefficientWords[e.Coefficient]
		if what == "" {
			what = e.Coefficient
		}
		tb.row(say(what), say(fmt.Sprintf("%.2f", e.Factor)), say(fmt.Sprintf("%.2f", e.Error)), say(e.Key, dim))
	}
	if len(list) > 0 {
		p.add(tb)
	}
	if still > 0 {
		p.para(pad(gap), say(plural(int64(still), "coefficient", "coefficients")+" as before", dim))
	}
	p.blank()
}

// Refusal says what was wrong with a figure.
func Refusal(r *calibrate.Refusal) string {
	var parts []string
	for _, s := range []string{r.Field, r.Value} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	if len(parts) == 0 {
		return r.Why
	}
	return strings.Join(parts, " ") + " " + r.Why
}
