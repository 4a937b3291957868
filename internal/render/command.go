package render

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/stable"
	"github.com/memwall/memwall/internal/term"
)

// commands writes the command lines that run the plan, several servers in startup order, broken as a shell accepts them.
func (s *screen) commands() {
	servers := []*memwall.Answer{s.a}
	if s.a.Start > 0 {
		servers = append(servers, s.a.Also...)
	}
	stable.Sort(servers, func(a, b *memwall.Answer) int { return cmp.Compare(a.Start, b.Start) })
	for _, a := range servers {
		s.commandsOf(a)
	}
}

func (s *screen) commandsOf(a *memwall.Answer) {
	flags, with := WorkingFlags(a)
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		s.page.Blank()
		if with != "" {
			s.page.Para(term.Pad(term.Gap), term.Say("# with "+with, term.Dim))
		}
		switch {
		case a.Start > 0:
			s.page.Lines = append(s.page.Lines, term.Say(fmt.Sprintf("# start %d: %s", a.Start, ModelName(a.Model)), term.Dim))
		case len(flags) > 1:
			s.page.Lines = append(s.page.Lines, term.Say("# "+name, term.Dim))
		}
		for _, l := range commandLines(flags[name], s.page.Style.Cells()) {
			s.page.Lines = append(s.page.Lines, term.Say(term.Clean(l, false)))
		}
	}
}

// WorkingFlags returns the command lines of a plan or, if it does not fit, those with the change in its headline, described by
// with.
func WorkingFlags(a *memwall.Answer) (flags map[string]string, with string) {
	if a.Verdict != memwall.DoesNotFit {
		return a.Flags, ""
	}
	if c := cmp.Or(firstThat(a, memwall.Fits), firstThat(a, memwall.Tight)); c != nil {
		return c.Flags, c.Change
	}
	return nil, ""
}

// commandLines breaks a command between arguments, keeping a flag with its value. A word wider than a line is broken with a
// continuation that the shell rejoins.
func commandLines(command string, width int) (lines []string) {
	if first, _, _ := strings.Cut(command, " "); strings.Contains(first, "(") {
		return codeLines(command, width)
	}
	if strings.Contains(command, "\n") {
		return scriptLines(command, width)
	}
	return BrokenLines(command, "  ", width)
}

// scriptLines formats several commands from the first column on; here-documents and their terminators are kept verbatim.
func scriptLines(script string, width int) (lines []string) {
	end := ""
	for _, l := range strings.Split(script, "\n") {
		if end != "" {
			lines = append(lines, l)
			if l == end {
				end = ""
			}
			continue
		}
		lines = append(lines, BrokenLines(l, "", width)...)
		if _, word, ok := strings.Cut(l, "<<"); ok {
			end = strings.Trim(word, "'")
		}
	}
	return lines
}

// BrokenLines breaks one command into lines, the first after an indent.
func BrokenLines(command, indent string, width int) (lines []string) {
	line := indent
	for _, w := range arguments(command) {
		if strings.TrimSpace(line) != "" && term.Cells(line)+1+term.Cells(w)+2 > width {
			lines = append(lines, line+" \\")
			line = "    "
		}
		if strings.TrimSpace(line) != "" {
			line += " "
		}
		if flag, value, ok := strings.Cut(w, " "); ok && w[0] == '-' && term.Cells(line)+term.Cells(w)+2 > width {
			lines, line, w = append(lines, line+flag+" \\"), "    ", value
		}
		for term.Cells(line)+term.Cells(w)+2 > width {
			n := term.Prefix(w, width-2-term.Cells(line))
			if n == len(w) { // something must follow, or the space after it is lost
				_, size := utf8.DecodeLastRuneInString(w)
				n -= size
			}
			joint := openQuote(w[:max(n, 0)])
			if n <= len(joint) { // nothing of the word would be said
				break
			}
			lines = append(lines, line+w[:n]+joint+"\\")
			line, w = "", joint+w[n:]
		}
		line += w
	}
	return append(lines, line)
}

// openQuote is the single quote that a part of a word leaves open, in which a shell keeps a backslash and a line's end.
func openQuote(part string) string {
	var quote rune
	for _, r := range part {
		switch {
		case quote == 0 && (r == '\'' || r == '"'):
			quote = r
		case r == quote:
			quote = 0
		}
	}
	if quote == '\'' {
		return "'"
	}
	return ""
}

// codeLines breaks a library call between its arguments.
func codeLines(command string, width int) (lines []string) {
	indent := 2
	for _, l := range term.Say(command).Wrap(width - 4) {
		lines = append(lines, strings.Repeat(" ", indent)+l.String())
		indent = 4
	}
	return lines
}

// arguments splits a command into words, keeping quotes whole and each flag with its value.
func arguments(command string) (out []string) {
	for _, w := range shellWords(command) {
		n := len(out)
		flag := n > 0 && strings.HasPrefix(out[n-1], "-") && !strings.ContainsAny(out[n-1], " =")
		if flag && !strings.HasPrefix(w, "-") {
			out[n-1] += " " + w
			continue
		}
		out = append(out, w)
	}
	return out
}

// shellWords splits a command at unquoted spaces.
func shellWords(command string) (out []string) {
	var word strings.Builder
	var quote rune
	flush := func() {
		if word.Len() > 0 {
			out = append(out, word.String())
			word.Reset()
		}
	}
	for _, r := range command {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote = r
			word.WriteRune(r)
		case r == ' ' || r == '\n' || r == '\t':
			flush()
		default:
			word.WriteRune(r)
		}
	}
	flush()
	return out
}
