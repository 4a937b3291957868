package docs

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// conventional are methods whose interface says what they do.
var conventional = map[string]bool{"Error": true, "String": true, "Unwrap": true, "Len": true, "Less": true, "Swap": true}

// uncommented lists the exported names of a file without a comment. A comment on a group of constants or
// variables is one for all of them, and a group of constants of a named type is shown under that type.
func uncommented(fset *token.FileSet, f *ast.File) (out []string) {
	add := func(at ast.Node, name string) {
		out = append(out, fmt.Sprintf("%s: %s", fset.Position(at.Pos()), name))
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Doc == nil && exportedFunc(d) {
				add(d, d.Name.Name)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if name := exportedSpec(s); name != "" && d.Doc == nil && !described(s) && !enumerated(d) {
					add(s, name)
				}
			}
		}
	}
	return out
}

// exportedFunc reports a function, or a method of an exported type, that a comment is due for.
func exportedFunc(d *ast.FuncDecl) bool {
	if !d.Name.IsExported() {
		return false
	}
	if d.Recv == nil {
		return true
	}
	return !conventional[d.Name.Name] && ast.IsExported(receiver(d.Recv.List[0].Type))
}

// receiver is the name of a method's type.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// exportedSpec is the first exported name that a specification declares.
func exportedSpec(s ast.Spec) string {
	switch s := s.(type) {
	case *ast.TypeSpec:
		if s.Name.IsExported() {
			return s.Name.Name
		}
	case *ast.ValueSpec:
		for _, n := range s.Names {
			if n.IsExported() {
				return n.Name
			}
		}
	}
	return ""
}

// enumerated reports a group of constants of a named type.
func enumerated(d *ast.GenDecl) bool {
	if d.Tok != token.CONST || !d.Lparen.IsValid() || len(d.Specs) == 0 {
		return false
	}
	first, ok := d.Specs[0].(*ast.ValueSpec)
	return ok && ast.IsExported(receiver(first.Type))
}

func described(s ast.Spec) bool {
	switch s := s.(type) {
	case *ast.TypeSpec:
		return s.Doc != nil || s.Comment != nil
	case *ast.ValueSpec:
		return s.Doc != nil || s.Comment != nil
	}
	return false
}

// public reports whether a host program can import the package in a folder.
func public(dir string) bool {
	for _, part := range strings.Split(dir, "/") {
		if part == "internal" || part == "cmd" || part == "testdata" || part == "tools" {
			return false
		}
	}
	return true
}

// TestExportedNamesHaveComments: every exported name of a public package says what it is.
func TestExportedNamesHaveComments(t *testing.T) {
	fset := token.NewFileSet()
	files := 0
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") || !public(path.Dir(name)) {
			return err
		}
		f, err := parser.ParseFile(fset, filepath.Join(root, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		if f.Name.Name == "main" {
			return nil
		}
		files++
		for _, s := range uncommented(fset, f) {
			t.Errorf("%s has no comment", strings.TrimPrefix(s, root+"/"))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files == 0 {
		t.Error("no file was read")
	}
}

// TestUncommentedNameIsSeen: the check above can fail.
func TestUncommentedNameIsSeen(t *testing.T) {
	const code = `package x
type T struct{}
// U is described.
type U[V any] struct{}
func (T) Method() {}
func (T) String() string { return "" }
func (u *U[V]) Bare() {}
func F() {}
func g() {}
const A = 1
// A group of constants.
const (
	B = 2
	C = 3
)
var (
	D int // described behind
	E int
)
const (
	V1 T = iota
	V2
)
const (
	W1 int = iota
)
`
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "x.go", code, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range uncommented(fset, f) {
		names = append(names, s[strings.LastIndex(s, " ")+1:])
	}
	if got := strings.Join(names, " "); got != "T Method Bare F A E W1" {
		t.Errorf("without a comment: %s", got)
	}
}
