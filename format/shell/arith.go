package shell

import (
	"math"
	"strconv"
	"strings"
)

func itoa(n int) string { return strconv.Itoa(n) }

// number parses digits, saturating on overflow.
func number(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil && !isNumber(s) {
		return 0
	}
	return n
}

// sum evaluates $(( … )); what cannot be evaluated stays verbatim.
func (m *machine) sum(s string) string {
	a := &arithmetic{machine: m, text: s}
	n := a.ternary()
	a.blanks()
	if a.failed || a.at < len(a.text) {
		s = strings.NewReplacer(" ", "", "\t", "", "\n", "").Replace(s) // a single word, wherever it is inserted
		return m.unknown("(("+s+"))", "$(("+s+"))")
	}
	return strconv.FormatInt(n, 10)
}

// arithmetic evaluates integer expressions as a shell does, by precedence climbing.
type arithmetic struct {
	*machine
	text   string
	at     int
	depth  int
	failed bool
}

func (a *arithmetic) blanks() {
	for a.at < len(a.text) && strings.IndexByte(" \t\r\n", a.text[a.at]) >= 0 {
		a.at++
	}
}

func (a *arithmetic) word(s string) bool {
	a.blanks()
	if strings.HasPrefix(a.text[a.at:], s) {
		a.at += len(s)
		return true
	}
	return false
}

func (a *arithmetic) ternary() int64 {
	if a.depth++; a.depth > maxDepth {
		a.failed = true
		return 0
	}
	defer func() { a.depth-- }()
	n := a.binary(0)
	if !a.word("?") {
		return n
	}
	yes := a.ternary()
	if !a.word(":") {
		a.failed = true
		return 0
	}
	no := a.ternary()
	if n != 0 {
		return yes
	}
	return no
}

// levels lists the operators, lowest precedence first, longer ones first within a level.
var levels = [][]string{{"||"}, {"&&"}, {"==", "!="}, {"<=", ">=", "<", ">"}, {"+", "-"}, {"*", "/", "%"}}

func (a *arithmetic) binary(level int) int64 {
	if level == len(levels) {
		return a.unary()
	}
	n := a.binary(level + 1)
	for {
		op := ""
		for _, o := range levels[level] {
			if op == "" && a.word(o) {
				op = o
			}
		}
		if op == "" || a.failed {
			return n
		}
		n = a.apply(op, n, a.binary(level+1))
	}
}

func (a *arithmetic) apply(op string, x, y int64) int64 {
	truth := func(b bool) int64 {
		if b {
			return 1
		}
		return 0
	}
	switch op {
	case "||":
		return truth(x != 0 || y != 0)
	case "&&":
		return truth(x != 0 && y != 0)
	case "==":
		return truth(x == y)
	case "!=":
		return truth(x != y)
	case "<=":
		return truth(x <= y)
	case ">=":
		return truth(x >= y)
	case "<":
		return truth(x < y)
	case ">":
		return truth(x > y)
	case "+":
		return x + y
	case "-":
		return x - y
	case "*":
		return x * y
	}
	if y == 0 || x == math.MinInt64 {
		a.failed = true
		return 0
	}
	if op == "/" {
		return x / y
	}
	return x % y
}

func (a *arithmetic) unary() int64 {
	switch {
	case a.word("("):
		n := a.ternary()
		if !a.word(")") {
			a.failed = true
		}
		return n
	case a.word("-"):
		if a.depth++; a.depth > maxDepth {
			a.failed = true
			return 0
		}
		return -a.unary()
	}
	return a.operand()
}

// operand parses a number, a variable name, or an expansion.
func (a *arithmetic) operand() int64 {
	a.blanks()
	start := a.at
	for a.at < len(a.text) {
		if c := a.text[a.at]; c == '$' {
			a.at += max(1, spanned(a.text[a.at:]))
		} else if c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
			a.at++
		} else {
			break
		}
	}
	s := a.text[start:a.at]
	if IsName(s) {
		s = "${" + s + "}"
	}
	n, err := strconv.ParseInt(strings.TrimSpace(a.machine.text(s)), 10, 64)
	if err != nil {
		a.failed = true
	}
	return n
}
