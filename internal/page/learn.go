package page

import (
	"fmt"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/render"
	"github.com/memwall/memwall/internal/render/svg"
	"github.com/memwall/memwall/learn"
)

// learn draws the list of lessons, or one lesson with its questions.
func (v *view) learn() {
	if v.err != nil {
		v.add(el("h1", txt("Learn")), v.failure())
		return
	}
	topic := v.state.query.Get(topicKey)
	if topic == "" {
		v.lessons()
		return
	}
	l, err := learn.Tell(v.site.Asker, topic, learn.Example{Model: v.request.Model, Hardware: v.request.Hardware})
	if err != nil {
		v.fail(err)
		v.add(el("h1", txt("Learn")), v.failure())
		return
	}
	v.title = l.Title
	v.add(el("article", id("answer"), el("h1", class("lesson"), txt(l.Title)), v.example(l), v.blocks(l.Blocks), v.unknown(l), tries(l.Try),
		v.quiz(l.Topic), v.next(l)))
}

// lessons draws the list.
func (v *view) lessons() {
	rows := all{}
	for _, t := range learn.Topics() {
		rows = append(rows, el("tr", el("td", el("a", attr{"href", v.state.with(topicKey, t.Topic).href()}, txt(t.Topic))),
			el("td", txt(t.Line))))
	}
	v.add(el("h1", txt("Where an LLM's memory and time go")), el("p", class("sub"),
		txt("Lessons whose numbers are computed as you read, for the model and hardware you choose.")), el("table", class("lessons"), rows))
}

// example draws the example that a lesson's numbers are of, which can be changed.
func (v *view) example(l *learn.Lesson) part {
	field := func(key, label, value string) part {
		return el("input", class("word"), attr{"name", key}, attr{"value", v.state.query.Get(key)}, attr{"placeholder", value},
			attr{"aria-label", label}, v.site.offered(key), attr{"size", fmt.Sprint(len([]rune(value)))}, attr{"spellcheck", "false"})
	}
	here := v.formAt("learn")
	return el("form", id("question"), here, el("input", attr{"type", "hidden"}, attr{"name", topicKey}, attr{"value", l.Topic}),
		el("p", class("sub"), txt("with the numbers of "), field(modelKey, "model", l.Model), txt(" on "),
			field("on", "hardware", l.Hardware)), el("button", attr{"type", "submit"}, class("go"), txt("Tell")), v.lists())
}

func (v *view) blocks(list []learn.Block) (out all) {
	for i := range list {
		out = append(out, v.block(&list[i]))
	}
	return out
}

func (v *view) block(b *learn.Block) part {
	switch b.Kind {
	case learn.Law:
		return el("p", class("law"), txt(b.Text.String()))
	case learn.Formula:
		return el("div", originOf(render.OriginFrom(b.Name, b.Formula)))
	case learn.Table:
		return lessonTable(b)
	case learn.Bars:
		return lessonBars(b)
	case learn.Ledger:
		a := &memwall.Answer{Devices: []memwall.Device{*b.Device}}
		v.pictures++
		name := fmt.Sprintf("l%d", v.pictures)
		return el("figure", el("div", class("wide"), raw(svg.LedgerPicture(a, name, 760))),
			el("div", class("narrow"), raw(svg.LedgerPicture(a, name+"n", 340))))
	case learn.Erratum:
		return el("div", class("erratum"), attr{"role", "note"}, el("p", el("span", class("bad"), txt("✗ ")), txt(b.Errata.Said)),
			el("p", el("span", class("ok"), txt("✓ ")), el("b", txt(b.Errata.Ours.String())), txt(" "+b.Errata.Why.String()+" "),
				el("span", class("m"), txt("("+b.Errata.Article+")"))))
	}
	return el("p", txt(b.Text.String()))
}

func lessonTable(b *learn.Block) part {
	head := all{}
	for _, h := range b.Head {
		head = append(head, el("th", txt(h)))
	}
	rows := all{el("tr", head)}
	for _, r := range b.Rows {
		row := all{}
		for _, c := range r.Cells {
			row = append(row, el("td", txt(c.String())))
		}
		rows = append(rows, el("tr", row))
	}
	return el("table", rows)
}

func lessonBars(b *learn.Block) part {
	rows := all{}
	for _, r := range b.Rows {
		bar := raw(fmt.Sprintf(`<svg class="mw" viewBox="0 0 100 8" width="260" height="12" preserveAspectRatio="none" aria-hidden="true"><rect class="f0" width="%.1f" height="8"/></svg>`, 100*r.Share))
		rows = append(rows, el("tr", el("td", txt(r.Cells[0].String())), el("td", bar), number("td", r.Cells[1].String())))
	}
	return el("table", rows)
}

func (v *view) unknown(l *learn.Lesson) (out all) {
	for _, u := range l.Unknown {
		out = append(out, el("p", class("cap"), txt("unknown: "+u)))
	}
	return out
}

func tries(list []string) (out all) {
	for _, t := range list {
		out = append(out, command(t))
	}
	return out
}

// quiz draws the questions of a topic, each with its answer folded.
func (v *view) quiz(topic string) part {
	list, err := learn.Quiz(topic, nil)
	if err != nil || len(list) == 0 {
		return all(nil)
	}
	out := all{el("h2", txt("Would you know?")), el("p", class("cap"), txt("as in an interview; the answers are computed as you read"))}
	for i := range list {
		q, err := list[i].Work(v.site.Asker)
		if err != nil {
			continue
		}
		choices := all{}
		for _, c := range q.Choices {
			choices = append(choices, el("li", txt(c)))
		}
		out = append(out, el("details", el("summary", txt(q.Text.String())), when(len(choices) > 0, el("ul", choices)),
			el("p", el("b", txt(q.Answer.Text))), v.blocks(q.Working), tries(q.Try)))
	}
	return el("section", out)
}

func (v *view) next(l *learn.Lesson) part {
	out := all{txt("next: ")}
	for i, n := range l.Next {
		if i > 0 {
			out = append(out, txt(", "))
		}
		out = append(out, el("a", attr{"href", v.state.with(topicKey, n).href()}, txt(n)))
	}
	return when(len(l.Next) > 0, el("p", out))
}
