// Package naming parses the ways in which people refer to a model: a hub name, a file or path, a name of Ollama's
// library, a command line of its program. It knows no models: package catalog says which model the words mean.
//
// See read.go for the order in which a text is parsed, place.go for paths and addresses, and format.go for words that
// state a weight format.
package naming

import "strings"

// Name is what a text says about a model.
type Name struct {
	// Text is the text that was parsed.
	Text string
	// Repo is the hub repository, "Qwen/Qwen3-32B-AWQ"; "" if there is none.
	Repo string
	// Org is its organisation, in lower case.
	Org string
	// Base is the text without organisation and format words: "Qwen3-32B".
	Base string
	// Format is the recipe that the words name, "" if none.
	Format string
	// Loose says what else the format words may mean, or what was assumed; "" if they are unambiguous.
	Loose string
	// Lacks is a stated format that no recipe describes: "aqlm".
	Lacks string
	// File is the file name in a path, "" if the text is not a file.
	File string
	// Path reports that the text is a path on some machine.
	Path bool
	// Ollama reports that the text is a name of Ollama's library; Tag is what follows the colon.
	Ollama bool
	Tag    string
	// GGUF reports that the repository or file holds GGUF files, whatever their quantization.
	GGUF   bool
	stored string // the format words
}

// By returns the name with its format words interpreted as an organisation uses them.
func (n Name) By(org string) Name {
	own := n.Org
	n.Org, n.Format, n.Loose, n.Lacks = org, "", "", ""
	n.format(strings.Fields(n.stored))
	n.Org = own
	return n
}

// words returns the parts of a name between separators, in lower case: letters and digits, with decimal points and
// underscores of formats.
func words(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return strings.ContainsRune("- :@,()[]", r) })
}

// Words returns the words of a name in lower case, split at separators and at points outside numbers.
func Words(name string) (out []string) {
	for _, w := range words(strings.ReplaceAll(name, "_", " ")) {
		out = append(out, atPoints(w)...)
	}
	return out
}
