package ggml

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/memwall/memwall/internal/datatest"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/model/catalog/catalogtest"
)

// names of operations as llama.cpp prints them.
var names = map[string]OpCode{
	"V": View, "RESHAPE": View, "VIEW": View, "PERMUTE": View, "TRANSPOSE": View, "GET_ROWS": GetRows, "MUL_MAT": MulMat,
	"MUL_MAT_ID": MulMatID, "CONT": Cont, "FLASH_ATTN_EXT": Flash,
	"GLU": Glu, "CONCAT": Concat, "ARGSORT": Argsort, "SUM_ROWS": SumRows, "MEAN": Mean, "SSM_CONV": SSMConv, "SSM_SCAN": SSMScan,
	"GATED_DELTA_NET": GatedDelta, "CPY": Cpy, "SET_ROWS": SetRows,
	"PAD": Pad, "REPEAT": Repeat, "NORM": Norm, "ADD": Add, "ADD_ID": AddID, "SUB": Sub, "MUL": Mul, "DIV": Div, "SCALE": Scale,
	"CLAMP": Clamp, "UNARY": Unary, "ROPE": Rope,
	"RMS_NORM": RMSNorm, "SOFT_MAX": SoftMax, "FILL": Fill, "SQR": Sqr, "SQRT": Sqrt,
}

// nameOf an operation, one of them for views.
func nameOf(c OpCode) string {
	if c == View {
		return "VIEW"
	}
	for name, x := range names {
		if x == c {
			return name
		}
	}
	return "NONE"
}

// printedSettings are the four for which graphs were printed.
var printedSettings = map[string]settings{
	"fa1_pp":    {ctx: 32768, slots: 1, ubatch: 512, batch: 2048, flash: true, typeK: "f16", typeV: "f16"},
	"fa0_srv4k": {ctx: 4096, slots: 1, ubatch: 512, batch: 2048, outputs: 1, typeK: "f16", typeV: "f16"},
	"fa1_s4":    {ctx: 32768, slots: 4, ubatch: 512, batch: 2048, outputs: 4, flash: true, typeK: "f16", typeV: "f16"},
	"fa1_q8":    {ctx: 32768, slots: 1, ubatch: 512, batch: 2048, outputs: 1, flash: true, typeK: "q8_0", typeV: "q8_0"},
}

// printed is a graph as llama.cpp printed it.
type printed struct {
	config string
	bytes  int64
	nodes  []printedNode
	byID   map[string]int // position of a node
}

type printedNode struct {
	id, op, name, view string
	bytes              int64
	output             bool
	src                []string
}

func readDump(t *testing.T, path string) []printed {
	t.Helper()
	var out []printed
	for line := range strings.Lines(string(datatest.Unpacked(t, path))) {
		p := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		switch p[0] {
		case "G":
			b, _ := strconv.ParseInt(p[2], 10, 64)
			out = append(out, printed{config: p[1], bytes: b, byID: map[string]int{}})
		case "N":
			g := &out[len(out)-1]
			n := printedNode{id: p[1], op: p[2], name: p[3], view: p[10]}
			n.bytes, _ = strconv.ParseInt(p[7], 10, 64)
			flags, _ := strconv.Atoi(p[8])
			n.output = flags&2 != 0
			if len(p) > 11 {
				n.src = strings.Fields(p[11])
			}
			g.byID[n.id] = len(g.nodes)
			g.nodes = append(g.nodes, n)
		}
	}
	return out
}

func converted(t testing.TB, id string) *model.Model {
	t.Helper()
	s := catalogtest.Spec(t, id)
	if id == "ling-lite" {
		s.Arch = "BailingMoeV2ForCausalLM" // what was printed is of a file of that version, with queries, keys and values in one
	}
	return s.Converted().Model(id)
}

