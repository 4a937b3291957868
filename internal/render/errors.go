package render

import (
	"strings"

	"github.com/memwall/memwall"
)

// Error says what is wrong, and under it the fix or the names that may have been meant.
func Error(e *memwall.Error, st Style) string {
	p := newPage(st)
	message := strings.TrimSpace(e.Message)
	p.hang(say("error: ", inkBad), 2, say(message))
	if lead, rest := hint(e.Hint); rest != "" {
		p.hang(say("  "+lead+": "), 4, say(rest))
	}
	return p.String()
}

// Instead are the words that an error proposes in place of a wrong one.
func Instead(e *memwall.Error) []string {
	lead, rest := hint(e.Hint)
	if lead == "fix" {
		return nil
	}
	return strings.Split(rest, ", ")
}

// hint parts a fix from what introduces it.
func hint(s string) (lead, rest string) {
	s = strings.TrimSpace(s)
	if after, ok := strings.CutPrefix(s, "did you mean"); ok {
		return "did you mean", strings.TrimSuffix(strings.TrimLeft(after, ": "), "?")
	}
	return "fix", s
}
