package ledger

import (
	"math"
	"strconv"
	"strings"
)

// Input is a named input of a formula.
type Input struct {
	Name   string
	Value  float64
	Origin string
}

// Formula shows how a number was computed. Text evaluates to the number with Inputs (see Eval).
type Formula struct {
	Text   string
	Inputs []Input
	// Tokens is Text as tokens, each paired with its value substituted.
	Tokens []Token
}

// Token is a token of a formula: a name and its value, or an operator twice.
type Token struct{ Name, Value string }

// Formula returns the formula that n was computed by; the zero Formula if it was not recorded.
func (k *Book) Formula(n Num) Formula {
	if k == nil || n.ref == 0 {
		return Formula{}
	}
	p := printer{book: k, byRef: map[int32]string{}, taken: map[string]float64{}}
	p.expr(k.root(n.ref), 0)
	var b strings.Builder
	for _, t := range p.f.Tokens {
		b.WriteString(t.Name)
	}
	p.f.Text = b.String()
	return p.f
}

// root skips the name of the result itself.
func (k *Book) root(ref int32) int32 {
	for k.nodes[ref-1].verb == named && k.nodes[ref-1].a != 0 {
		ref = k.nodes[ref-1].a
	}
	return ref
}

type printer struct {
	book  *Book
	f     Formula
	byRef map[int32]string
	taken map[string]float64
}

func (p *printer) literal(s string) { p.f.Tokens = append(p.f.Tokens, Token{s, s}) }

var signs = map[verb]string{add: " + ", sub: " - ", mul: " × ", div: " / "}

var functions = map[verb]string{padUp: "pad", ceilDiv: "ceil_div", maxOf: "max", minOf: "min", floor: "floor",
	ceil: "ceil"}

// level returns the precedence of an operator: sums 1, products 2, the right side of - and / one more.
func level(v verb) int {
	switch v {
	case add, sub:
		return 1
	case mul, div:
		return 2
	}
	return 9
}

func (p *printer) expr(ref int32, outer int) {
	if ref == 0 {
		p.literal("?")
		return
	}
	n := &p.book.nodes[ref-1]
	if f, ok := functions[n.verb]; ok {
		p.call(f, n)
		return
	}
	switch n.verb {
	case input:
		p.input(ref, n)
	case named:
		p.input(ref, n)
	default:
		p.binary(n, outer)
	}
}

func (p *printer) call(name string, n *node) {
	p.literal(name + "(")
	p.expr(n.a, 0)
	if n.verb != floor && n.verb != ceil {
		p.literal(", ")
		p.expr(n.b, 0)
	}
	p.literal(")")
}

func (p *printer) binary(n *node, outer int) {
	l := level(n.verb)
	if l < outer {
		p.literal("(")
	}
	p.expr(n.a, l)
	p.literal(signs[n.verb])
	right := l
	if n.verb == sub || n.verb == div {
		right++
	}
	p.expr(n.b, right)
	if l < outer {
		p.literal(")")
	}
}

func (p *printer) input(ref int32, n *node) {
	value := Number(n.v)
	if n.name == "" {
		p.literal(value)
		return
	}
	name, ok := p.byRef[ref]
	if !ok {
		name = p.unique(n)
		p.byRef[ref] = name
	}
	p.f.Tokens = append(p.f.Tokens, Token{name, value})
}

// unique returns the node's name, numbered if the name already stands for another value.
func (p *printer) unique(n *node) string {
	name := n.name
	for i := 2; ; i++ {
		v, used := p.taken[name]
		if used && v == n.v {
			return name
		}
		if !used {
			p.taken[name] = n.v
			p.f.Inputs = append(p.f.Inputs, Input{name, n.v, p.origin(n)})
			return name
		}
		name = n.name + "_" + strconv.Itoa(i)
	}
}

func (p *printer) origin(n *node) string {
	if n.verb == named && n.a != 0 {
		return p.book.Formula(Num{V: n.v, ref: n.a}).Text
	}
	return n.origin
}

// Number formats a number for formulas: integers without a point, others with as few digits as represent them exactly.
func Number(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
		return strconv.FormatInt(int64(v), 10)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
