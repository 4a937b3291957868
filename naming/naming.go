// Package naming takes apart what people call a model: a name on a hub, a file or a path, a name of Ollama's library, a
// line of its program. It knows nothing of any model: package catalog says which model the words mean.
//
// Open read.go for the order in which a text is read, place.go for paths and addresses, format.go for the words that say
// how weights are stored.
package naming

import "strings"

// Name is what a text says of a model.
type Name struct {
	// Text is what was read.
	Text string
	// Repo is a name on the hub, "Qwen/Qwen3-32B-AWQ"; "" where the text is none.
	Repo string
	// Org is the organisation in it, in lower case.
	Org string
	// Base is the text without organisation and without the words of its format: "Qwen3-32B".
	Base string
	// Format is the recipe that the words name, "" when they name none.
	Format string
	// Loose says what else the words of the format may mean, or what was taken for granted of it; "" when they are plain.
	Loose string
	// Lacks is a format that is told and whose storage no recipe describes: "aqlm".
	Lacks string
	// File is the name of the file in a path, "" where the text is no file.
	File string
	// Path: the text names a place on some machine.
	Path bool
	// Ollama: the text is a name as Ollama's library has it; Tag is what stands behind its colon.
	Ollama bool
	Tag    string
	// GGUF: the repository or the file holds GGUF files, whatever their format.
	GGUF   bool
	stored string // the words of its format
}

// By is the name with the words of its format read as an organisation means them.
func (n Name) By(org string) Name {
	own := n.Org
	n.Org, n.Format, n.Loose, n.Lacks = org, "", "", ""
	n.format(strings.Fields(n.stored))
	n.Org = own
	return n
}

// words are the parts of a name between its marks, in lower case: letters and digits, with the points of numbers and the
// underscores of formats.
func words(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return strings.ContainsRune("- :@,()[]", r) })
}

// Words of a name in lower case, apart at marks and at points that stand in no number.
func Words(name string) (out []string) {
	for _, w := range words(strings.ReplaceAll(name, "_", " ")) {
		out = append(out, atPoints(w)...)
	}
	return out
}
