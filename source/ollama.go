package source

import (
	"errors"

	"github.com/memwall/memwall"
)

// ollama resolves a name of Ollama's library, such as "ollama:llama3.1:70b-instruct-q8_0". If its file is unavailable,
// the catalog's model is used, with a note.
func (f *Files) ollama(ref string) (*Resolved, error) {
	if f.Options.Remote == nil {
		return standIn(ref, "Ollama's file is not read", noRemote(ref))
	}
	r, err := f.remote(ref)
	var told *memwall.Error
	if errors.As(err, &told) && told.Code == memwall.Remote {
		return standIn(ref, told.Message, err)
	}
	return r, err
}

// standIn returns the catalog's model of a name, or the error otherwise if it has none.
func standIn(ref, why string, otherwise error) (*Resolved, error) {
	r, err := memwall.Catalog{}.Model(ref)
	if err != nil {
		return nil, otherwise
	}
	note(r, "ollama_name", "%s: %s of the catalog in %s stands for it; weights says another format", why, r.ID, r.Asked)
	return r, nil
}
