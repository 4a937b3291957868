package cards

import (
	"fmt"
	"slices"

	"github.com/memwall/memwall/internal/bench"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/unit"
)

// Bench draws what a server gave its users, level by level, beside what was predicted.
func Bench(r *bench.Report, st term.Style) string {
	p := term.NewPage(st)
	p.Heading(r.Model, onHardware(r))
	p.Labelled("server", r.Address)
	p.Labelled("load", fmt.Sprintf("%d tokens in, %d out, %s of each user; closed loop", r.Load.Prompt, r.Load.Answer,
		term.Plural(int64(r.Load.Requests), "request", "requests")))
	p.Blank()
	p.Add(benchTable(r))
	if r.Unpredicted == "" {
		p.Para(term.Pad(term.Gap), term.Say("✓ the band of 90 % holds what was measured, ✗ it does not", term.Dim))
	}
	p.Blank()
	for i := range r.Rows {
		if l := r.Rows[i].Level; l.Failed > 0 {
			p.Labelled("failed", fmt.Sprintf("%d of %d with %s: %s", l.Failed, l.Failed+l.Completed, term.Users(l.Users), l.Error))
		}
	}
	if r.Unpredicted != "" {
		p.Labelled("no prediction", r.Unpredicted)
	}
	if r.Written != "" {
		p.Labelled("written", r.Written+"; memwall calibrate "+r.Written+" makes predictions this machine's own")
	}
	return p.String()
}

func onHardware(r *bench.Report) string {
	words := r.Engine
	if r.Hardware != "" {
		words += " on " + r.Hardware
	}
	return words
}

// benchTable has a row a level: means, as throughput follows from them, and TTFT's slowest in a hundred. Times are in milliseconds.
func benchTable(r *bench.Report) *term.Table {
	tb := &term.Table{Sides: slices.Repeat([]term.Side{term.Right}, 8)}
	var head []term.Text
	for _, h := range []string{"users", "TTFT ms", "p99", "predicted", "TPOT ms", "predicted", "tok/s", "predicted"} {
		head = append(head, term.Say(h, term.Dim))
	}
	tb.Row(head...)
	for i := range r.Rows {
		tb.Row(benchRow(&r.Rows[i])...)
	}
	return tb
}

func benchRow(x *bench.Row) []term.Text {
	said := func(v float64) term.Text { return term.Say(term.Tick(v)) }
	row := []term.Text{term.Say(unit.Count(x.Users)), said(x.TTFT.Mean), said(x.TTFT.P99), nil, nil, nil, said(x.Output), nil}
	if x.TPOT != nil {
		row[4] = said(x.TPOT.Mean)
	}
	if s := x.Predicted; s != nil {
		row[3] = inBand(x.TTFT.Mean, s.TTFT, s.TTFTLow, s.TTFTHigh)
		row[7] = inBand(x.Output, s.Total, s.TotalLow, s.TotalHigh)
	}
	if s := x.Predicted; s != nil && x.TPOT != nil {
		row[5] = inBand(x.TPOT.Mean, s.TPOT, s.TPOTLow, s.TPOTHigh)
	}
	return row
}

// inBand is a prediction, and whether what was measured lies in its band; "?" where there is none.
func inBand(measured float64, mid, low, high *float64) term.Text {
	if mid == nil || low == nil || high == nil {
		return term.Say("?", term.Dim)
	}
	sign := term.Say(" ✗", term.InkTight)
	if measured >= *low && measured <= *high {
		sign = term.Say(" ✓", term.Dim)
	}
	return term.Join(term.Say(term.Tick(*mid)), sign)
}
