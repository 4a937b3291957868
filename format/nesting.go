package format

// Nests says where a text of JSON nests deeper than so many levels; ok is false where it does not.
func Nests(text []byte, most int) (at int, ok bool) {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > most {
				return i, true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return 0, false
}
