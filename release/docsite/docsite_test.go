package main

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// whole is the site of this repository.
var whole = sync.OnceValues(func() (map[string][]byte, error) { return build(os.DirFS("../..")) })

func built(t *testing.T) map[string][]byte {
	t.Helper()
	files, err := whole()
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// small is a repository of a README.md with a text, and one guide.
func small(text string) fstest.MapFS {
	return fstest.MapFS{
		"README.md":          {Data: []byte(text)},
		"cost/cost.go":       {Data: []byte("package cost\n")},
		"docs/guides/a b.md": {Data: []byte("# One\n\n## The first `part`: it's here\n\n## Twice\n\n## Twice\n")},
		"docs/images/a.svg":  {Data: []byte("<svg/>")},
	}
}

// body is README.md's text as HTML.
func body(t *testing.T, markdown string) string {
	t.Helper()
	files, err := build(small(markdown))
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(files["index.html"]), "<main id=\"text\">\n")
	text, _, _ = strings.Cut(text, "</main>")
	return text
}

// TestEveryPage: each page of docs is written, and the navigation of each leads to it.
func TestEveryPage(t *testing.T) {
	files, n := built(t), 0
	err := fs.WalkDir(os.DirFS("../.."), "docs", func(name string, _ fs.DirEntry, err error) error {
		if path.Ext(name) != ".md" {
			return err
		}
		n++
		at := address(name)
		if !strings.Contains(string(files[at]), "<h1 id=") {
			t.Errorf("%s is not written as %s, with its heading", name, at)
		}
		if !strings.Contains(string(files["index.html"]), `<li><a href="`+at+`"`) {
			t.Errorf("the navigation lacks %s", at)
		}
		return err
	})
	if err != nil || n < 80 {
		t.Errorf("%d pages: %v", n, err)
	}
}

var attribute = regexp.MustCompile(`\b(href|src|id)="([^"]*)"`)

// TestLinks: what the written pages refer to is there: files, and anchors in them. The calculator is beside the folder.
func TestLinks(t *testing.T) {
	files, ids, checked := built(t), map[string]bool{}, 0
	each := func(do func(page, kind, value string)) {
		for name, data := range files {
			if path.Ext(name) != ".html" {
				continue
			}
			for _, m := range attribute.FindAllStringSubmatch(string(data), -1) {
				do(name, m[1], m[2])
			}
		}
	}
	each(func(page, kind, value string) {
		if kind == "id" {
			if ids[page+"#"+value] {
				t.Errorf("%s has #%s twice", page, value)
			}
			ids[page+"#"+value] = true
		}
	})
	each(func(page, kind, value string) {
		if kind == "id" || strings.Contains(value, "://") || value == "data:," {
			return
		}
		to, anchor, _ := strings.Cut(value, "#")
		if to = path.Join(path.Dir(page), to); strings.HasPrefix(value, "#") {
			to = page
		}
		if checked++; to != "../index.html" && files[to] == nil || anchor != "" && !ids[to+"#"+anchor] {
			t.Errorf("%s: %s leads nowhere", page, value)
		}
	})
	if checked < 5000 {
		t.Errorf("%d links", checked)
	}
}

// TestIndex: words are found in the sections where they stand.
func TestIndex(t *testing.T) {
	data := strings.TrimSuffix(strings.TrimPrefix(string(built(t)["index.js"]), "globalThis.docs="), ";\n")
	var all struct {
		Pages    []listed
		Sections []section
	}
	if err := json.Unmarshal([]byte(data), &all); err != nil {
		t.Fatal(err)
	}
	for page, words := range map[string][]string{
		"guides/install.html": {"sha256sums"}, "formulas.html": {"bands", "quadrature"},
		"decisions/0009-dependencies.html": {"gonum", "cholesky"}, "case-studies/ppo.html": {"critic"}, "index.html": {"cgo_enabled"},
	} {
		for _, word := range words {
			if !slices.ContainsFunc(all.Sections, func(s section) bool {
				return all.Pages[s.Page].Link == page && slices.Contains(strings.Fields(s.Words), word)
			}) {
				t.Errorf("%s is not found in %s", word, page)
			}
		}
	}
}

