package cards

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/quant"
	"github.com/memwall/memwall/unit"
)

// Quant draws what formats cost the weights of a model.
func Quant(r *quant.Report, st term.Style) string {
	p := term.NewPage(st)
	if r.Cache != nil {
		writeQuantCache(p, r)
		return p.String()
	}
	p.Heading(r.Model, fmt.Sprintf("%s of %s, %v", term.Plural(int64(r.Matrices), "matrix", "matrices"),
		term.Plural(int64(r.Tensors), "tensor", "tensors"), r.Bytes))
	if r.Stopped {
		p.Para(term.Pad(term.Gap), term.Say("stopped: only what was measured until then", term.Bold))
	}
	writeQuantFormats(p, r)
	writeQuantParts(p, r)
	writeQuantEach(p, r)
	writeQuantMix(p, r)
	writeQuantCurve(p, r)
	writeQuantKept(p, r)
	if r.Written != "" {
		p.Blank()
		p.Para(nil, term.Join(term.Say("written", term.Bold),
			term.Say("   "+r.Written+", "+unit.Bytes(r.WrittenBytes).String()+", read back")))
	}
	return p.String()
}

// writeQuantFormats is the table of single formats; the column of weighted errors is there when inputs are known.
func writeQuantFormats(p *term.Page, r *quant.Report) {
	p.Blank()
	if len(r.Formats) == 0 {
		p.Para(term.Pad(term.Gap), term.Say("no matrix that a format could be tried on"))
		return
	}
	tb := &term.Table{Sides: []term.Side{term.Left, term.Decimal, term.Right, term.Decimal, term.Decimal, term.Decimal, term.Right}}
	head := []term.Text{term.Say("format", term.Bold), term.Say("bits", term.Dim), term.Say("all tensors", term.Dim),
		term.Say("smaller", term.Dim), term.Say("error", term.Dim), term.Say("dB", term.Dim), term.Say("matrices", term.Dim)}
	if r.Weighed > 0 {
		head[4] = term.Say("weighted", term.Dim)
	}
	tb.Row(head...)
	for i := range r.Formats {
		f := &r.Formats[i]
		e := f.RMS
		if r.Weighed > 0 {
			e = f.Weighted
		}
		tb.Row(term.Say(f.Format), term.Say(fmt.Sprintf("%.2f", f.Bits)), term.Say(f.Bytes.String()),
			term.Say(fmt.Sprintf("%.2f×", f.Smaller)), term.Say(ErrorShare(e)), term.Say(decibels(f.SQNR)),
			term.Say(unit.Count(int64(f.Matrices))))
	}
	p.Add(tb)
	p.Blank()
	said := "error: root mean square of what storing changes, of that of the weights."
	if r.Weighed == 0 {
		said += " Nothing is known of the inputs, so every weight counts the same."
	} else {
		said += fmt.Sprintf(" Of %d of %d matrices the inputs are known, and columns count by them.", r.Weighed, r.Matrices)
	}
	p.Para(term.Pad(term.Gap), term.Say(said, term.Dim))
	writeQuantMethod(p, r)
}

// writeQuantMethod says how codes were found where it was not by rounding.
func writeQuantMethod(p *term.Page, r *quant.Report) {
	switch r.Method {
	case quant.GPTQ:
		p.Para(term.Pad(term.Gap), term.Say("Codes are GPTQ's where inputs are known: each column makes up for those before.", term.Dim))
	case quant.AWQ:
		p.Para(term.Pad(term.Gap),
			term.Say(fmt.Sprintf("AWQ: columns are multiplied, and what makes their inputs divided, in %s.",
				term.Plural(int64(r.Gained), "place", "places")), term.Dim))
	}
	for _, u := range r.Unfolded {
		p.Para(term.Pad(term.Gap),
			term.Say(fmt.Sprintf("not %s, in %s: %s", u.Role, term.Plural(int64(u.Layers), "layer", "layers"), u.Why), term.Dim))
	}
}

// ErrorShare prints a relative error in percent.
func ErrorShare(x float64) string { return unit.Significant(100*x, 3) + " %" }

func decibels(x *float64) string {
	if x == nil {
		return "exact"
	}
	return fmt.Sprintf("%.1f", *x)
}

// writeQuantParts is a row for each part and a column for each format, as many as the width holds.
func writeQuantParts(p *term.Page, r *quant.Report) {
	if len(r.Parts) == 0 {
		return
	}
	const cell, lead = 11, 16
	var parts, formats []string
	errors := map[[2]string]float64{}
	for i := range r.Parts {
		x := &r.Parts[i]
		parts, formats = appendNew(parts, x.Part), appendNew(formats, x.Format)
		errors[[2]string{x.Part, x.Format}] = x.Weighted
	}
	more := len(formats)
	formats = formats[:min(len(formats), (p.Style.Cells()-lead)/cell)]
	tb := &term.Table{Sides: []term.Side{term.Left}}
	head := []term.Text{term.Say("error", term.Bold)}
	for _, f := range formats {
		tb.Sides, head = append(tb.Sides, term.Decimal), append(head, term.Say(f, term.Dim))
	}
	tb.Row(head...)
	for _, part := range parts {
		row := []term.Text{term.Say(part)}
		for _, f := range formats {
			row = append(row, term.Say(partError(errors, part, f)))
		}
		tb.Row(row...)
	}
	p.Blank()
	p.Add(tb)
	if more > len(formats) {
		p.Para(term.Pad(term.Gap), term.Say("more formats than the width holds: --formats, --json", term.Dim))
	}
}

