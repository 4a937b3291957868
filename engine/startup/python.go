package startup

import (
	"strconv"
	"strings"
)

// Settings are name-value pairs printed by a Python program: "key=value, …" of a dataclass or Namespace, or "'key': value" of a
// dict. Values are as printed, strings without quotes.
type Settings map[string]string

// Bounds on settings.
const (
	maxSettings = 2048
	maxNest     = 32
)

// ParseSettings reads pairs until the text ends. Of a name that stands twice the first value counts;
// nested objects are values whole.
func ParseSettings(text string) Settings {
	s := Settings{}
	for len(text) > 0 && len(s) < maxSettings {
		name, rest, ok := pairName(text)
		if !ok {
			if rest == text || rest == "" {
				break
			}
			text = rest
			continue
		}
		value, after := pairValue(rest)
		if _, have := s[name]; !have {
			s[name] = value
		}
		text = after
	}
	return s
}

// pairName finds the next "name=" or "'name':"; without one it gives what is left to search.
func pairName(text string) (name, rest string, ok bool) {
	i := 0
	for i < len(text) && !isWordByte(text[i]) && text[i] != '\'' && text[i] != '"' {
		i++
	}
	text = text[i:]
	if text == "" {
		return "", "", false
	}
	if text[0] == '\'' || text[0] == '"' {
		word, after := cutLiteral(text)
		after = strings.TrimLeft(after, " ")
		if strings.HasPrefix(after, ":") {
			return word, after[1:], word != ""
		}
		return "", after, false
	}
	n := 0
	for n < len(text) && isWordByte(text[n]) {
		n++
	}
	if n < len(text) && text[n] == '=' {
		return text[:n], text[n+1:], true
	}
	return "", text[n:], false
}

// pairValue reads a value up to the comma or bracket that ends it.
func pairValue(text string) (value, rest string) {
	text = strings.TrimLeft(text, " ")
	if text != "" && (text[0] == '\'' || text[0] == '"') {
		return cutLiteral(text)
	}
	depth := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\'' || c == '"':
			_, after := cutLiteral(text[i:])
			i = len(text) - len(after) - 1
		case strings.IndexByte("([{", c) >= 0:
			if depth++; depth > maxNest {
				return "", ""
			}
		case strings.IndexByte(")]}", c) >= 0:
			if depth--; depth < 0 {
				return strings.TrimSpace(text[:i]), text[i:]
			}
		case c == ',' && depth == 0:
			return strings.TrimSpace(text[:i]), text[i+1:]
		}
	}
	return strings.TrimSpace(text), ""
}

// cutLiteral reads a string literal; an unclosed one runs to the end.
func cutLiteral(text string) (word, rest string) {
	quote := text[0]
	for i := 1; i < len(text); i++ {
		if text[i] == '\\' {
			i++
			continue
		}
		if text[i] == quote {
			return text[1:i], text[i+1:]
		}
	}
	return text[1:], ""
}

func isWordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// Str gives a value that is not None, "" else.
func (s Settings) Str(names ...string) string {
	for _, n := range names {
		if v := s[n]; v != "" && v != "None" && v != "null" {
			return v
		}
	}
	return ""
}

// Int gives a whole number from 0 on; ok is false when there is none.
func (s Settings) Int(name string) (int64, bool) {
	n, err := strconv.ParseInt(s[name], 10, 64)
	return n, err == nil && n >= 0 && n < 1<<40
}

// Share gives a number above 0 and at most 1; nil when there is none.
func (s Settings) Share(name string) *float64 {
	x, err := strconv.ParseFloat(s[name], 64)
	if err != nil || !(x > 0 && x <= 1) {
		return nil
	}
	return &x
}

// Bool gives True or False; nil for anything else.
func (s Settings) Bool(name string) *bool {
	v := s[name] == "True" || s[name] == "true"
	if !v && s[name] != "False" && s[name] != "false" {
		return nil
	}
	return &v
}
