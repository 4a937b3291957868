package learn

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/memwall/memwall"
)

// Tell returns the lesson of a topic with the numbers of an example. The error is a *memwall.Error about the topic, the
// model or the hardware. A figure that is unknown for the example is shown as "unknown", and the lesson says why.
func Tell(asker *memwall.Asker, topic string, x Example) (*Lesson, error) {
	name, err := find(topic)
	if err != nil {
		return nil, err
	}
	return tell(asker, read("lessons/"+name), x)
}

// tell returns the lesson of a script.
func tell(asker *memwall.Asker, s *script, x Example) (*Lesson, error) {
	x.Model, x.Hardware = cmp.Or(x.Model, s.key("model")), cmp.Or(x.Hardware, s.key("on"))
	e, err := resolved(asker, x)
	if err != nil {
		return nil, err
	}
	w := newWriter(newDesk(asker, e, s.asks))
	l := &Lesson{Topic: s.key("topic"), Title: w.text(s.key("title")).String(), Model: e.name, Hardware: e.title, Next: list(s.key("next"))}
	for i := range s.blocks {
		w.block(l, &s.blocks[i])
	}
	l.Questions, l.Unknown = w.desk.questions(), w.unknown
	if err := cmp.Or(s.err, w.err); err != nil {
		return nil, &memwall.Error{Code: memwall.Internal, Field: "topic", Value: l.Topic,
			Message: fmt.Sprintf("the lesson %s: %v", l.Topic, err), Hint: "this is a bug; report it"}
	}
	return l, nil
}

// block evaluates a block and adds it to a lesson.
func (w *writer) block(l *Lesson, c *chunk) {
	if !w.shown(c.when) {
		return
	}
	switch c.kind {
	case "try":
		for _, t := range c.lines {
			if w.shown(t.when) {
				l.Try = append(l.Try, w.desk.command(t.text))
			}
		}
	case "law":
		for _, t := range w.lines(c) {
			l.Blocks = append(l.Blocks, Block{Kind: Law, Text: t})
		}
	default:
		if b := w.shownAs(c); b != nil {
			l.Blocks = append(l.Blocks, *b)
		}
	}
}

// shownAs evaluates a block of one kind; nil if there is nothing to show.
func (w *writer) shownAs(c *chunk) *Block {
	switch c.kind {
	case "table":
		return w.table(c)
	case "bars":
		return w.bars(c)
	case "formula":
		return w.formula(c)
	case "ledger":
		return w.ledger(c)
	case "read":
		return w.erratum(c)
	}
	var words []string
	for _, l := range c.lines {
		if w.shown(l.when) {
			words = append(words, l.text)
		}
	}
	return &Block{Kind: Paragraph, Text: w.text(strings.Join(words, " "))}
}

// lines returns the lines of a block that are shown and not empty.
func (w *writer) lines(c *chunk) (out []Text) {
	for _, l := range c.lines {
		if w.shown(l.when) {
			out = append(out, w.text(l.text))
		}
	}
	return out
}

// table evaluates a table: column heads in the first line, cells separated by bars.
func (w *writer) table(c *chunk) *Block {
	b := &Block{Kind: Table}
	for i, l := range c.lines {
		if !w.shown(l.when) {
			continue
		}
		row := w.cells(l.text)
		if i == 0 {
			for _, h := range row.Cells {
				b.Head = append(b.Head, h.String())
			}
			continue
		}
		if len(row.Cells) != len(b.Head) {
			w.fault("%d cells below %d heads: %s", len(row.Cells), len(b.Head), l.text)
		}
		b.Rows = append(b.Rows, row)
	}
	return b
}

// cells splits a row at bars outside braces.
func (w *writer) cells(s string) (r Row) {
	depth, from := 0, 0
	for i, c := range s + "|" {
		switch {
		case c == '{':
			depth++
		case c == '}':
			depth--
		case c == '|' && depth == 0:
			r.Cells = append(r.Cells, w.text(strings.TrimSpace(s[from:i])))
			from = i + 1
		}
	}
	return r
}

// bars evaluates rows of a label and a number, on one scale.
func (w *writer) bars(c *chunk) *Block {
	b := &Block{Kind: Bars}
	longest := 0.0
	for _, l := range c.lines {
		if !w.shown(l.when) {
			continue
		}
		r := w.cells(l.text)
		if len(r.Cells) != 2 {
			w.fault("%d cells: bars have a label and a number: %s", len(r.Cells), l.text)
			continue
		}
		r.Share = r.Cells[1].number()
		longest = max(longest, r.Share)
		b.Rows = append(b.Rows, r)
	}
	for i := range b.Rows {
		if longest > 0 {
			b.Rows[i].Share /= longest
		}
	}
	return b
}

// number returns the first number that a text computes, or 0.
func (t Text) number() float64 {
	for _, p := range t {
		if p.Value != nil {
			return *p.Value
		}
	}
	return 0
}

// formula shows how memwall computed a ledger item or a field of a roof: "formula: one kv_cache".
func (w *writer) formula(c *chunk) *Block {
	name, item, _ := strings.Cut(c.head, " ")
	r := w.desk.reply(name)
	switch {
	case r.err != nil:
		w.missed(r.err)
		return nil
	case r.answer == nil || len(r.answer.Devices) == 0:
		w.fault("%s is not an answer with a ledger: %s", name, c.head)
		return nil
	}
	for i, it := range r.answer.Devices[0].Ledger {
		if e, ok := r.answer.Explain["/devices/0/ledger/"+strconv.Itoa(i)+"/bytes"]; ok && it.ID == item {
			return &Block{Kind: Formula, Name: it.Name, Formula: &e}
		}
	}
	return nil
}

// ledger shows the ledger of an answer's first device: "ledger: one".
func (w *writer) ledger(c *chunk) *Block {
	r := w.desk.reply(c.head)
	if r.err != nil || r.answer == nil || len(r.answer.Devices) == 0 {
		w.missed(cmp.Or(r.err, fmt.Errorf("%s has no ledger", c.head)))
		return nil
	}
	return &Block{Kind: Ledger, Device: &r.answer.Devices[0]}
}

// articles are titles by their number in docs/worked-examples.md.
var articles = map[string]string{
	"1": "LLMs: hardware, memory, and performance", "2": "Why memory systems matter in large language models",
	"3": "A primer on GPU memory and quantisation",
	"4": "GPU memory for LLMs", "5": "GPU and hardware considerations",
}

// erratum evaluates said:, ours: and why: after "read: CLAIM", where CLAIM is a row of docs/worked-examples.md.
func (w *writer) erratum(c *chunk) *Block {
	number, _, _ := strings.Cut(c.head, ".")
	x := &Wrong{Article: articles[number], Claim: c.head}
	for _, l := range c.lines {
		key, rest, _ := strings.Cut(l.text, ":")
		switch rest = strings.TrimSpace(rest); key {
		case "said":
			x.Said = rest
		case "ours":
			x.Ours = w.text(rest)
		case "why":
			x.Why = w.text(rest)
		default:
			w.fault("%q is neither said:, ours: nor why:", l.text)
		}
	}
	if x.Article == "" || x.Said == "" || x.Ours == nil {
		w.fault("read: %s wants the number of a row, said: and ours:", c.head)
	}
	return &Block{Kind: Erratum, Errata: x}
}
