package planner

import (
	"fmt"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/internal/planner/change"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/unit"
)

// sensitivities returns the effects of doubling the load and of halving the formats.
func (p *Planner) sensitivities() (out []api.WhatIf) {
	now := p.base.Plan
	for _, s := range []change.Setting{
		{Words: "twice the context", Set: func(r *api.Request) {
			r.Context, r.PromptTokens, r.OutputTokens = 2*now.Context, 2*now.PromptTokens, 2*now.OutputTokens
		}},
		{Words: "half the context", Set: func(r *api.Request) {
			r.Context, r.PromptTokens, r.OutputTokens = now.Context/2, now.PromptTokens/2, now.OutputTokens/2
		}},
		{Words: "twice the users", Set: func(r *api.Request) { r.Sequences = 2 * now.Sequences }},
	} {
		if r := p.Asked; r.ContextTotal == 0 {
			s.Set(&r)
			out = p.addWhatIf(out, s.Words, &r)
		}
	}
	if a := p.WeightsAxis(p.Question); len(a.Settings) > 1 {
		half := halfOf(p.Question, a.Settings[1:])
		r := p.Asked
		half.Set(&r)
		out = p.addWhatIf(out, half.Words, &r)
	}
	if a := p.CacheAxis(p.Question); len(a.Settings) > 1 {
		r := p.Asked
		a.Settings[1].Set(&r)
		out = p.addWhatIf(out, a.Settings[1].Words, &r)
	}
	return out
}

// halfOf returns the first weight setting with about half the bits or fewer, else the last.
func halfOf(q *question.Question, settings []change.Setting) *change.Setting {
	now := dtype.FindRecipe(q.Request.Weights)
	for i := range settings {
		if to := dtype.FindRecipe(settings[i].Short); now != nil && to != nil && to.BulkBits() <= 0.55*now.BulkBits() {
			return &settings[i]
		}
	}
	return &settings[len(settings)-1]
}

// addWhatIf evaluates a plan and adds the outcome, unless it is refused.
func (p *Planner) addWhatIf(out []api.WhatIf, words string, r *api.Request) []api.WhatIf {
	q, a, err := p.ask(r)
	if err != nil || len(a.Devices) == 0 {
		return out
	}
	w := api.WhatIf{Change: words, Patch: change.PatchOf(&p.Asked, r), Needed: a.Devices[0].Needed, Verdict: a.Verdict,
		SpeedRatio: question.Faster(p.base.Speed, a.Speed)}
	if x, y := p.base.Speed, a.Speed; x != nil && y != nil {
		w.TotalRatio = question.Ratio(x.Total, y.Total)
	}
	w.MaxSequences = q.MaxSequences(q.Job.Load().Context)
	return append(out, w)
}

// upgrades returns the effects of doubling one property of the hardware.
func (p *Planner) upgrades() (out []api.WhatIf) {
	m := p.Question.Job.Machine
	if m.CPUOnly || len(m.Groups) == 0 {
		return nil
	}
	for _, u := range []struct {
		words  string
		change func(*hardware.Machine)
	}{
		{"twice the memory", func(m *hardware.Machine) { eachDevice(m, twiceMemory) }},
		{"twice the bandwidth", func(m *hardware.Machine) { eachDevice(m, func(d *hardware.Device) { d.Bandwidth.Value *= 2 }) }},
		{"twice the arithmetic", func(m *hardware.Machine) { eachDevice(m, twicePeaks) }},
		{"twice the link", twiceLink},
	} {
		if u.words == "twice the link" && p.Question.Request.Ranks() < 2 && !engine.ReadsGGUF(p.Question.Engine) {
			continue
		}
		out = p.upgraded(out, u.words, u.change)
	}
	mostHelp(out, p.base.Verdict)
	return out
}

// upgraded evaluates the plan on a machine known only to this search.
func (p *Planner) upgraded(out []api.WhatIf, words string, change func(*hardware.Machine)) []api.WhatIf {
	m := *p.Question.Job.Machine
	m.Groups = append([]hardware.Group(nil), m.Groups...)
	change(&m)
	r := p.Asked
	r.Hardware = fmt.Sprintf("%s with %s", p.Question.Job.Machine.Name, words)
	p.env.Memo.Machines[question.MachineKey{Name: r.Hardware, Devices: int(r.Devices)}] = question.MachineFound{Machine: m}
	had := len(out)
	if out = p.addWhatIf(out, words, &r); len(out) > had {
		out[had].Patch = nil
		if p.base.Verdict == api.DoesNotFit {
			out[had].SpeedRatio, out[had].TotalRatio = nil, nil // there is no realistic baseline
		}
	}
	return out
}

func eachDevice(m *hardware.Machine, change func(*hardware.Device)) {
	for i := range m.Groups {
		change(&m.Groups[i].Device)
	}
}

// twiceMemory doubles a device's memory; the driver's reserve stays the same.
func twiceMemory(d *hardware.Device) {
	more := d.Memory.Value
	for _, f := range []*hardware.Fact[unit.Bytes]{&d.Memory, &d.Reported, &d.Usable} {
		if f.Known {
			f.Value += more
		}
	}
}

func twicePeaks(d *hardware.Device) {
	p := &d.Peaks
	for _, f := range []*hardware.Fact[unit.FLOPRate]{&p.FP32, &p.TF32, &p.FP16, &p.BF16, &p.FP8, &p.FP4, &p.INT8} {
		f.Value *= 2
	}
}

func twiceLink(m *hardware.Machine) {
	m.Intra.EachWay.Value *= 2
	m.Inter.EachWay.Value *= 2
	eachDevice(m, func(d *hardware.Device) {
		d.Link.EachWay.Value *= 2
		d.PCIe.EachWay.Value *= 2
	})
}

// mostHelp marks the upgrade that makes the plan fit, or else makes it fastest.
func mostHelp(all []api.WhatIf, was api.Verdict) {
	best := -1
	gain := func(w *api.WhatIf) float64 {
		x := 0.0
		if w.SpeedRatio != nil {
			x = *w.SpeedRatio
		}
		if question.VerdictSeverity[w.Verdict] < question.VerdictSeverity[was] {
			x += 1000
		}
		return x
	}
	for i := range all {
		if best < 0 || gain(&all[i]) > gain(&all[best]) {
			best = i
		}
	}
	if best >= 0 && gain(&all[best]) > 1.02 && (was == api.Fits ||
		question.VerdictSeverity[all[best].Verdict] < question.VerdictSeverity[was]) {
		all[best].HelpsMost = true
	}
}
