package check

import (
	"errors"
	"strings"
	"testing"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/fault"
)

// TestParse: faults are named with their line and a fix.
func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"plans: 3":          "line 1: there is no list of plans",
		"plans:\n- name: a": `line 2: plan "a" says nothing`,
		"plans:\n- from: x": "line 2: a plan has no name",
		"plans:\n- {name: a, from: x}\n- {name: a, from: y}":   "line 3: a second plan",
		"plans:\n- name: a\n  model: b\n  must: {headroom: 3}": "line 4: headroom",
		"plans:\n- name: a\n  model: b\n  must: {fits: maybe}": "line 4: fits: maybe",
		"plans:\n- name: a\n  model: b\n  ask: sim":            "line 4: ask: sim is not checked",
		"plans:\n- name: a\n  model: b\n  set: {contxt: 1}":    `line 4: "contxt" is not a field`,
		"plans: []\nmore: 1": "line 2",
		"a: &a [*a]":         "",
	} {
		_, err := Parse([]byte(text))
		e, ok := errors.AsType[*fault.Error](err)
		if !ok || !strings.Contains(e.Error(), want) {
			t.Errorf("%q: %v, not %s", text, err, want)
		}
	}
}

// TestJudge: a bound holds on its own side, an unknown figure on none, and the worst outcome decides.
func TestJudge(t *testing.T) {
	x := 2.0
	f := &Figures{Users: &x, Days: &x}
	for _, c := range []struct {
		name, bound string
		want        Outcome
	}{
		{"users", "2", Holds}, {"users", "3", Fails}, {"days", "2", Holds}, {"days", "1.9", Fails}, {"ttft", "1s", Unknown},
		{"fits", "true", Holds}, {"fits", "strict", Fails}, {"fits", "false", Fails},
	} {
		m := &Must{Name: c.name, Bound: c.bound}
		if err := m.read(); err != nil {
			t.Fatal(err)
		}
		if got := judge(m, memwall.Tight, f); got.Outcome != c.want {
			t.Errorf("%s %s: %+v", c.name, c.bound, got)
		}
	}
	if worst(Holds, Unknown) != Unknown || worst(Fails, Unknown) != Fails || worst(Unanswered, Fails) != Unanswered {
		t.Error("the worst outcome does not decide")
	}
}

// TestMarkdown: a plan's name is not mark-up of a comment.
func TestMarkdown(t *testing.T) {
	r := &Run{Plans: []Result{{Name: "a|b<img src=x>@all [x](y)\n", Outcome: Holds}}, Base: "main", Gone: []string{"*z*"}}
	text := string(r.Markdown())
	for _, bad := range []string{"<img", "@all", "a|b", "[x](", "- ***z"} {
		if strings.Contains(text, bad) {
			t.Errorf("%s stands in\n%s", bad, text)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("plans:\n- name: a\n  model: b\n  set: {context: 1}\n  must: {fits: true, headroom: 1 GiB}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		plans, err := Parse(text)
		if _, ok := errors.AsType[*fault.Error](err); err != nil && !ok {
			t.Errorf("%T", err)
		}
		for i := range plans {
			if plans[i].Name == "" || len(plans[i].Must) == 0 && len(plans) > 1000 {
				t.Error("a plan without a name")
			}
		}
	})
}
