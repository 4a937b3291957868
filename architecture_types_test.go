package memwall_test

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"math"
	"path"
	"slices"
	"strings"
)

// checkState: no function of the core writes to a variable of a package, its own or another's. Writing
// through a pointer that was taken before is not seen.
func checkState(h *house) (wrong []string) {
	for _, dir := range h.dirs() {
		if adapter(dir) {
			continue
		}
		r := h.rooms[dir]
		r.funcs(func(fn *ast.FuncDecl) {
			for _, target := range written(fn.Body) {
				if v := r.global(target); v != nil {
					wrong = append(wrong, h.at(target)+": writes "+v.Name()+", a variable of package "+v.Pkg().Name())
				}
			}
		})
	}
	return wrong
}

// written are the expressions that a body assigns to, counts, deletes from or copies into.
func written(body ast.Node) (targets []ast.Expr) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				targets = append(targets, n.Lhs...)
			}
		case *ast.IncDecStmt:
			targets = append(targets, n.X)
		case *ast.RangeStmt:
			if n.Tok == token.ASSIGN {
				targets = append(targets, n.Key, n.Value)
			}
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.Ident); ok && slices.Contains([]string{"delete", "clear", "copy"}, f.Name) && len(n.Args) > 0 {
				targets = append(targets, n.Args[0])
			}
		}
		return true
	})
	return targets
}

// global is the package's variable at the root of an expression such as v, v[i], v.f, *v or other.V; nil when
// there is none.
func (r *room) global(e ast.Expr) *types.Var {
	for e != nil {
		switch x := e.(type) {
		case *ast.Ident:
			return packageVar(r.info.Uses[x])
		case *ast.SelectorExpr:
			if v := packageVar(r.info.Uses[x.Sel]); v != nil {
				return v
			}
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		default:
			return nil
		}
	}
	return nil
}

func packageVar(o types.Object) *types.Var {
	v, ok := o.(*types.Var)
	if !ok || v.IsField() || v.Pkg() == nil || v.Parent() != v.Pkg().Scope() {
		return nil
	}
	return v
}

// measured are the places of the faces that turn bytes into cells and pixels, or into units and digits.
var measured = []string{
	"internal/term/bar.go", "internal/term/number.go", "internal/render/svg/ledger.go", "internal/render/fit.go scaled",
}

// checkFaces: what shows answers computes none of their numbers. It sees +, -, *, / and % on bytes, and on
// numbers that were bytes a few steps before in the same function; a division by KiB or MB changes the unit
// and not the number.
func checkFaces(h *house) (wrong []string) {
	for _, dir := range []string{
		"internal/card", "internal/cli", "internal/mcp", "internal/page", "internal/render", "internal/render/cards", "internal/render/svg",
		"internal/render/tui", "internal/serve", "internal/term",
	} {
		r := h.rooms[dir]
		if r == nil {
			continue
		}
		wrong = append(wrong, noFormulas(r)...)
		r.funcs(func(fn *ast.FuncDecl) {
			file := h.files.Position(fn.Pos()).Filename
			if slices.Contains(measured, file) || slices.Contains(measured, file+" "+fn.Name.Name) {
				return
			}
			s := sizes{room: r, from: map[types.Object]bool{}}
			s.follow(fn.Body)
			for _, n := range s.arithmetic(fn.Body) {
				wrong = append(wrong, h.at(n)+": arithmetic on bytes")
			}
		})
	}
	return wrong
}

// noFormulas: what draws and what reads commands cannot size anything, for it does not know the packages that
// do.
func noFormulas(r *room) (wrong []string) {
	if r.dir == "internal/card" {
		return nil // gathers what the lists show
	}
	for p := range r.imports() {
		to, _ := inModule(p)
		first, _, _ := strings.Cut(to, "/")
		if to == "model" || to == "model/family" || first == "engine" || first == "shard" || first == "lifetime" {
			wrong = append(wrong, r.dir+" imports "+to)
		}
	}
	return wrong
}

