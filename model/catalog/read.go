package catalog

import (
	"cmp"
	_ "embed" // repos.tsv
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/internal/stable"
	"github.com/memwall/memwall/naming"
)

// Reading is the interpretation of a text that names a model.
type Reading struct {
	*Entry
	// Repo is what a command line calls the model: the repository that the text names, else the entry's own.
	Repo string
	// Said is the text taken apart.
	Said naming.Name
	// Format is the recipe that the text names, "" where it leaves that to the entry.
	Format string
	// Others are ids that the text may mean as well.
	Others []string
	// Why says how the text was read, where it is more than a spelling of the entry's names; "" else.
	Why string
	// Tuned is the name of a model that Ollama's library has and that shares the entry's shape alone; "" for the entry itself.
	Tuned string
	// Assumed: the text names a model that is not here, and is taken to have the shape of the entry.
	Assumed bool
}

// maxName bounds a name; the longest here has about 50 bytes, and paths in use have some hundred.
const maxName = 1024

// Find returns the entry with an id, a hub name or an alias, or the one meant by a looser spelling.
func Find(name string) (*Entry, error) {
	r, err := Read(name)
	if err != nil {
		return nil, err
	}
	return r.Entry, nil
}

// Read says which entry a text means, in which format. It takes, in this order: an id; a name of Ollama's library; a name
// of an entry or of its repositories in looser and looser spellings, without what the name says of the format; names of
// files and of benchmarks' tables; names short of words, such as that of a size; words with a number of parameters; and names
// that have words more than an entry's, as copies and fine-tuned models do. The error is a *NotFoundError.
func Read(text string) (*Reading, error) {
	if len(text) > maxName {
		return nil, &NotFoundError{Name: shown(text)}
	}
	text = naming.Unhosted(strings.TrimRight(strings.TrimSpace(text), "/")) // a folder's name
	if h := byID()[strings.ToLower(text)]; h != nil {
		return (&question{text: text}).found(place{head: h})
	}
	q := &question{text: text, said: naming.Read(text)}
	for _, read := range []func() []place{q.fullNames, q.ofLibrary, q.named, q.labelled, q.short, q.weighed, q.longer} {
		switch hits := read(); {
		case len(hits) > 0 && q.unclear:
			return nil, &NotFoundError{Name: shown(q.text), Ambiguous: true, Candidates: idsOf(hits)}
		case len(hits) > 0:
			return q.found(hits[0])
		}
	}
	return nil, &NotFoundError{Name: shown(q.text), Candidates: near(cmp.Or(q.said.Base, q.text))}
}

// shown is a text of a length that can be told.
func shown(text string) string {
	const most = 120
	if len(text) > most {
		return strings.ToValidUTF8(text[:most/2], "") + "…"
	}
	return text
}

// question is a text on its way to an entry.
type question struct {
	text    string
	said    naming.Name
	format  string
	others  []string
	why     string
	assumed bool
	own     bool // the text is no repository's name, though it looks like one
	tuned   string
	unclear bool // several are meant, and none more than the others
}

func (q *question) found(p place) (*Reading, error) {
	e, err := parse(p.head.line)
	if err != nil {
		return nil, err
	}
	r := &Reading{Entry: e, Repo: cmp.Or(p.repo, e.Hub), Said: q.said, Format: cmp.Or(q.format, q.said.Format), Others: q.others, Why: q.why, Tuned: q.tuned, Assumed: q.assumed}
	nobody := q.said.Org == "" || q.said.Path && q.said.Repo == "" && !naming.Publishes(q.said.Org) // a folder
	if nobody && q.said.Format != "" && q.format == "" {                                            // the maker's own
		org, _, _ := strings.Cut(e.Hub, "/")
		r.Said = q.said.By(strings.ToLower(org))
		r.Format = r.Said.Format
	}
	r.Format = inFiles(r)
	if q.said.Ollama && strings.HasSuffix(q.said.Tag, "cloud") {
		r.Why = q.text + " runs on Ollama's servers and takes no memory here; what it would take is that of " + e.ID
	}
	if known := storedIn()[strings.ToLower(q.repository(nobody))]; known != "" {
		r.Format = known
	}
	if q.said.Repo != "" && !q.own && !strings.EqualFold(q.said.Repo, r.Repo) && !strings.EqualFold(q.said.Repo, e.ID) {
		r.Repo = q.said.Repo
	}
	return r, nil
}

// repository is the one that the text names: in full, or of a folder and of a name alone its last word.
func (q *question) repository(nobody bool) string {
	last := q.text[strings.LastIndexAny(q.text, `/\\`)+1:]
	switch {
	case q.said.Repo != "":
		return q.said.Repo
	case !nobody && q.said.Org != "": // a folder that is called as a repository is
		return q.said.Org + "/" + last
	case nobody:
		return last
	}
	return ""
}

//go:embed repos.tsv
var reposText string

// storedIn are the recipes of repositories whose names say them in part alone, by the whole name, and by its last word where all
// that have it agree.
var storedIn = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(reposText) {
		if c := strings.Split(strings.TrimRight(line, "\n"), "\t"); len(c) == 3 && !strings.HasPrefix(line, "#") {
			out[strings.ToLower(c[0])] = c[1]
			_, word, _ := strings.Cut(strings.ToLower(c[0]), "/")
			if was, known := out[word]; known && was != c[1] {
				out[word] = ""
			} else {
				out[word] = c[1]
			}
		}
	}
	return out
})

