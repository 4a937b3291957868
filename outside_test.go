package memwall_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// outsidePage is what a user of the library reads, outsideMark what stands before its program; the output follows it.
const (
	outsidePage = "docs/guides/go-library.md"
	outsideMark = "<!-- outside -->"
)

// fenced is the first block of a language in a text, and what follows it.
func fenced(text, language string) (block, rest string, ok bool) {
	_, text, begins := strings.Cut(text, "```"+language+"\n")
	block, rest, ends := strings.Cut(text, "```\n")
	return block, rest, begins && ends
}

// TestOutsideModule: the program of the guide builds in a module of its own, which has nothing but what the guide says, and prints
// what the guide shows.
func TestOutsideModule(t *testing.T) {
	page, err := os.ReadFile(outsidePage)
	if err != nil {
		t.Fatal(err)
	}
	head, body, marked := strings.Cut(string(page), outsideMark)
	program, after, ok := fenced(body, "go")
	shown, rest, both := fenced(after, "text")
	if !marked || !ok || !both {
		t.Fatalf("%s has no program, or no output of it", outsidePage)
	}
	printed := runOutside(t, program)
	if printed == shown {
		return
	}
	if !*update {
		t.Fatalf("the program prints\n%sand %s shows\n%s", printed, outsidePage, shown)
	}
	text := fmt.Sprintf("%s%s\n\n```go\n%s```\n\n```text\n%s```\n%s", head, outsideMark, program, printed, rest)
	if err := os.WriteFile(outsidePage, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// runOutside runs a program in a module of its own beside this one, and gives what it prints.
func runOutside(t *testing.T, program string) string {
	t.Helper()
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile("go.sum")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"main.go": program,
		"go.sum":  string(sums),
		"go.mod": "module outside\n\ngo 1.26\n\nrequire " + modulePath + " v0.0.0\n\nreplace " + modulePath + " => " +
			filepath.ToSlash(root) + "\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "run", "-trimpath", "-mod=mod", ".")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=", "GOWORK=off", "GOPROXY=off")
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, errs.String())
	}
	return string(out)
}

// TestExamples: each question has an example, of ten lines at the most, that stands by itself.
func TestExamples(t *testing.T) {
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, "example_test.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		question, ok := strings.CutPrefix(fn.Name.Name, "ExampleAsk_")
		if !ok {
			t.Errorf("%s is not an example: the page of the package would show calls of it and not what it does", fn.Name.Name)
		}
		seen[question] = true
		if n := files.Position(fn.Body.Rbrace).Line - files.Position(fn.Body.Lbrace).Line - 2; n > 10 {
			t.Errorf("%s has %d lines", fn.Name.Name, n)
		}
	}
	for _, question := range []string{"fit", "plan", "pick", "train", "sim", "diff", "compare", "diagnose"} {
		if !seen[question] {
			t.Errorf("no example asks %s", question)
		}
	}
}