// sizes follows bytes through one function.
type sizes struct {
	*room
	from map[types.Object]bool // variables whose value was made from bytes
}

// follow marks variables that are given something made from bytes, until no more are found.
func (s *sizes) follow(body ast.Node) {
	for more := true; more; {
		more = false
		ast.Inspect(body, func(n ast.Node) bool {
			a, ok := n.(*ast.AssignStmt)
			if !ok || len(a.Lhs) != len(a.Rhs) {
				return true
			}
			for i, l := range a.Lhs {
				id, ok := l.(*ast.Ident)
				if !ok || !s.made(a.Rhs[i]) {
					continue
				}
				o := s.info.Defs[id]
				if o == nil {
					o = s.info.Uses[id]
				}
				if o != nil && !s.from[o] {
					s.from[o], more = true, true
				}
			}
			return true
		})
	}
}

// made reports whether an expression is a number made from bytes.
func (s *sizes) made(e ast.Expr) bool {
	if s.bytes(e) {
		return true
	}
	switch x := e.(type) {
	case *ast.Ident:
		return s.from[s.info.Uses[x]]
	case *ast.ParenExpr:
		return s.made(x.X)
	case *ast.UnaryExpr:
		return s.made(x.X)
	case *ast.BinaryExpr:
		return counts(x.Op) && (s.made(x.X) || s.made(x.Y))
	case *ast.CallExpr:
		return s.call(x)
	}
	return false
}

// call: conversions, min and max, functions of math and numeric methods pass bytes on.
func (s *sizes) call(c *ast.CallExpr) bool {
	through := s.info.Types[c.Fun].IsType() || s.info.Types[c.Fun].IsBuiltin()
	if f, ok := c.Fun.(*ast.SelectorExpr); ok {
		if id, ok := f.X.(*ast.Ident); ok && id.Name == "math" {
			through = true
		}
		if number(s.info.Types[c].Type) && s.made(f.X) {
			return true
		}
	}
	return through && slices.ContainsFunc(c.Args, s.made)
}

// bytes reports whether an expression has the type unit.Bytes; constants are no measure of anything.
func (s *sizes) bytes(e ast.Expr) bool {
	tv, ok := s.info.Types[e]
	if !ok || tv.Value != nil || tv.Type == nil {
		return false
	}
	n, ok := tv.Type.(*types.Named)
	return ok && n.Obj().Name() == "Bytes" && n.Obj().Pkg() != nil && path.Base(n.Obj().Pkg().Path()) == "unit"
}

func number(t types.Type) bool {
	if t == nil {
		return false
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsNumeric != 0
}

// arithmetic lists the operations of a body on what is made from bytes.
func (s *sizes) arithmetic(body ast.Node) (out []ast.Node) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if counts(n.Op) && !s.conversion(n) && (s.made(n.X) || s.made(n.Y)) {
				out = append(out, n)
				return false
			}
		case *ast.AssignStmt:
			if n.Tok != token.ASSIGN && n.Tok != token.DEFINE && (s.made(n.Lhs[0]) || s.made(n.Rhs[0])) {
				out = append(out, n)
				return false
			}
		}
		return true
	})
	return out
}

// conversion reports whether an expression divides by a power of 1,000 or 1,024.
func (s *sizes) conversion(e *ast.BinaryExpr) bool {
	v := s.info.Types[e.Y].Value
	if e.Op != token.QUO || v == nil {
		return false
	}
	by, _ := constant.Float64Val(v)
	for _, step := range []float64{1000, 1024} {
		if p := math.Pow(step, math.Round(math.Log(by)/math.Log(step))); p == by && by > 1 {
			return true
		}
	}
	return false
}

func counts(op token.Token) bool {
	return op == token.ADD || op == token.SUB || op == token.MUL || op == token.QUO || op == token.REM
}
