package examples

import (
	"github.com/memwall/memwall"
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/plan"
)

// lens is the first document.
var lens = Document{
	Number: 1,
	Title:  "LLMs: hardware, memory, and performance",
	About: "A short guide for interviews: few figures, most of them rules of thumb. They hold, as long as one knows\n" +
		"what they leave out.",
	Sections: []Section{
		{"Size", lensSize},
		{"What grows with what", lensGrowth},
	},
}

var lensSize = []Row{
	{ID: "1.1", Claim: "names of models: 7B, 13B, 65B", Verdict: Right,
		Why: "Names round: Llama 7B has 6.74 B parameters, so its weights are 4 % smaller than \"7B × 2\". The 65B is built here from " +
			"Llama 2 70B with the older model's heads and FFN.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(said("7", params), c.params("llama-7b")), c.is(said("13", params), c.params("llama-2-13b")),
				c.is(said("65", params), llama65(c))}
		}},
	{ID: "1.2", Claim: "7B in FP16, weights", Verdict: Right,
		Why: "Two bytes for each of seven billion parameters; the Llama 2 file is a little smaller because its 7B is 6.74 B.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(about("14", gb), c.weights(7e9, 2)), c.shown("Llama 2 7B", gb, c.stored("llama-2-7b", "f16"))}
		}},
	{ID: "1.3", Claim: "real use is several times the weights", Verdict: Depends,
		Why: "On the load. One user makes it {0} the weights of a 7B; eight users at 8k each, without grouped queries, {1}.",
		Find: func(c *calc) []Finding {
			several := between("several ×", 2, 10, times)
			ratio := func(users, ctx int64) ledger.Num {
				return c.Div(c.fit(ask{model: "llama-2-7b", weights: "bf16", on: "a100-sxm-80gb", ctx: ctx, users: users}).needed(),
					c.stored("llama-2-7b", "bf16"))
			}
			return []Finding{c.when("1 user, 4k", several, ratio(1, 4096)), c.when("8 users, 8k", several, ratio(8, 8192))}
		}},
	{ID: "1.4", Claim: "optimizer state against the parameters", Verdict: Depends,
		Why: "On whether the FP32 master copy counts as optimizer state. Adam's two moments in FP32 are 4 × 16-bit weights; with the " +
			"master copy it is 6 ×, outside the range. 8-bit Adam is about 1 ×.",
		Find: func(c *calc) []Finding {
			moments := c.Mul(c.given("moments", 2), c.given("fp32", 4))
			return []Finding{
				c.when("two moments", span("2", "4", times), c.Div(moments, c.given("weight", 2))),
				c.when("with master copy", span("2", "4", times), c.Div(c.Add(moments, c.given("master", 4)), c.given("weight", 2)))}
		}},
	{ID: "1.5", Claim: "training memory against the weights, before activations", Verdict: Right,
		Why: "12 bytes per parameter without a master copy and 16 with one, over 2 bytes of weight. Pure BF16 training takes 4 ×, " +
			"frameworks with FP32 gradients 9 ×.",
		Find: func(c *calc) []Finding {
			return []Finding{
				c.is(span("6", "8", times), c.Div(c.wideMoments().each(), c.given("weight", 2))),
				c.is(span("6", "8", times), c.Div(c.withCopy().each(), c.given("weight", 2)))}
		}},
	{ID: "1.6", Claim: "a card with 24 GB", Verdict: UnitSlip,
		Why: "Memory chips come in powers of two: the card has 24 GiB, which is 25.8 GB. A program sees a little less: {1} of an RTX 4090.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(said("24", gb), c.memory("rtx-4090")), c.shown("seen by a program", gb, c.usable("rtx-4090"))}
		}},
}

var lensGrowth = []Row{
	{ID: "1.7", Claim: "twice the sequence, how much KV cache", Verdict: Depends,
		Why: "On the kinds of layers. Full attention doubles. Five of six layers of Gemma 3 look back 1,024 tokens only, and a Mamba's " +
			"state does not grow at all.",
		Find: func(c *calc) []Finding {
			twice := between("2×", 1.95, 2.05, times)
			grow := func(id string) ledger.Num {
				kv := func(ctx int64) ledger.Num {
					return c.fit(ask{model: id, engine: "generic", ctx: ctx, users: 1}).item("kv_cache")
				}
				return c.Div(kv(8192), kv(4096))
			}
			return []Finding{c.when("Llama 3.1 8B, 4k to 8k", twice, grow("llama-3.1-8b")),
				c.when("Gemma 3 27B", twice, grow("gemma-3-27b"))}
		}},
	{ID: "1.8", Claim: "twice the batch, how much activation memory", Verdict: Depends,
		Why: "On the program. What training keeps for the backward pass is so many bytes per token, so it doubles. vLLM reserves for its " +
			"budget of tokens per step, however many users there are.",
		Find: func(c *calc) []Finding {
			twice := between("2×", 1.95, 2.05, times)
			kept := func(batch float64) ledger.Num {
				return c.Mul(c.given("batch", batch), c.given("tokens", 4096), c.Lit(32), c.saved("llama-2-7b"))
			}
			reserved := func(users int64) ledger.Num {
				return c.fit(ask{model: "llama-2-7b", on: "a100-sxm-80gb", ctx: 4096, users: users}).item("activations")
			}
			return []Finding{c.when("training", twice, c.Div(kept(2), kept(1))),
				c.when("vLLM, 16 users for 8", twice, c.Div(reserved(16), reserved(8)))}
		}},
	{ID: "1.9", Claim: "FP32 to BF16 saves half", Verdict: Right,
		Why: "Four bytes become two.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(between("half", 0.495, 0.505, times), c.Div(c.element(dtype.BF16), c.element(dtype.F32)))}
		}},
}

// states are the bytes per parameter that training keeps.
func states(c *calc, weight, gradient, master, moments float64) ledger.Num {
	n := c.Add(c.given("weight", weight), c.given("gradient", gradient))
	if master > 0 {
		n = c.Add(n, c.given("master", master))
	}
	return c.Add(n, c.given("moments", moments))
}

// llama65 counts Llama 65B, which is Llama 2 70B with as many KV heads as heads and a narrower FFN.
func llama65(c *calc) ledger.Num {
	a, err := memwall.Ask(&memwall.Request{Ask: "fit", Model: "llama-2-70b", Plan: plan.Plan{Engine: "generic"},
		Override: map[string]plan.Int{"kv_heads": 64, "ffn": 22016}})
	if err != nil {
		return c.fail("llama-2-70b with 64 KV heads: %w", err)
	}
	return c.Int("parameters", a.Model.Parameters, "memwall fit llama-2-70b --set kv_heads=64,ffn=22016")
}
