// Package pycall parses calls and literals in pasted Python. Names assigned in the text are substituted; anything else
// stays verbatim. Nothing is executed.
//
// See pycall.go for the result, tokens.go for the lexer.
package pycall

import (
	"fmt"
	"slices"
	"strings"

	"github.com/memwall/memwall/engine/argv"
)

// Bounds of a pasted text.
const (
	maxTokens = 20000
	maxDepth  = 32
)

// Value is an expression: a literal, a call, or the words of anything else.
type Value struct {
	// Text of a string, a number or a name; Quoted tells a string.
	Text   string
	Quoted bool
	Call   *Call
	// Pairs of a dict, in order; Items of a list or tuple.
	Pairs []Pair
	Items []*Value
}

// Pair is a key of a dict, or a keyword of a call, with its value. A positional argument has no name.
type Pair struct {
	Name  string
	Value *Value
}

// Call of a function, by its dotted name: AutoModelForCausalLM.from_pretrained.
type Call struct {
	Name string
	Args []Pair
}

// Func is the last part of a call's name.
func (c *Call) Func() string { return c.Name[strings.LastIndexByte(c.Name, '.')+1:] }

// Positional is the n-th argument without a name; nil when there are fewer.
func (c *Call) Positional(n int) *Value {
	for i := range c.Args {
		if c.Args[i].Name != "" {
			continue
		}
		if n == 0 {
			return c.Args[i].Value
		}
		n--
	}
	return nil
}

// String is a value as it would be written; dicts and calls are cut short.
func (v *Value) String() string {
	switch {
	case v == nil:
		return ""
	case v.Call != nil:
		return v.Call.Name + "(…)"
	case v.Pairs != nil:
		return "{…}"
	case v.Items != nil:
		return "[…]"
	}
	return argv.Blotted(v.Text)
}

// Calls of a text in the order in which their brackets close.
func Calls(s string) ([]*Call, error) {
	if len(s) > argv.MaxText {
		return nil, argv.Wrong("the text", "", fmt.Sprintf("has %d bytes", len(s)), fmt.Sprintf("paste at most %d bytes", argv.MaxText))
	}
	r := &reader{tokens: tokens(s), known: map[string]*Value{}}
	if len(r.tokens) >= maxTokens {
		return nil, argv.Wrong("the text", "", fmt.Sprintf("has more than %d words", maxTokens), "paste the calls alone")
	}
	for r.at < len(r.tokens) {
		r.statement()
	}
	return r.calls, nil
}

type reader struct {
	tokens []token
	at     int
	depth  int
	known  map[string]*Value // what names were assigned
	calls  []*Call
}

// statement reads NAME = expression, or an expression, or passes a word over.
func (r *reader) statement() {
	if r.at+1 < len(r.tokens) && r.tokens[r.at].kind == name && r.is(r.at+1, "=") {
		to := r.tokens[r.at].text
		r.at += 2
		if v := r.expression(); v != nil {
			r.known[to] = v
		}
		return
	}
	if r.expression() == nil {
		r.at++
	}
}

func (r *reader) is(at int, m string) bool {
	return at < len(r.tokens) && r.tokens[at].kind == mark && r.tokens[at].text == m
}

// expression reads a value with what follows it; nil, nothing taken, where none begins.
func (r *reader) expression() *Value {
	if r.depth++; r.depth > maxDepth {
		r.depth--
		return nil
	}
	defer func() { r.depth-- }()
	v := r.atom()
	for v != nil {
		switch {
		case r.is(r.at, ".") && r.at+1 < len(r.tokens) && r.tokens[r.at+1].kind == name:
			v = &Value{Text: v.dotted() + "." + r.tokens[r.at+1].text}
			r.at += 2
		case r.is(r.at, "("):
			c := &Call{Name: v.dotted(), Args: r.arguments(")")}
			r.calls = append(r.calls, c)
			v = &Value{Call: c, Text: c.Name}
		case r.is(r.at, "["):
			r.arguments("]")
			v = &Value{Text: v.dotted()}
		default:
			return v
		}
	}
	return nil
}

// dotted is what stands before a dot or a bracket; of a call, its name.
func (v *Value) dotted() string {
	if v.Call != nil {
		return v.Call.Name
	}
	return v.Text
}

func (r *reader) atom() *Value {
	if r.at >= len(r.tokens) {
		return nil
	}
	t := r.tokens[r.at]
	switch {
	case t.kind == text:
		r.at++
		v := &Value{Text: t.text, Quoted: true}
		for r.at < len(r.tokens) && r.tokens[r.at].kind == text { // texts side by side are one
			v.Text += r.tokens[r.at].text
			r.at++
		}
		return v
	case t.kind == number:
		r.at++
		return &Value{Text: strings.ReplaceAll(t.text, "_", "")}
	case t.kind == name:
		r.at++
		if v := r.known[t.text]; v != nil && !r.is(r.at, ".") && !r.is(r.at, "(") {
			return v
		}
		return &Value{Text: t.text}
	case t.text == "-" && r.at+1 < len(r.tokens) && r.tokens[r.at+1].kind == number:
		r.at += 2
		return &Value{Text: "-" + r.tokens[r.at-1].text}
	case t.text == "{":
		return &Value{Pairs: r.arguments("}")}
	case t.text == "[", t.text == "(":
		return r.list(map[string]string{"[": "]", "(": ")"}[t.text])
	}
	return nil
}

// list of values; one in brackets alone is itself.
func (r *reader) list(end string) *Value {
	v := &Value{Items: []*Value{}}
	args := r.arguments(end)
	for i := range args {
		v.Items = append(v.Items, args[i].Value)
	}
	if end == ")" && len(v.Items) == 1 {
		return v.Items[0]
	}
	return v
}

// arguments reads name=value, "key": value and values up to a closing bracket. Operators and what stands behind them
// make a value unknown: it is passed over.
func (r *reader) arguments(end string) (out []Pair) {
	r.at++
	out = []Pair{}
	for r.at < len(r.tokens) && !r.is(r.at, end) {
		from := r.at
		p := r.argument(end)
		if p.Value != nil {
			out = append(out, p)
		}
		if r.is(r.at, ",") || r.at == from {
			r.at++
		}
	}
	r.at++
	return out
}

func (r *reader) argument(end string) (p Pair) {
	r.at += r.stars()
	if r.at+1 < len(r.tokens) && r.tokens[r.at].kind == name && r.is(r.at+1, "=") {
		p.Name = r.tokens[r.at].text
		r.at += 2
	}
	p.Value = r.expression()
	if p.Value != nil && r.is(r.at, ":") && end == "}" {
		p.Name = p.Value.Text
		r.at++
		p.Value = r.expression()
	}
	if !r.is(r.at, ",") && !r.is(r.at, end) {
		r.skip(end)
		p.Value = &Value{Text: "an expression"}
	}
	return p
}

// stars before an argument: *args and **kwargs.
func (r *reader) stars() int {
	if r.is(r.at, "*") || r.is(r.at, "**") {
		return 1
	}
	return 0
}

// skip passes to the comma or bracket that ends an argument.
func (r *reader) skip(end string) {
	for r.at < len(r.tokens) && !r.is(r.at, ",") && !r.is(r.at, end) {
		if r.tokens[r.at].kind == mark && slices.Contains([]string{")", "]", "}"}, r.tokens[r.at].text) {
			return
		}
		if r.expression() == nil {
			r.at++
		}
	}
}
