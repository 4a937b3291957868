package page

import (
	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/render"
)

// wide is how many letters a screen has on a page.
const wide = 100

// screen draws a question whose answer stands as it does at a terminal, with its pictures.
func (v *view) screen() {
	if v.asking(); !v.answered() {
		return
	}
	st := render.Style{Width: wide, Colour: render.HTML}
	switch v.question.path {
	case "serve":
		v.text(render.Plan(v.answer, render.PlanOptions{}, st))
		v.chart(render.PlanFrontPart(v.answer, "front"))
		v.chart(render.PlanCurvePart(v.answer, "curve"))
	case "pick":
		v.text(render.Pick(v.answer, st))
	case "sim":
		v.text(render.Sim(v.answer, render.SimOptions{}, st))
		v.chart(render.SimPart(v.answer, "sim"))
	case "diagnose":
		v.text(render.Diagnose(v.answer, false, st))
		return
	}
	v.add(el("p", class("cap"), txt("the same question at a terminal")), command(v.state.command()))
}

// answered reports whether there is an answer; what is wrong is said in its place.
func (v *view) answered() bool {
	if v.err != nil {
		v.add(v.failure())
	}
	return v.answer != nil
}

// text is a screen of the terminal.
func (v *view) text(screen string) {
	v.add(el("div", id("answer"), class("screen"), attr{"tabindex", "0"}, el("pre", raw(screen))))
}

func (v *view) chart(svg string) { v.add(el("figure", class("chart"), raw(svg))) }

// plan is the ladder of changes, each a click away, and plans by what they cost and how fast they are.
func (v *view) plan() {
	if v.asking(); !v.answered() {
		return
	}
	if v.answer.Plan.Hardware == "" || len(v.answer.Ladder) == 0 {
		v.text(render.Plan(v.answer, render.PlanOptions{}, render.Style{Width: wide, Colour: render.HTML}))
		return
	}
	v.title = v.headline()
	v.picture()
	rows := all{el("tr", el("th", txt("change")), number("th", "saves GiB"), number("th", "tok/s each"), el("th", class("v hid"), txt("quality")), el("th", class("v"), txt("then")))}
	picked := false
	for _, r := range render.LadderRows(v.answer) {
		first := !picked && r.Verdict == memwall.Fits
		picked = picked || first
		rows = append(rows, v.ladderRow(&r, first))
	}
	v.add(el("section", el("h2", txt("What would change it")), el("p", class("cap"), txt("Cheapest in quality and speed first; one click applies a change. Quality is how a published score changes.")), el("table", id("rungs"), class("ladder"), rows)))
	if v.answer.Best != nil {
		v.add(el("h2", txt("Run the first that fits")), v.commands(&memwall.Answer{Flags: v.answer.Best.Flags}))
	}
	v.notes()
}

func (v *view) ladderRow(r *render.RungRow, first bool) part {
	change := part(txt(r.Change))
	if s, ok := v.state.patched(r.Patch); ok {
		change = el("a", class("q"), attr{"href", s.href()}, set("data-live"), set("data-rung"), attr{"title", r.Flags}, txt(r.Change))
	}
	look := "v " + lookOf[r.Verdict]
	return el("tr", when(first, class("pick")), el("td", change), number("td", r.Saves), number("td", r.Speed), el("td", class("v m hid"), txt(r.Quality)), el("td", class(look), txt(r.Then)))
}

// asking is the sentence of each such question.
func (v *view) asking() {
	model, on := v.word(modelKey, "model", "llama-3.1-8b"), v.word("on", "hardware", "rtx-4090")
	switch v.question.path {
	case "plan":
		v.form(el("h1", txt("What must change for "), model, txt(" to run on "), on, txt(", for "), v.word("users", "users", "1"), txt(" users at "), v.word("ctx", "context, in tokens", "8k"), txt(" tokens each?")), "plan")
	case "pick":
		v.form(el("h1", txt("Which models run on "), on, txt(", for "), v.word("users", "users", "1"), txt(" users at "), v.word("ctx", "context, in tokens", "8k"), txt(" tokens each?")), "pick")
	case "train":
		v.form(el("h1", txt("What does it take to train "), model, txt(" by "), v.word("method", "method", "full"), txt(" on "), on, txt(", with "), v.word("micro-batch", "sequences at once", "1"), txt(" sequences of "), v.word("seq", "length of a sequence", "4k"), txt(" tokens at once?")), "train")
	case "serve":
		v.form(el("h1", txt("What is the cheapest way to serve "), model, txt(" to "), v.word("users", "users", "50"), txt(" users, with the first token in "), v.word("ttft", "time to the first token, 99th percentile", "2s"), txt(" and "), v.word("tpot", "time of each further token, 99th percentile", "50ms"), txt(" for each further one, on "), v.word("on", "hardware, or several with commas", "any"), txt("?")), "serve")
	case "sim":
		v.form(el("h1", txt("What happens to "), model, txt(" on "), on, txt(" when "), v.word("rate", "requests a second", "4"), txt(" requests a second ask with "), v.word("prompt", "tokens of a prompt", "1500"), txt(" tokens for "), v.word("output", "tokens of an answer", "300"), txt("?")), "sim")
	case "diagnose":
		v.form(el("h1", txt("Why did it run out of memory?")), "diagnose", el("textarea", attr{"name", "text"}, attr{"rows", "10"}, attr{"aria-label", "what the program printed"}, attr{"placeholder", "Paste what the program printed: its message, or its whole log."}, attr{"spellcheck", "false"}, txt(v.state.paste)))
	}
}
