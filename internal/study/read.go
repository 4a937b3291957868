package study

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/format/yaml"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/spell"
	"github.com/memwall/memwall/unit"
)

// limits of a study file.
var limits = yaml.Limits{Bytes: 1 << 20, Depth: 12, Plain: true, Holds: "one study", Hint: "seeds may be written 1..1000"}

// Asks are the kinds of questions in studies.
var Asks = []string{"fit", "plan", "train", "sim"}

// keys of a study file, in the order in which their factors turn.
var keys = []string{"study", "ask", "models", "hardware", "plan", "workloads", "workload", "traces", "goals", "seeds"}

// reader turns the tree of a file into a study.
type reader struct {
	*file
	study *Study
	said  map[string]string // who gives a field its value
}

// Read reads a study file; name is for faults. The error is a *Fault.
func Read(name, text string) (*Study, error) {
	r := &reader{newFile(name, text), &Study{}, map[string]string{}}
	docs, err := yaml.Decode(text, limits)
	switch {
	case err != nil:
		return nil, r.unread(err)
	case len(docs) != 1 || docs[0].Of == nil:
		return nil, r.bad(yaml.Place{}, "study", "", "it holds no study", "ask: fit, models: [llama-3.1-8b], hardware: [h100, 2xl40s]")
	}
	err = r.legible(docs[0])
	if err == nil {
		err = r.read(docs[0])
	}
	if err != nil {
		return nil, err
	}
	r.study.points = big.NewInt(1)
	for i := range r.study.Factors {
		r.study.points.Mul(r.study.points, big.NewInt(r.study.Factors[i].Levels()))
	}
	return r.study, nil
}

// legible: names of a study are shown on terminals, pages and in tables, so that none has letters which are not seen.
func (r *reader) legible(n *yaml.Node) error {
	for _, k := range n.Keys {
		if err := r.letters(n.Places[k], k); err != nil {
			return err
		}
		if err := r.legible(n.Of[k]); err != nil {
			return err
		}
	}
	for _, one := range n.List {
		if err := r.legible(one); err != nil {
			return err
		}
	}
	return r.letters(placeOf(n), n.Text)
}

func (r *reader) letters(at yaml.Place, text string) error {
	i := strings.IndexFunc(text, func(c rune) bool { return !unicode.IsPrint(c) || c == utf8.RuneError })
	if i < 0 {
		return nil
	}
	c, _ := utf8.DecodeRuneInString(text[i:])
	return r.bad(at, "study", strconv.QuoteToASCII(text), fmt.Sprintf("a name has a letter that is not seen: %U", c),
		"letters, digits and signs alone")
}

// read the keys, whatever their order in the file, in the order of the list.
func (r *reader) read(top *yaml.Node) error {
	if err := r.known(top, "study file", keys); err != nil {
		return err
	}
	parts := map[string]func(*yaml.Node) error{
		"study": r.name, "ask": r.ask, "models": r.models, "hardware": r.hardware, "plan": r.plan,
		"workloads": r.workloads, "workload": r.workload, "traces": r.traces, "goals": r.goals, "seeds": r.seeds,
	}
	for _, need := range []string{"ask", "models"} {
		if top.Of[need] == nil {
			return r.bad(yaml.Place{Line: top.Line, Column: top.Column}, need, "", need+" is missing",
				map[string]string{"ask": "ask: one of " + strings.Join(Asks, ", "), "models": "models: [llama-3.1-8b, …]"}[need])
		}
	}
	for _, key := range keys {
		if n := top.Of[key]; n != nil {
			if n.Null() {
				return r.bad(top.Places[key], key, "", key+" has nothing in it", "a value, or leave the key out")
			}
			if err := parts[key](n); err != nil {
				return err
			}
		}
	}
	return nil
}

// known refuses keys that mean nothing.
func (r *reader) known(n *yaml.Node, what string, names []string) error {
	for _, k := range n.Keys {
		if !slices.Contains(names, k) {
			hint := "one of " + strings.Join(names, ", ")
			if near := spell.Nearest(k, names); len(near) > 0 {
				hint = "did you mean: " + strings.Join(near, ", ")
			}
			return r.bad(n.Places[k], k, "", fmt.Sprintf("a %s has no key %q", what, k), hint)
		}
	}
	return nil
}

func (r *reader) name(n *yaml.Node) error {
	const most = 80
	if n.Of != nil || n.List != nil || len(n.Text) > most {
		return r.bad(placeOf(n), "study", "", "study is not a name", fmt.Sprintf("a word or two, of at most %d bytes", most))
	}
	r.study.Name = n.Text
	return nil
}

