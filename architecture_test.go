package memwall_test

import (
	"fmt"
	"go/ast"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

// houseOrder is the order of the rooms: a package imports packages of earlier rows only. Those of one row
// are neighbours and do not import each other. A row that ends in "/..." is for all packages below a folder
// that no other row names; these may import each other, as far as the compiler lets them.
var houseOrder = []string{
	"internal/stable",
	"unit safe spell fault lifetime search stat internal/packtext",
	"internal/datatest internal/heaptest",
	"scale speed/coef trend drafts",
	"dtype ledger plan",
	"naming model hardware quality workload figure format/pickle format/yaml format/toml format/shell format/internal/window format/internal/sparse",
	"model/family shard format",
	"model/catalog format/gguf format/safetensors format/arch format/dropin",
	"format/gguf/gguftest format/safetensors/safetensorstest model/catalog/catalogtest",
	"engine engine/argv engine/startup quant score train/config/keys",
	"engine/called",
	"engine/manifest engine/pycall engine/torch speed train diagnose quant/quanttest",
	"snapshot speed/stream speed/serving cost train/step train/config sim",
	"engine/llamacpp/ggml engine/startup/startuptest engine/enginetest",
	"engine/generic engine/llamacpp engine/plain engine/sglang engine/tensorrt engine/transformers engine/vllm",
	"api",
	"internal/question",
	"internal/timing",
	"internal/planner/change internal/planner/plannertest internal/launch internal/advice",
	"internal/training internal/simulate internal/deploy internal/runfile",
	"internal/planner",
	"internal/planner/serve internal/planner/train",
	"internal/compare",
	"internal/diagnose/cause",
	".",
	"live",
	"source/regular source/fetch",
	"source source/cache validation/packed calibrate learn",
	"source/remote",
	"validation/kernels",
	"validation validation/fit/internal/tables",
	"internal/aside internal/batch internal/card internal/check internal/clients internal/desk internal/docs internal/examples internal/load internal/loadtest internal/observe internal/topology",
	"internal/admit internal/bench internal/pack internal/planfile internal/quantize internal/record internal/run internal/schema internal/screen internal/simfile internal/tty",
	"internal/autoscale internal/detect internal/live internal/measure internal/rows internal/study internal/term",
	"internal/render",
	"internal/render/cards internal/render/tui",
	"internal/render/svg",
	"internal/browse internal/mcp internal/page internal/watch",
	"internal/serve internal/site internal/site/inbrowser",
	"internal/cli internal/trust",
	"farm/internal/place",
	"farm/internal/studyfile farm/internal/rowstore",
	"farm/internal/farm",
	"farm/internal/farmtest",
	"validation/fit validation/fit/... cmd/... farm/cmd/... release release/docsite tools/upstream",
}

// rowOf is the row of a package, and whether it stands there by its own name.
func rowOf(dir string) (row int, named bool) {
	for i, names := range houseOrder {
		if slices.Contains(strings.Fields(names), dir) {
			return i, true
		}
	}
	for i, names := range houseOrder {
		for _, n := range strings.Fields(names) {
			if below, ok := strings.CutSuffix(n, "..."); ok && strings.HasPrefix(dir, below) {
				return i, false
			}
		}
	}
	return -1, false
}

// checkOrder: every room stands in the table and imports rooms above it alone.
func checkOrder(h *house) (wrong []string) {
	for _, dir := range h.dirs() {
		row, named := rowOf(dir)
		if row < 0 {
			wrong = append(wrong, dir+" stands in no row of the house")
			continue
		}
		for p := range h.rooms[dir].imports() {
			to, ok := inModule(p)
			if !ok {
				continue
			}
			above, toNamed := rowOf(to)
			if above > row || above == row && (named || toNamed) {
				wrong = append(wrong, fmt.Sprintf("%s imports %s, which does not stand above it", dir, to))
			}
		}
	}
	return wrong
}

// rooms of the root below internal/: core like itself.
var rooms = []string{
	"internal/question", "internal/timing", "internal/training", "internal/simulate", "internal/launch", "internal/deploy", "internal/planner", "internal/compare", "internal/diagnose",
}

// core reports whether a package is a room of the root.
func core(dir string) bool {
	return slices.ContainsFunc(rooms, func(r string) bool { return dir == r || strings.HasPrefix(dir, r+"/") })
}

// adapters are the packages that may reach outside; all others are the core.
func adapter(dir string) bool {
	if core(dir) {
		return false
	}
	return dir == "source" || strings.HasPrefix(dir, "source/") || strings.HasPrefix(dir, "validation/fit") || strings.HasPrefix(dir, "internal/") || strings.HasPrefix(dir, "farm/") || command(dir)
}

// command tells the packages of programs, of whichever module.
func command(dir string) bool {
	return dir == "release" || strings.HasPrefix(dir, "release/") || strings.HasPrefix(dir, "tools/") || strings.HasPrefix(strings.TrimPrefix(dir, "farm/"), "cmd/")
}

// testSupport are packages that only tests import.
func testSupport(dir string) bool { return strings.HasSuffix(dir, "test") }

// outside are packages of the standard library through which a program reaches files, networks, clocks,
// chance, other programs, logs and memory.
var outside = []string{
	"C", "crypto/rand", "database/sql", "io/ioutil", "log", "log/slog", "math/rand", "math/rand/v2", "net", "net/http", "os", "os/exec", "os/signal", "os/user", "path/filepath",
	"plugin", "runtime", "runtime/debug", "syscall", "testing", "time", "unsafe",
}

// harmless are the names in such packages that reach nothing: a duration is a number, and a generator of random numbers
// a function of its seed. They are for rooms in which time passes that nobody waits for.
var harmless = map[string]string{
	"time":         "Duration Nanosecond Microsecond Millisecond Second Minute Hour",
	"math/rand/v2": "PCG NewPCG",
}

// takesHarmless: a room of simulated time uses nothing else of a package.
func (h *house) takesHarmless(dir, p string) bool {
	if !slices.Contains([]string{"workload", "sim", "scale", "internal/simulate", "internal/planner/serve", "validation", "learn"}, dir) || harmless[p] == "" {
		return false
	}
	name := map[string]string{"time": "time", "math/rand/v2": "rand"}[p]
	only := true
	for _, f := range h.rooms[dir].files {
		renamed := func(s *ast.ImportSpec) bool { return s.Name != nil && s.Path.Value == strconv.Quote(p) }
		only = only && !slices.ContainsFunc(f.Imports, renamed)
		ast.Inspect(f, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if id, ok := s.X.(*ast.Ident); ok && id.Name == name && !slices.Contains(strings.Fields(harmless[p]), s.Sel.Name) {
				only = false
			}
			return true
		})
	}
	return only
}

