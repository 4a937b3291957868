package compare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine/startup"
	"github.com/memwall/memwall/model"
)

// matcher identifies the model's operators of a matrix product by the shape of the matrix on a rank: N outputs by K inputs.
// Operators of equal shape, and those that a product of the trace cannot distinguish, share a row.
type matcher struct {
	members []linear
	first   map[int]int // first member of each predicted operator
	parent  []int       // of the sets that members are joined to
	rows    map[int]*matched
	atOnce  map[int]bool // predicted operators that the trace multiplies as one
}

// linear is an operator that may be multiplied alone or fused with its neighbors.
type linear struct {
	of   int // index of the predicted operator
	name string
	n, k int64
}

// matched is a row of members.
type matched struct {
	key, name, shape string
	names            []string
}

func newMatcher(own []ownOperator, trace []startup.Operator) *matcher {
	m := &matcher{first: map[int]int{}, rows: map[int]*matched{}, atOnce: map[int]bool{}}
	for i := range own {
		x := &own[i]
		if x.class != "products" {
			continue
		}
		m.first[i] = len(m.members)
		for _, part := range x.Members {
			m.members = append(m.members, linear{of: i, name: productName(x, part.Role), n: part.Rows, k: x.Cols})
			m.parent = append(m.parent, len(m.parent))
		}
	}
	m.join(m.experts())
	m.fused(own, trace)
	for i := range trace {
		if x := &trace[i]; x.Class == "products" && x.Product != nil {
			m.join(m.candidates(x.Product))
		}
	}
	return m
}

// experts returns the members that are expert matrices.
func (m *matcher) experts() (out []int) {
	for i := range m.members {
		if m.members[i].name == expertMatrices {
			out = append(out, i)
		}
	}
	return out
}

// fused finds operators whose members the trace multiplies at once, as engines do; none of them is then multiplied alone.
func (m *matcher) fused(own []ownOperator, trace []startup.Operator) {
	seen := map[[2]int64]bool{}
	for i := range trace {
		if p := trace[i].Product; trace[i].Class == "products" && p != nil && p.Batch == 1 {
			for _, s := range sidesOf(p, p.Pass) {
				seen[s] = true
			}
		}
	}
	for i, first := range m.first {
		if sum := own[i].total(); len(own[i].Members) > 1 && seen[[2]int64{sum, m.members[first].k}] {
			m.atOnce[i] = true
		}
	}
}

// total returns the total rows of the members.
func (x *ownOperator) total() (n int64) {
	for i := range x.Members {
		n += x.Members[i].Rows
	}
	return n
}

// join merges members into one row.
func (m *matcher) join(list []int) {
	for _, i := range list {
		m.parent[m.root(i)] = m.root(list[0])
	}
}

func (m *matcher) root(i int) int {
	for m.parent[i] != i {
		i = m.parent[i]
	}
	return i
}

// candidates returns the members that a product may be of. If none has the shape in the trace's pass, weights may be transposed (as
// GPT-2's are), and any pass counts.
func (m *matcher) candidates(p *startup.Product) []int {
	if p.Batch != 1 {
		return nil
	}
	for _, sides := range [][][2]int64{sidesOf(p, p.Pass), sidesOf(p, startup.AnyPass)} {
		var out []int
		for _, s := range sides {
			out = append(out, m.shaped(s[0], s[1])...)
		}
		if len(out) > 0 {
			return out
		}
	}
	return nil
}

// sidesOf returns the possible N and K of the matrix multiplied in a pass: T×N = T×K by K×N forward, T×K = T×N by N×K for the input
// gradient, N×K = N×T by T×K for the weight gradient.
func sidesOf(p *startup.Product, pass startup.Pass) [][2]int64 {
	forward, input, weight := [2]int64{p.N, p.K}, [2]int64{p.K, p.N}, [2]int64{p.M, p.N}
	switch pass {
	case startup.Forward:
		return [][2]int64{forward}
	case startup.InputGradient:
		return [][2]int64{input}
	case startup.WeightGradient:
		return [][2]int64{weight}
	case startup.SomeBackward:
		return [][2]int64{input, weight}
	}
	return [][2]int64{forward, input, weight, {p.N, p.M}}
}

