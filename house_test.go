package memwall_test

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

const modulePath = "github.com/memwall/memwall"

// house is the source of the module's packages, without tests, read and resolved far enough to check its
// rules. The standard library is not read: what comes from it has no type.
type house struct {
	files *token.FileSet
	rooms map[string]*room // by directory, "." for the root
}

// room is one package.
type room struct {
	dir   string
	files []*ast.File
	lines map[string]int // by file
	info  types.Info
	typed *types.Package
	long  int // lines that are too wide
}

// readHouse parses every package under a folder.
func readHouse(t testing.TB, root fs.FS) *house {
	t.Helper()
	h := &house{files: token.NewFileSet(), rooms: map[string]*room{}}
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch base := d.Name(); {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (strings.ContainsAny(base[:1], "._") || base == "testdata"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(base, ".go") || strings.HasSuffix(base, "_test.go"):
			return nil
		}
		return h.add(root, name)
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range h.dirs() {
		h.check(dir)
	}
	return h
}

func (h *house) add(root fs.FS, name string) error {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return err
	}
	f, err := parser.ParseFile(h.files, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	dir := path.Dir(name)
	r := h.rooms[dir]
	if r == nil {
		r = &room{dir: dir, lines: map[string]int{}}
		h.rooms[dir] = r
	}
	r.files = append(r.files, f)
	r.lines[name] = strings.Count(string(text), "\n")
	r.long += h.longLines(f, string(text))
	return nil
}

// mostColumns of a line; a tab counts four.
const mostColumns = 140

// longLines counts the lines of a file that are wider than that. Text in backquotes stands as it is read.
func (h *house) longLines(f *ast.File, text string) (n int) {
	raw := map[int]bool{}
	ast.Inspect(f, func(x ast.Node) bool {
		if l, ok := x.(*ast.BasicLit); ok && strings.HasPrefix(l.Value, "`") {
			for i := h.files.Position(l.Pos()).Line; i <= h.files.Position(l.End()).Line; i++ {
				raw[i] = true
			}
		}
		return true
	})
	for i, l := range strings.Split(text, "\n") {
		if utf8.RuneCountInString(l)+3*strings.Count(l, "\t") > mostColumns && !raw[i+1] {
			n++
		}
	}
	return n
}

func (h *house) dirs() []string { return slices.Sorted(maps.Keys(h.rooms)) }

// Import gives the typed packages of the module, and empty ones in place of all others.
func (h *house) Import(p string) (*types.Package, error) {
	if dir, ok := inModule(p); ok && h.rooms[dir] != nil {
		return h.check(dir), nil
	}
	name := path.Base(p)
	if name == "v2" {
		name = path.Base(path.Dir(p))
	}
	empty := types.NewPackage(p, name)
	empty.MarkComplete()
	return empty, nil
}

// check resolves the names and types of a package.
func (h *house) check(dir string) *types.Package {
	r := h.rooms[dir]
	if r.typed != nil {
		return r.typed
	}
	r.info = types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}
	c := types.Config{Importer: h, Error: func(error) {}} // names of the standard library stay unresolved
	r.typed, _ = c.Check(path.Join(modulePath, dir), h.files, r.files, &r.info)
	return r.typed
}

// inModule gives the directory of an import path of this module.
func inModule(p string) (dir string, ok bool) {
	rest, ok := strings.CutPrefix(p, modulePath)
	if !ok || rest != "" && rest[0] != '/' {
		return "", false
	}
	return cmp.Or(strings.TrimPrefix(rest, "/"), "."), true
}

// imports are the import paths of a package, each once, with those for side effects marked "_".
func (r *room) imports() map[string]string {
	out := map[string]string{}
	for _, f := range r.files {
		for _, s := range f.Imports {
			p, _ := strconv.Unquote(s.Path.Value)
			if s.Name != nil && s.Name.Name == "_" {
				out[p] = "_"
			} else if out[p] == "" {
				out[p] = "."
			}
		}
	}
	return out
}

// funcs calls f for every function with a body.
func (r *room) funcs(f func(*ast.FuncDecl)) {
	for _, file := range r.files {
		for _, d := range file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
				f(fn)
			}
		}
	}
}

// at is where a node stands: file and line.
func (h *house) at(n ast.Node) string {
	p := h.files.Position(n.Pos())
	return p.Filename + ":" + strconv.Itoa(p.Line)
}
