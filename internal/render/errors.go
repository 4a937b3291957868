package render

import (
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/term"
)

// Error draws what is wrong and, below it, the fix or similar names.
func Error(e *memwall.Error, st term.Style) string {
	p := term.NewPage(st)
	message := strings.TrimSpace(e.Message)
	p.Hang(term.Say("error: ", term.InkBad), 2, term.Say(message))
	if lead, rest := hint(e.Hint); rest != "" {
		p.Hang(term.Say("  "+lead+": "), 4, term.Say(rest))
	}
	return p.String()
}

// Instead returns the words that an error suggests in place of a wrong one.
func Instead(e *memwall.Error) []string {
	lead, rest := hint(e.Hint)
	if lead == "fix" {
		return nil
	}
	return strings.Split(rest, ", ")
}

// hint separates a fix from its introduction.
func hint(s string) (lead, rest string) {
	s = strings.TrimSpace(s)
	if after, ok := strings.CutPrefix(s, "did you mean"); ok {
		return "did you mean", strings.TrimSuffix(strings.TrimLeft(after, ": "), "?")
	}
	return "fix", s
}
