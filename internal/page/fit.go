package page

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/render"
	"github.com/memwall/memwall/internal/render/svg"
	"github.com/memwall/memwall/safe"
	"github.com/memwall/memwall/unit"
)

// fit draws the page of a plan: question, answer, picture, what-if controls, ledger, changes, speed, and pinned plans.
func (v *view) fit() {
	if v.sentence(); !v.answered() {
		return
	}
	v.title = v.headline()
	v.picture()
	if v.state.drag {
		return
	}
	v.controls()
	v.pinnedPlans()
	v.add(el("div", class("two"), v.bytes(), v.change()))
	v.add(el("div", class("two"), v.speed(), v.roofline()))
	v.add(el("div", class("two"), v.contexts(), v.crowd()))
	v.notes()
}

// lookOf maps verdicts to classes.
var lookOf = map[memwall.Verdict]string{memwall.Fits: "ok", memwall.Tight: "warn", memwall.DoesNotFit: "bad"}

// headline returns the largest text: yes or no, and by how much.
func (v *view) headline() string {
	h := render.HeadOf(v.answer)
	look := lookOf[v.answer.Verdict]
	v.add(el("div", id("answer"), attr{"aria-live", "polite"},
		el("p", class("ans"), el("span", class(look), txt(h.Sign+" "+h.Word+".")), txt(" "+h.Answer+".")),
		when(h.Under != "", el("p", class("sub"), words(h.Under+".")))),
		v.moved(h.Word+". "+h.Answer+". "+h.Under))
	model, machine, _ := render.Names(v.answer)
	return model + " on " + machine + ": " + h.Answer
}

// picture draws the ledger for wide, medium and narrow screens.
func (v *view) picture() {
	if len(v.answer.Devices) == 0 {
		return
	}
	v.add(el("figure", id("picture"),
		el("div", class("wide full"), raw(svg.LedgerPicture(v.answer, "lw", 1120))),
		el("div", class("middle"), raw(svg.LedgerPicture(v.answer, "lm", 720))),
		el("div", class("narrow"), raw(svg.LedgerPicture(v.answer, "ln", 340)))))
}

// bytes draws the table of the ledger. Each figure opens its derivation.
func (v *view) bytes() part {
	if len(v.answer.Devices) == 0 {
		return all(nil)
	}
	rows := all{el("tr", el("th", txt("item")), number("th", "GiB"), number("th", "±"), el("th", class("n"), txt("basis")))}
	for _, r := range render.LedgerRows(v.answer, 0) {
		rows = append(rows, v.ledgerRow(&r))
	}
	return el("section", el("h2", txt("Where every byte goes")), el("p", class("cap"),
		txt(render.GroupOf(v.answer, 0)+". Click a number for its formula and source.")), el("table", id("ledger"), rows), v.takeAway())
}

func number(tag, text string) part { return el(tag, class("n"), txt(text)) }

// ledgerRow draws a row of the ledger, and the derivation of its figure if open.
func (v *view) ledgerRow(r *render.LedgerRow) part {
	look := map[bool]string{true: "sum"}[r.Sum]
	switch {
	case r.Short:
		look = "free bad"
	case r.Limit, r.ID == "" && !r.Sum:
		look = "free"
	}
	name := all{when(r.Class != "", el("span", class("sw "+r.Class))), txt(r.Name),
		when(r.Remark != "", el("span", class("m"), txt(" "+r.Remark)))}
	basis := all{txt(r.Basis)}
	if r.Note != "" {
		basis = append(basis, el("abbr", attr{"title", r.Note}, txt("*")))
	}
	row := el("tr", when(look != "", class(look)), when(r.ID != "", attr{"data-item", r.ID}), el("td", name),
		el("td", class("n"), v.figure(r.Figure, r.Pointer)), number("td", r.Band), el("td", class("n m"), basis))
	return all{row, v.opened(r.Pointer, 4)}
}

// figure draws a number that toggles its derivation.
func (v *view) figure(words, pointer string) part {
	if _, ok := v.answer.Explain[pointer]; !ok || pointer == "" {
		return txt(words)
	}
	to := v.state.with()
	open := v.state.why == pointer
	if !open {
		to.why = pointer
	}
	return el("a", class("q"), attr{"href", to.href()}, set("data-live"), attr{"aria-expanded", fmt.Sprint(open)}, txt(words))
}

// opened draws the derivation of a number below its row.
func (v *view) opened(pointer string, columns int) part {
	if pointer == "" || v.state.why != pointer {
		return all(nil)
	}
	o := render.OriginOf(v.answer, pointer)
	if o == nil {
		return all(nil)
	}
	return el("tr", class("why"), el("td", attr{"colspan", fmt.Sprint(columns)}, originOf(o)))
}

