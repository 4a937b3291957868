package compare

import (
	"testing"

	"github.com/memwall/memwall/engine/startup"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/speed"
)

// TestMatch: products by the shape of the matrix, in every pass, alone and together.
func TestMatch(t *testing.T) {
	own := []ownOperator{
		lone(model.Linear, 4096, speed.Member{Role: "attn_q", Rows: 2048}, speed.Member{Role: "attn_k", Rows: 512},
			speed.Member{Role: "attn_v", Rows: 512}),
		lone(model.Linear, 2048, speed.Member{Role: "attn_output", Rows: 4096}), // two ranks share each matrix
		lone(model.Linear, 4096, speed.Member{Role: "ffn_gate", Rows: 7168}, speed.Member{Role: "ffn_up", Rows: 7168}),
		lone(model.Linear, 7168, speed.Member{Role: "ffn_down", Rows: 4096}),
		lone(model.Head, 4096, speed.Member{Role: "output", Rows: 64128}),
	}
	p := func(m, n, k int64, pass startup.Pass) *startup.Product {
		return &startup.Product{Batch: 1, M: m, N: n, K: k, Pass: pass}
	}
	const tokens = 3000
	for _, c := range []struct {
		p    *startup.Product
		want string
	}{
		{p(tokens, 2048, 4096, startup.Forward), "q_proj"}, {p(tokens, 512, 4096, startup.Forward), "k_proj v_proj"},
		{p(tokens, 3072, 4096, startup.Forward), "q_proj k_proj v_proj"},
		{p(tokens, 14336, 4096, startup.Forward), "gate_proj up_proj"}, {p(tokens, 7168, 4096, startup.Forward), "gate_proj up_proj"},
		{p(tokens, 4096, 7168, startup.Forward), "down_proj"},
		{p(tokens, 4096, 7168, startup.InputGradient), "gate_proj up_proj"}, {p(tokens, 7168, 4096, startup.InputGradient), "down_proj"},
		{p(7168, 4096, tokens, startup.WeightGradient), "gate_proj up_proj"},
		{p(4096, 7168, tokens, startup.WeightGradient), "down_proj"}, {p(tokens, 64128, 4096, startup.Forward), "lm_head"},
		{p(tokens, 4096, 2048, startup.Forward), "o_proj"},
		{p(tokens, 4096, 7168, startup.AnyPass), "gate_proj up_proj down_proj"},
		{p(tokens, 4096, 7168, startup.SomeBackward), "gate_proj up_proj"},
		{p(tokens, 16, 4096, startup.Forward), ""}, {p(tokens, 4096, 2048, startup.InputGradient), "q_proj"},
		{&startup.Product{Batch: 64, M: tokens, N: 2048, K: 4096, Pass: startup.Forward}, ""},
	} {
		got := ""
		if r := newMatcher(own, []startup.Operator{{Class: "products", Product: c.p}}).find(c.p); r != nil {
			got = r.name
		}
		if got != c.want {
			t.Errorf("%+v is %q, want %q", *c.p, got, c.want)
		}
	}
	// A product that could be any of three joins what others tell apart.
	m := newMatcher(own, []startup.Operator{{Class: "products", Product: p(tokens, 4096, 7168, startup.AnyPass)}})
	if r := m.find(p(tokens, 7168, 4096, startup.Forward)); r == nil || r.name != "gate_proj up_proj down_proj" ||
		r.shape != "7168×4096, 4096×7168" {
		t.Errorf("%+v", r)
	}
	// Weights that lie the other way around, as GPT-2's: the pass that strides tell is another one.
	gpt2 := []ownOperator{lone(model.Linear, 768, speed.Member{Role: "attn_qkv", Rows: 2304})}
	if r := newMatcher(gpt2, nil).find(p(1024, 2304, 768, startup.InputGradient)); r == nil || r.name != "qkv_proj" {
		t.Errorf("%+v", r)
	}
}

// TestSentFor: a collective belongs to the part that alone sends by it, else to the one whose group is of its size.
func TestSentFor(t *testing.T) {
	o := &operators{plan: &sized{Rebuilt: &Rebuilt{}}}
	for _, part := range []string{"tp", "sharding", "ep"} {
		o.own = append(o.own, ownOperator{speed.Operator{Part: part}, "collectives"})
	}
	o.plan.Request.TP, o.plan.Request.DP, o.plan.Request.EP = 4, 8, 16
	for _, c := range []struct {
		name  string
		group int64
		want  string
	}{{"_allgather_base", 8, "sharding"}, {"_allgather_base", 4, "tp"}, {"_reduce_scatter_base", 8, "sharding"}, {"allreduce", 4, "tp"},
		{"allreduce", 2, "tp"}, {"all_to_allv", 16, "ep"}, {"allgather", 2, ""}, {"broadcast", 8, ""}} {
		if got := o.sentFor(&startup.Message{Collective: c.name, Group: c.group}); got != c.want {
			t.Errorf("%s of %d is %q, want %q", c.name, c.group, got, c.want)
		}
	}
}

func lone(kind model.OpKind, k int64, members ...speed.Member) ownOperator {
	return ownOperator{speed.Operator{Part: "products", Kind: kind, Cols: k, Batch: 1, Members: members, Seconds: 1}, "products"}
}