func (r *reader) ask(n *yaml.Node) error {
	if !slices.Contains(Asks, n.Text) {
		return r.bad(placeOf(n), "ask", n.Text, fmt.Sprintf("ask = %q is not a question of studies", n.Text),
			"one of "+strings.Join(Asks, ", "))
	}
	r.study.Ask = n.Text
	return r.fix("ask", setting{field: "ask", value: jsonText(n.Text)}, placeOf(n))
}

// models are of the catalog: files of one machine are not on another.
func (r *reader) models(n *yaml.Node) error {
	return r.words(n, "model", func(n *yaml.Node) error {
		if _, err := (memwall.Catalog{}).Model(n.Text); err != nil {
			return r.fault(placeOf(n), memwall.AsError(err))
		}
		return nil
	})
}

func (r *reader) hardware(n *yaml.Node) error {
	return r.words(n, "hardware", func(n *yaml.Node) error {
		if n.Text == "local" {
			return r.bad(placeOf(n), "hardware", "local", "each machine is another local one", "name the devices: 2xh100")
		}
		_, _, err := hardware.Parse(n.Text, 0)
		if err != nil {
			return r.fault(placeOf(n), memwall.AsError(err))
		}
		return nil
	})
}

// words are a field's values, one or a list.
func (r *reader) words(n *yaml.Node, field string, check func(*yaml.Node) error) error {
	for _, one := range listed(n) {
		if one.Of != nil || one.List != nil || one.Null() {
			return r.bad(placeOf(one), field, "", field+" is not a name", "a name, or a list of names")
		}
		if err := check(one); err != nil {
			return err
		}
	}
	return r.field(n, field, "", func(n *yaml.Node) (json.RawMessage, error) { return jsonText(n.Text), nil })
}

// taken are fields that stand elsewhere in a study, or nowhere.
var taken = map[string]string{
	"ask": "it stands in ask", "model": "models stand in models", "hardware": "it stands in hardware",
	"workload": "it stands in workload or workloads", "goal": "goals stand in goals",
	"among":  "a list is taken apart here; a plan that searches has the fields that are left out",
	"change": "studies do not ask for differences", "also": "each question is of one model", "text": "studies read no logs",
	"explain": "ask the one question that is to be explained", "data": "files of one machine are not on another",
}

// plan are fields of the request, each with a value or a list of values.
func (r *reader) plan(n *yaml.Node) error {
	if n.Of == nil {
		return r.bad(placeOf(n), "plan", n.Text, "plan is not a block of fields", "plan: {tp: [1, 2, 4], context: 32k}")
	}
	for _, name := range n.Keys {
		f, err := r.fieldOf(name, n.Places[name])
		if err != nil {
			return err
		}
		if err := r.field(n.Of[name], name, "", func(v *yaml.Node) (json.RawMessage, error) { return r.fieldValue(f, v) }); err != nil {
			return err
		}
	}
	return nil
}

// fieldOf is a field of the contract that studies may set.
func (r *reader) fieldOf(name string, at yaml.Place) (*memwall.Field, error) {
	f := memwall.FieldByName(name)
	switch {
	case taken[name] != "":
		return nil, r.bad(at, "plan."+name, "", fmt.Sprintf("plan has no %s: %s", name, taken[name]), "leave it out of plan")
	case f == nil:
		err := (&memwall.Request{}).Set(name, "")
		return nil, r.fault(at, memwall.AsError(err))
	case !f.OfAsk(r.study.Ask) && !(r.study.Ask == "plan" && f.OfAsk("train")):
		return nil, r.bad(at, "plan."+name, "", fmt.Sprintf("%s is not a field of %s", name, r.study.Ask),
			"leave it out, or ask another question")
	}
	return f, nil
}

// fieldValue of a field: as JSON has it, or as a flag takes it (32k, 24GiB). In its normal form; nil for what says nothing.
func (r *reader) fieldValue(f *memwall.Field, n *yaml.Node) (json.RawMessage, error) {
	req, err := memwall.Decode(objectOf(map[string]json.RawMessage{f.Name: jsonOf(n)}))
	if text, ok := n.Scalar.(string); ok && err != nil {
		req = &memwall.Request{}
		if req.Set(f.Name, text) == nil {
			err = nil
		}
	}
	if err != nil {
		return nil, err
	}
	return memberOf(req, f.Name)
}

// memberOf is a member of what is written as JSON; nil where it is left out.
func memberOf(v any, name string) (json.RawMessage, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var all map[string]json.RawMessage
	err = json.Unmarshal(text, &all)
	return all[name], err
}

// field takes a field's value, or the levels of a factor from a list.
func (r *reader) field(n *yaml.Node, field, inner string, value func(*yaml.Node) (json.RawMessage, error)) error {
	v := setting{field: field, inner: inner}
	if n.List == nil || takesList(field, n) {
		raw, err := value(n)
		if err != nil {
			return r.wrong(n, v.path(), err)
		}
		v.value = raw
		return r.fix(v.path(), v, placeOf(n))
	}
	f := Factor{Name: v.path()}
	for _, one := range n.List {
		raw, err := value(one)
		if err != nil {
			return r.wrong(one, v.path(), err)
		}
		f.levels = append(f.levels, level{textOf(one), settingOf(field, inner, raw)})
	}
	return r.add(f, n)
}

