package catalog

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"

	"github.com/memwall/memwall/model/family"
)

// Line writes an entry as models.jsonl has it, without the end of the line.
func (e *Entry) Line() (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	own := *e
	if e.Like != "" {
		own.Config = e.row
	}
	if err := enc.Encode(own); err != nil {
		return "", err
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// Named proposes the entry of a repository: its id and name without words that do not change the dimensions. If hub is empty, the
// entry is unnamed.
func Named(hub string, config json.RawMessage) Entry {
	e := Entry{Hub: hub, Config: config}
	words := strings.FieldsFunc(hub[strings.LastIndexByte(hub, '/')+1:], func(r rune) bool { return strings.ContainsRune("-_ :", r) })
	var kept []string
	for _, w := range words {
		if !fillers[strings.ToLower(w)] {
			kept = append(kept, w)
		}
	}
	e.ID, e.Name = strings.ToLower(strings.Join(kept, "-")), strings.Join(kept, " ")
	if hub != "" {
		e.Source = hub + " config.json"
	}
	return e
}

// Same returns the first entry with the same network, published in the same recipe; nil if there is none.
func Same(s *family.Spec, weights string) *Entry {
	for _, e := range All() {
		have, err := e.Spec()
		if err == nil && e.Weights == weights && reflect.DeepEqual(have, s) {
			return &e
		}
	}
	return nil
}
