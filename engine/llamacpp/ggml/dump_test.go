package ggml

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/memwall/memwall/lifetime"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/model/catalog"
)

var opNames = map[string]OpCode{
	"NONE": Leaf, "RESHAPE": View, "VIEW": View, "PERMUTE": View, "TRANSPOSE": View, "GET_ROWS": GetRows, "MUL_MAT": MulMat, "MUL_MAT_ID": MulMatID, "CONT": Cont,
	"FLASH_ATTN_EXT": Flash, "GLU": Glu, "CONCAT": Concat, "ARGSORT": Argsort, "SUM_ROWS": SumRows, "SSM_CONV": SSMConv, "SSM_SCAN": SSMScan, "CPY": Cpy, "SET_ROWS": SetRows,
	"PAD": Pad, "REPEAT": Repeat, "NORM": Norm, "L2_NORM": L2Norm, "CUMSUM": Cumsum, "TRI": Tri, "SOLVE_TRI": SolveTri, "GATED_DELTA_NET": GatedDelta, "ADD": Add, "ADD_ID": AddID, "SUB": Sub, "MUL": Mul, "DIV": Div,
	"SCALE": Scale, "CLAMP": Clamp, "UNARY": Unary, "ROPE": Rope, "RMS_NORM": RMSNorm, "SOFT_MAX": SoftMax, "FILL": Fill, "DIAG_MASK_INF": DiagMask, "SQR": Sqr,
}

var codeNames = func() map[OpCode]string {
	m := map[OpCode]string{}
	for name, c := range opNames {
		if c != View {
			m[c] = name
		}
	}
	m[View] = "VIEW"
	return m
}()

// config is one of the settings that graphs were printed for.
type config struct {
	name       string
	ctx, slots int64
	flash      bool
	quantised  bool
	outputs    int64 // 0: as many as tokens
}

const printedBatch = 512

var configs = map[string]config{
	"fa1_pp": {"fa1_pp", 32768, 1, true, false, 0}, "fa0_srv4k": {"fa0_srv4k", 4096, 1, false, false, 1},
	"fa1_s4": {"fa1_s4", 32768, 4, true, false, 4}, "fa1_q8": {"fa1_q8", 32768, 1, true, true, 1},
}

func (c config) shape(m *model.Model) Shape {
	s := Shape{Flash: c.flash, Streams: c.slots > 1}
	if c.quantised {
		s.RotateK, s.RotateV = Rotations(m, true, true)
	}
	return s
}

func (c config) sizes(m *model.Model) Sizes {
	perStream := c.ctx / c.slots
	s := Sizes{Tokens: printedBatch, Outputs: c.outputs, Cells: perStream, WindowCells: perStream, Seqs: c.slots}
	if s.Outputs == 0 {
		s.Outputs = s.Tokens
	}
	for _, w := range m.Spans() {
		s.WindowCells = min(perStream, (w+printedBatch+255)/256*256)
	}
	return s
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
	src                []string
}

