package docs

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// root is the repository, from this package.
const root = "../.."

// page is a Markdown file.
type page struct {
	name  string // from the root, with slashes
	lines []string
	// code marks lines inside a fence, the fence itself included.
	code []bool
}

func newPage(name, text string) *page {
	p := &page{name: name, lines: strings.Split(text, "\n")}
	p.code = make([]bool, len(p.lines))
	fence := ""
	for i, l := range p.lines {
		mark := fenceOf(l)
		switch {
		case fence == "" && mark != "":
			fence, p.code[i] = mark, true
		case fence != "":
			p.code[i] = true
			if strings.HasPrefix(mark, fence) && strings.TrimSpace(l) == mark {
				fence = ""
			}
		}
	}
	return p
}

// fenceOf gives the marks that begin a line of a fence: ``` or more.
func fenceOf(line string) string {
	line = strings.TrimLeft(line, " ")
	n := len(line) - len(strings.TrimLeft(line, "`"))
	if n < 3 {
		return ""
	}
	return line[:n]
}

// text of the page, for writing.
func (p *page) text() string { return strings.Join(p.lines, "\n") }

var (
	heading    = regexp.MustCompile(`^#{1,6} +(.*?) *#*$`)
	named      = regexp.MustCompile(`<a (?:id|name)="([^"]+)">`)
	inlineCode = regexp.MustCompile("`[^`]*`")
	inlineLink = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
)

// anchors are the names that a link may have behind its #: those of headings, as GitHub makes them, and
// those given by hand.
func (p *page) anchors() map[string]bool {
	out := map[string]bool{}
	seen := map[string]int{}
	for i, l := range p.lines {
		if p.code[i] {
			continue
		}
		for _, m := range named.FindAllStringSubmatch(l, -1) {
			out[m[1]] = true
		}
		m := heading.FindStringSubmatch(l)
		if m == nil {
			continue
		}
		s := slug(m[1])
		if n := seen[s]; n > 0 {
			out[s+"-"+strconv.Itoa(n)] = true
		} else {
			out[s] = true
		}
		seen[s]++
	}
	return out
}

// slug is GitHub's name of a heading: lower case, blanks as hyphens, no punctuation.
func slug(title string) string {
	title = inlineLink.ReplaceAllString(title, "$1")
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			return unicode.ToLower(r)
		}
		return -1
	}, title)
}

// pages are all Markdown files of the repository, by name.
func pages(t *testing.T) map[string]*page {
	t.Helper()
	out := map[string]*page{}
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ".md":
			return nil
		}
		data, err := os.ReadFile(filepath.Join(root, name))
		out[name] = newPage(name, string(data))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestSlug(t *testing.T) {
	for title, want := range map[string]string{
		"KV cache": "kv-cache", "vLLM: pages & groups": "vllm-pages--groups", "Add an `engine` version": "add-an-engine-version", "See [this](x.md)": "see-this", "2. Bytes": "2-bytes",
	} {
		if got := slug(title); got != want {
			t.Errorf("slug(%q) = %q, want %q", title, got, want)
		}
	}
}

func TestAnchors(t *testing.T) {
	p := newPage("x.md", "# One\n## One\n```\n# not a heading\n```\n<a id=\"by-hand\"></a>\n````text\n```\n# still code\n````\n# Two")
	got := p.anchors()
	for _, want := range []string{"one", "one-1", "by-hand", "two"} {
		if !got[want] {
			t.Errorf("no anchor %q in %v", want, got)
		}
	}
	if len(got) != 4 {
		t.Errorf("anchors %v, want 4", got)
	}
}