func TestWords(t *testing.T) {
	want := []string{"qwen3", "30b", "in", "q4_k_m", "kv", "größe"}
	if got := words("Qwen3-30B in `q4_k_m`: KV, kv (Größe)"); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// TestSame: the same docs give the same bytes.
func TestSame(t *testing.T) {
	again, err := build(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	if !maps.EqualFunc(built(t), again, slices.Equal) {
		t.Error("two builds differ")
	}
}

func TestMarkdown(t *testing.T) {
	for _, c := range [][2]string{
		{"[a](docs/guides/a%20b.md)", `<p><a href="guides/a%20b.html">a</a></p>`},
		{"[a](docs/guides/a%20b.md#the-first-part-its-here)", `<p><a href="guides/a%20b.html#the-first-part-its-here">a</a></p>`},
		{"[a](docs/guides/a%20b.md#twice-1)", `<p><a href="guides/a%20b.html#twice-1">a</a></p>`},
		{"[a](cost/cost.go)", `<p><a href="https://github.com/memwall/memwall/blob/HEAD/cost/cost.go">a</a></p>`},
		{"[a](cost)", `<p><a href="https://github.com/memwall/memwall/tree/HEAD/cost">a</a></p>`},
		{"![a](docs/images/a.svg)", `<p><img src="images/a.svg" alt="a"></p>`},
		{"<!-- asks\nfit: x --on y\n-->\n\nIt needs\n<!--= a.b -->12 GiB<!--/--> of **16**.", "<p>It needs\n12 GiB of <strong>16</strong>.</p>"},
		{"```sh\na <b>\n```", "<pre tabindex=\"0\"><code class=\"language-sh\">a &lt;b&gt;\n</code></pre>"},
		{"| a |\n|--:|\n| 1 |", "<div class=\"wide\" tabindex=\"0\"><table>\n<thead>\n<tr>\n<th align=\"right\">a</th>\n</tr>\n</thead>\n" +
			"<tbody>\n<tr>\n<td align=\"right\">1</td>\n</tr>\n</tbody>\n</table></div>"},
	} {
		if diff := cmp.Diff(c[1], strings.TrimSpace(body(t, c[0]))); diff != "" {
			t.Errorf("%s:\n%s", c[0], diff)
		}
	}
}

// TestHostile: what a page says is text, whatever it says; its links lead to pages and the web.
func TestHostile(t *testing.T) {
	bad := regexp.MustCompile(`(?i)<(script|img|iframe|b|svg|style)|<[^>]* on\w+=|(href|src)="?\s*(javascript|data|vbscript|file|//)`)
	for _, markdown := range []string{
		"<script>alert(1)</script>", "a <script>alert(1)</script> b", "<div><img src=x onerror=alert(1)></div>", "<!-- a --><b onclick=x>b</b>",
		"<!--\n--><script>alert(1)</script>", "<!-- never closed <script>alert(1)</script>", "[a](javascript:alert(1))", "[a](JaVaScript:alert)",
		"<javascript:alert(1)>", "[a](data:text/html,x)", "[a](//evil.example/x)", "[a](file:///etc/passwd)", "# <script>alert(1)</script>",
		"[a](vbscript:x 'b')", "[a]: javascript:x\n\n[a]", "| <script> |\n|---|\n| <b> |", "`<script>`", "# a {#x onclick=alert(1)}",
		`[a](https://x.example/"onclick="alert(1))`,
	} {
		if got := body(t, markdown); bad.MatchString(got) || strings.TrimSpace(got) == "" {
			t.Errorf("%q becomes %q", markdown, got)
		}
	}
	files, err := build(small("# </script><script>alert(1)</script>\n\n## a\"b"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"index.html", "index.js", "guides/a b.html"} {
		if strings.Contains(string(files[name]), "<script>") {
			t.Errorf("%s has a script: %s", name, files[name])
		}
	}
}

// TestBroken: a link that leads nowhere is an error with its place.
func TestBroken(t *testing.T) {
	for markdown, want := range map[string]string{
		"# a\n\nb\n[c](gone.md)":                              "README.md:4: gone.md: no such file",
		"# a\n\n| b |\n|---|\n| [c](#d) |":                    "README.md:5: #d: README.md has no such heading",
		"[a](docs/guides/a%20b.md#absent)":                    "README.md:1: docs/guides/a%20b.md#absent: docs/guides/a b.md has no such heading",
		"[a](../../etc/passwd)":                               "README.md:1: ../../etc/passwd: no such file",
		"a\n\n![b](https://other.example/b.png)":              "README.md:3: https://other.example/b.png: pictures are files of the repository",
		"![b](cost/cost.go)":                                  "README.md:1: cost/cost.go: no picture that pages show (.jpg .png .svg .webp)",
		"[a](&#106;avascript:x)":                              "README.md:1: &#106;avascript:x: no such file",
		"[a](x.md)\n\n- b\n- [c](y.md)\n\n<!-- [d](z.md) -->": "README.md:1: x.md: no such file\nREADME.md:4: y.md: no such file",
	} {
		if _, err := build(small(markdown)); err == nil || err.Error() != want {
			t.Errorf("%q: %v, not %s", markdown, err, want)
		}
	}
}

// TestUnplaced: a folder that the navigation does not know, and two pages of one name, are errors.
func TestUnplaced(t *testing.T) {
	for name, want := range map[string]string{
		"docs/new/a.md":  "docs/new/a.md: its folder is in no group of the navigation: name it in release/docsite/build.go",
		"docs/README.md": "docs/README.md: another page is index.html too: rename one",
	} {
		from := small("# a")
		from[name] = &fstest.MapFile{Data: []byte("# b")}
		if _, err := build(from); err == nil || err.Error() != want {
			t.Errorf("%s: %v, not %s", name, err, want)
		}
	}
}
