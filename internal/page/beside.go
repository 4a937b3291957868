package page

import (
	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/render"
)

// beside is the plan and others that were pinned, on one scale.
func (v *view) beside() {
	pin := v.state.with()
	pin.beside = append([]string{v.state.plain()}, v.state.beside...)
	link := el("a", id("compare"), attr{"href", pin.href()}, set("data-live"), txt("Keep this plan to compare with"))
	if len(v.state.beside) == 0 {
		v.add(el("p", class("cap"), link))
		return
	}
	states, answers := []*state{v.state}, []*memwall.Answer{v.answer}
	for _, query := range v.state.beside {
		if s, err := readState("fit", query); err == nil {
			states, answers = append(states, s), append(answers, v.sized(s))
		}
	}
	scale := render.ScaleOf(answers...)
	rows := all{el("tr", el("th", txt("plan")), el("th", txt("each device")), el("th", txt("verdict")), number("th", "tok/s each"), el("th"))}
	for i, a := range answers {
		if a != nil {
			rows = append(rows, v.besideRow(i, states[i], a, raw(render.SmallBar(a, scale))))
		}
	}
	v.add(el("section", class("cmp"), el("h2", txt("Side by side")), el("p", class("cap"), txt("The first is the plan above. "), when(len(v.state.beside) < mostBeside, link)), el("table", rows)))
}

// besideRow is one of the plans. Others than the first can be looked at, and taken away.
func (v *view) besideRow(i int, s *state, a *memwall.Answer, bar raw) part {
	model, machine, engine := render.Names(a)
	h := render.HeadOf(a)
	name := part(txt(model + ", " + a.Plan.Weights + ", " + machine + ", " + engine))
	drop := part(all(nil))
	if i > 0 {
		to := v.state.with()
		to.beside = append(append([]string(nil), v.state.beside[:i-1]...), v.state.beside[i:]...)
		name = el("a", attr{"href", s.href()}, name)
		drop = el("a", attr{"href", to.href()}, set("data-live"), attr{"aria-label", "take away"}, txt("×"))
	}
	rate := "—"
	if rows, _ := render.SpeedRows(a); len(rows) > 0 {
		rate = rows[0].Value
	}
	look := "v " + lookOf[a.Verdict]
	return el("tr", el("td", name), el("td", bar), el("td", class(look), txt(h.Sign+" "+h.Answer)), number("td", rate), el("td", drop))
}
