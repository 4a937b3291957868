package scale

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Expression is a user-defined policy: an arithmetic expression over what is observed, whose value, rounded up, is the
// number of replicas. It has no loops or assignments, so every decision terminates.
type Expression struct {
	Text    string
	Curve   *Curve
	Goal    float64 // share of requests that must meet the goal
	Seconds float64 // between decisions; 0 means 15
	value   node
	names   map[string]float64
}

// node evaluates a subexpression.
type node func(names map[string]float64) (float64, error)

// Names are the variables of an expression, with their descriptions.
var Names = [][2]string{
	{"replicas", "replicas wanted so far"}, {"ready", "replicas that serve"}, {"starting", "replicas that start"},
	{"rate", "requests/s since the last decision"}, {"running", "requests that are computed"}, {"waiting", "requests that wait"},
	{"in_flight", "both"}, {"kv", "share of the KV caches in use, on average"},
	{"holds", "requests/s that a replica holds within the goal"},
	{"capacity", "requests/s that it ends at most"}, {"full", "requests in it then"}, {"hour", "of the day, 0 to 24"},
}

const (
	longestText = 4096
	deepest     = 64
)

// Parse parses an expression. Errors give the position.
func Parse(text string, c *Curve, share float64) (*Expression, error) {
	if len(text) > longestText {
		return nil, fmt.Errorf("the expression has %d bytes, more than %d", len(text), longestText)
	}
	p := &parser{text: text}
	value, err := p.choice(0)
	if err == nil && p.peek() != "" {
		err = p.fault("%q is not expected", p.peek())
	}
	if err != nil {
		return nil, err
	}
	return &Expression{Text: text, Curve: c, Goal: share, value: value,
		names: map[string]float64{"holds": c.Holds(share), "capacity": c.Capacity(), "full": c.Full()}}, nil
}

// Every returns the decision interval; the default is an HPA's sync period.
func (e *Expression) Every() float64 { return or(e.Seconds, 15) }

// Decide evaluates the expression.
func (e *Expression) Decide(s *Sight) (int, error) {
	n := e.names
	n["replicas"], n["ready"], n["starting"] = float64(s.Replicas), float64(len(s.Ready)), float64(s.Starting)
	in, waiting := s.In()
	n["rate"], n["in_flight"], n["waiting"], n["running"] = s.Rate, in, waiting, in-waiting
	n["hour"], n["kv"] = math.Mod(s.At/3600, 24), 0
	for _, r := range s.Ready {
		n["kv"] += r.KV / float64(len(s.Ready))
	}
	x, err := e.value(n)
	if err != nil {
		return 0, fmt.Errorf("%w at %s", err, Clock(s.At))
	}
	if math.IsNaN(x) {
		return 0, fmt.Errorf("the expression is not a number at %s", Clock(s.At))
	}
	return ceil(max(0, x)), nil
}

// Clock formats a time of the load.
func Clock(at float64) string {
	words := fmt.Sprintf("%02d:%02d", int(at/3600)%24, int(at/60)%60)
	if days := int(at / day); days > 0 {
		words = fmt.Sprintf("day %d, %s", days+1, words)
	}
	return words
}

type parser struct {
	text string
	at   int
}

func (p *parser) fault(format string, args ...any) error {
	return fmt.Errorf("the expression, at %d: %s", p.at+1, fmt.Sprintf(format, args...))
}

// peek returns the next token: a number, a name or an operator; "" at the end.
func (p *parser) peek() string {
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\t' || p.text[p.at] == '\n') {
		p.at++
	}
	rest := p.text[p.at:]
	end := strings.IndexFunc(rest, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '.' })
	switch {
	case end > 0:
		return rest[:end]
	case end < 0:
		return rest
	case slices.Contains([]string{"<=", ">=", "==", "!=", "&&", "||"}, rest[:min(2, len(rest))]):
		return rest[:2]
	}
	r := []rune(rest[:min(4, len(rest))])
	return string(r[:1])
}

func (p *parser) accept(words ...string) string {
	if w := p.peek(); w != "" && slices.Contains(words, w) {
		p.at += len(w)
		return w
	}
	return ""
}

// choice parses CONDITION ? THIS : THAT.
func (p *parser) choice(depth int) (node, error) {
	if depth > deepest {
		return nil, p.fault("it is nested more than %d deep", deepest)
	}
	if p.peek() == "" {
		return nil, p.fault("a value is missing")
	}
	condition, err := p.binary(0, depth)
	if err != nil || p.accept("?") == "" {
		return condition, err
	}
	yes, err := p.choice(depth + 1)
	if err == nil && p.accept(":") == "" {
		err = p.fault("a ? without its :")
	}
	if err != nil {
		return nil, err
	}
	no, err := p.choice(depth + 1)
	return func(n map[string]float64) (float64, error) {
		x, err := condition(n)
		if err != nil || x == 0 {
			return orElse(no, n, err)
		}
		return yes(n)
	}, err
}

