package study

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/format/yaml"
	"github.com/memwall/memwall/workload"
)

// played are the questions that have a workload.
func (r *reader) played(key string, at yaml.Place) error {
	if a := r.study.Ask; a == "sim" || a == "plan" {
		return nil
	}
	return r.bad(at, key, "", fmt.Sprintf("%s is nothing to %s", key, r.study.Ask), "ask: sim, or leave it out")
}

// workloadNames are the fields of a workload.
func workloadNames() (names []string) {
	t := reflect.TypeFor[workload.Spec]()
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

// loadValue of a field of a workload.
func (r *reader) loadValue(name string, n *yaml.Node) (json.RawMessage, error) {
	if name == "trace" {
		if err := r.named(n); err != nil {
			return nil, err
		}
	}
	req, err := memwall.Decode([]byte(`{"workload":` + string(objectOf(map[string]json.RawMessage{name: jsonOf(n)})) + `}`))
	if err != nil {
		return nil, err
	}
	return memberOf(req.Workload, name)
}

// named: a trace is a file, read once and sent to who needs it. It lies under the study's folder: who is given a study to
// run is not made to send other files of their own.
func (r *reader) named(n *yaml.Node) error {
	text, ok := n.Scalar.(string)
	switch {
	case !ok || text == "" || text == "-":
		return r.bad(placeOf(n), "trace", n.Text, "a trace is not a name of a file", "traces: [week1.csv.gz]")
	case !filepath.IsLocal(text):
		return r.bad(placeOf(n), "trace", n.Text, fmt.Sprintf("trace %s is not under the folder of the study", n.Text),
			"copy it there, and name it from there: traces: [week1.csv.gz]")
	}
	return nil
}

// workload gives fields to all workloads: a value, or a list that is a factor.
func (r *reader) workload(n *yaml.Node) error {
	if err := r.played("workload", placeOf(n)); err != nil {
		return err
	}
	if n.Of == nil {
		return r.bad(placeOf(n), "workload", n.Text, "workload is not a block of fields", "workload: {rate: [1, 2, 4], requests: 10000}")
	}
	if err := r.known(n, "workload", workloadNames()); err != nil {
		return err
	}
	for _, name := range n.Keys {
		if err := r.field(n.Of[name], "workload", name,
			func(v *yaml.Node) (json.RawMessage, error) { return r.loadValue(name, v) }); err != nil {
			return err
		}
	}
	return nil
}

// workloads are whole ones, of which each question has one.
func (r *reader) workloads(n *yaml.Node) error {
	if err := r.played("workloads", placeOf(n)); err != nil {
		return err
	}
	f := Factor{Name: "workload"}
	for i, one := range n.List {
		l, err := r.load(one, i)
		if err != nil {
			return err
		}
		f.levels = append(f.levels, l)
	}
	return r.blocks(f, n, "workloads: [{name: chat, rate: 2, prompt: {mean: 800}, output: {mean: 300}}, …]")
}

// blocks adds a factor of blocks.
func (r *reader) blocks(f Factor, n *yaml.Node, example string) error {
	if n.List == nil {
		return r.bad(placeOf(n), f.Name+"s", n.Text, f.Name+"s is not a list", example)
	}
	for i := range f.levels {
		if slices.ContainsFunc(f.levels[:i], func(l level) bool { return l.text == f.levels[i].text }) {
			return r.bad(placeOf(n.List[i]), f.Name, f.levels[i].text, fmt.Sprintf("two of %ss are called %s", f.Name, f.levels[i].text),
				"another name")
		}
	}
	return r.add(f, n)
}

// load reads one of workloads, with its name beside its fields.
func (r *reader) load(n *yaml.Node, i int) (level, error) {
	if n.Of == nil {
		return level{}, r.bad(placeOf(n), "workloads", n.Text, "a workload is not a block of fields", "{name: chat, rate: 2}")
	}
	if err := r.known(n, "workload", append([]string{"name"}, workloadNames()...)); err != nil {
		return level{}, err
	}
	l := level{text: called(n, "workload", i)}
	for _, name := range n.Keys {
		if name == "name" {
			continue
		}
		raw, err := r.loadValue(name, n.Of[name])
		if err != nil {
			return l, r.wrong(n.Of[name], "workload."+name, err)
		}
		l.set = append(l.set, settingOf("workload", name, raw)...)
	}
	return l, nil
}

// called is a block's name, or its place in the list.
func called(n *yaml.Node, what string, i int) string {
	if name := n.At("name").Value(); name != "" {
		return name
	}
	return fmt.Sprintf("%s %d", what, i+1)
}

func (r *reader) traces(n *yaml.Node) error {
	if err := r.played("traces", placeOf(n)); err != nil {
		return err
	}
	if n.List == nil {
		n = &yaml.Node{Line: n.Line, Column: n.Column, List: []*yaml.Node{n}}
	}
	f := Factor{Name: "trace"}
	for _, one := range n.List {
		if err := r.named(one); err != nil {
			return err
		}
		f.levels = append(f.levels, level{one.Text, []setting{{"workload", "trace", jsonText(one.Text)}}})
	}
	return r.add(f, n)
}

// goals are whole ones, of which each question has one.
func (r *reader) goals(n *yaml.Node) error {
	if f := memwall.FieldByName("goal"); !f.OfAsk(r.study.Ask) {
		return r.bad(placeOf(n), "goals", "", "goals are nothing to "+r.study.Ask, "ask: sim or plan, or leave them out")
	}
	f := Factor{Name: "goal"}
	for i, one := range n.List {
		if one.Of == nil {
			return r.bad(placeOf(one), "goals", one.Text, "a goal is not a block of fields", "{ttft_ms: {p99: 500}, tpot_ms: {p99: 50}}")
		}
		fields := *one
		fields.Keys = slices.DeleteFunc(slices.Clone(one.Keys), func(k string) bool { return k == "name" })
		raw, err := r.fieldValue(memwall.FieldByName("goal"), &fields)
		if err != nil {
			return r.wrong(one, "goal", err)
		}
		f.levels = append(f.levels, level{called(one, "goal", i), settingOf("goal", "", raw)})
	}
	return r.blocks(f, n, "goals: [{name: chat, ttft_ms: {p99: 500}}]")
}

// seeds are a list, or a range that takes no room.
func (r *reader) seeds(n *yaml.Node) error {
	if err := r.played("seeds", placeOf(n)); err != nil {
		return err
	}
	if n.List != nil {
		f := Factor{Name: "seed"}
		for _, one := range n.List {
			raw, err := r.loadValue("seed", one)
			if err != nil {
				return r.wrong(one, "seeds", err)
			}
			f.levels = append(f.levels, level{one.Text, settingOf("workload", "seed", raw)})
		}
		return r.add(f, n)
	}
	first, last, err := rangeOf(n.Text)
	if err != nil || last < first || last > math.MaxInt64/2 {
		return r.bad(placeOf(n), "seeds", n.Text, fmt.Sprintf("seeds = %q is neither a list nor a range", n.Text),
			"seeds: [1, 2, 3] or seeds: 1..100")
	}
	f := Factor{Name: "seed", first: first, count: last - first + 1}
	if err := r.say(f.Name, f.settings(0), placeOf(n)); err != nil {
		return err
	}
	r.study.Factors = append(r.study.Factors, f)
	return nil
}
