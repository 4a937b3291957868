package page

import (
	"maps"
	"slices"

	"github.com/memwall/memwall/internal/render"
	"github.com/memwall/memwall/internal/render/svg"
)

// train draws the page of a training step: its peak, the memory of each phase, the ledger, and its duration.
func (v *view) train() {
	if v.asking(); !v.answered() {
		return
	}
	v.title = v.headline()
	if len(v.answer.Devices) > 0 && len(v.answer.Devices[0].Phases) > 0 {
		c, middle := svg.PhasesChart(v.answer, "phases", 1136), svg.PhasesChart(v.answer, "phases-m", 736)
		v.add(el("figure", id("picture"), el("div", class("wide full"), raw(c.Wide)), el("div", class("middle"), raw(middle.Wide)),
			el("div", class("narrow"), raw(c.Narrow))))
	}
	if v.state.drag {
		return
	}
	v.trainControls()
	v.add(el("div", class("two"), v.bytes(), v.change()))
	v.steps()
	if c, ok := svg.ScheduleChart(v.answer, "schedule"); ok {
		v.add(chart(c))
	}
	v.configs()
	v.notes()
}

// steps draws how long a step and a run take.
func (v *view) steps() {
	rows := all{}
	for _, r := range render.StepRows(v.answer) {
		rows = append(rows, el("dt", txt(r[0])), el("dd", txt(r[1])))
	}
	if len(rows) > 0 {
		v.add(el("section", el("h2", txt("How long it takes")), el("dl", class("why"), rows)))
	}
}

// configs draws the configuration files of the plan for a framework.
func (v *view) configs() {
	for _, name := range slices.Sorted(maps.Keys(v.answer.Config)) {
		v.add(el("details", el("summary", txt(name)), command(v.answer.Config[name])))
	}
}
