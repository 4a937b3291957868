package docs

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/format"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Guides for contributors show what to change as diffs, and what to run. Both are tried on this tree: a diff is laid over it, and Go
// builds and tests what the guide tests, with no file written.

// change is a diff of a guide, of one file.
type change struct {
	at          string // page and line
	file        string // from the root
	fresh       bool   // the file is new
	before, now []string
}

// changes are the diffs of a page.
func changes(p *page) (out []change) {
	for i, l := range p.lines {
		if !p.code[i] || !strings.HasPrefix(l, "```diff") {
			continue
		}
		c := change{at: fmt.Sprintf("%s:%d", p.name, i+1)}
		for _, l := range p.lines[i+1:] {
			if fenceOf(l) != "" {
				break
			}
			c.read(l)
		}
		out = append(out, c)
	}
	return out
}

// read a line of a diff.
func (c *change) read(l string) {
	file, new := strings.CutPrefix(l, "+++ b/")
	switch {
	case new:
		c.file = file
	case strings.HasPrefix(l, "--- "):
		c.fresh = l == "--- /dev/null"
	case strings.HasPrefix(l, "+"):
		c.now = append(c.now, l[1:])
	case strings.HasPrefix(l, " "):
		c.before, c.now = append(c.before, l[1:]), append(c.now, l[1:])
	case !strings.HasPrefix(l, "@@"):
		c.before = append(c.before, l)
	}
}

// applied is the text of the file with the change: in its place, at the end where the diff names none, and as it is where it has it.
func (c *change) applied(text string) (string, error) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	switch {
	case c.fresh:
		lines = c.now
	case slices.ContainsFunc(c.now, func(l string) bool { return strings.HasPrefix(l, "-") }):
		return "", fmt.Errorf("%s takes lines away", c.at)
	case runAt(lines, c.now) >= 0:
	case len(c.before) == 0:
		lines = append(lines, c.now...)
	default:
		at := runAt(lines, c.before)
		if at < 0 {
			return "", fmt.Errorf("%s: %s has not the lines that the diff stands between: %q", c.at, c.file, c.before)
		}
		lines = slices.Replace(lines, at, at+len(c.before), c.now...)
	}
	text = strings.Join(lines, "\n") + "\n"
	if src, err := format.Source([]byte(text)); path.Ext(c.file) == ".go" && (err != nil || string(src) != text) {
		return "", errors.Join(fmt.Errorf("%s: %s is not as gofmt writes it", c.at, c.file), err)
	}
	return text, nil
}

// runAt is where lines stand one after another in others; -1 where they do not.
func runAt(lines, run []string) int {
	for i := range len(lines) - len(run) + 1 {
		if slices.Equal(lines[i:i+len(run)], run) {
			return i
		}
	}
	return -1
}

// overlay applies the changes to copies in a folder, and gives the file with which Go builds them.
func overlay(folder, tree string, all []change) (string, error) {
	replaced := map[string]string{}
	for i, c := range all {
		have := filepath.Join(tree, c.file)
		from := have
		if r, ok := replaced[have]; ok {
			from = r
		}
		text, err := os.ReadFile(from)
		if err != nil && !c.fresh {
			return "", err
		}
		out, err := c.applied(string(text))
		if err != nil {
			return "", err
		}
		replaced[have] = filepath.Join(folder, fmt.Sprint(i))
		if err := os.WriteFile(replaced[have], []byte(out), 0o600); err != nil {
			return "", err
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		return "", err
	}
	name := filepath.Join(folder, "overlay.json")
	return name, os.WriteFile(name, list, 0o600)
}

// tested is the command that tries the changes of a page: the tests that they bring, or else the packages that the guide tests first.
func tested(p *page, all []change) []string {
	dirs, tests := map[string]bool{}, []string{}
	for _, c := range all {
		if c.fresh && strings.HasSuffix(c.file, "_test.go") {
			dirs["./"+path.Dir(c.file)] = true
			for _, m := range declared.FindAllStringSubmatch(strings.Join(c.now, "\n"), -1) {
				tests = append(tests, m[1])
			}
		}
	}
	if len(tests) > 0 {
		return append([]string{"-run", "^(" + strings.Join(tests, "|") + ")$"}, slices.Sorted(maps.Keys(dirs))...)
	}
	for _, l := range p.lines {
		if rest, ok := strings.CutPrefix(l, "go test "); ok {
			rest, _, _ = strings.Cut(rest, "#")
			return strings.Fields(rest)
		}
	}
	return nil
}

var declared = regexp.MustCompile(`(?m)^func (Test\w+)\(`)

// TestGuidesAreFollowed: what a guide changes builds, and passes the tests that the guide names first.
func TestGuidesAreFollowed(t *testing.T) {
	tree, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"an-accelerator", "a-model", "a-model-family", "an-engine-version"} {
		t.Run(name, func(t *testing.T) {
			p := guide(t, "add-"+name)
			all := slices.DeleteFunc(changes(p), func(c change) bool { return strings.HasPrefix(c.file, "validation/") }) // rows are read from files
			if len(all) < 1 {
				t.Fatal("the guide shows no change")
			}
			name, err := overlay(t.TempDir(), tree, all)
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("go", append([]string{"test", "-overlay", name}, tested(p, all)...)...)
			cmd.Dir = tree
			if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), "no tests to run") {
				t.Errorf("%s: %v\n%s", cmd, err, out)
			}
		})
	}
}