// shaped returns the members with an N×K matrix, alone or fused with neighbors.
func (m *matcher) shaped(n, k int64) (out []int) {
	for i := range m.members {
		sum, of := int64(0), m.members[i].of
		for j := i; j < len(m.members) && m.members[j].of == of && m.members[j].k == k; j++ {
			whole := i == m.first[of] && (j+1 == len(m.members) || m.members[j+1].of != of)
			if sum += m.members[j].n; sum != n || m.atOnce[of] && !whole {
				continue
			}
			for x := i; x <= j; x++ {
				out = append(out, x)
			}
		}
	}
	return out
}

// find returns the row of a product; nil if no operator of the model has its shape.
func (m *matcher) find(p *startup.Product) *matched {
	list := m.candidates(p)
	if len(list) == 0 {
		return nil
	}
	return m.row(list[0])
}

// rowOf returns the row of a member of a predicted operator.
func (m *matcher) rowOf(own, at int) *matched { return m.row(m.first[own] + at) }

func (m *matcher) row(i int) *matched {
	root := m.root(i)
	if r := m.rows[root]; r != nil {
		return r
	}
	var names, sizes []string
	for j := range m.members {
		if m.root(j) != root {
			continue
		}
		x := &m.members[j]
		if !slices.Contains(names, x.name) {
			names = append(names, x.name)
		}
		if size := fmt.Sprintf("%d×%d", x.n, x.k); !slices.Contains(sizes, size) {
			sizes = append(sizes, size)
		}
	}
	r := &matched{key: fmt.Sprint("members ", root), name: strings.Join(names, " "), shape: strings.Join(sizes, ", "), names: names}
	m.rows[root] = r
	return r
}

// expertMatrices is the row of expert matrices among products: the prediction counts their operand traffic there, and the rest
// under experts.
const expertMatrices = "matrices of experts"

// productName returns an operator's name as in model code.
func productName(x *ownOperator, r dtype.Role) string {
	switch x.Kind {
	case model.Head:
		return "lm_head"
	case model.ExpertLinear:
		return expertMatrices
	}
	if name := hubNames[r]; name != "" {
		return name
	}
	return string(r)
}

// hubNames are the names of linear layers in transformers; others go by their GGUF names.
var hubNames = map[dtype.Role]string{
	dtype.AttnQ: "q_proj", dtype.AttnK: "k_proj", dtype.AttnV: "v_proj", dtype.AttnQKV: "qkv_proj", dtype.AttnOutput: "o_proj",
	dtype.AttnQA: "q_a_proj", dtype.AttnQB: "q_b_proj",
	dtype.AttnKVA: "kv_a_proj", dtype.AttnKVB: "kv_b_proj", dtype.FFNGate: "gate_proj", dtype.FFNUp: "up_proj", dtype.FFNDown: "down_proj",
	dtype.FFNGateInp: "router",
	dtype.FFNGateSh:  "shared gate_proj", dtype.FFNUpSh: "shared up_proj", dtype.FFNDownSh: "shared down_proj", dtype.SSMIn: "in_proj",
	dtype.SSMOut: "out_proj",
}

// elementOf returns the model's operator that a fused one of PyTorch, vLLM, SGLang or Liger implements; "" if it spans several.
func elementOf(name string) string {
	low := strings.ToLower(name)
	for _, x := range []struct{ kind, words string }{
		{"norms", "rms_norm rmsnorm layer_norm layernorm"}, {"rotary positions", "rotary rope"},
		{"activation", "act_and_mul silu_and_mul gelu_and_mul swiglu geglu silumul"}, {"embedding", "embedding"},
	} {
		if slices.ContainsFunc(strings.Fields(x.words), func(w string) bool { return strings.Contains(low, w) }) {
			return x.kind
		}
	}
	return ""
}

// elementName returns the name for cheap operators of a kind.
func elementName(x *ownOperator) string {
	if x.Rest {
		return "sums of gradients"
	}
	switch x.Kind {
	case model.Norm:
		return "norms"
	case model.Add:
		return "residual sums"
	case model.Glu, model.Act:
		return "activation"
	case model.Rope:
		return "rotary positions"
	case model.Embed:
		return "embedding"
	case model.Linear, model.ExpertLinear:
		return "adapters"
	case model.Combine:
		return "sums over experts"
	}
	return "scaling and mixing"
}
