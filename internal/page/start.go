package page

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/render"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/unit"
)

// opening is a question that users come with: what is typed, and the rest of its example.
type opening struct {
	asks, ask string
	words     [][3]string // key, label, value
	kept      [][2]string
	gist      func(*memwall.Answer) (lead, under string)
}

// openings returns the questions in the user's words.
func openings() []opening {
	return []opening{
		{"Will it run on my card?", "fit", [][3]string{{modelKey, "model", "qwen3-30b-a3b"}, {"on", "card", "rtx-4060-ti-16gb"}}, nil,
			gist},
		{"Which GPU do I need?", "plan", [][3]string{{modelKey, "model", "qwen3-32b"}}, nil, gist},
		{"How many users?", "fit", [][3]string{{modelKey, "model", "llama-3.1-8b"}, {"on", "hardware", "l40s"}}, nil, usersOf},
		{"What does training take?", "train", [][3]string{{modelKey, "model", "llama-3.1-8b"}, {"on", "hardware", "rtx-4090"}},
			[][2]string{{"method", "qlora"}, {"seq", "4k"}, {"tokens", "10M"}}, trainingOf},
	}
}

// gist summarizes an answer in two lines.
func gist(a *memwall.Answer) (lead, under string) {
	blocks := render.Parts(a)
	if len(blocks) == 0 {
		h := render.HeadOf(a)
		return h.Sign + " " + h.Word + ". " + h.Answer + ".", h.Under + "."
	}
	lead = capitalised(blocks[0].Lead).String() + "."
	for _, b := range followers(blocks[1:]) {
		under = term.Capital(b.Words.String()) + "."
	}
	return lead, under
}

// usersOf summarizes how many concurrent users there is room for.
func usersOf(a *memwall.Answer) (lead, under string) {
	most := maxUsers(a)
	if most == nil {
		return gist(a)
	}
	_, under = gist(a)
	return fmt.Sprintf("✓ Room for %s users at once, %s tokens each.", unit.Count(*most), unit.Length(int64(a.Plan.Context))), under
}

// trainingOf summarizes the method with which training fits, and what a run needs.
func trainingOf(a *memwall.Answer) (lead, under string) {
	lead, under = gist(a)
	under += " " + strings.Join(render.TrainAsked(a)[1:3], ", ")
	for _, r := range render.StepRows(a) {
		if r[0] == "run" {
			under += "; " + r[1]
		}
	}
	return lead, under + "."
}

// start returns the first page: common questions, each answered for an example.
func (s *Site) start(v *view) Response {
	v.state, v.title = s.state(""), "Will it run on my card?"
	v.add(el("h1", id("answer"), class("lesson"), txt("Does the model fit, and where does every byte go?")))
	cards := all{}
	for _, o := range openings() {
		cards = append(cards, v.opening(&o))
	}
	v.add(el("div", class("openings"), cards, v.openFailure()))
	return Response{Status: 200, HTML: v.document()}
}

// opening draws one question with its words, and its example's answer with a link to the full one.
func (v *view) opening(o *opening) part {
	s := v.site.state(o.ask)
	fields := all{}
	for _, w := range o.words {
		s.query.Set(w[0], w[2])
		fields = append(fields, el("input", attr{"name", w[0]}, attr{"value", w[2]}, attr{"aria-label", w[1]}, v.site.offered(w[0]),
			attr{"spellcheck", "false"}))
	}
	for _, k := range o.kept {
		s.query.Set(k[0], k[1])
		fields = append(fields, el("input", attr{"type", "hidden"}, attr{"name", k[0]}, attr{"value", k[1]}))
	}
	form := el("form", class("open"), v.formAt(o.ask), fields, el("button", attr{"type", "submit"}, txt("Ask")))
	return el("section", el("h2", txt(o.asks)), form, v.answerTo(o, s))
}

// answerTo draws the answer to an opening's example.
func (v *view) answerTo(o *opening, s *state) part {
	a := v.fitted(s)
	if a == nil {
		return all(nil)
	}
	lead, under := o.gist(a)
	return el("a", class("gist"), set("data-live"), attr{"href", s.href()}, el("b", txt(lead)), txt(" "), words(under))
}

// openFailure draws the form for pasting the output of a failed program.
func (v *view) openFailure() part {
	form := el("form", class("open"), v.formAt("diagnose"), el("textarea", attr{"name", "text"}, attr{"rows", "3"},
		attr{"aria-label", "what the program printed"}, attr{"spellcheck", "false"}, set("data-example"), txt(exampleLog)),
		el("button", attr{"type", "submit"}, class("shown"), txt("Ask")))
	s := v.site.state("diagnose")
	answer := part(all(nil))
	if a, err := v.site.Asker.AskContext(v.ctx, &memwall.Request{Ask: "diagnose", Text: exampleLog}); err == nil {
		lead, under := gist(a)
		answer = el("a", class("gist"), set("data-live"), attr{"href", s.href()}, el("b", txt(lead)), txt(" "), words(under))
	}
	return el("section", class("whole"), el("h2", txt("Why did it run out?")), form, answer)
}
