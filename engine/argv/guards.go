package argv

import "strings"

// Tests of a script that the text itself decides: [ -n "$QUANT" ] && ARGS+=(…), and if [ … ]; then … else … fi. What a shell would
// not reach is left out; a test of what nobody knows leaves both ways in.

// branch is an if of a script: whether its test was true so far, false, or is not known.
type branch uint8

const (
	unknown branch = iota
	taken
	passed // its words are not reached
)

// guards are the branches that are open, and whether the rest of a list (&&, ||) is not reached.
type guards struct {
	open []branch
	rest bool
	seg  []string // words of the command so far
}

// off reports whether a shell does not reach the words that come.
func (g *guards) off() bool {
	for _, b := range g.open {
		if b == passed {
			return true
		}
	}
	return g.rest
}

// word takes one, and reports whether it counts.
func (g *guards) word(text string) bool {
	const most = 64
	if n := len(g.open); len(g.seg) == 0 && n > 0 {
		switch top := &g.open[n-1]; {
		case text == "fi":
			g.open = g.open[:n-1]
		case (text == "else" || text == "elif") && *top == taken:
			*top = passed
		case text == "else" && *top == passed:
			*top = taken
		}
	}
	if len(g.seg) < most {
		g.seg = append(g.seg, text)
	}
	return !g.off()
}

// end closes a command before an operator: a line break, ;, &, |, && or ||.
func (g *guards) end(operator string) {
	const most = 64
	result := decided(g.seg)
	switch {
	case len(g.seg) > 0 && g.seg[0] == "if" && len(g.open) < most:
		g.open = append(g.open, result)
	case len(g.seg) > 0 && g.seg[0] == "elif" && len(g.open) > 0 && g.open[len(g.open)-1] == passed && result != passed:
		g.open[len(g.open)-1] = result
	case operator == "&&":
		g.rest = g.rest || result == passed
	case operator == "||":
		g.rest = result == taken
	default:
		g.rest = false
	}
	g.seg = g.seg[:0]
}

// decided is what a test comes to: [ -n WORD ], [ -z WORD ], [ A = B ] and [ A != B ], also in double brackets.
func decided(words []string) branch {
	if len(words) > 0 && (words[0] == "if" || words[0] == "elif") {
		words = words[1:]
	}
	n := len(words)
	if n < 4 || n > 5 || (words[0] != "[" || words[n-1] != "]") && (words[0] != "[[" || words[n-1] != "]]") {
		return unknown
	}
	holds, left, right := false, words[n-2], ""
	switch {
	case n == 4 && words[1] == "-n":
		holds = left != ""
	case n == 4 && words[1] == "-z":
		holds = left == ""
	case n == 5 && (words[2] == "=" || words[2] == "==" || words[2] == "!="):
		left, right = words[1], words[3]
		holds = (left == right) == (words[2] != "!=")
	default:
		return unknown
	}
	switch {
	case strings.ContainsAny(left+right, "$*?`"):
		return unknown
	case holds:
		return taken
	}
	return passed
}
