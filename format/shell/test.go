package shell

import (
	"path"
	"slices"
	"strings"
)

// answer is the outcome of a condition, possibly unknown.
type answer int

const (
	open answer = iota
	yes
	no
)

func truth(b bool) answer {
	if b {
		return yes
	}
	return no
}

func (a answer) not() answer { return map[answer]answer{yes: no, no: yes}[a] }

// tests evaluates [ … ], [[ … ]] and test.
type tests struct {
	*machine
	words []string
	glob  bool // [[: the right side may be a pattern
	depth int
}

// or, with and below it and one at the leaves, parses by precedence; leftover words make the result unknown.
func (t *tests) or() answer {
	a := t.and()
	for t.word("-o") || t.word("||") {
		b := t.and()
		switch {
		case a == yes || b == yes:
			a = yes
		case a == open || b == open:
			a = open
		}
	}
	return a
}

func (t *tests) and() answer {
	a := t.one()
	for t.word("-a") || t.word("&&") {
		b := t.one()
		switch {
		case a == no || b == no:
			a = no
		case a == open || b == open:
			a = open
		}
	}
	return a
}

func (t *tests) word(s string) bool {
	if len(t.words) > 0 && t.words[0] == s {
		t.words = t.words[1:]
		return true
	}
	return false
}

func (t *tests) next() (s string) {
	if len(t.words) > 0 {
		s, t.words = t.words[0], t.words[1:]
	}
	return s
}

func (t *tests) one() answer {
	if t.depth++; t.depth > maxDepth {
		return open
	}
	switch {
	case t.word("!"):
		return t.one().not()
	case t.word("("):
		a := t.or()
		t.word(")")
		return a
	}
	first := t.next()
	switch first {
	case "-z", "-n":
		if len(t.words) == 0 || t.words[0] == "]" {
			return truth(first == "-z") // [ -z $UNSET ]
		}
		s := t.environment(t.next())
		if !known(s) {
			return open
		}
		return truth((s == "") == (first == "-z"))
	case "-v":
		_, set := t.lookup(t.next())
		return truth(set)
	case "-f", "-d", "-e", "-s", "-r", "-w", "-x", "-t", "-L", "-h", "-p":
		t.next()
		return open
	}
	return t.compare(t.environment(first))
}

// environment expands a word in a condition: variables that the script does not set count as unset, as in an empty
// environment.
func (t *tests) environment(word string) string {
	if name := bare(word); name != "" && !t.pasted {
		if _, set := t.lookup(name); !set && !isNumber(name) {
			return ""
		}
		if len(t.args) == 0 && isNumber(name) {
			return ""
		}
	}
	return t.text(word)
}

// bare returns the name of a word that is a single variable: $X, ${X}, "$X".
func bare(word string) string {
	word = strings.Trim(word, `"`)
	name, ok := strings.CutPrefix(word, "$")
	if !ok {
		return ""
	}
	name = strings.TrimSuffix(strings.TrimPrefix(name, "{"), "}")
	if IsName(name) || isNumber(name) {
		return name
	}
	return ""
}

func (t *tests) compare(left string) answer {
	if len(t.words) == 0 || slices.Contains([]string{"]", "]]", "&&", "||", "-a", "-o"}, t.words[0]) {
		if !known(left) {
			return open
		}
		return truth(left != "")
	}
	op, raw := t.next(), t.next()
	right := t.environment(raw)
	if !known(left) || !known(right) {
		return open
	}
	switch op {
	case "=", "==":
		return t.equal(left, raw, right)
	case "!=":
		return t.equal(left, raw, right).not()
	}
	return numeric(op, left, right)
}

func (t *tests) equal(left, raw, right string) answer {
	if !t.glob || strings.ContainsAny(raw, `"'`) || !strings.ContainsAny(right, "*?[") {
		return truth(left == right)
	}
	return fits(right, left)
}

// fits reports whether a text matches a pattern. A star matches slashes too, as in a shell.
func fits(pattern, text string) answer {
	flat := strings.NewReplacer("/", "\x02")
	ok, err := path.Match(flat.Replace(pattern), flat.Replace(text))
	if err != nil {
		return open
	}
	return truth(ok)
}

func numeric(op, left, right string) answer {
	if !isNumber(strings.TrimPrefix(left, "-")) || !isNumber(strings.TrimPrefix(right, "-")) {
		return open
	}
	x, y := number(left), number(right)
	switch op {
	case "-eq":
		return truth(x == y)
	case "-ne":
		return truth(x != y)
	case "-lt", "<":
		return truth(x < y)
	case "-le":
		return truth(x <= y)
	case "-gt", ">":
		return truth(x > y)
	case "-ge":
		return truth(x >= y)
	}
	return open
}
