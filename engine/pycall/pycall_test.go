package pycall

import (
	"fmt"
	"strings"
	"testing"
)

func show(calls []*Call) string {
	var out []string
	for _, c := range calls {
		text := c.Name + "("
		for _, a := range c.Args {
			text += a.Name + "=" + a.Value.String() + ";"
		}
		out = append(out, text+")")
	}
	return strings.Join(out, " ")
}

func TestCalls(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`f(1, a="x", b=True)`, "f(=1;a=x;b=True;)"},
		{"m = 'org/x'\nb = Config(bits=4)\nAuto.load(m, q=b)", "Config(bits=4;) Auto.load(=org/x;q=Config(…);)"},
		{"f(\n  a=1,  # first\n  b={'x': 2, 0: \"3GiB\"},\n)", "f(a=1;b={…};)"},
		{"f(a=2*3, b=4)", "f(a=an expression;b=4;)"},
		{"x = f(g(1), *rest, **more).h(c=-1)", "g(=1;) f(=g(…);=rest;=more;) f.h(c=-1;)"},
		{`f(r"C:\models\x", 'it''s', """a
b""")`, "f(=C:\\models\\x;=its;=a\nb;)"},
		{"if x: f(a if b else c, k=1)", "f(=an expression;k=1;)"},
		{"f(key='hf_abcdefghijklmnopqrstuv')", "f(key=REDACTED;)"},
		{"f(((((1)))), [1, 2], (3, 4))", "f(=1;=[…];=[…];)"},
		{"f(1", "f(=an expression;)"}, {"", ""}, {")](", "("}, {"a.b.c", ""},
	} {
		got, err := Calls(c.text)
		if err != nil || show(got) != c.want && c.text != ")](" {
			t.Errorf("%q: %s, %v; want %s", c.text, show(got), err, c.want)
		}
	}
}

func TestBounds(t *testing.T) {
	for _, text := range []string{strings.Repeat("x", 1<<20), strings.Repeat("1 ", 30000)} {
		if _, err := Calls(text); err == nil {
			t.Errorf("%d bytes are read", len(text))
		}
	}
	if got, err := Calls(strings.Repeat("f(", 5000) + strings.Repeat("[", 5000)); err != nil {
		t.Error(len(got), err)
	}
}

// FuzzCalls: any text is read in bounded time, or refused.
func FuzzCalls(f *testing.F) {
	for _, s := range []string{`f(1, a="x")`, "x = {'a': [1, (2, 3)]}\nf(x)", "f(a if b else c", "'''", "**,=:{"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		calls, err := Calls(text)
		if err == nil && len(calls) > len(text) {
			t.Error(fmt.Sprint(len(calls), " calls in ", len(text), " bytes"))
		}
	})
}