func orElse(no node, n map[string]float64, err error) (float64, error) {
	if err != nil {
		return 0, err
	}
	return no(n)
}

// levels lists the binary operators, lowest precedence first.
var levels = [][]string{{"||"}, {"&&"}, {"<", ">", "<=", ">=", "==", "!="}, {"+", "-"}, {"*", "/", "%"}}

func (p *parser) binary(level, depth int) (node, error) {
	if level == len(levels) {
		return p.atom(depth)
	}
	left, err := p.binary(level+1, depth)
	for err == nil {
		sign := p.accept(levels[level]...)
		if sign == "" {
			return left, nil
		}
		var right node
		at := p.at
		if right, err = p.binary(level+1, depth); err == nil {
			left = joined(sign, at, left, right)
		}
	}
	return nil, err
}

func joined(sign string, at int, left, right node) node {
	return func(n map[string]float64) (float64, error) {
		a, err := left(n)
		if err != nil {
			return 0, err
		}
		b, err := right(n)
		if err == nil && b == 0 && (sign == "/" || sign == "%") {
			err = fmt.Errorf("the expression divides by zero, at its place %d,", at)
		}
		if err != nil {
			return 0, err
		}
		return applied(sign, a, b), nil
	}
}

func applied(sign string, a, b float64) float64 {
	truth := func(x bool) float64 {
		if x {
			return 1
		}
		return 0
	}
	switch sign {
	case "+":
		return a + b
	case "-":
		return a - b
	case "*":
		return a * b
	case "/":
		return a / b
	case "%":
		return math.Mod(a, b)
	case "<":
		return truth(a < b)
	case ">":
		return truth(a > b)
	case "<=":
		return truth(a <= b)
	case ">=":
		return truth(a >= b)
	case "==":
		return truth(a == b)
	case "!=":
		return truth(a != b)
	case "&&":
		return truth(a != 0 && b != 0)
	}
	return truth(a != 0 || b != 0)
}

// atom parses a number, a name, a call, or a parenthesized expression, with optional minus.
func (p *parser) atom(depth int) (node, error) {
	if depth > deepest {
		return nil, p.fault("it is nested more than %d deep", deepest)
	}
	if p.accept("-") != "" {
		x, err := p.atom(depth + 1)
		return func(n map[string]float64) (float64, error) {
			v, err := x(n)
			return -v, err
		}, err
	}
	if p.accept("(") != "" {
		x, err := p.choice(depth + 1)
		if err == nil && p.accept(")") == "" {
			err = p.fault("a ( without its )")
		}
		return x, err
	}
	word := p.peek()
	if number, err := strconv.ParseFloat(word, 64); err == nil && !math.IsInf(number, 0) && !math.IsNaN(number) {
		p.at += len(word)
		return func(map[string]float64) (float64, error) { return number, nil }, nil
	}
	return p.named(word, depth)
}

func (p *parser) named(word string, depth int) (node, error) {
	known := func(name [2]string) bool { return name[0] == word }
	at := p.at
	p.at += len(word)
	switch {
	case functions[word].do != nil:
		return p.call(word, depth)
	case slices.ContainsFunc(Names, known):
		return func(n map[string]float64) (float64, error) { return n[word], nil }, nil
	}
	p.at = at
	if word == "" {
		return nil, p.fault("a value is missing")
	}
	return nil, p.fault("%q is neither a number nor one of its names: %s", word, nameList())
}

func nameList() string {
	var all []string
	for _, n := range Names {
		all = append(all, n[0])
	}
	return strings.Join(all, ", ") + "; ceil, floor, abs, min, max"
}

// functions are the functions with their number of arguments.
var functions = map[string]struct {
	args int
	do   func(a, b float64) float64
}{
	"ceil":  {1, func(a, _ float64) float64 { return math.Ceil(a) }},
	"floor": {1, func(a, _ float64) float64 { return math.Floor(a) }},
	"abs":   {1, func(a, _ float64) float64 { return math.Abs(a) }},
	"min":   {2, math.Min},
	"max":   {2, math.Max},
}

func (p *parser) call(name string, depth int) (node, error) {
	f := functions[name]
	if p.accept("(") == "" {
		return nil, p.fault("%s wants its arguments in ( )", name)
	}
	var args [2]node
	for i := range f.args {
		if i > 0 && p.accept(",") == "" {
			return nil, p.fault("%s takes %d values", name, f.args)
		}
		x, err := p.choice(depth + 1)
		if err != nil {
			return nil, err
		}
		args[i] = x
	}
	if p.accept(")") == "" {
		return nil, p.fault("%s takes %d, and then a )", name, f.args)
	}
	return func(n map[string]float64) (float64, error) {
		var v [2]float64
		for i := range f.args {
			x, err := args[i](n)
			if err != nil {
				return 0, err
			}
			v[i] = x
		}
		return f.do(v[0], v[1]), nil
	}, nil
}
