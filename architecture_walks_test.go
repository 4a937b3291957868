package memwall_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/printer"
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

var update = flag.Bool("update", false, "write the generated parts of docs/architecture.md")

// walk is the way of a value through the house, as the functions that hand it on, in their order.
type walk struct {
	from, to string
	steps    []string // "dir Name" or "dir Type.Name", and what happens there
}

var walks = []walk{
	{"a flag (`--ctx 32k`)", "the line of the KV cache, on vLLM", []string{
		"internal/cli requestFlags: a flag for each field of the request",
		"internal/cli fieldValue.Set: its text becomes a number of the request",
		"internal/planner Fit: request → answer, the whole way",
		"internal/question Env.Prepare: model and machine found, defaults filled in, checks passed",
		"engine/vllm Engine.Sizer: what does not depend on the load: shards, groups of layers, pages",
		"internal/question Question.Ledgers: the load is sized, with formulas",
		"engine Job.Load: what one replica serves: --ctx is here",
		"engine/vllm sizer.Size: a ledger for each class of ranks",
		"engine/vllm sizer.rank: its items, in the order in which vLLM takes memory",
		"engine/vllm sizer.kvCache: the line",
		"engine/vllm groups.perRequest: pages of a sequence: bytes a token came from model.Cache",
		"internal/question Question.Device: the answer's device, with its items",
		"internal/render screen.item: the line on the screen",
	}},
	{"a GGUF header", "the ledger, on llama.cpp", []string{
		"source Files.Model: a reference → a model with its weights",
		"source disk.gguf: a file, or the split set that it belongs to",
		"format/gguf ReadHeader: metadata and the list of tensors, bounded",
		"source GGUF: what the header tells becomes a model",
		"model/family FromHeader: metadata → a Spec, by the family of its architecture",
		"model/family Spec.Model: a Spec → kinds of layers, operators, tensors",
		"model Model.Stored: each tensor with the bytes that the file has of it",
		"engine/llamacpp Engine.Sizer: layers placed on devices and the host",
		"engine/llamacpp sizer.Size: a ledger for each device",
		"engine/llamacpp sizer.rank: weights, caches, compute buffer, driver",
	}},
	{"goal flags (`--users 50 --ttft 2s`)", "the best plan", []string{
		"internal/load Load.Words: a flag for each word of a load and of its bounds",
		"internal/cli planFlags.aim: they become the request's workload and goal",
		"internal/planner/serve Plan: request → answer, the whole way",
		"internal/planner/serve readTask: the load, the bounds, what one replica is asked",
		"internal/planner/serve listServers: hardware × engine × layout × format, those that fit",
		"internal/planner/serve contender.estimate: a server's steady state, in less than a millisecond",
		"internal/planner/serve playServers: the promising ones become fleets",
		"internal/planner/serve contender.play: one simulation of the load, request by request",
		"internal/planner/serve playing.ranked: those that keep the bounds, with their bands, in order",
		"internal/planner/serve playing.answer: the best, why it is, the front, the misses",
	}},
	{"a run to train (`plan MODEL --train --on any`)", "the best plan", []string{
		"internal/planner/train Plan: request → answer, the whole way",
		"internal/planner/train readTask: what is wanted, the lists, what of the model bounds the groups",
		"internal/planner/train newSpace: machines, and what all plans share",
		"internal/planner/train tryPlans: each plan along the axes; those that fit are kept",
		"internal/training Trained: a plan → phases of a step, and its ranks",
		"internal/planner/train space.candidate: what fits is timed",
		"internal/planner/train kept.ranked: the best of all, of each kind, and the front, in order",
		"internal/planner/train found.answer: the best, why it is, the front, surprises, files",
	}},
	{"a measured row", "a printed band, of single streams", []string{
		"validation Streams: rows of tokens a second, with their sources",
		"validation/fit/stream load: rows that are described well enough → compiled models",
		"validation/fit/stream fit: coefficients, together, under priors",
		"validation/fit/stream leaveOut: each group of rows predicted by a fit without it",
		"validation/fit/stream bands: the errors of those predictions → spreads, written to speed/stream/fitted.tsv",
		"speed/stream Model.With: a plan's model with the table",
		"speed/stream Predictor.Predict: times and rates, each with low and high",
		"speed/stream Predictor.figure: the spread of what was not measured, around the middle",
		"internal/timing predictStream: figures → the answer's speed",
		"internal/render speedLines: 53 (35–65) on the screen",
	}},
}

