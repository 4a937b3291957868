package detect

import (
	"path"
	"strings"
	"unicode"
)

// printable returns a driver's or program's name without control sequences, at most a line long.
func printable(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if runes := []rune(s); len(runes) > 60 {
		s = string(runes[:60])
	}
	return s
}

// programOf returns the name of a program from its command line, without folders and arguments.
func programOf(command string) string {
	command, _, _ = strings.Cut(command, " -")
	if i := strings.LastIndexByte(command, '\\'); i >= 0 {
		command = command[i+1:]
	}
	if strings.Trim(command, "[] ") == "N/A" {
		return ""
	}
	name := printable(path.Base(strings.TrimSpace(command)))
	if name == "." || name == "/" {
		return ""
	}
	return name
}
