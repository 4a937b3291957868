package page

import (
	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/render"
	"github.com/memwall/memwall/internal/render/svg"
)

// pinnedPlans draws the plan and other pinned ones on one scale.
func (v *view) pinnedPlans() {
	pin := v.state.with()
	pin.beside = append([]string{v.state.ownQuery()}, v.state.beside...)
	link := el("a", id("compare"), attr{"href", pin.href()}, set("data-live"), txt("Compare with another plan"))
	if len(v.state.beside) == 0 {
		v.add(el("p", class("cap"), link))
		return
	}
	states, answers := []*state{v.state}, []*memwall.Answer{v.answer}
	for _, query := range v.state.beside {
		if s, err := readState("fit", query); err == nil {
			states, answers = append(states, s), append(answers, v.fitted(s))
		}
	}
	scale := svg.ScaleOf(answers...)
	rows := all{el("tr", el("th", txt("plan")), el("th", class("hid"), txt("each device")), el("th", txt("verdict")),
		number("th", "needs GiB"), number("th", "may use"), number("th", "users"), number("th", "tok/s each"),
		number("th", "$ per M tokens"), el("td"))}
	for i, r := range render.BesideRows(answers) {
		if answers[i] != nil {
			rows = append(rows, v.besideRow(i, states[i], &r, raw(svg.SmallBar(answers[i], scale))))
		}
	}
	v.add(el("section", class("cmp"), el("h2", txt("Side by side")), el("p", class("cap"),
		txt("The first is the plan above, which you can change; bold is best. "), when(len(v.state.beside) < mostBeside, link)),
		el("div", class("wider"), el("table", class("grid"), rows))))
}

// fitted returns the full answer to another page's question; nil if it has none.
func (v *view) fitted(s *state) *memwall.Answer {
	r, err := s.request()
	if err != nil {
		return nil
	}
	at := s.href()
	if a, known := v.others[at]; known {
		return a
	}
	a, err := v.site.Asker.AskContext(v.ctx, r)
	if err != nil {
		a = nil
	}
	if v.others == nil {
		v.others = map[string]*memwall.Answer{}
	}
	v.others[at] = a
	return a
}

// besideRow draws one of the plans. Plans other than the first can be opened and removed. Figures of a plan that does not fit are
// dimmed.
func (v *view) besideRow(i int, s *state, r *render.BesideRow, bar raw) part {
	name, drop := part(txt(r.Name)), part(all(nil))
	if i > 0 {
		to := v.state.with()
		to.beside = append(append([]string(nil), v.state.beside[:i-1]...), v.state.beside[i:]...)
		name = el("a", attr{"href", s.href()}, name)
		drop = el("a", attr{"href", to.href()}, set("data-live"), attr{"aria-label", "take away"}, txt("×"))
	}
	figures := all{}
	for _, f := range r.Figures {
		look := "n"
		switch {
		case f.Best:
			look = "n b"
		case f.Aside:
			look = "n m"
		}
		figures = append(figures, el("td", class(look), txt(f.Words)))
	}
	return el("tr", el("td", name), el("td", class("hid"), bar), el("td", class("v "+lookOf[r.Verdict]),
		txt(render.VerdictWords(r.Verdict))), figures, el("td", drop))
}
