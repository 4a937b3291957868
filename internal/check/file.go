package check

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/fault"
	"github.com/memwall/memwall/format/yaml"
	"github.com/memwall/memwall/spell"
	"github.com/memwall/memwall/unit"
)

// limits of the file: some hundred plans.
var limits = yaml.Limits{Bytes: 64 << 10, Depth: 12, Plain: false, Expanded: 20_000, Holds: "plans",
	Hint: "give each part of the repository a file of its own"}

// keys of a plan.
var keys = []string{"name", "ask", "from", "model", "on", "set", "must"}

// bound is a figure that may be bounded.
type bound struct {
	name  string
	least bool // the figure may not be less than the bound; else not more
	parse func(string) (float64, error)
	print func(float64) string
	of    func(*Figures) *float64
	fix   string
}

func inBytes(s string) (float64, error) {
	if strings.TrimRight(s, "0123456789.") == "" {
		return 0, fmt.Errorf("%s of what: bytes need a unit such as GiB", s)
	}
	b, err := unit.ParseBytes(s)
	return float64(b), err
}

func inSeconds(s string) (float64, error) {
	t, err := unit.ParseSeconds(s)
	return float64(t), err
}

func inDollars(s string) (float64, error) { return unit.ParseNumber(strings.TrimPrefix(s, "$")) }

func asBytes(x float64) string {
	if x < 0 {
		return "−" + unit.Bytes(-x).String()
	}
	return unit.Bytes(x).String()
}
func asSeconds(x float64) string { return unit.Seconds(x).String() }
func asNumber(x float64) string  { return unit.Significant(x, 3) }
func asUsers(x float64) string   { return unit.Count(int64(x)) }
func asDollars(x float64) string { return "$" + unit.Significant(x, 3) }

// bounds that a plan may have, beside fits.
var bounds = []bound{
	{"headroom", true, inBytes, asBytes, func(f *Figures) *float64 { return f.Headroom }, "headroom: 2 GiB"},
	{"needs", false, inBytes, asBytes, func(f *Figures) *float64 { return f.Needed }, "needs: 70 GiB"},
	{"users", true, unit.ParseNumber, asUsers, func(f *Figures) *float64 { return f.Users }, "users: 8"},
	{"ttft", false, inSeconds, asSeconds, func(f *Figures) *float64 { return f.TTFT }, "ttft: 2s"},
	{"tpot", false, inSeconds, asSeconds, func(f *Figures) *float64 { return f.TPOT }, "tpot: 50ms"},
	{"days", false, unit.ParseNumber, asNumber, func(f *Figures) *float64 { return f.Days }, "days: 3"},
	{"dollars", false, inDollars, asDollars, func(f *Figures) *float64 { return f.Dollars }, "dollars: 500"},
}

// fits is the bound that every plan has unless it says another.
const fits = "fits"

// Parse reads the file. Errors are of type *fault.Error.
func Parse(text []byte) ([]Plan, error) {
	docs, err := yaml.Decode(string(text), limits)
	if e, ok := errors.AsType[*fault.Error](err); ok {
		return nil, fault.In("", e.Line, e.Problem, e.Fix)
	}
	if err != nil {
		return nil, fault.New(err.Error(), "")
	}
	if len(docs) != 1 || docs[0].At("plans").Items() == nil {
		return nil, fault.In("", 1, "there is no list of plans", "plans: with a list of entries, each with name, and from or model")
	}
	if err := known(docs[0], []string{"plans"}); err != nil {
		return nil, err
	}
	var out []Plan
	for _, n := range docs[0].At("plans").Items() {
		p, err := plan(n)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(out, func(q Plan) bool { return q.Name == p.Name }) {
			return nil, fault.In("", n.Line, fmt.Sprintf("a second plan is called %q", p.Name),
				"a name of its own: results and bases go by it")
		}
		out = append(out, *p)
	}
	return out, nil
}

// known refuses keys that are not among some.
func known(n *yaml.Node, names []string) error {
	for _, k := range n.Keys {
		if slices.Contains(names, k) {
			continue
		}
		fix := "one of " + strings.Join(names, ", ")
		if near := spell.Nearest(k, names); len(near) > 0 {
			fix = "did you mean: " + strings.Join(near, ", ")
		}
		return fault.In("", n.Places[k].Line, fmt.Sprintf("%q is not a key here", k), fix)
	}
	return nil
}

