package memwall

import (
	"fmt"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/unit"
)

// WhatIf is what follows from one step aside: of the plan (a patch), or of the hardware (no patch: nobody sells it).
type WhatIf struct {
	Change  string         `json:"change"`
	Patch   map[string]any `json:"patch,omitempty"`
	Needed  unit.Bytes     `json:"needed_bytes"`
	Verdict Verdict        `json:"verdict"`
	// MaxSequences is how many sequences would have room, null where nothing bounds them.
	MaxSequences *int64   `json:"max_sequences"`
	SpeedRatio   *float64 `json:"speed_ratio"`
	// TotalRatio is of the tokens of all users together.
	TotalRatio *float64 `json:"total_ratio"`
	// HelpsMost marks the upgrade that mends the plan, or else makes it fastest.
	HelpsMost bool `json:"helps_most,omitempty"`
}

// sensitivities are what doubling the load and halving the formats does.
func (p *planner) sensitivities() (out []WhatIf) {
	now := p.base.Plan
	for _, s := range []setting{
		{words: "twice the context", set: func(r *Request) {
			r.Context, r.PromptTokens, r.OutputTokens = 2*now.Context, 2*now.PromptTokens, 2*now.OutputTokens
		}},
		{words: "half the context", set: func(r *Request) {
			r.Context, r.PromptTokens, r.OutputTokens = now.Context/2, now.PromptTokens/2, now.OutputTokens/2
		}},
		{words: "twice the users", set: func(r *Request) { r.Sequences = 2 * now.Sequences }},
	} {
		if r := p.asked; r.ContextTotal == 0 {
			s.set(&r)
			out = p.tried(out, s.words, &r)
		}
	}
	if a := p.weightsAxis(p.q); len(a.settings) > 1 {
		half := halfOf(p.q, a.settings[1:])
		r := p.asked
		half.set(&r)
		out = p.tried(out, half.words, &r)
	}
	if a := p.cacheAxis(p.q); len(a.settings) > 1 {
		r := p.asked
		a.settings[1].set(&r)
		out = p.tried(out, a.settings[1].words, &r)
	}
	return out
}

// halfOf is the first setting of weights with about half the bits or less, else the last.
func halfOf(q *question, settings []setting) *setting {
	now := dtype.FindRecipe(q.request.Weights)
	for i := range settings {
		if to := dtype.FindRecipe(settings[i].short); now != nil && to != nil && to.BulkBits() <= 0.55*now.BulkBits() {
			return &settings[i]
		}
	}
	return &settings[len(settings)-1]
}

// tried asks a plan and adds what follows, unless it is refused.
func (p *planner) tried(out []WhatIf, words string, r *Request) []WhatIf {
	q, a, err := p.ask(r)
	if err != nil || len(a.Devices) == 0 {
		return out
	}
	w := WhatIf{Change: words, Patch: patchOf(&p.asked, r), Needed: a.Devices[0].Needed, Verdict: a.Verdict, SpeedRatio: faster(p.base.Speed, a.Speed)}
	if x, y := p.base.Speed, a.Speed; x != nil && y != nil {
		w.TotalRatio = ratio(x.Total, y.Total)
	}
	w.MaxSequences = q.maxSequences(q.job.Load().Context)
	return append(out, w)
}

// upgrades are what twice of one thing of the hardware would bring.
func (p *planner) upgrades() (out []WhatIf) {
	m := p.q.job.Machine
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
		if u.words == "twice the link" && p.q.request.Ranks() < 2 && !engine.ReadsGGUF(p.q.engine) {
			continue
		}
		out = p.upgraded(out, u.words, u.change)
	}
	mostHelp(out, p.base.Verdict)
	return out
}

// upgraded asks the plan on a machine that only this search knows.
func (p *planner) upgraded(out []WhatIf, words string, change func(*hardware.Machine)) []WhatIf {
	m := *p.q.job.Machine
	m.Groups = append([]hardware.Group(nil), m.Groups...)
	change(&m)
	r := p.asked
	r.Hardware = fmt.Sprintf("%s with %s", p.q.job.Machine.Name, words)
	p.asker.memo.machines[machineKey{r.Hardware, int(r.Devices)}] = machineFound{machine: m}
	had := len(out)
	if out = p.tried(out, words, &r); len(out) > had {
		out[had].Patch = nil
		if p.base.Verdict == DoesNotFit {
			out[had].SpeedRatio, out[had].TotalRatio = nil, nil // nobody runs what it would be compared with
		}
	}
	return out
}

func eachDevice(m *hardware.Machine, change func(*hardware.Device)) {
	for i := range m.Groups {
		change(&m.Groups[i].Device)
	}
}

// twiceMemory doubles what a device has; what its driver keeps stays.
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

// mostHelp marks the upgrade that mends a plan, or else the one that makes it fastest.
func mostHelp(all []WhatIf, was Verdict) {
	best := -1
	gain := func(w *WhatIf) float64 {
		x := 0.0
		if w.SpeedRatio != nil {
			x = *w.SpeedRatio
		}
		if severity[w.Verdict] < severity[was] {
			x += 1000
		}
		return x
	}
	for i := range all {
		if best < 0 || gain(&all[i]) > gain(&all[best]) {
			best = i
		}
	}
	if best >= 0 && gain(&all[best]) > 1.02 && (was == Fits || severity[all[best].Verdict] < severity[was]) {
		all[best].HelpsMost = true
	}
}
