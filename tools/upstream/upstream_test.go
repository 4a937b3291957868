package main

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestEveryRule: every table of versions in the engines and the frameworks says where it was read, or why it cannot say.
func TestEveryRule(t *testing.T) {
	all, err := parseSources(sources)
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]bool{}
	for _, s := range all {
		told[s.rule] = true
		if !s.unread() && (len(s.print) != 12 || s.read == "" || s.read == "?") {
			t.Errorf("%s: fingerprint %q at %q", s.rule, s.print, s.read)
		}
		if s.unread() && !strings.Contains(s.symbol, ":") {
			t.Errorf("%s has no text, and %q does not say why", s.rule, s.symbol)
		}
	}
	tables := versioned(t)
	if len(tables) < 50 {
		t.Errorf("%d tables of versions are found", len(tables))
	}
	for _, name := range tables {
		if !told[name] {
			t.Errorf("%s is in no line of %s", name, table)
		}
	}
}

// versioned are the package's and variable's names of all tables whose rows hold since a version.
func versioned(t *testing.T) (out []string) {
	t.Helper()
	files := token.NewFileSet()
	for _, dir := range []string{"engine", "engine/vllm", "engine/sglang", "engine/tensorrt", "engine/transformers", "engine/llamacpp", "train"} {
		names, err := filepath.Glob("../../" + dir + "/*.go")
		if err != nil || len(names) == 0 {
			t.Fatal(dir, err)
		}
		for _, name := range names {
			f, err := parser.ParseFile(files, name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasSuffix(name, "_test.go") {
				out = append(out, tablesOf(f)...)
			}
		}
	}
	return out
}

func tablesOf(f *ast.File) (out []string) {
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.VAR {
			continue
		}
		for _, s := range g.Specs {
			v := s.(*ast.ValueSpec)
			if len(v.Values) == 1 && sinceTable(v.Values[0]) {
				out = append(out, f.Name.Name+"."+v.Names[0].Name)
			}
		}
	}
	return out
}

// sinceTable: a literal of []engine.Since[…] or engine.Since[…].
func sinceTable(e ast.Expr) bool {
	lit, ok := e.(*ast.CompositeLit)
	if !ok {
		return false
	}
	of := lit.Type
	if list, ok := of.(*ast.ArrayType); ok {
		of = list.Elt
	}
	index, ok := of.(*ast.IndexExpr)
	if !ok {
		return false
	}
	sel, ok := index.X.(*ast.SelectorExpr)
	return ok && sel.Sel.Name == "Since"
}

// sources in which symbols are found.
const (
	pythonText = `import x

LIMIT: int = max(
    1,
    2,
)

class A:
    size: int = 7

    def grow(
        self,
    ) -> int:
        # a remark
        return self.size + LIMIT

    def other(self):
        return 1
`
	cText = `#define MOST 30
struct p { int n_batch = 2048; };
static int use(int);
int room::grow(int a,
               int b) {
    if (a) { return b; }
    return 0;
}
int last() { return MOST; }
`
)

func TestTextOf(t *testing.T) {
	for _, c := range []struct{ file, text, symbol, first, last string }{
		{"a.py", pythonText, "LIMIT", "LIMIT: int = max(", ")"},
		{"a.py", pythonText, "grow", "    def grow(", "        return self.size + LIMIT\n"},
		{"a.py", pythonText, "A", "class A:", "        return 1\n"},
		{"a.py", pythonText, "size", "    size: int = 7", "    size: int = 7"},
		{"a.cpp", cText, "room::grow", "int room::grow(int a,", "}"},
		{"a.cpp", cText, "MOST", "#define MOST 30", "int last() { return MOST; }"},
		{"a.h", cText, "n_batch", "struct p { int n_batch = 2048; };", "struct p { int n_batch = 2048; };"},
	} {
		got, _, ok := textOf(c.file, c.text, c.symbol)
		if !ok || !strings.HasPrefix(got, c.first) || !strings.HasSuffix(got, c.last) {
			t.Errorf("%s in %s: %q", c.symbol, c.file, got)
		}
	}
	if _, _, ok := textOf("a.py", pythonText, "shrink"); ok {
		t.Error("a symbol is found that is not there")
	}
}

// TestFingerprint: remarks and indentation change nothing, a number does.
func TestFingerprint(t *testing.T) {
	base := fingerprint("def f():\n    return 1\n")
	if fingerprint("def f():\n\n    # why\n  return   1\n") != base {
		t.Error("a remark counts")
	}
	if fingerprint("def f():\n    return 2\n") == base {
		t.Error("a number does not count")
	}
}

// project of our own with a history: a rule's text changes, one goes, a flag and an architecture come.
func repository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatal(args, err, string(out))
		}
	}
	put := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git("init", "-q")
	put("common/arg.cpp", `{"-c", "--ctx-size"}, {"--new-thing"}`)
	put("src/llama-arch.cpp", "LLM_ARCH_NAMES = {\n { LLM_ARCH_LLAMA, \"llama\" },\n};\n")
	put("common/common.h", "int n_batch = 2048;\nint n_ubatch = 512;\n")
	git("add", ".")
	git("commit", "-qm", "first")
	git("tag", "one")
	put("common/arg.cpp", `{"-c", "--ctx-size"}, {"--new-thing"}, {"--newer-thing"}`)
	put("src/llama-arch.cpp", "LLM_ARCH_NAMES = {\n { LLM_ARCH_LLAMA, \"llama\" },\n { LLM_ARCH_X, \"next-big-thing\" },\n};\n")
	put("common/common.h", "int n_batch = 4096;\n")
	git("add", ".")
	git("commit", "-qm", "Batches of 4096")
	return dir
}

func TestRun(t *testing.T) {
	dir := repository(t)
	c, err := open(dir, "one")
	if err != nil {
		t.Fatal(err)
	}
	p := projectOf(c)
	if p == nil || p.name != "llama.cpp" {
		t.Fatal(p)
	}
	rules := []source{{"llama.cpp", "batch", "common/common.h", "n_batch", "?", "?"}, {"llama.cpp", "ubatch", "common/common.h", "n_ubatch", "?", "?"},
		{"llama.cpp", "log", "-", "a log: none", "-", "-"}}
	first, err := p.findings(c, rules, false)
	if err != nil {
		t.Fatal(err)
	}
	rules = readAgain(rules, first, "one")
	if rules[0].read != "one" || rules[2].read != "-" {
		t.Fatal(rules)
	}
	now, err := open(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	found, err := p.findings(now, rules, true)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	report(&out, p, now, found, true)
	if err := p.news(&out, now, "one"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"2 rules read there; 0 unchanged, 1 changed, 1 gone", "Batches of 4096", "+int n_batch = 4096;", "gone     ubatch",
		"--newer-thing", "next-big-thing"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not told:\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "--new-thing") {
		t.Error("a flag of before is told as new")
	}
}

// TestNoCheckout: what is not a checkout, or has no such revision, is said.
func TestNoCheckout(t *testing.T) {
	if err := run(&bytes.Buffer{}, t.TempDir(), "", "", options{}); err == nil || !strings.Contains(err.Error(), "not a checkout of a project") {
		t.Error(err)
	}
	if err := run(&bytes.Buffer{}, filepath.Join(t.TempDir(), "none"), "", "", options{}); err == nil {
		t.Error("a folder that is not there")
	}
	if err := run(&bytes.Buffer{}, repository(t), "nine", "", options{}); err == nil || !strings.Contains(err.Error(), `no revision "nine"`) {
		t.Error(err)
	}
}
