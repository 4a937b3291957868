package catalog

import (
	"strings"
	"sync"
)

// A place is an entry and the name of it that was meant: the repository, where the name is one's.
type place struct {
	head *header
	repo string // "" for the entry's own
}

// spelling is a form in which names are compared, and the places by their names in it.
type spelling struct {
	form   func(string) string
	places func() map[string][]place
}

// spellings from the strictest to the loosest: case does not count; letters, digits and the points of numbers
// do (opt-1.3b is not opt-13b); letters and digits alone ("LLaMA 3 8B" is "llama-3-8b"); a repository without its
// organisation; and a name without the organisation, words that do not change the dimensions (instruct, chat, base) and
// dates.
var spellings = []spelling{spelt(strings.ToLower), spelt(foldToPoints), spelt(fold), spelt(afterOrg), spelt(Bare)}

// spelt lists the places when a name is first looked for in the form. An id, which comes first of an entry's names,
// precedes what other entries are called as well.
func spelt(form func(string) string) spelling {
	return spelling{form, sync.OnceValue(func() map[string][]place {
		places := map[string][]place{}
		heads := headers()
		for i := range heads {
			for j, n := range heads[i].names {
				p := place{head: &heads[i]}
				if j > 0 && strings.Contains(n, "/") {
					p.repo = n
				}
				places[form(n)] = with(places[form(n)], p)
			}
		}
		delete(places, "") // names of no letters
		return places
	})}
}

// with adds a place, once for each entry: its first name decides.
func with(list []place, p place) []place {
	for _, have := range list {
		if have.head == p.head {
			return list
		}
	}
	return append(list, p)
}

func (s *spelling) find(name string) []place { return s.places()[s.form(name)] }

func fold(s string) string { return keep(s, "/") }

func foldToPoints(s string) string { return keep(s, "/.") }

func afterOrg(s string) string { return fold(s[strings.LastIndexByte(s, '/')+1:]) }

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

// splitWords parts a name at its marks.
func splitWords(name string) []string {
	return strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return strings.ContainsRune("-_ .:", r) })
}

// Bare returns the letters and digits of a name without organization and filler words.
func Bare(name string) string {
	var b strings.Builder
	for _, w := range splitWords(name[strings.LastIndexByte(name, '/')+1:]) {
		if !fillers[w] {
			b.WriteString(fold(w))
		}
	}
	return b.String()
}