// checkPure: the core imports nothing that reaches outside, nothing for its side effects and no other module.
func checkPure(h *house) (wrong []string) {
	for _, dir := range h.dirs() {
		if adapter(dir) || testSupport(dir) {
			continue
		}
		for p, how := range h.rooms[dir].imports() {
			_, ours := inModule(p)
			first, _, _ := strings.Cut(p, "/")
			switch {
			case slices.Contains(outside, p) && !h.takesHarmless(dir, p):
				wrong = append(wrong, dir+" imports "+p)
			case !ours && strings.Contains(first, ".") && !mayImport(dir, p):
				wrong = append(wrong, dir+" imports another module: "+p)
			case how == "_" && p != "embed":
				wrong = append(wrong, dir+" imports "+p+" for its side effects")
			}
		}
	}
	return wrong
}

// checkTestSupport: packages for tests are imported by tests and by each other only.
func checkTestSupport(h *house) (wrong []string) {
	for _, dir := range h.dirs() {
		for p := range h.rooms[dir].imports() {
			if to, ok := inModule(p); ok && testSupport(to) && !testSupport(dir) {
				wrong = append(wrong, dir+" imports "+to+", which is for tests")
			}
		}
	}
	return wrong
}

// mayImport: the codec of a format may stand on another module's reader of it, fits on linear algebra, percentiles of
// millions on histograms, a face on what speaks its protocol, a live terminal and a recording on what draws and keeps them.
func mayImport(dir, p string) bool {
	return dir == "sim" && p == "github.com/HdrHistogram/hdrhistogram-go" || dir == "format/yaml" && strings.HasPrefix(p, "github.com/goccy/go-yaml") || dir == "speed/coef" && p == "gonum.org/v1/gonum/mat" ||
		dir == "validation/fit/steps" && p == "gonum.org/v1/gonum/optimize" || dir == "internal/screen" && p == "charm.land/bubbletea/v2" || dir == "internal/watch" && p == "golang.org/x/sys/windows" ||
		dir == "source/fetch" && strings.HasPrefix(p, "golang.org/x/sys/") ||
		dir == "farm/internal/farm" && strings.HasPrefix(p, "github.com/nats-io/") || dir == "farm/internal/place" && slices.Contains([]string{"modernc.org/sqlite", "github.com/jackc/pgx/v5/stdlib"}, p) ||
		dir == "farm/internal/studyfile" && p == "github.com/nats-io/nuid" ||
		dir == "internal/serve" && strings.HasPrefix(p, "github.com/danielgtaylor/huma/v2") || dir == "internal/mcp" && strings.HasPrefix(p, "github.com/modelcontextprotocol/go-sdk")
}

