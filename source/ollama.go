package source

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/dtype"
)

// ollamaWeights is how Ollama's library stores a model whose tag names no format (ollama.com/library; its
// importer quantises to Q4_K_M).
const ollamaWeights = "q4_k_m"

// ollama finds what a name of Ollama's library means in the catalog: "ollama:llama3.1:70b-instruct-q8_0". Its file
// is not read, and a note says so.
func ollama(ref string) (*Resolved, error) {
	name := strings.TrimPrefix(ref, "ollama:")
	r, err := memwall.Catalog{}.Model(name)
	if err != nil {
		return nil, remote(ref)
	}
	if r.Recipe == "" || !inGGUF(r.Recipe) {
		r.Recipe = ollamaWeights
	}
	_, tag, _ := strings.Cut(name, ":")
	if f := dtype.FindRecipe(tag[strings.LastIndexByte(tag, '-')+1:]); f != nil && f.InGGUF() != nil {
		r.Recipe = f.Name
	}
	r.Notes = append(r.Notes, memwall.Note{Code: "ollama_name", Severity: "info", Field: "model",
		Text: fmt.Sprintf("Ollama's file is not read: %s of the catalog in %s stands for it; weights says another format", r.ID, r.Recipe)})
	return r, nil
}

func inGGUF(recipe string) bool {
	f := dtype.FindRecipe(recipe)
	return f != nil && f.InGGUF() != nil
}