// KeptInFiles is the format that GGUF files of an entry keep, where it is published in so few bits that nobody quantises it
// again, as gpt-oss is; "" for others.
func (e *Entry) KeptInFiles() string {
	if e.Weights == "mxfp4" {
		return "mxfp4_moe"
	}
	return ""
}

// inFiles is the format as GGUF files have it, where the name is of such files.
func inFiles(r *Reading) string {
	switch {
	case r.Said.Ollama && r.Said.Org != "" && r.Format == "": // a user's of Ollama's registry
		return cmp.Or(r.KeptInFiles(), usualFormat)
	case !r.Said.GGUF || r.Format == "":
		return r.Format
	case r.Said.Loose != "" && r.KeptInFiles() != "":
		r.Said.Loose = ""
		return r.KeptInFiles()
	}
	if f := dtype.FindRecipe(r.Format); f != nil && f.InGGUF() != nil && f.Name != dtype.BF16.Name && f.Name != dtype.F16.Name {
		return f.InGGUF().Name
	}
	return r.Format
}

// fullNames finds the text as it stands among the names of entries, in spellings that drop no word.
func (q *question) fullNames() []place {
	if q.said.Ollama {
		return nil
	}
	for i := range spellings[:3] {
		if hits := spellings[i].find(q.text); len(hits) > 0 {
			return q.chosen(hits)
		}
	}
	return nil
}

// ofLibrary finds a name of Ollama's library: with a tag, behind the program's name, or alone, where it names a family.
func (q *question) ofLibrary() []place {
	n := q.said
	if n.Org != "" || n.Path || n.File != "" || !n.Ollama && n.Format != "" {
		return nil
	}
	if n.Ollama && n.Tag == "" && n.Format != "" { // ollama run qwen3-32b-q8_0 is not a name of the library
		return nil
	}
	t, ok := tagged(&n)
	if !ok {
		return nil
	}
	h := byID()[t.id]
	if h == nil {
		return nil
	}
	if n.Tag == "" {
		q.others = t.others()
	}
	if q.text == t.name && !strings.Contains(t.name, "-") { // the library's own spelling, which hubs do not have
		q.said.Ollama, n.Ollama = true, true
	}
	p, own := t.place(h)
	if !own {
		q.tuned = cmp.Or(strings.TrimSuffix(n.Base+":"+n.Tag, ":"), n.Base)
	}
	if !n.Ollama {
		q.why = fmt.Sprintf("%s read as %s, the size that Ollama's library takes for the name", q.text, t.id)
		return []place{p}
	}
	q.format = t.format
	q.why = fmt.Sprintf("%s of Ollama's library is %s in %s", cmp.Or(strings.TrimSuffix(n.Base+":"+n.Tag, ":"), n.Base), t.id, t.format)
	return []place{p}
}

// named finds the name without its format, in all spellings.
func (q *question) named() []place {
	tries := []string{q.said.Base}
	if q.said.Org != "" {
		tries = append([]string{q.said.Org + "/" + q.said.Base}, tries...)
	}
	if q.said.Ollama && q.said.Tag != "" {
		tries = []string{q.said.Base + naming.Read("x-" + q.said.Tag).Base[1:], q.said.Base}
		if c := q.said.Tag[0]; c >= '0' && c <= '9' { // a size, which no other stands in for
			q.said.Base = tries[0]
			tries = tries[:1]
		}
		q.said.GGUF = true
	}
	for i := range spellings {
		for _, name := range tries {
			if hits := spellings[i].find(name); len(hits) > 0 {
				hits = q.chosen(hits)
				q.usual(hits[0].head.id())
				return hits
			}
		}
	}
	return nil
}

// usual is the format of a name in the manner of Ollama's library that the table lacks and that states none: the library's usual one.
func (q *question) usual(id string) {
	if q.said.Ollama && q.said.Format == "" && q.said.Org == "" {
		q.format = usualFormat
		q.why = fmt.Sprintf("%s is not a known name of Ollama's library: taken for %s in %s, which is usual there", q.text, id, usualFormat)
	}
}

// chosen puts the place that is meant first: of several the one that was released last. The others are named.
func (q *question) chosen(hits []place) []place {
	if len(hits) > 1 {
		hits = newestFirst(hits)
		q.choose(hits)
	}
	return hits
}

func newestFirst(hits []place) []place {
	hits = slices.Clone(hits)
	stable.Sort(hits, func(a, b place) int { return strings.Compare(b.head.released, a.head.released) })
	return hits
}

// choose says which of several was taken.
func (q *question) choose(hits []place) {
	ids := idsOf(hits)
	q.others = ids[1:min(len(ids), 1+suggested)]
	q.why = fmt.Sprintf("%s read as %s", q.text, ids[0])
}

// labelled finds names of files and of benchmarks' tables.
func (q *question) labelled() []place {
	for _, s := range labelParts(q.said.Base) {
		for i := range spellings {
			hits := spellings[i].find(s.name)
			if len(hits) == 1 && (s.billions == 0 || hits[0].head.holds(s.billions, rounded)) {
				return hits
			}
		}
	}
	return nil
}

func idsOf(hits []place) (out []string) {
	for _, p := range hits {
		out = append(out, p.head.id())
	}
	return out
}