func plan(n *yaml.Node) (*Plan, error) {
	if n.Of == nil {
		return nil, fault.In("", n.Line, "an entry is not a block of keys", "- name: chat")
	}
	if err := known(n, keys); err != nil {
		return nil, err
	}
	p := &Plan{Name: n.At("name").Value(), Line: n.Line, Ask: n.At("ask").Value(), Set: map[string]any{}}
	if p.Name == "" {
		return nil, fault.In("", n.Line, "a plan has no name", "name: chat")
	}
	if p.Ask != "" && p.Ask != "fit" && p.Ask != "train" {
		return nil, fault.In("", n.At("ask").Line, fmt.Sprintf("ask: %s is not checked", p.Ask), "fit or train")
	}
	if from := n.At("from"); from != nil {
		if from.List == nil {
			p.From = []string{from.Value()}
		}
		for _, f := range from.Items() {
			p.From = append(p.From, f.Value())
		}
		if slices.Contains(p.From, "") || len(p.From) == 0 {
			return nil, fault.In("", from.Line, "from holds neither a command nor a file",
				"from: deploy/vllm.yaml, or a list of the files of a run")
		}
	}
	if err := p.fields(n); err != nil {
		return nil, err
	}
	if len(p.From) == 0 && p.Set["model"] == nil {
		return nil, fault.In("", n.Line, fmt.Sprintf("plan %q says nothing to check", p.Name),
			"from: a command or files, or model: with set:")
	}
	err := p.musts(n.At("must"))
	return p, err
}

// fields are what set, model and on say.
func (p *Plan) fields(n *yaml.Node) error {
	if set := n.At("set"); set != nil {
		if set.Of == nil {
			return fault.In("", set.Line, "set is not a block of fields", "set: { context: 8192 }")
		}
		for _, k := range set.Keys {
			f := memwall.FieldByName(strings.ReplaceAll(k, "-", "_"))
			if f == nil || f.Name == "ask" || f.Name == "text" {
				return fault.In("", set.Places[k].Line, fmt.Sprintf("%q is not a field of a plan", k), "memwall schema request lists them")
			}
			p.Set[f.Name] = jsonOf(set.Of[k])
		}
	}
	for key, field := range map[string]string{"model": "model", "on": "hardware"} {
		if v := n.At(key).Value(); v != "" {
			p.Set[field] = v
		}
	}
	return nil
}

// jsonOf is a value as JSON has it.
func jsonOf(n *yaml.Node) any {
	switch {
	case n.Of != nil:
		out := map[string]any{}
		for k, v := range n.Of {
			out[k] = jsonOf(v)
		}
		return out
	case n.List != nil:
		out := []any{}
		for _, v := range n.List {
			out = append(out, jsonOf(v))
		}
		return out
	}
	return n.Scalar
}

// musts reads the bounds; a plan without must has to fit.
func (p *Plan) musts(n *yaml.Node) error {
	if n == nil {
		p.Must = []Must{{Name: fits, Bound: "true", Line: p.Line}}
		return nil
	}
	names := []string{fits}
	for _, b := range bounds {
		names = append(names, b.name)
	}
	if n.Of == nil {
		return fault.In("", n.Line, "must is not a block of bounds", "must: { fits: true, headroom: 2 GiB }")
	}
	if err := known(n, names); err != nil {
		return err
	}
	for _, k := range n.Keys {
		m := Must{Name: k, Bound: n.Of[k].Value(), Line: n.Places[k].Line}
		if err := m.read(); err != nil {
			return err
		}
		p.Must = append(p.Must, m)
	}
	return nil
}

// read turns a bound into a number.
func (m *Must) read() (err error) {
	if m.Name == fits {
		if !slices.Contains([]string{"true", "false", "strict"}, m.Bound) {
			return fault.In("", m.Line, fmt.Sprintf("fits: %s is none of true, strict and false", m.Bound),
				"fits: true; strict fails where only the band crosses the limit")
		}
		return nil
	}
	b := boundOf(m.Name)
	text := m.Bound
	if m.Name == "days" || m.Name == "users" {
		text = strings.TrimSuffix(text, " "+m.Name)
	}
	if m.limit, err = b.parse(text); err != nil {
		return fault.In("", m.Line, fmt.Sprintf("%s: %s: %v", m.Name, strconv.Quote(m.Bound), err), b.fix)
	}
	return nil
}

func boundOf(name string) *bound {
	i := slices.IndexFunc(bounds, func(b bound) bool { return b.name == name })
	return &bounds[i]
}