// TestGraphsAtTheEnds: the first layers and the last of one graph of each architecture, operation by
// operation.
func TestGraphsAtTheEnds(t *testing.T) {
	data, err := os.ReadFile("testdata/graphs.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		p := strings.Split(strings.TrimSpace(line), "\t")
		first, last := strings.Fields(p[2]), strings.Fields(p[3])
		g, err := Lower(converted(t, p[0]), printedSettings["fa1_s4"].shape(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if strconv.Itoa(len(g.Nodes)) != p[1] {
			t.Errorf("%s: %d nodes, printed %s", p[0], len(g.Nodes), p[1])
			continue
		}
		compareNames(t, p[0], g, 0, first)
		compareNames(t, p[0], g, len(g.Nodes)-len(last), last)
	}
}

func compareNames(t *testing.T, id string, g *Graph, from int, want []string) {
	for i, w := range want {
		if got := g.node(g.Nodes[from+i]).op; got != names[w] {
			t.Errorf("%s node %d is %s, printed %s", id, from+i, nameOf(got), w)
			return
		}
	}
}

// TestGraphs compares every printed graph, where there is a folder of them: operations, bytes, outputs,
// every source and root of a view, and the peak of the replay. MEMWALL_GRAPH picks one model.
func TestGraphs(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(os.Getenv("MEMWALL_SHARED"), "data/llamacpp_graphs/*.tsv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	equal, total := 0, 0
	for _, f := range files {
		id := strings.TrimSuffix(filepath.Base(f), ".tsv.gz")
		if only := os.Getenv("MEMWALL_GRAPH"); only != "" && only != id {
			continue
		}
		m := converted(t, id)
		for _, p := range readDump(t, f) {
			total++
			if compareGraph(t, m, &p) {
				equal++
			}
		}
	}
	t.Logf("%d of %d graphs equal node by node with the exact peak", equal, total)
}

// compareGraph shows the first few nodes that differ.
func compareGraph(t *testing.T, m *model.Model, p *printed) bool {
	c := printedSettings[p.config]
	g, err := Lower(m, c.shape(), nil)
	if err != nil {
		t.Errorf("%s %s: %v", m.ID, p.config, err)
		return false
	}
	sizes := c.sizes(m)
	v := sizes.values()
	pos := map[ID]int{}
	for i, x := range g.Nodes {
		pos[x] = i
	}
	shown := 0
	for i := 0; i < min(len(p.nodes), len(g.Nodes)) && shown < 4; i++ {
		if why := differ(g, g.Nodes[i], &p.nodes[i], p, pos, &v); why != "" {
			t.Errorf("%s %s node %d (%s) %s", m.ID, p.config, i, p.nodes[i].name, why)
			shown++
		}
	}
	if len(p.nodes) != len(g.Nodes) {
		t.Errorf("%s %s has %d nodes, printed %d", m.ID, p.config, len(g.Nodes), len(p.nodes))
		return false
	}
	var planner Planner
	if peak := planner.Peak(&g.Compile(nil).Spots[0], sizes); shown == 0 && int64(peak) != p.bytes {
		t.Errorf("%s %s: peak %d, printed %d", m.ID, p.config, peak, p.bytes)
		return false
	}
	return shown == 0
}

func differ(g *Graph, x ID, want *printedNode, p *printed, pos map[ID]int, v *Form) string {
	nd := g.node(x)
	if code, ok := names[want.op]; !ok || code != nd.op {
		return fmt.Sprintf("is %s, printed %s", nameOf(nd.op), want.op)
	}
	f := g.size(x)
	if nd.view == 0 && f.value(v) != want.bytes {
		return fmt.Sprintf("%s has %d bytes, printed %d", want.op, f.value(v), want.bytes)
	}
	if nd.output != want.output {
		return fmt.Sprintf("%s is an output: %v, printed %v", want.op, nd.output, want.output)
	}
	if !same(p, pos, nd.view, want.view) {
		return fmt.Sprintf("%s is a view of node %d, printed %d", want.op, pos[nd.view], p.byID[want.view])
	}
	mine := g.sourcesOf(x)
	if len(mine) != len(want.src) {
		return fmt.Sprintf("%s has %d sources, printed %d", want.op, len(mine), len(want.src))
	}
	for k, s := range want.src {
		if !same(p, pos, mine[k], s) {
			return fmt.Sprintf("%s source %d is node %d, printed %d", want.op, k, pos[mine[k]], p.byID[s])
		}
	}
	return ""
}

// same: both are the same node, or neither is a node (but a leaf, or nothing).
func same(p *printed, pos map[ID]int, mine ID, theirs string) bool {
	i, printed := p.byID[theirs]
	j, node := pos[mine]
	return printed == node && i == j
}