// checkCommands: other modules are for the command line and for such packages.
func checkCommands(h *house) (wrong []string) {
	for _, dir := range h.dirs() {
		for p := range h.rooms[dir].imports() {
			first, _, _ := strings.Cut(p, "/")
			if _, ours := inModule(p); !ours && strings.Contains(first, ".") && dir != "internal/cli" && !command(dir) && !mayImport(dir, p) {
				wrong = append(wrong, dir+" imports another module: "+p)
			}
		}
	}
	return wrong
}

// alone are modules that only one program may carry.
var alone = map[string]string{"github.com/nats-io/": "farm/cmd/memwall-farm", "github.com/jackc/pgx/": "farm/cmd/memwall-farm"}

// checkAlone: what is for studies alone reaches no other program, by whatever packages.
func checkAlone(h *house) (wrong []string) {
	for _, dir := range h.dirs() {
		if !command(dir) {
			continue
		}
		seen := map[string]bool{}
		for todo := []string{dir}; len(todo) > 0; todo = todo[1:] {
			if seen[todo[0]] || h.rooms[todo[0]] == nil {
				continue
			}
			seen[todo[0]] = true
			for p := range h.rooms[todo[0]].imports() {
				if to, ours := inModule(p); ours {
					todo = append(todo, to)
				}
				for module, by := range alone {
					if strings.HasPrefix(p, module) && by != dir {
						wrong = append(wrong, fmt.Sprintf("%s carries %s, by way of %s", dir, p, todo[0]))
					}
				}
			}
		}
	}
	return wrong
}

// checkQuiet: no package has an init function, and the core starts no goroutine.
func checkQuiet(h *house) (wrong []string) {
	for _, dir := range h.dirs() {
		h.rooms[dir].funcs(func(fn *ast.FuncDecl) {
			if fn.Name.Name == "init" && fn.Recv == nil {
				wrong = append(wrong, h.at(fn)+": an init function")
			}
			ast.Inspect(fn, func(n ast.Node) bool {
				if g, ok := n.(*ast.GoStmt); ok && !adapter(dir) {
					wrong = append(wrong, h.at(g)+": the core starts a goroutine")
				}
				return true
			})
		})
	}
	return wrong
}

// checkComments: every package says what it answers.
func checkComments(h *house) (wrong []string) {
	for _, dir := range h.dirs() {
		said := slices.ContainsFunc(h.rooms[dir].files, func(f *ast.File) bool { return f.Doc != nil && len(strings.Fields(f.Doc.Text())) > 4 })
		if !said {
			wrong = append(wrong, dir+" has no package comment")
		}
	}
	return wrong
}

// checkSizes: files stay readable in one sitting.
func checkSizes(h *house) (wrong []string) {
	const most = 700
	for _, dir := range h.dirs() {
		for name, n := range h.rooms[dir].lines {
			if n > most {
				wrong = append(wrong, fmt.Sprintf("%s has %d lines, more than %d", name, n, most))
			}
		}
	}
	return wrong
}

