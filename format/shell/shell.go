// Package shell says what commands a shell script would start, without running any of it: it follows variables, arrays, arithmetic,
// conditions on what the script says, loops and functions, within bounds. What the script takes from its arguments, its environment or
// from programs stays open, by its name.
//
// Follow takes a script as it lies in a file; Pasted takes what people copy from pages and terminals, whose environment nobody knows.
//
// Open run.go for how statements are followed; lex.go and parse.go read them, value.go puts variables in, pasted.go says how pasted text
// differs.
package shell

// Variable is a variable with its value.
type Variable struct{ Name, Value string }

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
