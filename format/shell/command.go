package shell

import (
	"slices"
	"strings"
)

// command performs an assignment or a builtin, or records a program that the script starts.
func (m *machine) command(s *statement) answer {
	words, told := s.words, m.env
	for len(words) > 0 && m.assign(words[0]) {
		words = words[1:] // retained for a script's later commands: this is how their environment is given
	}
	if len(words) == 0 {
		return yes
	}
	switch words[0] {
	case "[", "[[", "test":
		t := &tests{machine: m, words: words[1:], glob: words[0] == "[["}
		return t.or()
	case "!":
		return m.command(&statement{line: s.line, words: words[1:]}).not()
	case "export", "declare", "local", "readonly", "typeset", "set":
		if words[0] == "set" && (len(words) < 2 || !strings.Contains(words[1], "=")) {
			break
		}
		for _, w := range words[1:] {
			m.assign(w)
		}
		return yes
	case "read":
		m.reads(words[1:], s.text)
		return open
	}
	c := Command{Words: m.expandAll(words), Line: s.line}
	if m.pasted {
		c.To, c.Document, c.Env = m.text(s.to), m.text(s.text), m.env[:len(m.env):len(m.env)]
		m.alone(told)
	} else {
		c.Words = slices.DeleteFunc(c.Words, func(w string) bool { return w == "" })
	}
	return m.start(c)
}

// alone hides variables set for one command from later ones.
func (m *machine) alone(told []Variable) {
	if len(m.env) > len(told) {
		m.budget -= 4 * len(told) // appending copies the list
		m.env = told[:len(told):len(told)]
	}
}

// quiet are programs that start nothing.
var quiet = []string{"echo", "printf", "mkdir", "cd"}

func (m *machine) start(c Command) answer {
	words := c.Words
	if len(words) == 0 || !m.pasted && slices.Contains(quiet, words[0]) {
		return yes
	}
	switch words[0] {
	case "true", ":":
		return yes
	case "false":
		return no
	case "command", "which", "type", "hash":
		if words[0] != "command" || len(words) > 1 && strings.EqualFold(words[1], "-v") {
			return open // tests whether a program exists
		}
	case "set":
		if len(words) > 1 && words[1] == "--" {
			m.args = words[2:]
		}
		return yes
	case "shift":
		m.args = m.args[min(1, len(m.args)):]
		return yes
	case "unset":
		for _, w := range words[1:] {
			delete(m.vars, w)
		}
		return yes
	case "eval":
		return m.evaluate(strings.Join(words[1:], " "))
	}
	if f := m.functions[words[0]]; f != nil {
		return m.call(f, words[1:])
	}
	if text := handed(words); text != "" && !m.pasted {
		return m.evaluate(text)
	}
	m.Commands = append(m.Commands, c)
	return open
}

// reads handles read: variables come from the here-document, or are unknown.
func (m *machine) reads(words []string, document string) {
	for _, w := range words {
		switch {
		case !IsName(w):
		case document != "":
			m.set(w, []string{m.text(document)})
		default:
			m.set(w, []string{m.unknown(w, "$"+w)})
		}
	}
}

// call calls a function with its own parameters.
func (m *machine) call(f *statement, args []string) answer {
	before := m.args
	m.args, m.called[f] = args, true
	a := m.run(f)
	m.args = before
	return a
}

// evaluate evaluates generated text; what is unknown in it stays so.
func (m *machine) evaluate(text string) answer {
	if m.depth > maxDepth {
		return open
	}
	return m.read(plain(text))
}

// handed returns the argument of -c for a shell that a command starts.
func handed(words []string) string {
	for i, w := range words[:max(0, len(words)-2)] {
		shell := w[strings.LastIndexByte(w, '/')+1:]
		takes := strings.HasPrefix(words[i+1], "-") && strings.HasSuffix(words[i+1], "c")
		if takes && slices.Contains([]string{"bash", "sh", "zsh"}, shell) {
			return words[i+2]
		}
	}
	return ""
}

// batch returns the variables that SLURM sets for a job, from the #SBATCH lines of its script.
func batch(text string) map[string][]string {
	vars := map[string][]string{}
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), "#SBATCH")
		if !ok {
			continue
		}
		words := strings.FieldsFunc(rest, func(c rune) bool { return c == ' ' || c == '\t' || c == '=' })
		if len(words) < 2 {
			continue
		}
		value := words[1][strings.LastIndexByte(words[1], ':')+1:] // gpu:8
		if !isNumber(value) {
			continue
		}
		for _, name := range allocated[words[0]] {
			vars[name] = []string{value}
		}
	}
	return vars
}

// allocated maps options to the SLURM variables they set (sbatch's manual, "output environment variables").
var allocated = map[string][]string{
	"--nodes": {"SLURM_NNODES", "SLURM_JOB_NUM_NODES"}, "-N": {"SLURM_NNODES", "SLURM_JOB_NUM_NODES"},
	"--gpus-per-node": {"SLURM_GPUS_PER_NODE", "SLURM_GPUS_ON_NODE"}, "--gres": {"SLURM_GPUS_ON_NODE"},
	"--ntasks-per-node": {"SLURM_NTASKS_PER_NODE"}, "--ntasks": {"SLURM_NTASKS", "SLURM_NPROCS"}, "-n": {"SLURM_NTASKS", "SLURM_NPROCS"},
}
