package page

import (
	"github.com/memwall/memwall/internal/render"
)

// wide is how many letters a screen has on a page.
const wide = 100

// screen draws a question whose answer stands as it does at a terminal, with its pictures.
func (v *view) screen() {
	v.asking()
	if v.err != nil {
		v.add(v.failure())
		return
	}
	if v.answer == nil {
		return
	}
	st := render.Style{Width: wide, Colour: render.HTML}
	text := ""
	switch v.request.Ask {
	case "plan":
		text = render.Plan(v.answer, render.PlanOptions{}, st)
	case "pick":
		text = render.Pick(v.answer, st)
	case "train":
		text = render.Train(v.answer, render.FitOptions{}, st)
	case "diagnose":
		text = render.Diagnose(v.answer, false, st)
	}
	if v.request.Ask == "train" && len(v.answer.Devices) > 0 {
		v.picture()
	}
	v.add(el("div", id("answer"), class("screen"), attr{"tabindex", "0"}, el("pre", raw(text))))
	if v.request.Ask != "diagnose" {
		v.add(el("p", class("cap"), txt("the same question at a terminal")), command(v.state.command()))
	}
}

// asking is the sentence of each such question.
func (v *view) asking() {
	model, on := v.word(modelKey, "model", "llama-3.1-8b"), v.word("on", "hardware", "rtx-4090")
	switch v.request.Ask {
	case "plan":
		v.form(el("h1", txt("What must change for "), model, txt(" to run on "), on, txt(", for "), v.word("users", "users", "1"), txt(" users at "), v.word("ctx", "context, in tokens", "8k"), txt(" tokens each?")), "plan")
	case "pick":
		v.form(el("h1", txt("Which models run on "), on, txt(", for "), v.word("users", "users", "1"), txt(" users at "), v.word("ctx", "context, in tokens", "8k"), txt(" tokens each?")), "pick")
	case "train":
		v.form(el("h1", txt("What does it take to train "), model, txt(" by "), v.word("method", "method", "full"), txt(" on "), on, txt(", with "), v.word("micro-batch", "sequences at once", "1"), txt(" sequences of "), v.word("seq", "length of a sequence", "4k"), txt(" tokens at once?")), "train")
	case "diagnose":
		v.form(el("h1", txt("Why did it run out of memory?")), "diagnose", el("textarea", attr{"name", "text"}, attr{"rows", "10"}, attr{"aria-label", "what the program printed"}, attr{"placeholder", "Paste what the program printed: its message, or its whole log."}, attr{"spellcheck", "false"}, txt(v.state.paste)))
	}
}
