// Package shell determines which commands a shell script would start, without executing it. It follows variables,
// arrays, arithmetic, conditions, loops and functions, within limits. What depends on the script's arguments, its
// environment or the output of programs stays unknown, represented by its name.
//
// Follow is for scripts in files; Pasted is for text copied from web pages and terminals, whose environment is unknown.
//
// See run.go for how statements are followed, lex.go and parse.go for syntax, value.go for expansion, and pasted.go for
// how pasted text differs.
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
