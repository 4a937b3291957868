package memwall_test

import (
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// checkRules: the rows of every table of versioned rules stand in the order of their versions, each once, and
// each says where it is from.
func checkRules(h *house) (wrong []string) {
	for _, dir := range h.dirs() {
		r := h.rooms[dir]
		for _, f := range r.files {
			ast.Inspect(f, func(n ast.Node) bool {
				if l, ok := n.(*ast.CompositeLit); ok && isRuleTable(l) {
					wrong = append(wrong, h.checkTable(r, l)...)
				}
				return true
			})
		}
	}
	return wrong
}

// isRuleTable tells []engine.Since[T]{…}.
func isRuleTable(l *ast.CompositeLit) bool {
	list, ok := l.Type.(*ast.ArrayType)
	if !ok {
		return false
	}
	of, ok := list.Elt.(*ast.IndexExpr)
	if !ok {
		return false
	}
	switch name := of.X.(type) {
	case *ast.SelectorExpr:
		return name.Sel.Name == "Since"
	case *ast.Ident:
		return name.Name == "Since"
	}
	return false
}

func (h *house) checkTable(r *room, l *ast.CompositeLit) (wrong []string) {
	var last []int
	for i, e := range l.Elts {
		row, ok := e.(*ast.CompositeLit)
		if !ok {
			continue
		}
		from, ok := r.version(member(row, "From", 0))
		switch {
		case !ok:
			wrong = append(wrong, h.at(row)+": a version that is not written down")
		case i > 0 && slices.Compare(from, last) <= 0:
			wrong = append(wrong, h.at(row)+": a rule before the one above it")
		}
		last = from
		if s, ok := member(row, "Source", 2).(*ast.BasicLit); !ok || s.Kind != token.STRING || len(s.Value) < 8 {
			wrong = append(wrong, h.at(row)+": a rule from nowhere")
		}
	}
	return wrong
}

// member is a field of a struct by its name, or by its place.
func member(row *ast.CompositeLit, name string, place int) ast.Expr {
	for i, e := range row.Elts {
		kv, named := e.(*ast.KeyValueExpr)
		if named && kv.Key.(*ast.Ident).Name == name {
			return kv.Value
		}
		if !named && i == place {
			return e
		}
	}
	return nil
}

// version reads engine.V(0, 9, 2), build(5429) or a variable that is one of these.
func (r *room) version(e ast.Expr) ([]int, bool) {
	switch x := e.(type) {
	case *ast.Ident:
		return r.version(r.value(x.Name))
	case *ast.CallExpr:
		var out []int
		for _, a := range x.Args {
			lit, ok := a.(*ast.BasicLit)
			if !ok {
				return nil, false
			}
			n, err := strconv.Atoi(lit.Value)
			if err != nil {
				return nil, false
			}
			out = append(out, n)
		}
		if len(out) == 1 { // builds count within major 0, as first does
			out = []int{0, 0, out[0]}
		}
		return out, len(out) == 3
	case *ast.CompositeLit: // engine.Version{}
		return []int{0, 0, 0}, len(x.Elts) == 0
	}
	return nil, false
}

// value is what a variable of the package is declared with.
func (r *room) value(name string) ast.Expr {
	for _, f := range r.files {
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.VAR {
				continue
			}
			for _, s := range g.Specs {
				v := s.(*ast.ValueSpec)
				for i, id := range v.Names {
					if id.Name == name && i < len(v.Values) {
						return v.Values[i]
					}
				}
			}
		}
	}
	return nil
}

// ruleTables counts the tables that the check sees.
func (h *house) ruleTables() (n int) {
	for _, r := range h.rooms {
		for _, f := range r.files {
			ast.Inspect(f, func(x ast.Node) bool {
				if l, ok := x.(*ast.CompositeLit); ok && isRuleTable(l) && strings.HasPrefix(r.dir, "engine/") {
					n++
				}
				return true
			})
		}
	}
	return n
}
