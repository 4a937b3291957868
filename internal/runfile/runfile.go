// Package runfile interprets what is given after --from for a training run: a script with its arguments and
// environment, and what files leave open about the model.
package runfile

import (
	"slices"
	"strings"

	"github.com/memwall/memwall/api"
)

// Notes are what files were read as and with which others, where they name no model which of the catalog stands for it, and what of them
// is not counted.
func Notes(r *api.Request, others, unread []string) []api.Note {
	text := "read as a configuration of " + r.Framework
	if len(others) > 0 {
		text += ", with what it takes from " + strings.Join(others, ", ")
	}
	notes := []api.Note{{Code: "read_as", Severity: "info", Field: "framework", Text: text}}
	switch {
	case len(r.Override) > 0:
		text := "no model of the catalog alone has the script's numbers: its layers are those of " + r.Model + " with them put in"
		if r.Override["vocab"] == 0 {
			text += "; the vocabulary is that model's too, as the script gives none"
		}
		notes = append(notes, api.Note{Code: "read_as", Severity: "warn", Field: "model", Text: text})
	case r.Framework == Builds && r.Model != "":
		notes = append(notes, api.Note{Code: "read_as", Severity: "info", Field: "model",
			Text: r.Model + " has the layers, widths and heads that the script gives"})
	}
	if len(unread) > 0 {
		notes = append(notes, api.Note{Code: "unread_keys", Severity: "warn", Field: "from",
			Text: "not counted, as no field of a plan holds it: " + strings.Join(unread, "; ")})
	}
	return notes
}

// Builds is the framework whose files give a model's widths in place of its name.
const Builds = "megatron"

// Unsaid reports whether a model's name is open: nobody gives one, or a variable that the script does not say.
func Unsaid(name string) bool { return name == "" || strings.Contains(name, "${") }

// Unnamed says that files leave the model open, what they leave open beside it, and what to do.
func Unnamed(framework, model, file string, notes []api.Note) (message, fix string) {
	if model != "" {
		return "the model is " + model + ", which the script does not say", "its environment, as it is run: --from '" + variable(model) +
			"=Qwen/Qwen3-8B " + file + "'; or MODEL before --from"
	}
	message = "the files say no model that is known by its name"
	fix = "memwall train MODEL --from " + file + " --on HARDWARE; MODEL may be a config.json"
	if framework == Builds {
		message = "the script names no model, and none of the catalog alone has the layers, widths and heads that it gives"
	}
	if left := open(notes); left != "" {
		message = "it is not said what the model is built from: " + left
		fix = "its arguments and its environment, as it is run: --from 'NAME=VALUE " + file +
			" 8B 1'; a --from for each file that it reads in, before it; or MODEL"
	}
	return message, fix
}

// variable is the first that a name waits for.
func variable(name string) string {
	_, rest, _ := strings.Cut(name, "${")
	return rest[:max(0, strings.IndexAny(rest+"}", "}:"))]
}

// open are what a script takes from elsewhere of the numbers of its model, the first few: files that it reads in, then variables
// that may stand for many flags, then numbers.
func open(notes []api.Note) string {
	const most = 4
	var open [3][]string
	for _, n := range notes {
		_, keys, _ := strings.Cut(n.Text, ": ")
		for key := range strings.SplitSeq(keys, "; ") {
			if rank := openness(key); n.Code == "unread_keys" && rank >= 0 {
				open[rank] = append(open[rank], key)
			}
		}
	}
	all := slices.Concat(open[:]...)
	return strings.Join(all[:min(most, len(all))], "; ")
}

// openness ranks a key that was not read by how much of the model may hang on it; -1 for none.
func openness(key string) int {
	name, value, _ := strings.Cut(key, " = ")
	switch {
	case strings.HasSuffix(key, "not opened"):
		return 0
	case strings.Contains(value, "${") && slices.Contains(widths, strings.TrimLeft(name, "-")):
		return 1
	case strings.HasPrefix(key, "${"):
		return 2
	}
	return -1
}

// widths are flags that a model is built from.
var widths = []string{"num-layers", "hidden-size", "num-attention-heads", "ffn-hidden-size", "num-query-groups", "num-experts",
	"model_name_or_path", "model", "pretrain"}

// Names tells the name of a file from a command: one word that is a path, or ends as such files do.
func Names(text string) bool {
	if text == "-" || strings.HasPrefix(text, "@") {
		return true
	}
	if text == "" || strings.ContainsAny(text, " \t\n") {
		return false
	}
	for _, start := range []string{"/", "./", "../", "~/"} {
		if strings.HasPrefix(text, start) {
			return true
		}
	}
	base := strings.ToLower(text[strings.LastIndexAny(text, `/\`)+1:])
	for _, end := range []string{".yaml", ".yml", ".json", ".toml", ".sh", ".py", ".txt", ".modelfile"} {
		if strings.HasSuffix(base, end) {
			return true
		}
	}
	return strings.HasPrefix(base, "modelfile")
}

// Call is a script with what it is called with: NAME=VALUE before it, bash, and arguments behind it. rest are those, as a script
// sets them.
func Call(text string) (file, before string) {
	words := strings.Fields(text)
	for len(words) > 0 {
		w := words[0]
		words = words[1:]
		switch name, _, assigned := strings.Cut(w, "="); {
		case assigned && name != "" && !strings.HasPrefix(name, "-"):
			before += "export " + w + "\n"
		case w == "bash" || w == "sh" || w == "sbatch":
		case strings.HasSuffix(w, ".sh"):
			return w, "#!/bin/sh\n" + before + "set -- " + strings.Join(words, " ") + "\n"
		default:
			return "", ""
		}
	}
	return "", ""
}
