package llamacpp

import (
	"strings"

	"github.com/memwall/memwall/engine/argv"
	"github.com/memwall/memwall/plan"
)

// Modelfiles in: the reader takes the instructions that change memory, lists those that it cannot count, and passes
// over prompts and templates (parser/parser.go).

// IsModelfile reports whether a text is one: its first line that is not a comment begins with FROM.
func IsModelfile(text string) bool {
	for line := range strings.Lines(text) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if word == "" || strings.HasPrefix(word, "#") {
			continue
		}
		return strings.EqualFold(word, "FROM") && strings.TrimSpace(rest) != "" && !strings.Contains(rest, " import ") // Python says from x import y
	}
	return false
}

// FromModelfile reads a Modelfile. A comment that holds the command of the server says its variables.
func FromModelfile(text string) (*argv.Launch, error) {
	if len(text) > argv.MaxText {
		return nil, argv.Wrong("the Modelfile", "", "is too long", "one Modelfile, without its license")
	}
	c := argv.Command{Program: "ollama", Args: []string{"create", "-f", modelfilePath}, Files: map[string]string{modelfilePath: text}}
	for line := range strings.Lines(text) {
		comment, ok := strings.CutPrefix(strings.TrimSpace(line), "#")
		if !ok {
			continue
		}
		cmds, err := argv.Parse(comment)
		if err == nil && len(cmds) == 1 && cmds[0].Program == "ollama" {
			c.Env = append(c.Env, cmds[0].Env...)
		}
	}
	return FromArgs(&c)
}

// prepares are commands that run no model: what another names counts before them.
var prepares = map[string]bool{"serve": true, "pull": true, "list": true, "ls": true, "ps": true, "show": true, "stop": true, "rm": true, "--version": true, "-v": true}

// Joined makes one command of those of a text that speak of one server: its start, and the model that it makes or runs.
func Joined(cmds []argv.Command) argv.Command {
	var out argv.Command
	for _, c := range cmds {
		if c.Program != "ollama" {
			continue
		}
		if out.Program == "" || len(out.Args) == 0 || prepares[out.Args[0]] && (len(c.Args) == 0 || !prepares[c.Args[0]] || out.Args[0] == "serve") {
			out.Args = c.Args
		}
		out.Program, out.Files = "ollama", c.Files
		out.Env = append(out.Env, c.Env...)
		if out.Image == "" {
			out.Image = c.Image
		}
		out.Devices = max(out.Devices, c.Devices)
	}
	return out
}

// modelfile reads the file that "ollama create" names, where the text holds it. Its parameters win over the server's
// variables.
func (l *launch) modelfile(files map[string]string) error {
	text, ok := files[l.made]
	switch {
	case l.made == "":
		return nil
	case !ok:
		l.Unknown = append(l.Unknown, "-f "+argv.Quote(argv.Blotted(l.made)))
		return nil
	}
	open := false // within the """ of a prompt or template
	for line := range strings.Lines(text) {
		quotes := strings.Count(line, `"""`)
		inside := open
		open = open != (quotes%2 == 1)
		if inside {
			continue
		}
		if err := l.instruction(strings.TrimSpace(line)); err != nil {
			return err
		}
	}
	l.batches()
	return nil
}

func (l *launch) instruction(line string) error {
	word, value, _ := strings.Cut(line, " ")
	value = strings.TrimSpace(value)
	switch strings.ToUpper(word) {
	case "", "TEMPLATE", "SYSTEM", "MESSAGE", "LICENSE", "RENDERER", "PARSER", "REQUIRES", "SKILL", "MCP":
	case "FROM":
		return l.from(unquoted(value))
	case "DRAFT":
		l.Plan.DraftModel = unquoted(value)
	case "PARAMETER":
		name, v, _ := strings.Cut(value, " ")
		return l.parameter(strings.ToLower(name), unquoted(strings.TrimSpace(v)))
	default:
		if !strings.HasPrefix(word, "#") {
			l.Unknown = append(l.Unknown, argv.Blotted(line)) // ADAPTER among them: its file says its rank
		}
	}
	return nil
}

func unquoted(s string) string { return strings.Trim(s, `"`) }

// from names the model; a second FROM is the projector of a vision model.
func (l *launch) from(ref string) error {
	ref, err := argv.ModelRef(ref)
	switch {
	case err != nil:
		return argv.Named(err, "FROM", ref)
	case l.Model != "":
		l.Plan.MMProj = ref
	case strings.HasPrefix(ref, "hf.co/"), strings.HasPrefix(ref, "huggingface.co/"):
		_, rest, _ := strings.Cut(ref, "/")
		l.Model = "hf:" + rest
	case strings.HasSuffix(strings.ToLower(ref), ".gguf"), strings.ContainsAny(ref[:1], `./~`), strings.ContainsRune(ref, '\\'):
		l.Model = ref
	default:
		l.Model = "ollama:" + ref
	}
	return nil
}

// samplers are parameters without bearing on memory.
var samplers = map[string]bool{
	"temperature": true, "top_k": true, "top_p": true, "min_p": true, "typical_p": true, "tfs_z": true, "seed": true, "stop": true, "num_predict": true, "num_keep": true, "num_thread": true,
	"repeat_last_n": true, "repeat_penalty": true, "presence_penalty": true, "frequency_penalty": true, "mirostat": true, "mirostat_eta": true, "mirostat_tau": true, "penalize_newline": true,
}

func (l *launch) parameter(name, v string) error {
	set, ok := modelParameters[name]
	switch {
	case ok:
		v, _, _ = strings.Cut(v, " #")
		v = strings.TrimSpace(v)
		return argv.Named(set(l, v), "PARAMETER "+name, v)
	case !samplers[name]:
		l.Unknown = append(l.Unknown, "PARAMETER "+argv.ShownAs(name, v))
	}
	return nil
}

// modelParameters are those that change memory (api/types.go, Runner). num_gpu -1 leaves layers to the program;
// main_gpu puts all on one device.
var modelParameters = map[string]func(*launch, string) error{
	"num_ctx": argInt(func(p *plan.Plan) *plan.Int { return &p.Context }), "num_batch": argInt(func(p *plan.Plan) *plan.Int { return &p.UBatch }), "num_gpu": argLayers,
	"main_gpu": argCount(func(p *plan.Plan) **plan.Int { return &p.MainGPU }), "use_mmap": argToggle(true, func(p *plan.Plan) **bool { return &p.Mmap }),
	"use_mlock": argToggle(true, func(p *plan.Plan) **bool { return &p.MLock }), "draft_num_predict": argInt(func(p *plan.Plan) *plan.Int { return &p.DraftTokens }),
}

// batches: num_batch is -b and -ub of llama-server; before, -b was that of all slots.
func (l *launch) batches() {
	p := &l.Plan
	if p.UBatch == 0 {
		return
	}
	p.BatchTokens = p.UBatch
	if _, tag, tagged := strings.Cut(l.Engine, "@"); tagged {
		if v, err := (Engine{Ollama}).ParseVersion(tag); err == nil && v.Before(ownServer) {
			p.BatchTokens *= max(1, p.Sequences)
		}
	}
}
