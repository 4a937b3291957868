package source

import (
	"errors"
	"fmt"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/dtype"
)

// ollamaWeights is how Ollama's library stores a model whose tag names no format (ollama.com/library; its
// importer quantises to Q4_K_M).
const ollamaWeights = "q4_k_m"

// ollama reads what a name of Ollama's library stands for: "ollama:llama3.1:70b-instruct-q8_0". Where its file cannot
// be had, the catalog's model stands in, and a note says so.
func (f *Files) ollama(ref string) (*Resolved, error) {
	if f.Options.Remote == nil {
		return standIn(ref, "", noRemote(ref))
	}
	r, err := f.remote(ref)
	var told *memwall.Error
	if errors.As(err, &told) && told.Code == memwall.Remote {
		return standIn(ref, told.Message+"; ", err)
	}
	return r, err
}

// standIn is the catalog's model of a name; otherwise is the error when it has none.
func standIn(ref, why string, otherwise error) (*Resolved, error) {
	_, name, _ := strings.Cut(ref, ":")
	r, err := memwall.Catalog{}.Model(name)
	if err != nil {
		return nil, otherwise
	}
	if r.Recipe == "" || !inGGUF(r.Recipe) {
		r.Recipe = ollamaWeights
	}
	_, tag, _ := strings.Cut(name, ":")
	if f := dtype.FindRecipe(tag[strings.LastIndexByte(tag, '-')+1:]); f != nil && f.InGGUF() != nil {
		r.Recipe = f.Name
	}
	r.Notes = append(r.Notes, memwall.Note{Code: "ollama_name", Severity: "info", Field: "model",
		Text: fmt.Sprintf("%sOllama's file is not read: %s of the catalog in %s stands for it; weights says another format", why, r.ID, r.Recipe)})
	return r, nil
}

func inGGUF(recipe string) bool {
	f := dtype.FindRecipe(recipe)
	return f != nil && f.InGGUF() != nil
}
