// Package shell splits the text of a shell script into words, without running any of it.
package shell

import "strings"

// Words splits at blanks outside quotes; comments are left out, the ends of lines are words unless a backslash
// joins them.
func Words(s string) (words []string) {
	var b strings.Builder
	quote, open := byte(0), false
	end := func() {
		if open {
			words = append(words, b.String())
		}
		b.Reset()
		open = false
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			} else {
				b.WriteByte(c)
			}
		case c == '\'' || c == '"':
			quote, open = c, true
		case c == '\\' && i+1 < len(s):
			i++
			if s[i] != '\n' && s[i] != '\r' {
				b.WriteByte(s[i])
				open = true
			}
		case c == '#' && !open:
			for i+1 < len(s) && s[i+1] != '\n' {
				i++
			}
		case c == '\n' || c == '(' || c == ')' || c == ';':
			end()
			words = append(words, string(c))
		case c == ' ' || c == '\t' || c == '\r':
			end()
		default:
			b.WriteByte(c)
			open = true
		}
	}
	end()
	return words
}

// Flags parts "--flag value" that stands in one pair of quotes, as scripts keep flags in arrays, or in a variable behind
// others: ARGS=" $MORE --flag value".
func Flags(words []string) (out []string) {
	for _, w := range words {
		if strings.HasPrefix(w, "--") && strings.ContainsAny(w, " \t") {
			out = append(out, strings.Fields(w)...)
			continue
		}
		name, value, assigned := strings.Cut(w, "=")
		fields := strings.Fields(strings.ReplaceAll(value, "\\\n", " "))
		if assigned && IsName(name) && len(fields) > 1 && flagged(fields) {
			out = append(out, fields...)
			out = append(out, "\n")
			continue
		}
		out = append(out, w)
	}
	return out
}

// flagged: words begin with a flag, or with variables and a flag.
func flagged(words []string) bool {
	for len(words) > 0 && strings.HasPrefix(words[0], "$") {
		words = words[1:]
	}
	return len(words) > 0 && strings.HasPrefix(words[0], "--")
}

// Expand puts variables in: $NAME, ${NAME} and ${NAME:-value}; unknown ones stand as they are written.
func Expand(w string, vars map[string]string) string {
	if len(w) < 2 || w[0] != '$' {
		return w
	}
	name, value, _ := strings.Cut(strings.Trim(w[1:], "{}"), ":-")
	if v, ok := vars[name]; ok {
		return v
	}
	if value != "" {
		return value
	}
	return w
}

// IsName reports whether a text can be the name of a variable.
func IsName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c != '_' && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && (c < '0' || c > '9' || i == 0) {
			return false
		}
	}
	return s != ""
}
