package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/runfile"
	"github.com/memwall/memwall/source/regular"
)

// FromCommand parses an engine's command line ("vllm serve …") and returns the equivalent request and the arguments that no request
// field expresses.
type FromCommand func(text string) (r *memwall.Request, unread []string, err error)

// fromCommand parses a pasted command line. Arguments that are not counted become notes.
func (a *app) fromCommand(text string) (*memwall.Request, []memwall.Note, error) {
	if a.FromCommand == nil {
		return nil, nil, usage("from", text, "--from: no engine's command line can be read here", "say it in flags: memwall fit MODEL --on HARDWARE --engine ENGINE")
	}
	text, err := a.pasted(text)
	if err != nil {
		return nil, nil, err
	}
	r, unread, err := a.FromCommand(text)
	if err != nil {
		return nil, nil, err
	}
	var notes []memwall.Note
	for _, arg := range unread {
		notes = append(notes, memwall.Note{Code: "unknown_argument", Severity: "warn", Field: "from", Text: arg + uncounted + counting(arg)})
	}
	return r, notes, nil
}

// instead says how to account for what a flag alone does not determine.
var instead = map[string]string{
	"--lora":        "--adapters rank=16 counts an adapter of that rank",
	"--lora-scaled": "--adapters rank=16 counts an adapter of that rank",
	"--enable-lora": "--max-lora-rank says what a slot takes",
	"--rpc":         "devices of other machines are counted where --on says them, as 3xNAME,per-node=1 does",
}

// counting returns the hint for an argument; "" if there is none.
func counting(arg string) string {
	flag, _, _ := strings.Cut(arg, " ")
	if said := instead[flag]; said != "" {
		return "; " + said
	}
	return ""
}

// uncounted is the note on an argument that was not read.
const uncounted = " was not read: the answer does not count it"

// fromTraining reads the files of a run, and the files they refer to. Keys that are not counted become one note.
func (a *app) fromTraining(names []string) (*memwall.Request, []memwall.Note, error) {
	var texts [][]byte
	var read []string
	for _, name := range names {
		text, err := a.pasted(name)
		if err != nil {
			return nil, nil, err
		}
		all, others := runfile.Gather(name, []byte(text), a.readShort)
		texts, read = append(texts, all...), append(read, others...)
	}
	r, unread, err := memwall.FromTraining(texts)
	if err != nil {
		return nil, nil, err
	}
	return r, runfile.Notes(r, read, unread), nil
}

// maxPasted is the most bytes read of a file; commands are shorter.
const maxPasted = 64<<10 + 1

// pasted returns the text itself, or the contents of the file it names.
func (a *app) pasted(text string) (string, error) {
	if file, before := runfile.Call(text); file != "" && file != text {
		script, err := a.pasted(file)
		return before + script, err
	}
	if !runfile.Names(text) && !a.isThere(text) {
		return text, nil
	}
	name := strings.TrimPrefix(text, "@")
	data, err := a.readShort(name)
	if err == nil {
		return string(data), nil
	}
	return "", &memwall.Error{Code: memwall.BadFile, Field: "from", Value: text, Message: fmt.Sprintf("--from: %s cannot be read: %v", name, regular.Cause(err)), Hint: "a file with a command, or the command itself in quotes"}
}

// readShort reads at most maxPasted bytes of a file.
func (a *app) readShort(name string) ([]byte, error) { return a.readUpTo(name, maxPasted) }

// readUpTo reads at most most bytes of a named file or of standard input.
func (a *app) readUpTo(name string, most int64) ([]byte, error) {
	f, err := a.open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most))
}

// isThere reports whether the text is a single word that names a file.
func (a *app) isThere(text string) bool {
	if text == "" || strings.ContainsAny(text, " \t\n") {
		return false
	}
	f, err := a.OpenFile(text)
	if err == nil {
		f.Close()
	}
	return err == nil
}

// standsFor takes the format from the name of a command's GGUF file if another model stands in for it and no weights format was
// given.
func standsFor(r *memwall.Request) []memwall.Note {
	weights := memwall.RecipeInName(r.Model)
	if weights == "" || r.Weights != "" {
		return nil
	}
	r.Weights = weights
	return []memwall.Note{{Code: "weights_named", Severity: "info", Field: "weights", Text: fmt.Sprintf("weights = %s, as the name of %s says", weights, r.Model)}}
}

// noModel asks for the model of a command that names none or an unset one, keeping the rest.
func noModel(ask string, r *memwall.Request, notes []memwall.Note) error {
	words := "the command of " + r.Engine + " names no model"
	if open := notRead(notes); len(open) > 0 {
		words += "; not read: " + strings.Join(open, ", ")
	}
	return usage("model", "", words, "memwall "+ask+" MODEL --from …: all else of the command is kept")
}

// unnamed returns the error for a model on another machine whose name says nothing about it.
func unnamed(err error, pasted bool) error {
	e := memwall.AsError(err)
	if pasted && e.Code == memwall.UnknownModel {
		e.Hint = "its name identifies no model: memwall fit MODEL --from …; the rest of the command is kept"
	}
	return e
}

// notRead returns the arguments that were not read, verbatim.
func notRead(notes []memwall.Note) (out []string) {
	const most = 3
	for _, n := range notes {
		if arg, ok := strings.CutSuffix(n.Text, uncounted); ok && len(out) < most {
			out = append(out, arg)
		}
	}
	return out
}
