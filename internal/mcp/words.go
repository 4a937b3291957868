package mcp

import (
	"regexp"
	"strings"

	"github.com/memwall/memwall"
)

var (
	flagged = regexp.MustCompile("--([a-z][a-z0-9-]*)[ =]?")
	command = regexp.MustCompile(`\bmemwall (fit|plan|pick|train|sim|diff|compare|diagnose|models|hardware|formats|learn|autoscale|pack)\b`)
)

// inTools rewords a hint about flags and commands in terms of tools and their arguments. Engine flags, which are not
// arguments, stay.
func inTools(hint string) string {
	hint = command.ReplaceAllStringFunc(hint, func(s string) string {
		name := strings.TrimPrefix(s, "memwall ")
		if name == "sim" {
			name = "simulate"
		}
		return "tool " + name
	})
	return flagged.ReplaceAllStringFunc(hint, func(s string) string {
		name := flagged.FindStringSubmatch(s)[1]
		for i := range memwall.Fields() {
			if f := &memwall.Fields()[i]; f.Flag == name {
				return f.Name + " "
			}
		}
		return s
	})
}