// originOf draws how a number was computed: the formula with its values, their sources, the rule, the band.
func originOf(o *render.Origin) part {
	formula := all{}
	for _, p := range o.Formula {
		if p[0] == p[1] {
			formula = append(formula, txt(p[0]))
			continue
		}
		formula = append(formula, el("span", txt(p[1]), el("sub", txt(strings.ReplaceAll(p[0], "_", " ")))))
	}
	rows := all{}
	for _, in := range o.Inputs {
		rows = append(rows, el("tr", el("td", txt(strings.ReplaceAll(in[0], "_", " "))), number("td", in[1]),
			el("td", class("m"), txt(in[2]))))
	}
	for _, x := range [][2]string{{"band", o.Band}, {"rule", o.Rule}, {"basis", o.Basis}} {
		if x[1] != "" {
			rows = append(rows, el("tr", el("td", txt(x[0])), el("td"), el("td", class("m"), txt(x[1]))))
		}
	}
	return el("div", class("prov"), el("p", class("eq"), formula, el("br"), txt("= "), el("b", txt(o.Value))), el("table", rows),
		when(o.Pointer != "", el("p", class("cap"), el("code", txt(o.Pointer)))))
}

// change draws the ladder: what would make the plan fit, then the reasons, and the command.
func (v *view) change() part {
	a := v.answer
	out := all{}
	rows, works := v.rungs()
	if len(rows) > 0 {
		out = append(out, el("h2", txt("Make it fit")), el("p", class("cap"),
			txt("Cheapest in quality and speed first. Click one to apply it.")),
			el("table", class("ladder"), id("rungs"), el("tr", el("th", txt("change")), el("td", class("hid")), number("th", "saves GiB"),
				number("th", "speed"), el("th", class("v"), txt("verdict"))), rows))
	} else {
		out = append(out, el("h2", txt("Run it")))
	}
	return el("section", out, v.reasons(a), v.working(works))
}

// working draws the command of the plan or, if it does not fit, of the first change that makes it fit.
func (v *view) working(works *state) part {
	if v.answer.Verdict != memwall.DoesNotFit {
		return v.commands(v.answer)
	}
	if works == nil {
		return all{el("p", class("cap"), txt("No command: no single change is enough.")), v.atTerminal()}
	}
	a := v.fitted(works)
	if a == nil || a.Verdict == memwall.DoesNotFit {
		return v.atTerminal()
	}
	cap := el("p", class("cap"), txt("with the marked change applied"))
	if len(a.Flags) == 0 { // frameworks are started by their own scripts
		return all{cap, command(works.command()), v.atTerminal()}
	}
	return all{cap, v.commands(a)}
}

// rungs returns the changes, and the plan with the first that makes it fit; nil if none does, or a URL cannot express it.
func (v *view) rungs() (rows all, works *state) {
	list := render.RungRows(v.answer)
	answers := []*memwall.Answer{v.answer}
	states := make([]*state, len(list))
	for i := range list {
		var sized *memwall.Answer
		if s, ok := v.state.patched(list[i].Patch); ok {
			if states[i] = s; v.question.ask == "fit" { // other questions are not sized alone
				sized = v.sized(s)
			}
		}
		answers = append(answers, sized)
	}
	scale := svg.ScaleOf(answers...)
	first := firstRung(list)
	for i := range list {
		if i == first {
			works = states[i]
		}
		rows = append(rows, rung(&list[i], states[i], answers[i+1], scale, i == first))
	}
	return rows, works
}

// firstRung returns the index of the first change with which the plan fits, else of the first that leaves it tight; else -1.
func firstRung(list []render.RungRow) int {
	is := func(v memwall.Verdict) int {
		return slices.IndexFunc(list, func(r render.RungRow) bool { return r.Verdict == v })
	}
	if i := is(memwall.Fits); i >= 0 {
		return i
	}
	return is(memwall.Tight)
}

func rung(r *render.RungRow, s *state, a *memwall.Answer, scale unit.Bytes, first bool) part {
	change := part(txt(r.Change))
	if s != nil {
		change = el("a", class("q"), attr{"href", s.href()}, set("data-live"), set("data-rung"), attr{"title", r.Flags}, txt(r.Change))
	}
	bar := raw("")
	if a != nil {
		bar = raw(svg.SmallBar(a, scale))
	}
	look := "v " + lookOf[r.Verdict]
	return el("tr", when(first, class("pick")), el("td", change), el("td", class("hid"), bar), number("td", r.Saves), number("td", r.Speed),
		el("td", class(look), txt(r.Then)))
}

func (v *view) reasons(a *memwall.Answer) part {
	if a.Reasons == nil {
		return all(nil)
	}
	rows := all{}
	for _, x := range [][2]string{{"limits", a.Reasons.Limits}, {"scales", a.Reasons.Scales}, {"breaks first", a.Reasons.Breaks}} {
		if x[1] != "" {
			rows = append(rows, el("dt", txt(x[0])), el("dd", txt(x[1])))
		}
	}
	return el("dl", class("why"), rows)
}

// commands draws the commands that run the plan, and that ask the same question elsewhere.
func (v *view) commands(a *memwall.Answer) part {
	out := all{}
	for _, name := range slices.Sorted(maps.Keys(a.Flags)) {
		out = append(out, command(render.CommandOf(a.Flags[name], 64)))
	}
	return append(out, v.atTerminal())
}