func partError(errors map[[2]string]float64, part, format string) string {
	e, ok := errors[[2]string{part, format}]
	if !ok {
		return "-"
	}
	return ErrorShare(e)
}

func appendNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

func writeQuantEach(p *term.Page, r *quant.Report) {
	if len(r.Each) == 0 {
		return
	}
	p.Blank()
	tb := &term.Table{Sides: []term.Side{term.Left, term.Decimal, term.Decimal, term.Decimal, term.Right}, Most: map[int]int{0: 40}}
	tb.Row(term.Say("tensor", term.Bold), term.Say("rms", term.Dim), term.Say("largest", term.Dim), term.Say("kurtosis", term.Dim),
		term.Say("over 6 rms", term.Dim))
	for i := range r.Each {
		x := &r.Each[i]
		tb.Row(term.Say(x.Tensor), term.Say(unit.Significant(x.RMS, 3)), term.Say(unit.Significant(float64(x.AbsMax), 3)),
			term.Say(unit.Significant(x.Kurtosis, 3)), term.Say(unit.Count(x.Beyond6)))
	}
	p.Add(tb)
}

func writeQuantMix(p *term.Page, r *quant.Report) {
	m := r.Mix
	if m == nil {
		return
	}
	p.Blank()
	p.Para(nil, term.Join(term.Say("mixture for "+m.Budget.String(), term.Bold),
		term.Say(fmt.Sprintf("   takes %v, error %s (%s dB)", m.Bytes, ErrorShare(m.Weighted), decibels(m.SQNR)))))
	if m.Uniform != "" {
		p.Para(term.Pad(term.Gap), term.Say(fmt.Sprintf("%s for all: error %s", m.Uniform, ErrorShare(m.UniformRMS))))
	}
	if !m.Exact {
		p.Para(term.Pad(term.Gap), term.Say("no mixture has less than "+ErrorShare(m.Least), term.Dim))
	}
	tb := &term.Table{Sides: []term.Side{term.Left, term.Right, term.Right}}
	for _, s := range m.Shares {
		tb.Row(term.Say(cmp.Or(s.Format, "as stored")), term.Say(term.Plural(int64(s.Tensors), "tensor", "tensors")),
			term.Say(s.Bytes.String()))
	}
	p.Add(tb)
	if len(m.Types) > 0 {
		p.Blank()
		p.Para(nil, term.Say("for llama-quantize", term.Bold))
		for _, t := range m.Types {
			p.Para(term.Pad(term.Gap), term.Say(t))
		}
	}
	writeQuantModules(p, m)
}

// writeQuantModules is what of the hub's modules gets which format; the whole is in --recipe.
func writeQuantModules(p *term.Page, m *quant.MixRow) {
	if m.NoConfig != "" {
		p.Blank()
		p.Para(term.Pad(term.Gap), term.Say("no configuration of modules: "+m.NoConfig, term.Dim))
	}
	if m.Config == nil {
		return
	}
	p.Blank()
	p.Para(nil, term.Join(term.Say("for llm-compressor, vLLM and SGLang", term.Bold), term.Say("   --recipe FILE writes it", term.Dim)))
	for _, g := range m.Config.Groups {
		for _, t := range g.Targets {
			p.Para(term.Join(term.Pad(term.Gap), term.Say(g.Format+"  ", term.Dim)), term.Say(t))
		}
	}
	for _, t := range m.Config.Ignore {
		p.Para(term.Join(term.Pad(term.Gap), term.Say("as stored  ", term.Dim)), term.Say(t))
	}
}

func writeQuantCurve(p *term.Page, r *quant.Report) {
	if len(r.Curve) == 0 {
		return
	}
	p.Blank()
	tb := &term.Table{Sides: []term.Side{term.Right, term.Decimal}}
	tb.Row(term.Say("bytes", term.Dim), term.Say("error", term.Dim))
	const rows = 24
	step := (len(r.Curve) + rows - 1) / rows
	for i, c := range r.Curve {
		if i%step == 0 || i == len(r.Curve)-1 {
			tb.Row(term.Say(c.Bytes.String()), term.Say(ErrorShare(c.Weighted)))
		}
	}
	p.Add(tb)
	if step > 1 {
		p.Para(term.Pad(term.Gap), term.Say("all "+unit.Count(int64(len(r.Curve)))+" mixtures: --json", term.Dim))
	}
}

func writeQuantKept(p *term.Page, r *quant.Report) {
	if len(r.Kept) == 0 {
		return
	}
	p.Blank()
	tb := &term.Table{Sides: []term.Side{term.Left, term.Right, term.Left}, Most: map[int]int{2: 40}}
	tb.Row(term.Say("as stored", term.Bold), term.Say("tensors", term.Dim), term.Say("such as", term.Dim))
	for _, k := range r.Kept {
		tb.Row(term.Say(k.Why), term.Say(unit.Count(int64(k.Tensors))), term.Say(k.First))
	}
	p.Add(tb)
}
