// Package catalog is a list of known models: their names and the figures of their config.json, each with
// its source. models.jsonl has one model a line; only the lines that are asked for are parsed.
//
// Find takes the spellings that people use. To add a model, add a line; docs/guides/add-a-model.md says how.
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
	"github.com/memwall/memwall/spell"
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
	Weights string          `json:"weights,omitempty"`
	Source  string          `json:"source"`
	Config  json.RawMessage `json:"config"`
}

// Spec reads the entry's figures.
func (e *Entry) Spec() (*family.Spec, error) {
	c, err := family.ParseConfig(e.Config)
	if err != nil {
		return nil, err
	}
	return family.FromConfig(c)
}

// Model builds the network of the entry that Find finds.
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

// NotFoundError says that no entry has a name, and which are near.
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

// IDs lists all ids in the order of the catalog.
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

// maxName bounds a name; the longest here has about 50 bytes.
const maxName = 200

// Find gives the entry with an id, a hub name or an alias, or the one that a looser spelling means.
func Find(name string) (*Entry, error) {
	if len(name) > maxName {
		return nil, &NotFoundError{Name: strings.ToValidUTF8(name[:60], "") + "…"}
	}
	e, err := named(name)
	if e != nil || err != nil {
		return e, err
	}
	for _, s := range said(name) {
		if e, err := named(s.name); err == nil && e != nil && (s.billions == 0 || e.holds(s.billions)) {
			return e, nil
		}
	}
	return nil, &NotFoundError{Name: name, Candidates: near(name)}
}

// named finds what a name means by itself; nil without an error for nothing.
func named(name string) (*Entry, error) {
	if e, err := exact(name); e != nil {
		return e, err
	}
	for i := range spellings {
		hits := spellings[i].find(name)
		switch {
		case len(hits) == 1:
			return parse(hits[0].line)
		case len(hits) > 1:
			return nil, &NotFoundError{Name: name, Ambiguous: true, Candidates: ids(hits)}
		}
	}
	return nil, nil
}

func exact(name string) (*Entry, error) {
	if strings.ContainsAny(name, `"\`) {
		return nil, nil
	}
	var found []byte
	lines(func(line []byte) bool {
		if strings.EqualFold(id(line), name) {
			found = line
		}
		return found == nil
	})
	if found == nil {
		return nil, nil
	}
	return parse(found)
}

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
	return &e, nil
}

// header is what names a model.
type header struct {
	names []string // id first
	line  []byte
}

// headers are the names of all entries without their configs, read when one is first needed.
var headers = sync.OnceValue(func() (out []header) {
	lines(func(line []byte) bool {
		head, _, _ := bytes.Cut(line, []byte(`,"source":`))
		var e Entry
		if json.Unmarshal(append(bytes.Clone(head), '}'), &e) == nil {
			names := slices.DeleteFunc(append([]string{e.ID, e.Hub, e.Name}, e.Aliases...), func(n string) bool { return n == "" })
			out = append(out, header{names: names, line: line})
		}
		return true
	})
	return out
})

// spelling is a form in which names are compared, and the entries by their names in it.
type spelling struct {
	form    func(string) string
	entries func() map[string][]*header
}

// spellings from the strictest to the loosest: case does not count; letters, digits and the points of numbers
// do (opt-1.3b is not opt-13b); letters and digits alone ("LLaMA 3 8B" is "llama-3-8b"); and a name without
// the organisation, words that do not change the dimensions (instruct, chat, base), dates and formats of the
// weights ("RedHatAI/Qwen3-14B-FP8-dynamic" is "qwen3-14b").
var spellings = []spelling{spelt(strings.ToLower), spelt(foldToPoints), spelt(fold), spelt(Bare)}

// spelt lists the entries when a name is first looked for in the form.
func spelt(form func(string) string) spelling {
	return spelling{form, sync.OnceValue(func() map[string][]*header {
		entries := map[string][]*header{}
		heads := headers()
		for i := range heads {
			for _, n := range heads[i].names {
				if k := form(n); !slices.Contains(entries[k], &heads[i]) {
					entries[k] = append(entries[k], &heads[i])
				}
			}
		}
		delete(entries, "") // names of no letters
		return entries
	})}
}

func (s *spelling) find(name string) []*header { return s.entries()[s.form(name)] }

func fold(s string) string { return keep(s, "/") }

func foldToPoints(s string) string { return keep(s, "/.") }

// keep gives the letters and digits of a text in lower case, and some other marks.
func keep(s, marks string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', strings.ContainsRune(marks, r):
			return r
		}
		return -1
	}, strings.ToLower(s))
}

// fillers are words of a model's name that leave its dimensions alone.
var fillers = map[string]bool{
	"instruct": true, "chat": true, "it": true, "base": true, "hf": true, "pt": true, "gguf": true, "awq": true, "gptq": true, "fp8": true, "nvfp4": true,
	"bf16": true, "fp16": true, "f16": true, "int8": true, "int4": true, "dynamic": true, "w8a8": true, "w4a16": true, "4bit": true, "8bit": true, "meta": true, "quantized": true,
	"bnb": true, "unsloth": true, "mlx": true, "block": true, "g128": true, "autoround": true, "mxfp4": true, "text": true, "preview": true,
}

// Bare gives the letters and digits of a name without organisation and fillers.
func Bare(name string) string {
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		name = name[i+1:]
	}
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return strings.ContainsRune("-_ .:", r) })
	var b strings.Builder
	for _, w := range words {
		if !fillers[w] {
			b.WriteString(fold(w))
		}
	}
	return b.String()
}

func ids(hits []*header) []string {
	out := make([]string, 0, len(hits))
	for _, h := range hits {
		out = append(out, h.names[0])
	}
	return out
}

// suggested is how many ids an unknown name is answered with.
const suggested = 3

// folded are the names of all entries without marks, each once, and whose they are.
var folded = sync.OnceValue(func() (f struct {
	names []string
	owner map[string]string
}) {
	f.owner = map[string]string{}
	for _, h := range headers() {
		for _, n := range h.names {
			key := fold(n)
			if _, ok := f.owner[key]; !ok {
				f.owner[key] = h.names[0]
				f.names = append(f.names, key)
			}
		}
	}
	return f
})

// near gives up to three ids: those that begin with the name, which is short of a size, then those spelt nearly like it.
func near(name string) []string {
	var out []string
	all, n := folded(), fold(name)
	const letters = 3 // fewer begin too many names
	if len(n) >= letters {
		for _, f := range all.names {
			if id := all.owner[f]; strings.HasPrefix(f, n) && len(out) < suggested && !slices.Contains(out, id) {
				out = append(out, id)
			}
		}
	}
	for _, f := range spell.Nearest(n, all.names) {
		if id := all.owner[f]; len(out) < suggested && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}
