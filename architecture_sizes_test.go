package memwall_test

import (
	"fmt"
	"go/ast"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
)

// Bounds of what one reads to know a thing: a type by its methods, a package by its lines and files.
const (
	mostMethods, mostTypeFiles  = 40, 8
	mostLines, mostPackageFiles = 6000, 60
	mostOfPrefix                = 3
)

// allowance is how far a type or package may exceed a bound, and why; 0 is the bound. What no longer needs one loses it.
type allowance struct {
	most, files int
	why         string
}

// largeTypes have more methods, or stand in more files, than a type should.
var largeTypes = map[string]allowance{
	"engine/llamacpp Engine":        {0, 14, "one method for each question that engines are asked, one file for each subject"},
	"engine/llamacpp sizer":         {90, 18, "the buffers of llama.cpp follow from one another in its order of allocation"},
	"engine/llamacpp/ggml lowering": {90, 12, "one method for each kind of operator, on one graph"},
	"format/gguf decoder":           {60, 0, "one cursor over hostile bytes"},
	"internal/cli app":              {130, 40, "one method for each command, on what main wires"},
	"internal/detect Machine":       {50, 12, "one file for each driver"},
	"internal/examples calc":        {58, 0, "one method for each thing that a worked example may look up"},
	"internal/page view":            {90, 16, "one method for each part of the page"},
	"farm/internal/farm Sweep":      {50, 0, "one sweep over a queue, its leases and its results"},
	"internal/render screen":        {120, 16, "one method for each part of a live screen"},
	"internal/serve Server":         {0, 14, "one file for each route"},
	"model/family Config":           {200, 68, "one file for each family, whose methods read its keys"},
	"model/family Meta":             {50, 14, "one file for each kind of key"},
	"model/family layerBuilder":     {80, 16, "one method for each kind of layer"},
	"sim server":                    {90, 18, "one server's state over simulated time"},
	"source/remote Finder":          {0, 12, "one file for each hub"},
	"source disk":                   {0, 12, "one file for each format of files"},
	"speed/serving Model":           {70, 14, "one compiled plan that many loads are timed on"},
	"train Job":                     {60, 14, "what each phase of a step holds, of one plan"},
	"train/step Model":              {70, 14, "what each part of a step takes, of one plan"},
}

// largePackages have more lines or files than a package should.
var largePackages = map[string]allowance{
	"engine/llamacpp": {7700, 0, "three programs and a fork that share their buffers, their command line and three ways to cut a model over devices"},
	"model/family":    {12200, 117, "a file for each family of models, and the readers of architectures that have none"},
	"train/config":    {6450, 0, "a file for each framework, whose keys are read and written by the same rules"},
	"quant":           {6400, 0, "a file for each format, with its tables"},
}

// prefixes of files that stand for a package which is not there.
var prefixes = map[string]string{
	"dtype recipe_":     "recipes by where they come from, of one type",
	"dtype role_":       "tables of roles by architecture, of one type",
	"validation order_": "one study in parts",
}

// longLines are packages with lines wider than mostColumns, as many at most: they are yet to be broken, and the number falls.
// Tests are not counted: rows of their tables are logs and messages as somebody wrote them.
var longLines = map[string]int{
	"engine": 5, "engine/argv": 20, "engine/called": 10, "engine/llamacpp": 145, "engine/manifest": 20,
	"engine/plain": 15, "engine/vllm": 20, "internal/cli": 150, "internal/page": 10,
	"internal/record": 5, "internal/serve": 10,
	"internal/training": 5, "model/catalog": 5, "model/family": 325, "naming": 10, "plan": 5, "release": 5,
	"source": 80, "speed/serving": 45, "speed/stream": 35, "train": 150, "train/config": 140, "train/step": 40,
	"validation": 55,
}

// checkColumns: no line is wider than what two files beside each other have room for.
func checkColumns(h *house) (wrong []string) {
	for _, dir := range h.dirs() {
		if n := h.rooms[dir].long; n > longLines[dir] {
			wrong = append(wrong, fmt.Sprintf("%s has %d lines of more than %d columns, %d are allowed", dir, n, mostColumns,
				longLines[dir]))
		}
	}
	return wrong
}

// checkTypes: no type has more methods, or stands in more files, than one can keep in mind.
func checkTypes(h *house) (wrong []string) {
	for _, dir := range h.dirs() {
		methods, files := h.rooms[dir].methods(h)
		for _, name := range slices.Sorted(maps.Keys(methods)) {
			n, in, allowed := methods[name], len(files[name]), largeTypes[dir+" "+name]
			if most := max(mostMethods, allowed.most); n > most {
				wrong = append(wrong, fmt.Sprintf("%s: type %s has %d methods, more than %d", dir, name, n, most))
			}
			if most := max(mostTypeFiles, allowed.files); in > most {
				wrong = append(wrong, fmt.Sprintf("%s: type %s stands in %d files, more than %d", dir, name, in, most))
			}
		}
	}
	return wrong
}