// atTerminal draws the same question as a command line.
func (v *view) atTerminal() part {
	return all{el("p", class("cap"), txt("the same in a terminal")), command(v.state.command())}
}

func command(text string) part {
	return el("div", class("cmd"), el("code", words(unindented(text))),
		el("button", attr{"type", "button"}, class("copy"), set("hidden"), txt("Copy")))
}

// words returns the words of a command, keeping hyphenated ones unbroken, since browsers break lines after hyphens.
func words(text string) (out all) {
	for i, line := range strings.Split(text, "\n") {
		out = append(out, when(i > 0, txt("\n")))
		for j, word := range strings.Split(line, " ") {
			p := part(txt(word))
			if strings.Contains(word, "-") {
				p = el("span", p)
			}
			out = append(out, when(j > 0, txt(" ")), p)
		}
	}
	return out
}

// unindented removes the indentation common to all lines.
func unindented(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], "  ")
	}
	return strings.Join(lines, "\n")
}

// command returns the state as a memwall command line.
func (s *state) command() string {
	words := []string{"memwall", questionAt(s.ask).ask}
	if m := s.query.Get(modelKey); inline(m) {
		words = append(words, "./config.json")
	} else if m != "" {
		words = append(words, safe.Word(m))
	}
	for _, key := range sortedKeys(s) {
		if key == modelKey {
			continue
		}
		if value := s.query.Get(key); value == "true" {
			words = append(words, "--"+key)
		} else {
			words = append(words, "--"+key+" "+safe.Word(value))
		}
	}
	return render.CommandOf(strings.Join(words, " "), 64)
}

// speed draws the plan's speed.
func (v *view) speed() part {
	list, bound := render.SpeedRows(v.answer)
	if len(list) == 0 {
		return all(nil)
	}
	head := "How fast"
	if v.answer.Verdict == memwall.DoesNotFit {
		head = "How fast it would run"
	}
	rows := all{}
	for _, r := range list {
		rows = append(rows, el("tr", el("td", txt(r.Name)), el("td", class("n"), v.figure(r.Value, r.Pointer)),
			el("td", class("m u"), txt(r.Unit)), el("td", class("n m"), txt(r.Band))), v.opened(r.Pointer, 4))
	}
	return el("section", el("h2", txt(head)), el("p", class("cap"), txt("bound by "+bound+"; on the right the 90 % band")),
		el("table", id("speed"), rows))
}

// roofline draws the plan's work under its device's roofline.
func (v *view) roofline() part {
	r, err := v.site.Asker.Roofline(v.request)
	if err != nil || r == nil {
		return all(nil)
	}
	return chart(svg.RooflineChart(r, "roof"))
}

// crowd draws the same plan with more concurrent users, up to its capacity.
func (v *view) crowd() part {
	most, asked := maxUsers(v.answer), int64(v.answer.Plan.Sequences)
	if v.answer.Speed == nil || most == nil {
		return all(nil)
	}
	var answers []*memwall.Answer
	for _, n := range doublings(*most, asked) {
		if a := v.sized(v.state.with("users", fmt.Sprint(n))); a != nil {
			answers = append(answers, a)
		}
	}
	c, ok := svg.CrowdChart(answers, "crowd")
	return when(ok, chart(c))
}

// doublings returns doubling numbers of users up to the most, including the number requested.
func doublings(most, asked int64) (out []int64) {
	const last = 1024
	most = min(most, last)
	for n := int64(1); n < most; n *= 2 {
		if n/2 < asked && asked < n {
			out = append(out, asked)
		}
		out = append(out, n)
	}
	return append(out, most)
}

// contexts draws the same plan at other context lengths.
func (v *view) contexts() part {
	if len(v.answer.Rungs) == 0 {
		return all(nil)
	}
	rows := all{el("tr", number("th", "context"), number("th", "KV cache"), number("th", "users"), el("th", class("v"), txt("one user")))}
	for _, r := range v.answer.Rungs {
		users := "any"
		if r.MaxUsers != nil {
			users = unit.Count(*r.MaxUsers)
		}
		sign, look := render.VerdictWords(r.Verdict), "v "+lookOf[r.Verdict]
		to := v.state.with("ctx", fmt.Sprint(r.Context))
		rows = append(rows, el("tr", el("td", class("n"), el("a", class("q"), set("data-live"), attr{"href", to.href()},
			txt(unit.Length(r.Context)))), number("td", r.KVBytes.String()), number("td", users), el("td", class(look), txt(sign))))
	}
	return el("section", el("h2", txt("At other lengths")), el("p", class("cap"), txt("how many users fit at once, each at full length")),
		el("table", id("lengths"), rows))
}

func (v *view) notes() {
	list := all{}
	for _, word := range v.unread {
		list = append(list, el("li", txt(word+" in the command is unknown, and left out")))
	}
	for _, n := range render.NotesOf(v.answer) {
		list = append(list, el("li", txt(n.Text)))
	}
	if len(list) > 0 {
		v.add(el("section", el("h2", txt("Notes")), el("ol", class("notes"), list)))
	}
}