func readDump(t *testing.T, path string) []printed {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var out []printed
	sc := bufio.NewScanner(z)
	sc.Buffer(make([]byte, 1<<20), 1<<20)
	for sc.Scan() {
		p := strings.Split(sc.Text(), "\t")
		switch p[0] {
		case "G":
			b, _ := strconv.ParseInt(p[2], 10, 64)
			out = append(out, printed{config: p[1], bytes: b, byID: map[string]int{}})
		case "N":
			g := &out[len(out)-1]
			n := printedNode{id: p[1], op: p[2], name: p[3], view: p[10]}
			n.bytes, _ = strconv.ParseInt(p[7], 10, 64)
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
	e, err := catalog.Find(id)
	if err != nil {
		t.Fatal(err)
	}
	s, err := e.Spec()
	if err != nil {
		t.Fatal(err)
	}
	return s.Converted().Model(id)
}

// TestGraphs compares the lowered graph with the printed one: operations, bytes, sources, views, and the
// peak of the replay.
func TestGraphs(t *testing.T) {
	dir := os.Getenv("MEMWALL_SHARED")
	if dir == "" {
		return
	}
	files, err := filepath.Glob(filepath.Join(dir, "data/llamacpp_graphs/*.tsv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	equal, total, exact := 0, 0, 0
	var failed []string
	for _, f := range files {
		id := strings.TrimSuffix(filepath.Base(f), ".tsv.gz")
		if only := os.Getenv("MEMWALL_GRAPH"); only != "" && only != id {
			continue
		}
		for _, p := range readDump(t, f) {
			total++
			bad, peak := compareGraph(t, id, &p)
			if bad == 0 {
				equal++
			} else {
				failed = append(failed, id+"/"+p.config)
			}
			if peak == p.bytes {
				exact++
			} else if bad == 0 {
				t.Logf("%s %s: peak %d, printed %d", id, p.config, peak, p.bytes)
			}
		}
	}
	sort.Strings(failed)
	t.Logf("%d of %d graphs equal node by node, %d peaks exact; not equal: %s", equal, total, exact, strings.Join(failed, " "))
	if equal < total {
		t.Fail()
	}
}

func compareGraph(t *testing.T, id string, p *printed) (bad int, peak int64) {
	m := converted(t, id)
	c := configs[p.config]
	g, err := Lower(m, c.shape(m))
	if err != nil {
		t.Logf("%s %s: %v", id, p.config, err)
		return 1, 0
	}
	sizes := c.sizes(m)
	v := sizes.values()
	pos := map[ID]int{}
	for i, x := range g.Nodes {
		pos[x] = i
	}
	for i := range max(len(p.nodes), len(g.Nodes)) {
		why := ""
		switch {
		case i >= len(p.nodes):
			why = "is one too many: " + codeNames[g.at(g.Nodes[i]).op]
		case i >= len(g.Nodes):
			why = "is missing: " + p.nodes[i].op + " " + p.nodes[i].name
		default:
			why = differ(g, g.Nodes[i], &p.nodes[i], p, pos, &v)
		}
		if why == "" {
			continue
		}
		if bad++; bad <= 4 {
			name := ""
			if i < len(p.nodes) {
				name = p.nodes[i].name
			}
			t.Logf("%s %s node %d (%s) %s", id, p.config, i, name, why)
		}
		if bad > 200 {
			break
		}
	}
	if bad > 0 {
		return bad, 0
	}
	compiled := g.Compile()
	var a lifetime.Greedy
	table := compiled.SizeTable(sizes, 32, nil)
	peak = a.Peak(&compiled.Program, table)
	if full := a.PeakInFull(&compiled.Program, table); full != peak {
		t.Errorf("%s %s: %d with repeated layers recalled, %d in full", id, p.config, peak, full)
	}
	return 0, peak
}

func differ(g *Graph, x ID, want *printedNode, p *printed, pos map[ID]int, v *Form) string {
	nd := g.at(x)
	if opNames[want.op] != nd.op || opNames[want.op] == Leaf {
		return fmt.Sprintf("is %s, want %s", codeNames[nd.op], want.op)
	}
	if nd.op != View && nd.view == 0 && nd.form.at(v) != want.bytes {
		return fmt.Sprintf("%s has %d bytes, want %d", want.op, nd.form.at(v), want.bytes)
	}
	if i, ok := p.byID[want.view]; ok != (nd.view != 0 && isNode(pos, nd.view)) || ok && pos[nd.view] != i {
		return fmt.Sprintf("%s views node %d, want %d", want.op, pos[nd.view], i)
	}
	if int(nd.sources) != len(want.src) {
		return fmt.Sprintf("%s has %d sources, want %d", want.op, nd.sources, len(want.src))
	}
	for k, s := range want.src {
		i, ok := p.byID[s]
		mine := nd.src[k]
		if ok != isNode(pos, mine) || ok && pos[mine] != i {
			return fmt.Sprintf("%s source %d is node %d, want %d", want.op, k, pos[mine], i)
		}
	}
	return ""
}

func isNode(pos map[ID]int, x ID) bool {
	_, ok := pos[x]
	return ok
}
