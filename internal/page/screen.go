package page

import (
	"maps"
	"slices"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/render"
	"github.com/memwall/memwall/internal/render/svg"
	"github.com/memwall/memwall/score"
)

// answered reports whether there is an answer; otherwise it draws the error.
func (v *view) answered() bool {
	if v.err != nil {
		v.add(v.failure())
	}
	return v.answer != nil
}

// chart draws a picture below its finding.
func chart(c svg.Chart) part {
	head := all{el("h2", txt(c.Title))}
	for _, words := range c.Under {
		head = append(head, el("p", class("cap"), txt(words)))
	}
	return el("section", class("chart"), head, el("figure", el("div", class("wide"), raw(c.Wide)),
		el("div", class("narrow"), raw(c.Narrow))))
}

// plan draws what must change: the ladder of changes, each one click away, or hardware that suffices.
func (v *view) plan() {
	if v.asking(); !v.answered() {
		return
	}
	blocks := render.Parts(v.answer)
	if len(v.answer.Devices) > 0 && v.answer.Plan.Hardware != "" {
		opening := blocks[:1+len(followers(blocks[1:]))]
		v.parts(opening)
		v.picture()
		blocks = blocks[len(opening):]
	}
	v.parts(blocks)
	v.add(v.takeAway())
	v.best()
	v.notes()
}

// serve draws the fleets that serve a load within bounds, by cost and over the load.
func (v *view) serve() {
	if v.asking(); !v.answered() {
		return
	}
	v.parts(render.Parts(v.answer))
	v.add(chart(svg.PlanFrontChart(v.answer, "front")), chart(svg.PlanCurveChart(v.answer, "curve")), v.takeAway())
	v.best()
	v.notes()
}

// pick draws the models that hardware runs.
func (v *view) pick() {
	if v.asking(); !v.answered() {
		return
	}
	v.parts(render.Parts(v.answer))
	v.add(v.takeAway())
	if best := render.BestPick(v.answer); best != nil {
		v.add(el("h2", txt("Run the best")), v.commands(&memwall.Answer{Flags: best.Flags}))
	} else {
		v.add(v.atTerminal())
	}
	v.notes()
}

// sim draws the outcome of a load and its course over time. A plan without memory for the model is drawn as one that should fit.
func (v *view) sim() {
	if v.asking(); !v.answered() {
		return
	}
	if v.answer.Simulated == nil {
		v.title = v.headline()
		v.picture()
		v.add(el("div", class("two"), v.bytes(), v.change()))
	} else {
		v.parts(render.Parts(v.answer))
		v.add(chart(svg.SimChart(v.answer, "sim")), v.takeAway())
		v.add(v.commands(v.answer))
	}
	v.notes()
}

// diagnose draws why a program ran out of memory.
func (v *view) diagnose() {
	if v.asking(); !v.answered() {
		return
	}
	v.parts(render.Parts(v.answer))
	v.notes()
}

// best draws how to run the best plan, and the files for it.
func (v *view) best() {
	b := v.answer.Best
	if b == nil {
		v.add(v.atTerminal())
		return
	}
	v.add(el("h2", txt("Run the best")), v.commands(&memwall.Answer{Flags: b.Flags}))
	for _, name := range slices.Sorted(maps.Keys(b.Files)) {
		v.add(el("details", el("summary", txt(name)), command(b.Files[name])))
	}
}

// asking draws the sentence of each such question.
func (v *view) asking() {
	model, on := v.word(modelKey, "model", "a model"), v.word("on", "hardware", "this machine")
	switch v.question.path {
	case "plan":
		if v.state.query.Get("on") == "" {
			v.form(el("h1", txt("Which hardware runs "), model, txt(" for "), v.users(), txt(" at "),
				v.word("ctx", "context, in tokens", "8k"), txt(" tokens each, of "), v.word("on", "hardware", "any kind"), txt("?")),
				"plan")
			return
		}
		v.form(el("h1", txt("What must change for "), model, txt(" to run on "), v.word("on", "hardware", "any hardware"), txt(", for "),
			v.users(), txt(" at "), v.word("ctx", "context, in tokens", "8k"), txt(" tokens each?")), "plan")
	case "pick":
		v.form(el("h1", txt("Which models for "), v.word("for", "use", score.Chat), txt(" run on "), on, txt(", for "), v.users(),
			txt(" at "), v.word("ctx", "context, in tokens", "8k"), txt(" tokens each?")), "pick")
	case "train":
		v.form(el("h1", txt("What does "), v.word("method", "method", "full"), txt(" training of "), model, txt(" on "),
			v.word("tokens", "tokens of the whole run", "any number of"), txt(" tokens take on "), on, txt(", with micro-batches of "),
			v.word("micro-batch", "sequences of a micro-batch", "1"), txt(" × "), v.word("seq", "tokens per sequence", "1k"),
			txt(" tokens?")), "train")
	case "serve":
		v.form(el("h1", txt("What is the cheapest way to serve "), model, txt(" to "), v.word("users", "users", "any number of"),
			txt(" users, with a TTFT of "), v.word("ttft", "time to the first token, 99th percentile", "any time"), txt(" and "),
			v.word("tpot", "time of each further token, 99th percentile", "any time"), txt(" TPOT, on "),
			v.word("on", "hardware, or several with commas", "any"), txt("?")), "serve")
	case "sim":
		v.form(el("h1", txt("How does "), model, txt(" on "), on, txt(" hold "), v.word("rate", "requests per second", "as many"),
			txt(" requests per second, each of "), v.word("prompt", "tokens per prompt", "the usual"), txt(" tokens in and "),
			v.word("output", "tokens per answer", "the usual"), txt(" out?")), "sim")
	case "autoscale":
		v.form(el("h1", txt("What do autoscalers make of "), v.word(dayKey, "requests per second, in equal parts of a day", "a day"),
			txt(" requests per second over a day, each of "), v.word("prompt", "tokens per prompt", "the usual"), txt(" tokens in and "),
			v.word("output", "tokens per answer", "the usual"), txt(" out, by "), model, txt(" on "), on, txt(" with a TTFT of "),
			v.word("ttft", "time to the first token, 99th percentile", "any time"), txt("?")), "autoscale")
	case "pack":
		v.form(el("h1", txt("How do "), v.word(modelsKey, "models with their flags, separated by semicolons", "models"), txt(" fit on "),
			v.word("on", "the pool", "a pool"), txt("?")), "pack")
	case "diagnose":
		v.form(el("h1", txt("Why did it run out of memory?")), "diagnose",
			el("textarea", attr{"name", "text"}, attr{"rows", "10"}, when(v.state.paste == exampleLog, set("data-example")),
				attr{"aria-label", "what the program printed"}, attr{"placeholder",
					"Paste what the program printed: the error, or its whole log. A config.json or a launch command is answered with whether it fits."}, attr{"spellcheck", "false"}, txt(v.state.paste)))
	}
}
