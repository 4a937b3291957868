package cards

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall/calibrate"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/unit"
)

// coefficientWords say what a coefficient is.
var coefficientWords = map[string]string{
	"read": "share of the memory rate, weights", "unpack": "rate of unpacking weights", "launch": "time of a kernel beside its work",
	"step":  "time of a step beside its kernels",
	"cache": "time of reading the cache", "multiply": "share of the peak, prompts", "prepare": "time of a kernel of a prompt",
	"attend": "share of the peak, attention", "scatter": "work of experts, prompts",
	"product.memory": "share of the memory rate, matmuls", "product.compute": "share of the peak, matmuls",
	"product.floor":    "least time of a product",
	"attention.memory": "share of the memory rate, cache", "attention.prefill": "share of the peak, attention",
	"attention.floor":  "least time of attention",
	"pointwise.memory": "share of the memory rate, the rest", "host.eager": "time of a launch",
	"link.call": "time of a collective beside its bytes", "link.ring": "share of the link's rate",
}

// Calibration draws what a benchmark taught: what was used, how far the table was off, and what is not like it.
func Calibration(r *calibrate.Report, st term.Style) string {
	p := term.NewPage(st)
	p.Heading("calibrated", term.Plural(int64(r.Profile.Observations), "figure", "figures")+" of "+r.Format)
	writeErrors(p, r.Profile)
	writeEffects(p, r)
	for i := range r.Refused {
		p.Labelled("not used", r.Refused[i].At+": "+Refusal(&r.Refused[i]))
		if i == 9 && len(r.Refused) > 10 {
			p.Labelled("", fmt.Sprintf("and %s more: --json", unit.Count(int64(len(r.Refused)-10))))
			break
		}
	}
	if r.Kept > 0 {
		p.Labelled("kept", "what the file says of other devices")
	}
	p.Labelled("written", r.Written)
	return p.String()
}

func writeErrors(p *term.Page, c *calibrate.Profile) {
	if c.Before == nil {
		return
	}
	fact := "median " + term.Percent(*c.Before) + " off before"
	if c.After != nil {
		fact += ", " + term.Percent(*c.After) + " on figures that were left out"
	}
	p.Labelled("errors", fact)
}

func writeEffects(p *term.Page, r *calibrate.Report) {
	list, still := r.Effects()
	p.Blank()
	tb := &term.Table{Sides: []term.Side{term.Left, term.Decimal, term.Decimal, term.Left}}
	tb.Row(term.Say("of this machine", term.Dim), term.Say("×", term.Dim), term.Say("±", term.Dim), nil)
	for _, e := range list {
		what := coefficientWords[e.Coefficient]
		if what == "" {
			what = e.Coefficient
		}
		tb.Row(term.Say(what), term.Say(fmt.Sprintf("%.2f", e.Factor)), term.Say(fmt.Sprintf("%.2f", e.Error)), term.Say(e.Key, term.Dim))
	}
	if len(list) > 0 {
		p.Add(tb)
	}
	if still > 0 {
		p.Para(term.Pad(term.Gap), term.Say(term.Plural(int64(still), "coefficient", "coefficients")+" as before", term.Dim))
	}
	p.Blank()
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
