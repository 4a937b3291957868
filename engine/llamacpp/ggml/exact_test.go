package ggml

import (
	"bytes"
	_ "embed"
	"encoding/csv"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/memwall/memwall/internal/datatest"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/unit"
)

// settings are those of a run of llama.cpp.
type settings struct {
	ctx, slots    int64
	unified       bool
	ubatch, batch int64
	outputs       int64 // 0: a whole batch may have logits
	flash         bool
	typeK, typeV  string
	swaFull       bool
}

func (s settings) shape() Shape {
	return Shape{Flash: s.flash, QuantisedK: s.typeK != "f16", QuantisedV: s.typeV != "f16", Streams: s.slots > 1 && !s.unified}
}

// sizes follows src/llama-context.cpp and src/llama-kv-cache-iswa.cpp (v0.5.0): contexts in steps of 256,
// micro-batches divisible by the number of sequences.
func (s settings) sizes(m *model.Model) Sizes {
	const step = 256
	cells := unit.PadUp(s.ctx, step)
	if !s.unified {
		cells = unit.PadUp(cells/s.slots, step)
	}
	batch := min(s.batch, s.ctx)
	ubatch := min(s.ubatch, batch)
	out := Sizes{Tokens: unit.PadUp(ubatch, s.slots), Outputs: batch, Cells: cells, WindowCells: cells, Seqs: s.slots, Streams: s.slots}
	if s.unified {
		out.Streams = 1
	}
	if s.outputs > 0 {
		out.Outputs = s.outputs
	}
	out.Outputs = min(out.Outputs, ubatch)
	if !m.Remembers() {
		out.Cells, out.WindowCells = out.Tokens, out.Tokens
	}
	for _, w := range m.Windows() {
		if s.unified {
			w *= s.slots
		}
		if !s.swaFull {
			out.WindowCells = min(cells, unit.PadUp(min(cells, w+ubatch), step))
		}
	}
	return out
}

// row is a compute buffer that llama.cpp printed, and of how many nodes its graph had.
type row struct {
	model    string
	settings settings
	bytes    unit.Bytes
	nodes    int64
}

// columns of testdata/compute.tsv, by their names in the shared table.
var columns = []string{"model", "n_ctx", "n_seq", "kv_unified", "n_ubatch", "n_batch", "n_outputs_max", "flash_attn", "type_k", "type_v",
	"swa_full", "compute_bytes", "n_graph_nodes"}

func parseRow(r []string) (out row, err error) {
	num := func(i int) (x int64) {
		x, e := strconv.ParseInt(r[i], 10, 64)
		if e != nil && err == nil {
			err = fmt.Errorf("%s of %v: %w", columns[i], r, e)
		}
		return x
	}
	return row{r[0], settings{ctx: num(1), slots: num(2), unified: num(3) == 1, ubatch: num(4), batch: num(5), outputs: num(6),
		flash: num(7) == 1,
		typeK: r[8], typeV: r[9], swaFull: num(10) == 1}, unit.Bytes(num(11)), num(12)}, err
}

//go:embed testdata/compute.tsv
var table []byte

func carriedRows(t *testing.T) (out []row) {
	r := csv.NewReader(bytes.NewReader(table))
	r.Comma, r.Comment = '\t', '#'
	lines, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lines {
		x, err := parseRow(l)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, x)
	}
	return out
}

// sharedRows are all that were printed, where there are shared data.
func sharedRows(t *testing.T) (out []row) {
	for _, l := range datatest.Shared(t, "llamacpp_exact.csv") {
		var r []string
		for _, c := range columns {
			r = append(r, l[c])
		}
		x, err := parseRow(r)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, x)
	}
	return out
}

// TestExactRows: every compute buffer that llama.cpp printed, to the byte: three rows of each of 48 models
// (33 settings), and all rows where there is a folder of shared data. A model and shape are compiled once:
// every context, batch and number of slots replays the same program, and gives what a replay of every
// single layer gives.
func TestExactRows(t *testing.T) {
	rows := carriedRows(t)
	if datatest.Path("") != "" {
		rows = append(rows, sharedRows(t)...)
	}
	type key struct {
		model string
		shape Shape
	}
	models, compiled, nodes := map[string]*model.Model{}, map[key]*Compiled{}, map[key]int{}
	exact, all := map[string]int{}, map[string]int{}
	var p Planner
	for _, r := range rows {
		k := key{r.model, r.settings.shape()}
		if models[r.model] == nil {
			models[r.model] = converted(t, r.model)
		}
		m := models[r.model]
		if compiled[k] == nil {
			c, err := Compile(m, k.shape, nil)
			if err != nil {
				t.Fatal(err)
			}
			g, err := Lower(m, k.shape, nil)
			if err != nil {
				t.Fatal(err)
			}
			compiled[k], nodes[k] = c, len(g.Nodes)
		}
		if int64(nodes[k]) != r.nodes {
			t.Errorf("%s %+v: %d nodes, printed %d", r.model, r.settings, nodes[k], r.nodes)
		}
		got := p.Peak(&compiled[k].Spots[0], r.settings.sizes(m))
		all[m.Family]++
		if got == r.bytes {
			exact[m.Family]++
		} else {
			t.Errorf("%s %+v: %d, printed %d (%+.3f %%)", r.model, r.settings, got, r.bytes, 100*float64(got-r.bytes)/float64(r.bytes))
		}
		if full := unit.Bytes(p.greedy.PeakInFull(&compiled[k].Spots[0].Program, p.table)); full != got {
			t.Errorf("%s %+v: %d with repeated layers recalled, %d in full", r.model, r.settings, got, full)
		}
	}
	var lines []string
	for f := range all {
		lines = append(lines, fmt.Sprintf("%s %d/%d", f, exact[f], all[f]))
		if !Checked(f) {
			t.Errorf("%s is not listed as checked", f)
		}
	}
	sort.Strings(lines)
	t.Log("rows exact: " + strings.Join(lines, ", "))
	for f := range checked {
		if all[f] == 0 {
			t.Errorf("%s is listed as checked, but has no row", f)
		}
	}
}
