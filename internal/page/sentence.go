package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/internal/render"
	"github.com/memwall/memwall/unit"
)

// sentence draws the question as a form with editable words.
func (v *view) sentence() {
	tail := all{v.users(), txt(" at "), v.word("ctx", "context, in tokens", "8k"), txt(" tokens each?")}
	v.form(el("h1", txt("Does "), v.word(modelKey, "model", "a model"), txt(" in "),
		v.word("weights", "format of the weights", "its own format"),
		txt(" fit on "), v.word("on", "hardware", "any hardware"), txt(" with "), v.word("engine", "engine", "the usual engine"),
		txt(", for "), tail), "fit")
}

// form draws a question's fields as a form; other settings are carried along.
func (v *view) form(fields part, ask string, more ...part) {
	kept := all{}
	for _, key := range sortedKeys(v.state) {
		if !slices.Contains(v.ownKeys(), key) {
			kept = append(kept, el("input", attr{"type", "hidden"}, attr{"name", key}, attr{"value", v.state.query.Get(key)}))
		}
	}
	v.add(el("form", id("question"), v.formAt(ask), fields, kept, all(more), el("button", attr{"type", "submit"}, class("go"), txt("Ask")),
		v.lists()))
	v.add(v.loads(), v.chips())
}

// formAt returns the target and method of a form.
func (v *view) formAt(ask string) all {
	if v.site.OnePage {
		return all{attr{"method", methodOf(ask)}, attr{"action", "./"}, attr{"autocomplete", "off"},
			el("input", attr{"type", "hidden"}, attr{"name", askKey}, attr{"value", ask})}
	}
	return all{attr{"method", methodOf(ask)}, attr{"action", "/" + ask}, attr{"autocomplete", "off"}}
}

// methodOf returns the method of a form: pasted text does not go into a URL, where others would see it.
func methodOf(ask string) string {
	if ask == "diagnose" {
		return "post"
	}
	return "get"
}

// ownKeys returns the keys covered by the question's own fields.
func (v *view) ownKeys() []string { return v.question.says }

func sortedKeys(s *state) (keys []string) {
	for k := range s.query {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// users draws the number of users with its noun.
func (v *view) users() part {
	noun := " users"
	if cmp.Or(v.state.query.Get("users"), v.taken("users", "1")) == "1" {
		noun = " user"
	}
	return all{v.word("users", "users", "1"), txt(noun)}
}

// word draws an editable word of the question; if not given, it shows what the answer assumed, or the usual value.
func (v *view) word(key, label, usual string) part {
	usual = v.taken(key, usual)
	value, kept := v.state.query.Get(key), part(all(nil))
	if key == modelKey && inline(value) { // unreadable: its name is shown until another is typed
		kept, usual, value = el("input", attr{"type", "hidden"}, attr{"name", key}, attr{"value", value}), v.pastedName(), ""
	}
	bad := v.err != nil && v.err.Field != "" && v.keyOfField(v.err.Field) == key
	return all{kept, el("input", class("word"), attr{"name", key}, attr{"value", value}, attr{"placeholder", usual},
		attr{"aria-label", label}, v.site.offered(key),
		attr{"size", fmt.Sprint(max(2, len([]rune(cmp.Or(value, usual)))))}, attr{"spellcheck", "false"},
		when(bad, attr{"aria-invalid", "true"}))}
}

// pastedName returns the display name of a pasted config.json.
func (v *view) pastedName() string {
	if v.answer != nil && v.answer.Model != nil {
		return v.answer.Model.ID + " (pasted)"
	}
	return "pasted config.json"
}

func (v *view) keyOfField(name string) string {
	if f := memwall.FieldByName(name); f != nil {
		return keyOf(f)
	}
	return name
}

// taken returns what an answer assumed for an absent field.
func (v *view) taken(key, unknown string) string {
	f := fieldOf(key)
	switch {
	case v.answer == nil || v.answer.Plan == nil || f == nil || f.Value(v.answer.Plan).IsZero() || v.question.loads && isLoad(key):
		return unknown
	case key == "engine":
		_, _, engine := render.Names(v.answer)
		return engine
	case f.Unit == "length":
		return unit.Length(f.Value(v.answer.Plan).Int())
	}
	return f.Text(v.answer.Plan)
}

// lists draws the suggestion lists of fields.
func (v *view) lists() part {
	var recipes []string
	for _, r := range dtype.Recipes() {
		recipes = append(recipes, r.Name)
	}
	named := map[string][]string{
		"weights": recipes, "engine": memwall.Engines(),
		"users": {"1", "4", "16", "64", "256"}, "rate": {"1", "4", "16"}, "ttft": {"500ms", "1s", "2s"}, "tpot": {"25ms", "50ms", "100ms"},
		"prompt": {"500", "1500", "lognormal:1500,0.5"}, "output": {"100", "300", "exponential:300"},
		"ctx": {"4k", "8k", "16k", "32k", "64k", "128k"},
	}
	for i := range memwall.Fields() {
		if f := &memwall.Fields()[i]; len(f.Enum) > 0 && named[keyOf(f)] == nil {
			named[keyOf(f)] = f.Enum
		}
	}
	out := all{}
	for _, key := range v.ownKeys() {
		if offers[key] != nil {
			continue
		}
		var b strings.Builder
		for _, name := range named[key] {
			b.WriteString("<option>" + escapeText.Replace(name))
		}
		out = append(out, el("datalist", id("list-"+key), raw(b.String())))
	}
	return out
}

// chips draws what the question sets, each linking to the question without it.
func (v *view) chips() part {
	out := all{}
	for _, key := range sortedKeys(v.state) {
		if !v.question.needed(key) {
			out = append(out, el("li", el("a", attr{"href", v.state.with(key, "").href()}, set("data-live"),
				attr{"aria-label", "leave out " + v.state.chip(key)}, txt(v.state.chip(key)+" ×"))))
		}
	}
	if len(v.dropped) > 0 {
		out = append(out, el("li", class("m"), txt("left out, because "+v.state.query.Get("engine")+" has no such setting: "+strings.Join(v.dropped, ", "))))
	}
	return when(len(out) > 0, el("ul", id("set"), class("chips"), attr{"aria-label", "What is set"}, out))
}

// chip returns a setting in command-line form.
func (s *state) chip(key string) string {
	value := []rune(s.query.Get(key))
	const most = 40
	switch {
	case string(value) == "true":
		return key
	case len(value) > most:
		return key + " " + string(value[:most]) + "…"
	}
	return key + " " + string(value)
}
