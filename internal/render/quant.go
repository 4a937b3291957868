package render

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/memwall/memwall/quant"
	"github.com/memwall/memwall/unit"
)

// Quant draws what formats cost the weights of a model.
func Quant(r *quant.Report, st Style) string {
	p := newPage(st)
	if r.Cache != nil {
		p.quantCache(r)
		return p.String()
	}
	p.heading(r.Model, fmt.Sprintf("%s of %s, %v", plural(int64(r.Matrices), "matrix", "matrices"), plural(int64(r.Tensors), "tensor", "tensors"), r.Bytes))
	if r.Stopped {
		p.para(pad(gap), say("stopped: only what was measured until then", bold))
	}
	p.quantFormats(r)
	p.quantParts(r)
	p.quantEach(r)
	p.quantMix(r)
	p.quantCurve(r)
	p.quantKept(r)
	if r.Written != "" {
		p.blank()
		p.para(nil, join(say("written", bold), say("   "+r.Written+", "+unit.Bytes(r.WrittenBytes).String()+", read back")))
	}
	return p.String()
}

// quantFormats is the table of single formats; the column of weighted errors is there when inputs are known.
func (p *page) quantFormats(r *quant.Report) {
	p.blank()
	if len(r.Formats) == 0 {
		p.para(pad(gap), say("no matrix that a format could be tried on"))
		return
	}
	tb := &table{sides: []side{left, decimal, right, decimal, decimal, decimal, right}}
	head := []text{say("format", bold), say("bits", dim), say("all tensors", dim), say("smaller", dim), say("error", dim), say("dB", dim), say("matrices", dim)}
	if r.Weighed > 0 {
		head[4] = say("weighted", dim)
	}
	tb.row(head...)
	for i := range r.Formats {
		f := &r.Formats[i]
		e := f.RMS
		if r.Weighed > 0 {
			e = f.Weighted
		}
		tb.row(say(f.Format), say(fmt.Sprintf("%.2f", f.Bits)), say(f.Bytes.String()), say(fmt.Sprintf("%.2f×", f.Smaller)), say(errorShare(e)), say(decibels(f.SQNR)), say(unit.Count(int64(f.Matrices))))
	}
	p.add(tb)
	p.blank()
	said := "error: root mean square of what storing changes, of that of the weights."
	if r.Weighed == 0 {
		said += " Nothing is known of the inputs, so every weight counts the same."
	} else {
		said += fmt.Sprintf(" Of %d of %d matrices the inputs are known, and columns count by them.", r.Weighed, r.Matrices)
	}
	p.para(pad(gap), say(said, dim))
	p.quantMethod(r)
}

// quantMethod says how codes were found where it was not by rounding.
func (p *page) quantMethod(r *quant.Report) {
	switch r.Method {
	case quant.GPTQ:
		p.para(pad(gap), say("Codes are GPTQ's where inputs are known: each column makes up for those before.", dim))
	case quant.AWQ:
		p.para(pad(gap), say(fmt.Sprintf("AWQ: columns are multiplied, and what makes their inputs divided, in %s.", plural(int64(r.Gained), "place", "places")), dim))
	}
	for _, u := range r.Unfolded {
		p.para(pad(gap), say(fmt.Sprintf("not %s, in %s: %s", u.Role, plural(int64(u.Layers), "layer", "layers"), u.Why), dim))
	}
}

// errorShare prints a relative error in percent.
func errorShare(x float64) string { return unit.Significant(100*x, 3) + " %" }

func decibels(x *float64) string {
	if x == nil {
		return "exact"
	}
	return fmt.Sprintf("%.1f", *x)
}

// quantParts is a row for each part and a column for each format, as many as the width holds.
func (p *page) quantParts(r *quant.Report) {
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
	formats = formats[:min(len(formats), (p.st.width()-lead)/cell)]
	tb := &table{sides: []side{left}}
	head := []text{say("error", bold)}
	for _, f := range formats {
		tb.sides, head = append(tb.sides, decimal), append(head, say(f, dim))
	}
	tb.row(head...)
	for _, part := range parts {
		row := []text{say(part)}
		for _, f := range formats {
			row = append(row, say(partError(errors, part, f)))
		}
		tb.row(row...)
	}
	p.blank()
	p.add(tb)
	if more > len(formats) {
		p.para(pad(gap), say("more formats than the width holds: --formats, --json", dim))
	}
}

