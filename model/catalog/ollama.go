package catalog

import (
	_ "embed"
	"strings"
	"sync"

	"github.com/memwall/memwall/naming"
)

//go:embed ollama.tsv
var ollamaText string

// A tag of Ollama's library and what it stands for.
type tag struct{ name, tag, id, format string }

// tags of the library in the order of the table: a maker's own names before those of models tuned from his.
var tags = sync.OnceValue(func() (out []tag) {
	for line := range strings.Lines(ollamaText) {
		if c := strings.Split(strings.TrimRight(line, "\n"), "\t"); len(c) == 4 && !strings.HasPrefix(line, "#") {
			if c[3] == "" {
				c[3] = usualFormat
			}
			out = append(out, tag{c[0], c[1], c[2], c[3]})
		}
	}
	return out
})

// library is the tags by name, that of "latest" first.
var library = sync.OnceValue(func() map[string][]tag {
	out := map[string][]tag{}
	for _, t := range tags() {
		out[t.name] = append(out[t.name], t)
	}
	return out
})

// usualFormat is what Ollama's library and llama.cpp's -hf take where nobody says.
const usualFormat = "q4_k_m"

// tagged finds what a name of the library with its tag stands for: the tag that begins its own, the longest first. A
// format in the tag precedes that of the table.
func tagged(n *naming.Name) (t tag, ok bool) {
	list := library()[strings.ToLower(n.Base)]
	if len(list) == 0 {
		return tag{}, false
	}
	want := strings.ToLower(n.Tag)
	if want == "" || want == "latest" {
		return list[0].as(""), true
	}
	best := -1
	for i := range list {
		if rest, cut := strings.CutPrefix(want, list[i].tag); cut && (rest == "" || rest[0] == '-') && (best < 0 || len(list[i].tag) > len(list[best].tag)) {
			best = i
		}
	}
	if best < 0 {
		return unsized(list, want)
	}
	return list[best].as(strings.TrimPrefix(want, list[best].tag)), true
}

// unsized takes a tag that begins with no size, "instruct" or "q8_0", for the first of the name.
func unsized(list []tag, want string) (tag, bool) {
	if c := want[0]; c >= '0' && c <= '9' {
		return tag{}, false
	}
	return list[0].as(want), true
}

// as is the tag with the words that follow it: a format, "instruct", or a variant that the catalog has.
func (t tag) as(rest string) tag {
	said := naming.Read("x-" + strings.Trim(rest, "-") + ".gguf")
	if f := said.Format; f != "" && (said.Loose == "" || f != usualFormat) {
		t.format = f
	}
	if more := strings.TrimPrefix(said.Base, "x"); strings.Trim(more, "-") != "" {
		if hits := variant(t.id + more); len(hits) > 0 {
			t.id = hits[0].head.id()
		}
	}
	return t
}

// place is the entry, or the repository of its kin, that the library's name is of; own tells whether any name of the entry
// has its words, and if none does the model is another of the same shape.
func (t tag) place(h *header) (p place, own bool) {
	said := wordsOf(t.name)
	holds := func(name string) bool { _, ok := between(said, wordsOf(name)); return ok }
	for j, n := range h.names {
		if !holds(n) && !strings.HasPrefix(Bare(n), Bare(t.name)) {
			continue
		}
		if p.head = h; j > 1 && strings.Contains(n, "/") {
			p.repo = n
		}
		return p, true
	}
	return place{head: h}, false
}

// variant is the entry whose id, or a name of it, has further words: "qwen3-30b-a3b" with "-instruct-2507".
func variant(name string) []place {
	for i := range spellings {
		if hits := spellings[i].find(name); len(hits) == 1 {
			return hits
		}
	}
	return nil
}

// others are the further tags of a name, of other models.
func (t tag) others() (out []string) {
	for _, o := range library()[t.name] {
		if o.id != t.id && len(out) < suggested {
			out = append(out, o.name+":"+o.tag)
		}
	}
	return out
}

// InLibrary returns the name of an entry in a format in Ollama's library, the first in the table; "" if there is none.
func InLibrary(id, format string) string {
	for _, t := range tags() {
		if t.id == id && t.format == format {
			return t.name + ":" + t.tag
		}
	}
	return ""
}

// LibraryFormat returns the format of an entry's first name in Ollama's library; "" if there is none.
func LibraryFormat(id string) string {
	for _, t := range tags() {
		if t.id == id {
			return t.format
		}
	}
	return ""
}