// checkNames: a package is named after what it holds.
func checkNames(h *house) (wrong []string) {
	for _, dir := range h.dirs() {
		switch name := h.rooms[dir].files[0].Name.Name; name {
		case "base", "common", "helper", "helpers", "lib", "misc", "shared", "types", "util", "utils":
			wrong = append(wrong, dir+" is called "+name)
		}
	}
	return append(wrong, wordless(h)...)
}

// saysNothing are words that, alone, neither say what a function returns nor what it does; they defeat a search too.
var saysNothing = []string{"anyway", "beside", "come", "comes", "held", "kin", "of", "roomy", "surely", "there", "these", "things",
	"those", "told", "whole"}

// wordless are the functions whose name is such a word. Of is a conversion where its package says to what: trend.Of.
func wordless(h *house) (wrong []string) {
	for _, dir := range h.dirs() {
		h.rooms[dir].funcs(func(fn *ast.FuncDecl) {
			name := fn.Name.Name
			if slices.Contains(saysNothing, strings.ToLower(name)) && name != "Of" {
				wrong = append(wrong, h.at(fn)+": a function called "+name)
			}
		})
	}
	return wrong
}

// houseRules are the checks, each with a small house that breaks it and what it must say of that house.
var houseRules = []struct {
	name  string
	check func(*house) []string
	bad   map[string]string
	says  string
}{
	{"order", checkOrder, map[string]string{"unit/u.go": `package unit; import "github.com/memwall/memwall/ledger"`, "ledger/l.go": "package ledger"}, "unit imports ledger"},
	{"neighbours", checkOrder, map[string]string{"engine/vllm/v.go": `package vllm; import "github.com/memwall/memwall/engine/sglang"`, "engine/sglang/s.go": "package sglang"}, "engine/vllm imports engine/sglang"},
	{"a room of no row", checkOrder, map[string]string{"attic/a.go": "package attic"}, "attic stands in no row"},
	{"commands last", checkOrder, map[string]string{"internal/cli/c.go": `package cli; import "github.com/memwall/memwall/cmd/memwall"`, "cmd/memwall/m.go": "package main"}, "internal/cli imports cmd/memwall"},
	{"reaching outside", checkPure, map[string]string{"plan/p.go": `package plan; import "os"`}, "plan imports os"},
	{"a clock", checkPure, map[string]string{"a.go": `package memwall; import "time"; var now = time.Now`}, ". imports time"},
	{"a clock beside durations", checkPure, map[string]string{"workload/w.go": "package workload\nimport \"time\"\nvar d time.Duration\nvar now = time.Now"}, "workload imports time"},
	{"chance without a seed", checkPure, map[string]string{"sim/s.go": "package sim\nimport \"math/rand/v2\"\nfunc F() int { return rand.Int() }"}, "sim imports math/rand/v2"},
	{"a clock under another name", checkPure, map[string]string{"sim/s.go": "package sim\nimport t \"time\"\nvar now = t.Now"}, "sim imports time"},
	{"side effects", checkPure, map[string]string{"plan/p.go": `package plan; import _ "image/png"`}, "plan imports image/png for its side effects"},
	{"a module in the core", checkPure, map[string]string{"a.go": `package memwall; import "github.com/spf13/cobra"`}, "another module: github.com/spf13/cobra"},
	{"a module of a codec", checkPure, map[string]string{"format/yaml/y.go": `package yaml; import "github.com/goccy/go-yaml"; import "github.com/spf13/cobra"`}, "another module: github.com/spf13/cobra"},
	{"a codec's module elsewhere", checkCommands, map[string]string{"format/gguf/g.go": `package gguf; import "github.com/goccy/go-yaml"`}, "format/gguf imports another module"},
	{"linear algebra elsewhere", checkPure, map[string]string{"plan/p.go": `package plan; import "gonum.org/v1/gonum/mat"`}, "plan imports another module"},
	{"a module in a face", checkCommands, map[string]string{"internal/render/r.go": `package render; import "github.com/spf13/cobra"`}, "internal/render imports another module"},
	{"a protocol in another face", checkCommands, map[string]string{"internal/serve/s.go": `package serve; import "github.com/modelcontextprotocol/go-sdk/mcp"`}, "internal/serve imports another module"},
	{"a server in the small program", checkAlone, map[string]string{"cmd/memwall/m.go": `package main; import "github.com/memwall/memwall/farm/internal/farm"`, "farm/internal/farm/f.go": `package farm; import "github.com/nats-io/nats.go"`}, "cmd/memwall carries github.com/nats-io/nats.go, by way of farm/internal/farm"},
	{"test support", checkTestSupport, map[string]string{"source/s.go": `package source; import "github.com/memwall/memwall/format/gguf/gguftest"`}, "source imports format/gguf/gguftest"},
	{"init", checkQuiet, map[string]string{"internal/cli/c.go": "package cli; func init() {}"}, "internal/cli/c.go:1: an init function"},
	{"goroutines", checkQuiet, map[string]string{"model/m.go": "package model\nfunc F() { go F() }"}, "model/m.go:2: the core starts a goroutine"},
	{"comments", checkComments, map[string]string{"model/m.go": "// Package model.\npackage model"}, "model has no package comment"},
	{"sizes", checkSizes, map[string]string{"model/m.go": "package model" + strings.Repeat("\n", 701)}, "model/m.go has 701 lines"},
	{"an adapter of no row", checkOrder, map[string]string{"internal/attic/a.go": "package attic"}, "internal/attic stands in no row"},
	{"adapters", checkOrder, map[string]string{"internal/card/c.go": `package card; import "github.com/memwall/memwall/internal/cli"`, "internal/cli/c.go": "package cli"}, "internal/card imports internal/cli"},
	{"a room below the root", checkOrder, map[string]string{"internal/timing/t.go": `package timing; import "github.com/memwall/memwall"`, "a.go": "package memwall"}, "internal/timing imports ., which"},
	{"a room that reaches outside", checkPure, map[string]string{"internal/planner/serve/s.go": `package serve; import "os"`}, "internal/planner/serve imports os"},
	{"many methods", checkTypes, tall(mostMethods+1, 1), "type T has 41 methods"},
	{"a type everywhere", checkTypes, tall(mostTypeFiles+1, mostTypeFiles+1), "type T stands in 9 files"},
	{"long packages", checkPackages, wide(20, 301, "m"), "model has 6020 lines"},
	{"packages of many files", checkPackages, wide(mostPackageFiles+1, 1, "m"), "model has 61 files"},
	{"packages by prefix", checkPrefixes, wide(mostOfPrefix+1, 1, "op_"), "model has 4 files op_*.go"},
	{"columns", checkColumns, map[string]string{
		"unit/u.go": "package unit\n\nconst raw = `" + strings.Repeat("x", 140) + "`\nconst said = \"" + strings.Repeat("x", 140) + "\"",
	}, "unit has 1 lines of more than 140 columns"},
	{"names", checkNames, map[string]string{"util/u.go": "package util"}, "util is called util"},
	{"words", checkNames, map[string]string{"model/m.go": "package model\nfunc whole() {}"}, "model/m.go:2: a function called whole"},
	{"state", checkState, map[string]string{"model/m.go": "package model\nvar seen = map[string]bool{}\nfunc F() { seen[\"a\"] = true }"}, "model/m.go:3: writes seen"},
	{"state by append", checkState, map[string]string{"model/m.go": "package model\nvar all []int\nfunc F() { all = append(all, 1) }"}, "model/m.go:3: writes all"},
	{"state by a pointer", checkState, map[string]string{"model/m.go": "package model\nvar last *struct{n int}\nfunc F() { last.n++ }"}, "model/m.go:3: writes last"},
	{"state by delete", checkState, map[string]string{"model/m.go": "package model\nvar m map[int]int\nfunc F() { delete(m, 1) }"}, "model/m.go:3: writes m"},
	{"state of others", checkState, map[string]string{"unit/u.go": "package unit\nvar N int", "dtype/d.go": "package dtype\nimport \"github.com/memwall/memwall/unit\"\nfunc F() { unit.N = 1 }"}, "dtype/d.go:3: writes N"},
	{"formulas of a face", checkFaces, map[string]string{"internal/cli/c.go": `package cli; import "github.com/memwall/memwall/engine/vllm"`, "engine/vllm/v.go": "package vllm"}, "internal/cli imports engine/vllm"},
	{"arithmetic of a face", checkFaces, face("func F(b unit.Bytes) unit.Bytes { return b * 2 }"), "internal/render/r.go:3: arithmetic on bytes"},
	{"arithmetic on what comes from bytes", checkFaces, face("func F(b unit.Bytes) float64 { x := float64(b); y := x; return 1 - y }"), "internal/render/r.go:3: arithmetic on bytes"},
	{"sums of a face", checkFaces, face("func F(l []unit.Bytes) (n unit.Bytes) { for _, b := range l { n += b }; return n }"), "internal/render/r.go:3: arithmetic on bytes"},
	{"no change of unit", checkFaces, face("func F(b unit.Bytes) float64 { return float64(b) / 1024 + float64(b) / 1025 }"), "internal/render/r.go:3: arithmetic on bytes"},
	{"rules out of order", checkRules, rules("{engine.V(0, 9, 0), 1, \"vllm/config.py\"}, {engine.V(0, 8, 2), 2, \"vllm/config.py\"}"), "engine/vllm/v.go:4: a rule before the one above it"},
	{"a rule twice", checkRules, rules("{From: old, Value: 1, Source: \"vllm/config.py\"}, {From: engine.V(0, 8, 0), Value: 2, Source: \"vllm/config.py\"}"), "engine/vllm/v.go:4: a rule before the one above it"},
	{"a rule from nowhere", checkRules, rules("{engine.V(0, 9, 0), 1, \"\"}"), "engine/vllm/v.go:4: a rule from nowhere"},
	{"a rule at any time", checkRules, rules("{engine.Latest(), 1, \"vllm/config.py\"}"), "engine/vllm/v.go:4: a version that is not written down"},
	{"arithmetic on GiB", checkFaces, face("func F(b unit.Bytes) float64 { return b.GiB() / 2 }"), "internal/render/r.go:3: arithmetic on bytes"},
}

