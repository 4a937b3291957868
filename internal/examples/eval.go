package examples

import (
	"go/ast"
	"go/token"
	"reflect"
	"strconv"
	"strings"

	"github.com/memwall/memwall/ledger"
)

// scope is what names stand for in a row. Arithmetic on them is recorded by the Book, so a formula is shown as its row writes it.
type scope struct {
	*calc
	own   map[string]any
	outer *scope // nil where the names are those of Go
}

// defined is a function of a text, with the scope that it was written in.
type defined struct {
	line
	in *scope
}

// Findings computes a row's values.
func (r *Row) Findings() ([]Finding, error) {
	c := newCalc()
	words, err := shared()
	if err != nil {
		return nil, err
	}
	all := &scope{calc: c, own: map[string]any{}}
	all.run(words)
	found := (&scope{calc: c, own: map[string]any{}, outer: all}).run(r.lines)
	return found, c.err
}

// run gives the findings of lines, whose definitions hold from there on.
func (s *scope) run(lines []line) (out []Finding) {
	for _, l := range lines {
		switch {
		case l.parameters != nil:
			s.own[l.name] = defined{l, s}
		case l.name != "":
			s.own[l.name] = s.eval(l.expr)
		default:
			f, ok := s.eval(l.expr).(Finding)
			if !ok {
				s.fail("a line that is not a finding")
			}
			out = append(out, f)
		}
	}
	return out
}

// find gives what a name stands for.
func (s *scope) find(name string) any {
	for at := s; at != nil; at = at.outer {
		if v, ok := at.own[name]; ok {
			return v
		}
	}
	if v, ok := names[name]; ok {
		return v
	}
	return s.fail("nothing is called %s", name)
}

func (s *scope) eval(e ast.Expr) any {
	switch x := e.(type) {
	case *ast.Ident:
		return s.find(x.Name)
	case *ast.ParenExpr:
		return s.eval(x.X)
	case *ast.BasicLit:
		return s.literal(x)
	case *ast.UnaryExpr:
		return -s.number(s.eval(x.X)).V
	case *ast.BinaryExpr:
		return s.binary(x)
	case *ast.CallExpr:
		return s.call(x)
	case *ast.CompositeLit:
		return s.question(x)
	}
	return s.fail("no expression: %T", e)
}

func (s *scope) literal(x *ast.BasicLit) any {
	if x.Kind == token.STRING {
		text, err := strconv.Unquote(x.Value)
		if err != nil {
			s.fail("%s: %w", x.Value, err)
		}
		return text
	}
	v, err := strconv.ParseFloat(x.Value, 64)
	if err != nil {
		s.fail("%s: %w", x.Value, err)
	}
	return v
}

// number makes a literal a number of the Book.
func (s *scope) number(v any) ledger.Num {
	switch x := v.(type) {
	case ledger.Num:
		return x
	case float64:
		return s.Lit(x)
	}
	return s.fail("%v is not a number", v)
}

func (s *scope) binary(x *ast.BinaryExpr) any {
	left, right := s.eval(x.X), s.eval(x.Y)
	if text, ok := left.(string); ok && x.Op == token.ADD {
		more, _ := right.(string)
		return text + more
	}
	a, b := s.number(left), s.number(right)
	switch x.Op {
	case token.ADD:
		return s.Add(a, b)
	case token.SUB:
		return s.Sub(a, b)
	case token.MUL:
		return s.Mul(a, b)
	case token.QUO:
		return s.Div(a, b)
	}
	return s.fail("no operator: %s", x.Op)
}

// call applies a function of a text, one of Go, or what an answer is asked: answer.item("weights").
func (s *scope) call(x *ast.CallExpr) any {
	var args []any
	callee, of := x.Fun, (*ast.SelectorExpr)(nil)
	if of, _ = callee.(*ast.SelectorExpr); of != nil {
		args = append(args, s.eval(of.X))
		callee = of.Sel
	}
	for _, a := range x.Args {
		args = append(args, s.eval(a))
	}
	name, ok := callee.(*ast.Ident)
	if !ok {
		return s.fail("no function: %T", callee)
	}
	if of != nil {
		return s.apply(name.Name, asked[name.Name], args)
	}
	f := s.find(name.Name)
	if d, ok := f.(defined); ok {
		return s.expand(&d, args)
	}
	return s.apply(name.Name, f, args)
}

func (s *scope) expand(d *defined, args []any) any {
	if len(args) != len(d.parameters) {
		return s.fail("%s takes %d values, not %d", d.name, len(d.parameters), len(args))
	}
	in := &scope{calc: s.calc, own: map[string]any{}, outer: d.in}
	for i, p := range d.parameters {
		in.own[p] = args[i]
	}
	return in.eval(d.expr)
}

// apply calls a function of Go. Its first parameter may be the calc.
func (s *scope) apply(name string, function any, args []any) any {
	f := reflect.ValueOf(function)
	if f.Kind() != reflect.Func {
		return s.fail("%s is not a function", name)
	}
	if t := f.Type(); t.NumIn() > 0 && t.In(0) == reflect.TypeFor[*calc]() {
		args = append([]any{s.calc}, args...)
	}
	if f.Type().NumIn() != len(args) {
		return s.fail("%s takes %d values, not %d", name, f.Type().NumIn(), len(args))
	}
	in := make([]reflect.Value, len(args))
	for i, a := range args {
		in[i] = s.as(f.Type().In(i), a)
	}
	return f.Call(in)[0].Interface()
}

// as converts a value to a parameter's type: a literal to any kind of number, a number to its value.
func (s *scope) as(t reflect.Type, v any) reflect.Value {
	if n, ok := v.(ledger.Num); ok && t.Kind() == reflect.Float64 {
		v = n.V
	}
	if x, ok := v.(float64); ok {
		if t == reflect.TypeFor[ledger.Num]() {
			v = s.Lit(x)
		} else if t.Kind() == reflect.Int64 {
			v = int64(x)
		}
	}
	if out := reflect.ValueOf(v); out.IsValid() && out.Type().AssignableTo(t) {
		return out
	}
	s.fail("%v is not a %s", v, t)
	return reflect.Zero(t)
}

// question asks memwall: fit{model: "llama-3-70b", ctx: 8192}, or train{…}. Names are those of the fields of ask and run.
func (s *scope) question(x *ast.CompositeLit) any {
	var fit ask
	var train run
	kind, _ := x.Type.(*ast.Ident)
	into := reflect.ValueOf(&fit)
	if kind != nil && kind.Name == "train" {
		into = reflect.ValueOf(&train)
	}
	for _, e := range x.Elts {
		s.set(into.Elem(), e)
	}
	if into.Type() == reflect.TypeFor[*run]() {
		return s.train(train)
	}
	return s.fit(fit)
}

func (s *scope) set(into reflect.Value, e ast.Expr) {
	kv, ok := e.(*ast.KeyValueExpr)
	if !ok {
		s.fail("a field without a name")
		return
	}
	key, _ := kv.Key.(*ast.Ident)
	field := into.FieldByNameFunc(func(n string) bool { return key != nil && strings.EqualFold(n, key.Name) })
	if !field.IsValid() {
		s.fail("no field %v", kv.Key)
		return
	}
	field.Set(s.as(field.Type(), s.eval(kv.Value)))
}