// TestGuideChangesApply: each change of each guide finds its place in the file that it names, rows of measurements too.
func TestGuideChangesApply(t *testing.T) {
	for _, name := range []string{"an-accelerator", "a-model", "a-model-family", "an-engine-version", "a-training-framework", "a-measurement"} {
		all := changes(guide(t, "add-"+name))
		if _, err := overlay(t.TempDir(), root, all); err != nil || len(all) == 0 {
			t.Errorf("add-%s: %d changes, %v", name, len(all), err)
		}
	}
}

// guide is a page of docs/guides.
func guide(t *testing.T, name string) *page {
	t.Helper()
	name = "docs/guides/" + name + ".md"
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return newPage(name, string(text))
}

var command = regexp.MustCompile("(?m)(?:^|`)(go (?:test|run) [^`#\n]+)")

// broken says what of a command of a guide is not there: a package, a test, a flag of its tests.
func broken(tree fs.FS, line string) (out []string) {
	words := strings.Fields(line)
	src, why := sources(tree, words[2:], words[1] == "run")
	if why != "" || strings.HasPrefix(line, "go run ./cmd") {
		return append(out, why)[:min(1, len(why))]
	}
	for i, w := range words[2:] {
		flag, is := strings.CutPrefix(w, "-")
		switch {
		case !is || slices.Contains(ofGo, flag):
		case flag == "run":
			if called := regexp.MustCompile(strings.Trim(words[i+3], "'")); !slices.ContainsFunc(declared.FindAllStringSubmatch(src, -1),
				func(m []string) bool { return called.MatchString(m[1]) }) {
				out = append(out, "no test is called "+words[i+3])
			}
		case !strings.Contains(src, `"`+flag+`"`):
			out = append(out, w+" is not a flag there")
		}
	}
	return out
}

var ofGo = strings.Fields("C fuzz fuzztime count timeout bench")

// sources of the packages that a command names, of the first alone where the rest are arguments; why one is none.
func sources(tree fs.FS, words []string, first bool) (src, why string) {
	for _, w := range words {
		dir, all := strings.CutSuffix(w, "/...")
		if !strings.HasPrefix(w, "./") || w == "./PACKAGE" {
			continue
		}
		files, err := fs.Glob(tree, path.Clean(dir)+"/*.go")
		if err != nil || len(files) == 0 && !all {
			return "", w + " is not a package"
		}
		for _, f := range files {
			text, err := fs.ReadFile(tree, f)
			if err != nil {
				return "", err.Error()
			}
			src += string(text)
		}
		if first {
			break
		}
	}
	return src, ""
}

// TestGuidesCommands: the packages, tests and flags that guides for contributors name are there.
func TestGuidesCommands(t *testing.T) {
	tree, seen := os.DirFS(root), 0
	names, err := filepath.Glob(filepath.Join(root, "docs/guides/add-*.md"))
	if err != nil || len(names) < 6 {
		t.Fatal(names, err)
	}
	for _, name := range append(names, filepath.Join(root, "CONTRIBUTING.md")) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range command.FindAllStringSubmatch(string(text), -1) {
			seen++
			for _, why := range broken(tree, m[1]) {
				t.Errorf("%s: %s: %s", filepath.Base(name), m[1], why)
			}
		}
	}
	if seen < 20 {
		t.Errorf("only %d commands are seen", seen)
	}
}

// TestBadGuideIsSeen: a diff between lines that are not there, Go that is not formatted, and commands of what is not there.
func TestBadGuideIsSeen(t *testing.T) {
	p := newPage("x.md", "```diff\n--- a/a.go\n+++ b/a.go\n@@\n package a\n+var x=1\n```\n```diff\n--- a/a.tsv\n+++ b/a.tsv\n@@\n b\n+c\n```\n"+
		"```diff\n--- a/a.tsv\n+++ b/a.tsv\n@@\n+c\n```\n")
	all := changes(p)
	if len(all) != 3 {
		t.Fatal(all)
	}
	if _, err := all[0].applied("package a\n"); err == nil || !strings.Contains(err.Error(), "gofmt") {
		t.Error(err)
	}
	if _, err := all[1].applied("a\n"); err == nil || !strings.Contains(err.Error(), "stands between") {
		t.Error(err)
	}
	for _, have := range []string{"a\n", "a\nc\n"} {
		if text, err := all[2].applied(have); text != "a\nc\n" || err != nil {
			t.Errorf("%q %v", text, err)
		}
	}
	for line, want := range map[string]string{"go test ./nowhere": "./nowhere is not a package", "go test ./unit -run Nobody": "no test is called Nobody",
		"go test ./unit -upd": "-upd is not a flag there"} {
		if got := broken(os.DirFS(root), line); !slices.Contains(got, want) {
			t.Errorf("%s: %q", line, got)
		}
	}
}