// rules is a house with one table of rules.
func rules(rows string) map[string]string {
	return map[string]string{"engine/vllm/v.go": "package vllm\nimport \"github.com/memwall/memwall/engine\"\nvar old = engine.V(0, 8, 0)\nvar rules = []engine.Since[int]{" + rows + "}"}
}

// face is a house with one function in internal/render.
func face(function string) map[string]string {
	return map[string]string{
		"unit/u.go":            "package unit\ntype Bytes int64\nfunc (b Bytes) GiB() float64 { return float64(b) / 1073741824 }",
		"internal/render/r.go": "package render\nimport \"github.com/memwall/memwall/unit\"\n" + function,
	}
}

// TestArchitecture: the rules of the house hold for every package.
func TestArchitecture(t *testing.T) {
	h := readHouse(t, os.DirFS("."))
	if len(h.rooms) < 30 {
		t.Fatalf("only %d packages are seen", len(h.rooms))
	}
	if n := h.ruleTables(); n < 20 {
		t.Errorf("only %d tables of rules are seen", n)
	}
	for _, place := range measured {
		file, _, _ := strings.Cut(place, " ")
		if _, err := os.Stat(file); err != nil {
			t.Errorf("%s is allowed to measure and is not there", file)
		}
	}
	for _, check := range []func(*house) []string{checkOrder, checkPure, checkTestSupport, checkCommands, checkAlone, checkQuiet, checkComments, checkSizes, checkTypes, checkPackages, checkPrefixes, checkColumns, unneeded, checkNames, checkState, checkFaces, checkRules} {
		for _, w := range check(h) {
			t.Error(w)
		}
	}
}

// TestRulesCanFail: each rule finds what breaks it.
func TestRulesCanFail(t *testing.T) {
	for _, r := range houseRules {
		files := fstest.MapFS{}
		for name, text := range r.bad {
			files[name] = &fstest.MapFile{Data: []byte(text)}
		}
		wrong := r.check(readHouse(t, files))
		if len(wrong) != 1 || !strings.Contains(wrong[0], r.says) {
			t.Errorf("%s: %q, want one that says %q", r.name, wrong, r.says)
		}
	}
}
