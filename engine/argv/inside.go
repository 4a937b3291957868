package argv

import (
	"strings"

	"github.com/memwall/memwall/format/shell"
)

// Inside gives the commands that stand among the arguments of a program that nobody knows: srun, mpirun, kubectl exec,
// ssh, tmux and scripts of one's own start what follows their flags, in words or as one text. The first that satisfies
// known ends the search.
func (c *Command) Inside(known func(*Command) bool) []Command {
	for i, word := range c.Args {
		inner := *c
		inner.Args = nil
		var found []Command
		if strings.ContainsAny(word, " \t\n") {
			found, _ = parse(word, c.Env, c.Files, 1)
		} else if !isFlag(word) {
			found, _ = inner.inner(c.Args[i:], 0)
		}
		for j := range found {
			if known(&found[j]) {
				c.lends(&found[j])
				return found
			}
		}
	}
	return nil
}

// lends what the program around a command says of it: the image of its container (srun with pyxis, launchers of clouds).
func (c *Command) lends(to *Command) {
	for i, word := range c.Args {
		if to.Image == "" && isServer(word) {
			to.Image = word // ovhai app run … IMAGE -- bash -c '…'
		}
		flag, value, attached := strings.Cut(word, "=")
		if flag != "--container-image" || to.Image != "" {
			continue
		}
		if !attached && i+1 < len(c.Args) {
			value = c.Args[i+1]
		}
		to.Image = strings.Replace(value, "#", "/", 1)
	}
}

// isServer tells the image of a server, with a version in its tag.
func isServer(word string) bool {
	c := Command{Image: word}
	return !isFlag(word) && !strings.ContainsAny(word, " \t\n=") && c.Tag() != "" && c.entrypoint(nil) != ""
}

// Documents returns the here-documents of a text, with variables that it sets expanded.
func Documents(text string) (out []string) {
	script, err := follow(Tidied(text), nil)
	if err != nil {
		return nil
	}
	for _, c := range script.Commands {
		if c.Document != "" {
			out = append(out, shell.Fill(c.Document, c.Env))
		}
	}
	return out
}
