package cli

import (
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/memwall/memwall/internal/render/cards"
	"github.com/memwall/memwall/internal/stable"
)

// help prints the help of a command: what it does, examples, and commands or flags by group.
func (a *app) help(c *cobra.Command, _ []string) {
	h := cards.Help{Use: c.UseLine(), Short: c.Short, Long: c.Long, Examples: lines(c.Example)}
	h.Use = strings.TrimSuffix(h.Use, " [flags]")
	if !c.HasParent() {
		h.Use += " COMMAND"
	}
	if c.Parent() != nil && c.Parent().Name() == "completion" || c.Name() == "completion" {
		h.Long = "Load it in your shell: for bash, source <(memwall completion bash); for zsh, memwall completion zsh > \"${fpath[1]}/_memwall\"; for fish, memwall completion fish | source."
		h.Short = shortOf(c)
	}
	h.Groups = append(commandGroups(c.Commands()), flagGroups(c)...)
	io.WriteString(a.Stdout, h.Text(a.style()))
}

// commandsBy groups commands by purpose, most used first; the last group takes all others.
var commandsBy = []struct {
	group string
	names []string
}{
	{"questions", []string{"fit", "plan", "pick", "pack", "train", "sim", "autoscale", "diagnose", "diff"}},
	{"engines, runs and machines", []string{"run", "watch", "compare", "bench", "calibrate", "rows", "snapshot", "quant", "check"}},
	{"to look up and to learn", []string{"models", "hardware", "formats", "learn", "validate"}},
	{"for programs", []string{"serve", "admit", "mcp", "batch", "schema"}},
	{"commands", nil},
}

// commandGroups returns the command groups of help.
func commandGroups(commands []*cobra.Command) []cards.HelpGroup {
	groups := make([]cards.HelpGroup, len(commandsBy))
	place := func(i int, c *cobra.Command) int { return slices.Index(commandsBy[i].names, c.Name()) }
	for i := range groups {
		groups[i].Name = commandsBy[i].group
		ordered := slices.Clone(commands)
		stable.Sort(ordered, func(a, b *cobra.Command) int { return place(i, a) - place(i, b) })
		for _, c := range ordered {
			last := i == len(groups)-1 && !slices.ContainsFunc(groups, func(g cards.HelpGroup) bool { return g.Has(c.Name()) })
			if c.IsAvailableCommand() && (last || place(i, c) >= 0) {
				groups[i].Rows = append(groups[i].Rows, [2]string{c.Name(), shortOf(c)})
			}
		}
	}
	if len(groups[0].Rows) > 0 { // of memwall itself
		groups[len(groups)-1].Name = "other"
	}
	return groups
}

// shortOf returns a command's short help, which begins in lower case and has no final full stop.
func shortOf(c *cobra.Command) string {
	if c.Name() == "completion" {
		return "completions for bash, zsh, fish and powershell"
	}
	s := strings.TrimSuffix(c.Short, ".")
	return strings.ToLower(s[:min(1, len(s))]) + s[min(1, len(s)):]
}

func lines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, "\n")
}

func flagGroups(c *cobra.Command) (out []cards.HelpGroup) {
	usual := sync.OnceValue(func() map[string]string { return defaults(c.Name()) })
	for _, name := range groups {
		g := cards.HelpGroup{Name: name}
		visit := func(f *pflag.Flag) {
			if !f.Hidden && len(f.Annotations[groupKey]) > 0 && f.Annotations[groupKey][0] == name {
				g.Rows = append(g.Rows, [2]string{"--" + f.Name + spaced(operand(f)), flagText(f, usual)})
			}
		}
		c.LocalFlags().VisitAll(visit)
		c.InheritedFlags().VisitAll(visit)
		out = append(out, g)
	}
	return out
}

// flagText describes a flag, all words it accepts, and its default.
func flagText(f *pflag.Flag, defaults func() map[string]string) string {
	v, ok := f.Value.(*fieldValue)
	if !ok {
		return f.Usage
	}
	var more []string
	if words := v.field.Enum; len(words) > 0 && operand(f) != strings.Join(words, "|") {
		more = append(more, "one of "+strings.Join(words, ", "))
	}
	if usual := defaults()[v.field.Name]; usual != "" {
		more = append(more, "default "+usual)
	}
	if len(more) == 0 {
		return f.Usage
	}
	return f.Usage + " (" + strings.Join(more, "; ") + ")"
}

func spaced(s string) string {
	if s == "" || strings.HasPrefix(s, "[") {
		return s
	}
	return " " + s
}
