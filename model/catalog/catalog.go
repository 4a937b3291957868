// Package catalog is a list of known models: their names and the figures of their config.json, each with its source.
// models.jsonl has one model per line; lines are parsed on demand.
//
// Read interprets what people write for a model, and says how; read.go has the order. To add a model, add a line;
// docs/guides/add-a-model.md says how.
package catalog

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/model/family"
)

//go:embed models.jsonl
var data []byte

// Entry is a model of the catalog.
type Entry struct {
	ID       string   `json:"id"`
	Name     string   `json:"name"`
	Hub      string   `json:"hub"`
	Aliases  []string `json:"aliases,omitempty"`
	Released string   `json:"released"` // year and month
	// Weights is the recipe that the published checkpoint is stored in, when that is not the config's format.
	Weights string `json:"weights,omitempty"`
	Source  string `json:"source"`
	// Like is the entry whose config this one has, but for some fields: models of one shape. Config is whole all the same;
	// the row has those fields alone.
	Like   string          `json:"like,omitempty"`
	Config json.RawMessage `json:"config,omitempty"`
	row    json.RawMessage // the config as the row has it
}

// Spec reads the entry's figures.
func (e *Entry) Spec() (*family.Spec, error) {
	c, err := family.ParseConfig(e.Config)
	if err != nil {
		return nil, err
	}
	return family.FromConfig(c)
}

// Model builds the network of the entry returned by Find.
func Model(name string) (*model.Model, error) {
	e, err := Find(name)
	if err != nil {
		return nil, err
	}
	s, err := e.Spec()
	if err != nil {
		return nil, err
	}
	return s.Model(e.ID), nil
}

// NotFoundError is the error for a name without an entry, with similar names.
type NotFoundError struct {
	Name string
	// Ambiguous: the candidates all match; else they are only near.
	Ambiguous  bool
	Candidates []string
}

func (e *NotFoundError) Error() string {
	if e.Ambiguous {
		return fmt.Sprintf("%q may be any of %s", e.Name, strings.Join(e.Candidates, ", "))
	}
	return fmt.Sprintf("no model called %q", e.Name)
}

// Hint names the candidates.
func (e *NotFoundError) Hint() string {
	if len(e.Candidates) == 0 {
		return "memwall models lists them; a file, a folder or a config.json will do as well"
	}
	if e.Ambiguous {
		return "give one of these ids"
	}
	return "did you mean: " + strings.Join(e.Candidates, ", ")
}

// IDs returns all ids in catalog order.
func IDs() []string {
	var out []string
	lines(func(line []byte) bool {
		out = append(out, id(line))
		return true
	})
	return out
}

// All parses every entry.
func All() []Entry {
	var out []Entry
	lines(func(line []byte) bool {
		if e, err := parse(line); err == nil {
			out = append(out, *e)
		}
		return true
	})
	return out
}

// lines calls f with every row until it says that it has seen enough.
func lines(f func([]byte) bool) {
	rest := data
	for len(rest) > 0 {
		line, tail, _ := bytes.Cut(rest, []byte{'\n'})
		if len(line) > 0 && !f(line) {
			return
		}
		rest = tail
	}
}

var idStart = []byte(`{"id":"`)

func id(line []byte) string {
	rest, ok := bytes.CutPrefix(line, idStart)
	if !ok {
		return ""
	}
	end := bytes.IndexByte(rest, '"')
	return string(rest[:max(end, 0)])
}

func parse(line []byte) (*Entry, error) {
	var e Entry
	if err := json.Unmarshal(line, &e); err != nil {
		return nil, fmt.Errorf("catalog: %w", err)
	}
	e.row = e.Config
	if e.Like == "" {
		return &e, nil
	}
	var err error
	e.Config, err = e.figures()
	return &e, err
}

// header is what names a model.
type header struct {
	names    []string // id first, then the repository, if there is one
	released string
	like     bool // another entry has its shape
	line     []byte
}

func (h *header) id() string { return h.names[0] }

// headers are the names of all entries without their configs, read when one is first needed.
var headers = sync.OnceValue(func() (out []header) {
	lines(func(line []byte) bool {
		head, _, _ := bytes.Cut(line, []byte(`,"source":`))
		var e Entry
		if json.Unmarshal(append(bytes.Clone(head), '}'), &e) == nil {
			names := slices.DeleteFunc(append([]string{e.ID, e.Hub, e.Name}, e.Aliases...), func(n string) bool { return n == "" })
			out = append(out, header{names: names, released: e.Released, like: bytes.Contains(line, []byte(`,"like":"`)), line: line})
		}
		return true
	})
	return out
})

// byID are the headers by their ids.
var byID = sync.OnceValue(func() map[string]*header {
	out := map[string]*header{}
	heads := headers()
	for i := range heads {
		out[heads[i].id()] = &heads[i]
	}
	return out
})