// settingOf is a setting, or none of what says nothing.
func settingOf(field, inner string, value json.RawMessage) []setting {
	if value == nil {
		return nil
	}
	return []setting{{field, inner, value}}
}

// takesList reports whether a list is the value itself of a field that holds a list; lists of lists are taken apart.
func takesList(field string, n *yaml.Node) bool {
	f := memwall.FieldByName(field)
	if f == nil || f.Type.Kind().String() != "slice" {
		return false
	}
	return !slices.ContainsFunc(n.List, func(one *yaml.Node) bool { return one.List != nil })
}

func (r *reader) wrong(n *yaml.Node, field string, err error) error {
	var known *Fault
	if errors.As(err, &known) {
		return err
	}
	e := *memwall.AsError(err)
	if e.Field == "" {
		e.Field = field
	}
	return r.fault(placeOf(n), &e)
}

// fix sets what all questions have in common.
func (r *reader) fix(who string, v setting, at yaml.Place) error {
	if err := r.say(who, []setting{v}, at); err != nil {
		return err
	}
	if v.value != nil {
		r.study.fixed = append(r.study.fixed, v)
	}
	return nil
}

// add a factor, whose levels differ.
func (r *reader) add(f Factor, n *yaml.Node) error {
	if len(f.levels) == 0 {
		return r.bad(placeOf(n), f.Name, "", "the list of "+f.Name+" is empty", "a value, or leave it out")
	}
	seen := map[string]bool{}
	for i := range f.levels {
		same := string(valuesOf(f.levels[i].set))
		if seen[same] {
			return r.bad(placeOf(n.List[i]), f.Name, f.levels[i].text, fmt.Sprintf("%s lists %s twice", f.Name, f.levels[i].text),
				"once: the answer is the same")
		}
		seen[same] = true
	}
	for i := range f.levels {
		if err := r.say(f.Name, f.levels[i].set, placeOf(n.List[i])); err != nil {
			return err
		}
	}
	r.study.Factors = append(r.study.Factors, f)
	return nil
}

// say notes who gives fields their values: two may not.
func (r *reader) say(who string, set []setting, at yaml.Place) error {
	for i := range set {
		path := set[i].path()
		if by := r.said[path]; by != "" && by != who {
			return r.bad(at, path, "", fmt.Sprintf("%s is given by %s and by %s", path, by, who), "by one of them")
		}
		r.said[path] = who
	}
	return nil
}

// listed are the members of a list, or the one thing that stands in place of one.
func listed(n *yaml.Node) []*yaml.Node {
	if n.List != nil {
		return n.List
	}
	return []*yaml.Node{n}
}

func valuesOf(set []setting) (out []byte) {
	for i := range set {
		out = append(append(append(out, set[i].path()...), '='), set[i].value...)
		out = append(out, '\n')
	}
	return out
}

// textOf a value, short enough for a column.
func textOf(n *yaml.Node) string {
	if n.Of == nil && n.List == nil {
		return n.Text
	}
	text := string(jsonOf(n))
	const most = 60
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}

func jsonText(s string) json.RawMessage {
	text, err := json.Marshal(s)
	if err != nil {
		return json.RawMessage(`""`)
	}
	return text
}

// jsonOf a value as it stands.
func jsonOf(n *yaml.Node) json.RawMessage {
	switch {
	case n.Of != nil:
		members := map[string]json.RawMessage{}
		for _, k := range n.Keys {
			members[k] = jsonOf(n.Of[k])
		}
		return objectOf(members)
	case n.List != nil:
		all := make([]json.RawMessage, len(n.List))
		for i, one := range n.List {
			all[i] = jsonOf(one)
		}
		text, err := json.Marshal(all)
		if err != nil {
			return jsonText(n.Text)
		}
		return text
	}
	text, err := json.Marshal(n.Scalar)
	if err != nil { // not a number, infinity
		return jsonText(n.Text)
	}
	return text
}

// objectOf writes members whose names may hold anything.
func objectOf(members map[string]json.RawMessage) json.RawMessage {
	text, err := json.Marshal(members)
	if err != nil {
		return json.RawMessage(`{}`)
	}
	return text
}

// rangeOf reads a range such as 1..1000.
func rangeOf(s string) (first, last int64, err error) {
	from, to, ok := strings.Cut(s, "..")
	if !ok {
		return 0, 0, fmt.Errorf("%q is not a range", s)
	}
	if first, err = unit.ParseCount(from); err == nil {
		last, err = unit.ParseCount(to)
	}
	return first, last, err
}