// signature of a function of a room, by "Name" or "Type.Name"; "" where there is none.
func (h *house) signature(dir, name string) (out string) {
	r := h.rooms[dir]
	if r == nil {
		return ""
	}
	of, method, ok := strings.Cut(name, ".")
	if !ok {
		of, method = "", name
	}
	r.funcs(func(fn *ast.FuncDecl) {
		if fn.Name.Name != method || (fn.Recv != nil) != ok || ok && receiver(fn.Recv.List[0].Type) != of {
			return
		}
		var b strings.Builder
		if err := printer.Fprint(&b, h.files, &ast.FuncDecl{Recv: fn.Recv, Name: fn.Name, Type: fn.Type}); err == nil {
			out = strings.Join(strings.Fields(b.String()), " ")
		}
	})
	return out
}

// written is the walks as Markdown, and the steps that are not in the house.
func (h *house) written(walks []walk) (text string, wrong []string) {
	var b strings.Builder
	for _, w := range walks {
		fmt.Fprintf(&b, "From %s to %s:\n\n```go\n", w.from, w.to)
		room := ""
		for _, s := range w.steps {
			place, what, _ := strings.Cut(s, ": ")
			dir, name, _ := strings.Cut(place, " ")
			sig := h.signature(dir, name)
			if sig == "" {
				wrong = append(wrong, fmt.Sprintf("%s has no %s", dir, name))
			}
			if dir != room {
				room = dir
				fmt.Fprintf(&b, "// %s\n", dir)
			}
			fmt.Fprintf(&b, "%s // %s\n", sig, what)
		}
		b.WriteString("```\n\n")
	}
	return b.String(), wrong
}

// floors is the order of the rooms as a picture: each imports those above it alone.
func floors() string {
	var b strings.Builder
	b.WriteString("```text\n")
	for _, row := range houseOrder {
		b.WriteString("   " + strings.ReplaceAll(row, " ", " · ") + "\n")
	}
	b.WriteString("```\n\n")
	return b.String()
}

// TestWalks: docs/architecture.md shows the order of the rooms, and walks through functions that are there.
func TestWalks(t *testing.T) {
	h := readHouse(t, os.DirFS("."))
	text, wrong := h.written(walks)
	for _, w := range wrong {
		t.Error(w)
	}
	const file = "docs/architecture.md"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	for mark, want := range map[string]string{"walks": text, "floors": floors()} {
		begin, end := "<!-- "+mark+" -->\n\n", "<!-- end of "+mark+" -->"
		before, rest, ok := strings.Cut(page, begin)
		now, after, closed := strings.Cut(rest, end)
		if !ok || !closed {
			t.Fatalf("%s has no place for its %s", file, mark)
		}
		if page = before + begin + want + end + after; now != want && !*update {
			t.Errorf("the %s of %s are stale: go test . -run Walks -update", mark, file)
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestWalksCanFail: a step that is not in the house is found, a method of another type too.
func TestWalksCanFail(t *testing.T) {
	h := readHouse(t,
		fstest.MapFS{"model/m.go": {Data: []byte("package model\nfunc (t *T) Fit(n int) string { return \"\" }\ntype T struct{}")}})
	text, wrong := h.written([]walk{{"a", "b", []string{"model T.Fit: here", "model Fit: there", "model U.Fit: there", "plan Fit: there"}}})
	if len(wrong) != 3 || !strings.Contains(text, "func (t *T) Fit(n int) string // here") {
		t.Errorf("%q: %s", wrong, text)
	}
}
