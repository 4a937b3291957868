package observe

import (
	"encoding/json"
	"errors"

	"github.com/memwall/memwall/internal/stable"
)

// Loaded is a model that Ollama holds in memory.
type Loaded struct {
	Name     string
	Bytes    int64 // of all memory
	OnDevice int64
	Context  int64 // of a sequence; 0 where the version does not say it
}

// ErrOllama is the error of a page that is not Ollama's list of models.
var ErrOllama = errors.New("the page is not a list of models: is this the address of /api/ps?")

// most models that are read of a page.
const maxLoaded = 64

// ReadOllama reads what GET /api/ps answers (ollama's api.md, "List Running Models"; context_length since 0.9.1).
func ReadOllama(text []byte) ([]Loaded, error) {
	var page struct {
		Models *[]struct {
			Name    string `json:"name"`
			Size    int64  `json:"size"`
			VRAM    int64  `json:"size_vram"`
			Context int64  `json:"context_length"`
		} `json:"models"`
	}
	if len(text) > MaxBytes {
		return nil, ErrTooLarge
	}
	if json.Unmarshal(text, &page) != nil || page.Models == nil {
		return nil, ErrOllama
	}
	var out []Loaded
	for _, m := range (*page.Models)[:min(len(*page.Models), maxLoaded)] {
		out = append(out, Loaded{m.Name, max(0, m.Size), max(0, m.VRAM), max(0, m.Context)})
	}
	stable.Sort(out, func(a, b Loaded) int { return int(max(-1, min(1, b.Bytes-a.Bytes))) })
	return out, nil
}