func partError(errors map[[2]string]float64, part, format string) string {
	e, ok := errors[[2]string{part, format}]
	if !ok {
		return "-"
	}
	return errorShare(e)
}

func appendNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

func (p *page) quantEach(r *quant.Report) {
	if len(r.Each) == 0 {
		return
	}
	p.blank()
	tb := &table{sides: []side{left, decimal, decimal, decimal, right}, most: map[int]int{0: 40}}
	tb.row(say("tensor", bold), say("rms", dim), say("largest", dim), say("kurtosis", dim), say("over 6 rms", dim))
	for i := range r.Each {
		x := &r.Each[i]
		tb.row(say(x.Tensor), say(unit.Significant(x.RMS, 3)), say(unit.Significant(float64(x.AbsMax), 3)), say(unit.Significant(x.Kurtosis, 3)), say(unit.Count(x.Beyond6)))
	}
	p.add(tb)
}

func (p *page) quantMix(r *quant.Report) {
	m := r.Mix
	if m == nil {
		return
	}
	p.blank()
	p.para(nil, join(say("mixture for "+m.Budget.String(), bold), say(fmt.Sprintf("   takes %v, error %s (%s dB)", m.Bytes, errorShare(m.Weighted), decibels(m.SQNR)))))
	if m.Uniform != "" {
		p.para(pad(gap), say(fmt.Sprintf("%s for all: error %s", m.Uniform, errorShare(m.UniformRMS))))
	}
	if !m.Exact {
		p.para(pad(gap), say("no mixture has less than "+errorShare(m.Least), dim))
	}
	tb := &table{sides: []side{left, right, right}}
	for _, s := range m.Shares {
		tb.row(say(cmp.Or(s.Format, "as stored")), say(plural(int64(s.Tensors), "tensor", "tensors")), say(s.Bytes.String()))
	}
	p.add(tb)
	if len(m.Types) > 0 {
		p.blank()
		p.para(nil, say("for llama-quantize", bold))
		for _, t := range m.Types {
			p.para(pad(gap), say(t))
		}
	}
	p.quantModules(m)
}

// quantModules is what of the hub's modules gets which format; the whole is in --recipe.
func (p *page) quantModules(m *quant.MixRow) {
	if m.NoConfig != "" {
		p.blank()
		p.para(pad(gap), say("no configuration of modules: "+m.NoConfig, dim))
	}
	if m.Config == nil {
		return
	}
	p.blank()
	p.para(nil, join(say("for llm-compressor, vLLM and SGLang", bold), say("   --recipe FILE writes it", dim)))
	for _, g := range m.Config.Groups {
		for _, t := range g.Targets {
			p.para(join(pad(gap), say(g.Format+"  ", dim)), say(t))
		}
	}
	for _, t := range m.Config.Ignore {
		p.para(join(pad(gap), say("as stored  ", dim)), say(t))
	}
}

func (p *page) quantCurve(r *quant.Report) {
	if len(r.Curve) == 0 {
		return
	}
	p.blank()
	tb := &table{sides: []side{right, decimal}}
	tb.row(say("bytes", dim), say("error", dim))
	const rows = 24
	step := (len(r.Curve) + rows - 1) / rows
	for i, c := range r.Curve {
		if i%step == 0 || i == len(r.Curve)-1 {
			tb.row(say(c.Bytes.String()), say(errorShare(c.Weighted)))
		}
	}
	p.add(tb)
	if step > 1 {
		p.para(pad(gap), say("all "+unit.Count(int64(len(r.Curve)))+" mixtures: --json", dim))
	}
}

func (p *page) quantKept(r *quant.Report) {
	if len(r.Kept) == 0 {
		return
	}
	p.blank()
	tb := &table{sides: []side{left, right, left}, most: map[int]int{2: 40}}
	tb.row(say("as stored", bold), say("tensors", dim), say("such as", dim))
	for _, k := range r.Kept {
		tb.row(say(k.Why), say(unit.Count(int64(k.Tensors))), say(k.First))
	}
	p.add(tb)
}
