package family

import "github.com/memwall/memwall/dtype"

func roleOf(name string) dtype.Role { return dtype.Role(name) }

// llama: pre-norm, grouped-query attention, gated MLP; with experts it is Mixtral.
var llama = &Family{
	Name:    "llama",
	Classes: []string{"LlamaForCausalLM", "LLaMAForCausalLM", "MistralForCausalLM", "MixtralForCausalLM", "MistralModel", "LlamaModel"},
	Types:   []string{"llama", "mistral", "mixtral"},
	Config: func(c *Config) *Spec {
		s := c.base(false)
		a := c.heads()
		b := c.Bool(false, "attention_bias")
		a = a.bias(b, b, b)
		a.Window = c.IntOr(0, "sliding_window")
		l := Layer{Norm: RMS, Attn: a}
		if e := c.IntOr(0, "num_local_experts"); e > 0 {
			l.MoE = MoE{Experts: e, Used: c.Int("num_experts_per_tok"), Inner: c.Int("intermediate_size"), Gated: true, Norm: true}
		} else {
			l.FFN = c.gated()
			l.FFN.Bias = c.Bool(false, "mlp_bias")
		}
		if c.ropeType() == "llama3" {
			s.Tables = []Table{ropeTable(a.DimK / 2)}
		}
		s.NoHead = c.Class() == "MistralModel" || c.Class() == "LlamaModel"
		s.Layers = repeat(l, c.Layers())
		return s
	},
	Header: func(m *Meta) *Spec {
		s := m.base()
		n := m.Layers()
		l := Layer{Norm: RMS, Attn: m.heads(n)[0]}
		l.Attn = l.Attn.bias(m.InLayer(0, "attn_q.bias"), m.InLayer(0, "attn_k.bias"), m.InLayer(0, "attn_output.bias"))
		if e := m.IntOr(0, "expert_count"); e > 0 {
			l.MoE = MoE{Experts: e, Used: m.Int("expert_used_count"), Inner: m.Int("feed_forward_length"), Gated: true, Norm: true}
		} else {
			l.FFN = m.gated()
			l.FFN.Bias = m.InLayer(0, "ffn_gate.bias")
		}
		s.Layers = repeat(l, n)
		return s
	},
}