// methods of each type of a package, and the files that they stand in.
func (r *room) methods(h *house) (count map[string]int, files map[string]map[string]bool) {
	count, files = map[string]int{}, map[string]map[string]bool{}
	r.funcs(func(fn *ast.FuncDecl) {
		if fn.Recv == nil {
			return
		}
		name := receiver(fn.Recv.List[0].Type)
		if files[name] == nil {
			files[name] = map[string]bool{}
		}
		count[name]++
		files[name][h.files.Position(fn.Pos()).Filename] = true
	})
	return count, files
}

// receiver is the name of a receiver's type.
func receiver(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.StarExpr:
		return receiver(x.X)
	case *ast.IndexExpr:
		return receiver(x.X)
	case *ast.IndexListExpr:
		return receiver(x.X)
	case *ast.Ident:
		return x.Name
	}
	return ""
}

// checkPackages: a package can be read in a day.
func checkPackages(h *house) (wrong []string) {
	for _, dir := range h.dirs() {
		r, allowed, lines := h.rooms[dir], largePackages[dir], 0
		for _, n := range r.lines {
			lines += n
		}
		if most := max(mostLines, allowed.most); lines > most {
			wrong = append(wrong, fmt.Sprintf("%s has %d lines, more than %d", dir, lines, most))
		}
		if most := max(mostPackageFiles, allowed.files); len(r.lines) > most {
			wrong = append(wrong, fmt.Sprintf("%s has %d files, more than %d", dir, len(r.lines), most))
		}
	}
	return wrong
}

// checkPrefixes: files that belong together are a package, and no group by the beginning of their names.
func checkPrefixes(h *house) (wrong []string) {
	for _, dir := range h.dirs() {
		groups := map[string]int{}
		for name := range h.rooms[dir].lines {
			if prefix, _, ok := strings.Cut(strings.TrimSuffix(path.Base(name), ".go"), "_"); ok {
				groups[prefix+"_"]++
			}
		}
		for _, p := range slices.Sorted(maps.Keys(groups)) {
			if groups[p] > mostOfPrefix && prefixes[dir+" "+p] == "" {
				wrong = append(wrong, fmt.Sprintf("%s has %d files %s*.go, which are a package of their own", dir, groups[p], p))
			}
		}
	}
	return wrong
}

// unneeded are allowances that nothing makes use of.
func unneeded(h *house) (wrong []string) {
	for key := range largeTypes {
		dir, name, _ := strings.Cut(key, " ")
		r := h.rooms[dir]
		if r == nil {
			wrong = append(wrong, key+" is allowed much and not there")
			continue
		}
		if methods, files := r.methods(h); methods[name] <= mostMethods && len(files[name]) <= mostTypeFiles {
			wrong = append(wrong, key+" needs no allowance")
		}
	}
	for dir := range largePackages {
		r, lines := h.rooms[dir], 0
		if r != nil {
			for _, n := range r.lines {
				lines += n
			}
		}
		if r == nil || lines <= mostLines && len(r.lines) <= mostPackageFiles {
			wrong = append(wrong, dir+" needs no allowance")
		}
	}
	for dir := range longLines {
		if r := h.rooms[dir]; r == nil || r.long == 0 {
			wrong = append(wrong, dir+" needs no allowance of long lines")
		}
	}
	for key, why := range prefixes {
		dir, prefix, _ := strings.Cut(key, " ")
		n := 0
		if r := h.rooms[dir]; r != nil {
			for name := range r.lines {
				if strings.HasPrefix(path.Base(name), prefix) {
					n++
				}
			}
		}
		if n <= mostOfPrefix || why == "" {
			wrong = append(wrong, key+" needs no allowance")
		}
	}
	return wrong
}

// tall is a house with a type of so many methods in so many files.
func tall(methods, files int) map[string]string {
	out := map[string]string{}
	for i := range files {
		out[fmt.Sprintf("model/m%d.go", i)] = "package model\n"
	}
	for i := range methods {
		out[fmt.Sprintf("model/m%d.go", i%files)] += fmt.Sprintf("func (t *T) F%d() {}\n", i)
	}
	out["model/m0.go"] += "type T struct{}\n"
	return out
}

// wide is a house with a package of so many files of so many lines each.
func wide(files, lines int, prefix string) map[string]string {
	out := map[string]string{}
	for i := range files {
		out[fmt.Sprintf("model/%s%d.go", prefix, i)] = "package model" + strings.Repeat("\n", lines)
	}
	return out
}

// TestAllowancesCanFail: in a house without its types and packages every allowance is for nothing.
func TestAllowancesCanFail(t *testing.T) {
	if n, want := len(unneeded(&house{})), len(largeTypes)+len(largePackages)+len(longLines)+len(prefixes); n != want {
		t.Errorf("%d allowances are found, of %d", n, want)
	}
}
