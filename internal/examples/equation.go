package examples

import (
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/ledger"
)

// equation is the fourth document.
var equation = Document{
	Number: 4,
	Title:  "GPU memory for LLMs",
	About: "Formulas first, then the tricks that attack each term, then one worked example. The best of the five, and the\n" +
		"one with the most to find: a sum that is not the sum of its parts, KiB called KB, a bill without the engine.",
	Sections: []Section{
		{"The equation", equationTerms},
		{"Attention", equationAttention},
		{"Recomputation and sharding", equationSharding},
		{"Llama 3 70B on an H100", equationServing},
		{"Trade-offs and questions", equationQuestions},
	},
}

var equationTerms = []Row{
	{ID: "4.1", Claim: "70B, training", Verdict: Depends,
		Why: "On the recipe. 16 bytes per parameter are 1.12 TB, as the text says below; with FP32 gradients (18 bytes) it is 1.26.",
		Find: func(c *calc) []Finding {
			n := c.given("parameters", 70e9)
			return []Finding{c.when("DeepSpeed", about("1.2", tb), c.Mul(n, c.withCopy().each())),
				c.when("Megatron", about("1.2", tb), c.Mul(n, c.wideGradients().each()))}
		}},
	{ID: "4.2", Claim: "70B, weights in FP16: too much for one GPU", Verdict: Right,
		Why: "Exactly 141.1 GB for Llama 3 70B, and an H100 shows 85.0.",
		Find: func(c *calc) []Finding {
			w := c.stored(l70, "f16")
			return []Finding{c.is(about("140", gb), c.weights(70e9, 2)),
				c.is(least("more than a card", float64(c.device(h100).Usable.Value), gb), w)}
		}},
	{ID: "4.3", Claim: "terms of the memory equation: weights, cache, activations, gradients", Verdict: Wrong,
		Why: "The largest one of training is missing: Adam's moments are 8 of the 12 bytes that the text itself lists later.",
		Find: func(c *calc) []Finding {
			one := func(name string) ledger.Num { return c.given(name, 1) }
			return []Finding{c.is(said("4", plain),
				c.Add(one("weights"), one("cache"), one("activations"), one("gradients"), one("optimizer")))}
		}},
	{ID: "4.4", Claim: "bytes per parameter: weights, gradients, Adam's moments", Verdict: Right, Why: "2 N, 2 N and 2 × 4 N.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(said("2", bytesU), c.Div(c.stored(l70, "f16"), c.params(l70))),
				c.is(said("2", bytesU), c.element(dtype.F16)), c.is(said("8", bytesU), c.Mul(c.given("moments", 2), c.element(dtype.F32)))}
		}},
	{ID: "4.5", Claim: "KV cache = 2 × 2 × batch × tokens × layers × KV heads × head size", Verdict: Right,
		Why: "Put in for Llama 3 70B, batch 4 at 8k, and compared with the ledger.",
		Find: func(c *calc) []Finding {
			formula := c.Mul(c.Lit(2), c.Lit(2), c.given("batch", 4), c.given("tokens", 8192), c.given("layers", 80),
				c.given("kv_heads", 8), c.given("head_dim", 128))
			ours := c.fit(ask{model: l70, engine: "generic", ctx: 8192, users: 4}).item("kv_cache")
			return []Finding{c.is(between("the formula", formula.V, formula.V, gb), ours), c.shown("the formula", gb, formula)}
		}},
	{ID: "4.6", Claim: "inference activations = 2 × batch × tokens × hidden", Verdict: Wrong,
		Why: "That is the stream between layers only. Inside a layer the FFN holds gate, up and their product beside it: {0} for 8,192 " +
			"tokens of a 70B, where the formula says {1}.",
		Find: func(c *calc) []Finding {
			formula := c.Mul(c.Lit(2), c.given("tokens", 8192), c.given("hidden", 8192))
			ours := c.fit(ask{model: l70, weights: "fp8", on: h100, ctx: 8192, users: 1, seqs: 1, batched: 8192}).item("activations")
			return []Finding{c.is(between("0.134 GB, put in", formula.V*0.99, formula.V*1.01, gb), ours),
				c.shown("the formula", gb, formula)}
		}},
	{ID: "4.7", Claim: "training activations = 2 × batch × tokens × hidden × layers", Verdict: Depends,
		Why: "On recomputation. One vector per token and layer is what stays when every layer is recomputed; kept whole, a layer of a " +
			"70B keeps 24 times that.",
		Find: func(c *calc) []Finding {
			n, layers := c.given("tokens", 8192), c.given("layers", 80)
			formula := c.Mul(c.Lit(2), n, c.given("hidden", 8192), layers)
			s := between("10.7 GB, put in", formula.V*0.99, formula.V*1.01, gb)
			return []Finding{c.when("recomputed", s, c.Mul(n, layers, c.given("hidden", 8192), c.element(dtype.BF16))),
				c.when("kept whole", s, c.Mul(n, layers, c.saved(l70)))}
		}},
	{ID: "4.8", Claim: "which dominate training memory", Verdict: Depends,
		Why: "On batch and recomputation. For one sequence of 8k, by its own formula, they are 1 % of the states of a 70B; eight " +
			"sequences kept whole are nearly twice the states.",
		Find: func(c *calc) []Finding {
			s := least("more than the rest", 1, times)
			all := c.Mul(c.given("parameters", 70e9), states(c, 2, 2, 4, 8))
			n, layers := c.given("tokens", 8192), c.given("layers", 80)
			return []Finding{
				c.when("1 × 8k, recomputed", s, c.Div(c.Mul(n, layers, c.given("hidden", 8192), c.element(dtype.BF16)), all)),
				c.when("8 × 8k, kept whole", s, c.Div(c.Mul(c.given("batch", 8), n, layers, c.saved(l70)), all))}
		}},
	{ID: "4.9", Claim: "and the listing adds up to 16 N", Verdict: Wrong,
		Best: "2 N + 2 N + 8 N is 12 N. What makes it 16 is the FP32 copy of the weights, which the listing forgot.",
		Why:  "It adds up to 12: the master copy is named in the heading and missing in the list.",
		Find: func(c *calc) []Finding { return []Finding{c.is(about("16", bytesU), states(c, 2, 2, 0, 8))} }},
	{ID: "4.10", Claim: "the rule of thumb itself: bytes per parameter", Verdict: Right,
		Why:  "With the master copy it is right, and it is what the ZeRO paper counts (arXiv:1910.02054).",
		Find: func(c *calc) []Finding { return []Finding{c.is(about("16", bytesU), c.withCopy().each())} }},
	{ID: "4.11", Claim: "70B, states", Verdict: Right, Why: "16 × 70 billion.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(said("1.12", tb), c.Mul(c.given("parameters", 70e9), c.withCopy().each()))}
		}},
}

var equationAttention = []Row{
	{ID: "4.12", Claim: "scores of one head at 8,192 tokens", Verdict: Depends,
		Why: "On their format. In FP32 they are 256 MiB; in FP16, which the text speaks of, half. MB or MiB is a second question.",
		Find: func(c *calc) []Finding {
			n := c.given("tokens", 8192)
			return []Finding{c.when("FP32", said("256", mb), c.Mul(n, n, c.element(dtype.F32))),
				c.when("FP16", said("256", mb), c.Mul(n, n, c.element(dtype.F16)))}
		}},
	{ID: "4.13", Claim: "FlashAttention: O(n), not O(n²)", Verdict: Right,
		Why: "Twice the tokens are twice the statistics and outputs, and would be four times the scores.",
		Find: func(c *calc) []Finding {
			n, m := c.given("n", 8192), c.given("n", 4096)
			return []Finding{c.is(between("n: 2×", 1.99, 2.01, times), c.Div(n, m)),
				c.is(between("n²: 4×", 3.99, 4.01, times), c.Div(c.Mul(n, n), c.Mul(m, m)))}
		}},
	{ID: "4.14", Claim: "HBM traffic that it saves", Verdict: Depends,
		Why: "On the head size. The paper's count, up to a constant, is M / d² for M numbers of on-chip memory (arXiv:2205.14135): {0} " +
			"for heads of 64 on an A100, {1} for today's 128.",
		Find: func(c *calc) []Finding {
			save := func(d float64) ledger.Num {
				on := c.Div(fact(c, "shared_bytes", c.device(a100).SharedPerSM, a100), c.element(dtype.F16))
				return c.Div(on, c.Mul(c.given("head_dim", d), c.given("head_dim", d)))
			}
			return []Finding{c.when("heads of 64", about("10", times), save(64)), c.when("heads of 128", about("10", times), save(128))}
		}},
	{ID: "4.15", Claim: "speed on long contexts", Verdict: Right,
		Why: "At any length: both do n² work, and the gain is the fused kernel's share of the peak. See 2.20.",
		Find: func(c *calc) []Finding {
			s := span("2", "4", times)
			return []Finding{
				c.when("version 2 on an H100, 128k", s, c.flashGain(l8, 131072, c.given("of_peak", 0.35))),
				c.when("version 3, 128k", s, c.flashGain(l8, 131072, c.given("of_peak", 0.75))),
				c.shown("version 3, 2k", times, c.flashGain(l8, 2048, c.given("of_peak", 0.75)))}
		}},
	{ID: "4.16", Claim: "cache of MHA (32 heads of 32), of MQA (1 of 32)", Verdict: Right, Why: "1/32 is 0.031.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(said("1.0", times), cacheShare(c, l7, 0)), c.is(said("0.03", times), cacheShare(c, l7, 1))}
		}},
	{ID: "4.17", Claim: "cache of GQA in Llama 3, Mistral and Llama 2 70B", Verdict: Depends,
		Why: "On the model. 8 heads of 32 are a quarter; the 70B has 64 heads and also 8 for keys and values: an eighth.",
		Find: func(c *calc) []Finding {
			return []Finding{c.when("Llama 3.1 8B", said("0.25", times), cacheShare(c, l8, 0)),
				c.when("Llama 2 70B", said("0.25", times), cacheShare(c, "llama-2-70b", 0))}
		}},
	{ID: "4.18", Claim: "what MQA loses", Verdict: Right,
		Why: "As published for T5 XXL: 46.6 for 47.2 on average (arXiv:2305.13245, table 1).",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(about("1", pct),
				c.Sub(c.Lit(1), c.Div(c.In("mqa", 46.6, "published: arXiv:2305.13245"), c.In("mha", 47.2, ""))))}
		}},
	{ID: "4.19", Claim: "what GQA keeps", Verdict: Right, Why: "47.1 of 47.2, by the same table.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(least("99 %+", 0.99, pct),
				c.Div(c.In("gqa", 47.1, "published: arXiv:2305.13245"), c.In("mha", 47.2, "")))}
		}},
	{ID: "4.20", Claim: "cache that GQA saves", Verdict: Right,
		Why: "Heads over KV heads: 4 for Llama 3.1 8B, 7 for Qwen2.5 7B, 8 for the 70Bs.",
		Find: func(c *calc) []Finding {
			s := span("4", "8", times)
			return []Finding{c.is(s, c.Div(c.Lit(1), cacheShare(c, l8, 0))), c.is(s, c.Div(c.Lit(1), cacheShare(c, "qwen2.5-7b", 0))),
				c.is(s, c.Div(c.Lit(1), cacheShare(c, l70, 0)))}
		}},
	{ID: "4.21", Claim: "Llama 2 70B: KV groups, heads", Verdict: Right, Why: "As its config.json says.",
		Find: func(c *calc) []Finding {
			m := c.model("llama-2-70b")
			if m == nil {
				return nil
			}
			return []Finding{c.is(said("8", plain), c.Int("kv_heads", m.Traits.KVHeads, "catalog, llama-2-70b")),
				c.is(said("64", plain), c.Int("heads", m.Traits.Heads, "catalog, llama-2-70b"))}
		}},
}

// cacheShare is KV heads over query heads; kv replaces the model's own when it is not 0.
func cacheShare(c *calc, id string, kv int64) ledger.Num {
	m := c.model(id)
	if m == nil {
		return c.Lit(1)
	}
	from := "catalog, " + id
	if kv == 0 {
		kv = m.Traits.KVHeads
	} else {
		from = ""
	}
	return c.Div(c.Int("kv_heads", kv, from), c.Int("heads", m.Traits.Heads, from))
}

var equationSharding = []Row{
	{ID: "4.22", Claim: "saves of 96 layers, one every 4", Verdict: Right, Why: "A division.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(said("24", plain), c.Div(c.given("layers", 96), c.given("every", 4)))}
		}},
	{ID: "4.23", Claim: "memory saved by that", Verdict: Depends,
		Why: "On what is counted. Saves go down by 4; but without checkpoints a layer keeps far more than its output, and with them one " +
			"group of layers is still alive.",
		Find: func(c *calc) []Finding {
			layers, every, whole := c.given("layers", 96), c.given("every", 4), c.saved(l70)
			saves := c.Mul(c.Div(layers, every), c.given("hidden", 8192), c.element(dtype.BF16))
			return []Finding{
				c.when("layer outputs", said("4", times), c.Div(layers, c.Div(layers, every))),
				c.when("all that is kept", said("4", times), c.Div(c.Mul(layers, whole), c.Add(saves, c.Mul(every, whole))))}
		}},
	{ID: "4.24", Claim: "work that it adds", Verdict: Right,
		Why: "One more forward pass, where backward is worth two: hardware does {0} what the model asks for.",
		Find: func(c *calc) []Finding {
			ratio := c.allBF16().again()
			return []Finding{c.is(about("1.33", times), ratio), c.is(about("33", pct), c.Sub(ratio, c.Lit(1)))}
		}},
	{ID: "4.25", Claim: "with it a 70B trains on 8 H100 in place of 16", Verdict: Wrong,
		Best: "Checkpointing cannot bring a 70B onto 8 H100: {0} for each, and before the first activation its states take 1,120 GB, " +
			"where the eight hold 680.",
		Why: "It does away with activations, and those are not what is too much. Every block computed again, one sequence of 4k: {0} on " +
			"each of eight under ZeRO-3, {1} all in BF16. Sixteen hold it, barely: {2}.",
		Find: func(c *calc) []Finding {
			on := func(cards, framework, sharding, precision string) answer {
				return c.train(run{model: l70, on: cards + "x" + h100, framework: framework, sharding: sharding, precision: precision,
					seq: 4096})
			}
			return []Finding{on("8", "deepspeed", "zero3", "").fits("fits 8 H100"),
				on("8", "transformers", "fsdp", "bf16").fits("fits 8 H100"),
				c.shown("each of 16, ZeRO-3", gb, on("16", "deepspeed", "zero3", "").needed())}
		}},
	{ID: "4.26", Claim: "ZeRO-1 saves", Verdict: Depends, Why: "On the number of ranks: 16 / (4 + 12/N). Four is the limit.",
		Find: func(c *calc) []Finding {
			return []Finding{c.when("64 ranks", said("4", times), c.saves("zero1", 64)),
				c.when("8 ranks", said("4", times), c.saves("zero1", 8))}
		}},
	{ID: "4.27", Claim: "ZeRO-2 saves", Verdict: Depends, Why: "As before: 16 / (2 + 14/N), towards eight.",
		Find: func(c *calc) []Finding {
			return []Finding{c.when("256 ranks", said("8", times), c.saves("zero2", 256)),
				c.when("8 ranks", said("8", times), c.saves("zero2", 8))}
		}},
	{ID: "4.28", Claim: "ZeRO-3 saves", Verdict: Depends,
		Why: "On the ranks, and on nothing else: N of them save N times. Sixteen is the example that became a rule.",
		Find: func(c *calc) []Finding {
			return []Finding{c.when("16 ranks", said("16", times), c.saves("zero3", 16)),
				c.when("64 ranks", said("16", times), c.saves("zero3", 64))}
		}},
	{ID: "4.29", Claim: "a 70B on tensor parallel 8 × pipeline 4", Verdict: Right,
		Why: "{0} on each of 32 cards with a sequence of 4k, {1} of it states; ZeRO over more replicas takes a share of those.",
		Find: func(c *calc) []Finding {
			a := c.train(run{model: l70, on: "32x" + h100, framework: "megatron", tp: 8, pp: 4, seq: 4096, recompute: "none"})
			return []Finding{a.fits("fits a card"), c.shown("states", gb, a.memoryHeld())}
		}},
}

var equationServing = []Row{
	{ID: "4.30", Claim: "memory of an H100", Verdict: UnitSlip, Why: "80 GiB.",
		Find: func(c *calc) []Finding { return []Finding{c.is(said("80", gb), c.memory(h100))} }},
	{ID: "4.31", Claim: "weights in FP8", Verdict: Depends, Why: "On the file: embedding and head stay in 16 bits.",
		Find: func(c *calc) []Finding {
			return []Finding{c.when("one byte each", said("70", gb), c.weights(70e9, 1)),
				c.when("FP8 file", said("70", gb), c.stored(l70, "fp8"))}
		}},
	{ID: "4.32", Claim: "which just fit one H100", Verdict: Right,
		Why: "{0} with one user at 8k and 32 sequences at most. Memwall calls it tight: the band of the estimate crosses the limit.",
		Find: func(c *calc) []Finding {
			return []Finding{c.fit(ask{model: l70, weights: "fp8", on: h100, ctx: 8192, users: 1, seqs: 32}).fits("fits, no headroom")}
		}},
	{ID: "4.33", Claim: "weights in INT4 (GPTQ)", Verdict: Depends, Why: "On the file: scales, indices, and 16-bit embedding and head.",
		Find: func(c *calc) []Finding {
			return []Finding{c.when("codes only", said("35", gb), c.weights(70e9, 0.5)),
				c.when("GPTQ file", said("35", gb), c.stored(l70, "gptq"))}
		}},
	{ID: "4.34", Claim: "which fit it with ease", Verdict: Right, Why: "{0} with one user at 8k.",
		Find: func(c *calc) []Finding {
			return []Finding{c.fit(ask{model: l70, weights: "gptq", on: h100, ctx: 8192, users: 1}).fits("comfortable")}
		}},
	{ID: "4.35", Claim: "KV cache per token", Verdict: UnitSlip,
		Best: "The cache of a 70B takes 320 KiB a token and 2.5 GiB for 8k: read as KB and GB, both are too small by 2 and 7 %.",
		Why:  "327,680 bytes.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(said("320", kb), c.fit(ask{model: l70, engine: "generic", ctx: 8192, users: 1}).perToken())}
		}},
	{ID: "4.36", Claim: "KV cache of a request of 8k", Verdict: UnitSlip, Why: "2.68 GB.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(said("2.5", gb), c.fit(ask{model: l70, engine: "generic", ctx: 8192, users: 1}).item("kv_cache"))}
		}},
	{ID: "4.37", Claim: "requests of 8k at once", Verdict: Depends,
		Best: "{0} users on paper are {1} in vLLM: scales and 16-bit embeddings, the sampler, graphs, and the part of the card that it " +
			"leaves alone.",
		Why: "On what else is on the card. As written the sum mixes GB and GiB and leaves nothing for scales, activations, graphs and " +
			"the part of the card that vLLM does not touch. (The formula as printed adds 35 GB to a number of requests.)",
		Find: func(c *calc) []Finding {
			paper := c.Floor(c.Div(c.Sub(c.given("card", 80), c.given("weights", 35)), c.given("per_request", 2.5)))
			per := c.fit(ask{model: l70, engine: "generic", ctx: 8192, users: 1}).item("kv_cache")
			bytes := c.Floor(c.Div(c.Sub(c.memory(h100), c.stored(l70, "gptq")), per))
			return []Finding{c.when("no overhead", said("18", plain), paper),
				c.when("vLLM", said("18", plain), c.fit(ask{model: l70, weights: "gptq", on: h100, ctx: 8192, users: 1}).users()),
				c.shown("no overhead, in bytes", plain, bytes)}
		}},
	{ID: "4.38", Claim: "and with the cache in INT8", Verdict: Depends, Why: "As 4.37. vLLM's 8-bit cache is FP8, of the same size.",
		Find: func(c *calc) []Finding {
			paper := c.Floor(c.Div(c.Sub(c.given("card", 80), c.given("weights", 35)), c.given("per_request", 1.25)))
			return []Finding{c.when("no overhead", said("36", plain), paper),
				c.when("vLLM", said("36", plain),
					c.fit(ask{model: l70, weights: "gptq", kv: "fp8", on: h100, ctx: 8192, users: 1}).users())}
		}},
}

var equationQuestions = []Row{
	{ID: "4.39", Claim: "weights saved by INT4", Verdict: Depends,
		Why: "On the vocabulary's share: 3.5 × of a 70B, 2.8 × of an 8B whose embedding and head are an eighth of it.",
		Find: func(c *calc) []Finding {
			return []Finding{c.when("70B", said("4", times), shrink(c, l70, "gptq")), c.when("8B", said("4", times), shrink(c, l8, "gptq"))}
		}},
	{ID: "4.40", Claim: "perplexity that it costs", Verdict: Wrong,
		Why: "Published for Llama 2 70B: 3.3 % with GPTQ, 2.7 % with AWQ, 1.2 % with Q4_K_M. Llama 2 7B lost 2.9, 2.4 and 1.4 %.",
		Find: func(c *calc) []Finding {
			loss := func(name string, to, from float64, source string) ledger.Num {
				return c.Sub(c.Div(c.In(name, to, "published: "+source), c.In("full", from, "")), c.Lit(1))
			}
			return []Finding{c.is(about("0.5", pct), loss("gptq", 3.43, 3.32, "mit-han-lab/omniserve")),
				c.is(about("0.5", pct), loss("q4_k_m", 3.4725, 3.4313, "llama.cpp, examples/perplexity"))}
		}},
	{ID: "4.41", Claim: "activations that checkpoints save", Verdict: Depends,
		Why: "As 4.23: 4 by counting layer outputs, 19 with a checkpoint at each of a 70B's 80 layers.",
		Find: func(c *calc) []Finding {
			layers, whole := c.given("layers", 80), c.saved(l70)
			kept := c.Add(c.Mul(layers, c.given("hidden", 8192), c.element(dtype.BF16)), whole)
			return []Finding{c.when("outputs, every 4", span("4", "8", times), c.Div(layers, c.Div(layers, c.given("every", 4)))),
				c.when("every layer", span("4", "8", times), c.Div(c.Mul(layers, whole), kept))}
		}},
	{ID: "4.42", Claim: "cache saved by FP8 or INT8", Verdict: Right, Why: "One byte for two.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(said("2", times), c.Div(c.element(dtype.F16), c.element(dtype.FP8E4M3)))}
		}},
	{ID: "4.43", Claim: "Adam's state against weights in FP32", Verdict: Right,
		Why: "Two FP32 numbers for one. Against the 16-bit weights that are actually there it is 4 ×.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(said("2", times), c.Div(c.Mul(c.given("moments", 2), c.element(dtype.F32)), c.element(dtype.F32)))}
		}},
	{ID: "4.44", Claim: "training in all, in weights", Verdict: Wrong,
		Why: "16 bytes per parameter are 8 times weights of 2 bytes. The 16 has lost its unit on the way.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(about("16", times), c.Div(c.withCopy().each(), c.given("weight", 2)))}
		}},
	{ID: "4.45", Claim: "inference in all, in weights, without the cache", Verdict: Right,
		Why: "With vLLM's own needs, for a 70B on two H100.",
		Find: func(c *calc) []Finding {
			a := c.fit(ask{model: l70, weights: "bf16", on: "2x" + h100, ctx: 8192, users: 1})
			return []Finding{c.is(about("1", times), c.Div(c.Sub(a.needed(), a.item("kv_cache")), a.item("weights")))}
		}},
	{ID: "4.46", Claim: "where n² begins to dominate a 70B", Verdict: Depends,
		Why: "On what it must outgrow. One layer's scores pass its other activations at 3k tokens; the scores of all layers pass the " +
			"training states at 10k.",
		Find: func(c *calc) []Finding {
			// crossings of a n² with b n, and of a n² with b: solved for n
			perPair := c.Mul(c.given("heads", 64), c.element(dtype.F16))
			all := c.Div(c.Mul(c.given("parameters", 70e9), states(c, 2, 2, 4, 8)), c.Mul(c.given("layers", 80), perPair))
			return []Finding{c.when("other activations", about("8,192", tokens), c.Div(c.saved(l70), perPair)),
				c.when("all states", about("8,192", tokens), c.root(all))}
		}},
	{ID: "4.47", Claim: "batch 1: no reuse to speak of", Verdict: Right,
		Why: "One FLOP for each byte read; an H100 could do 295 meanwhile.",
		Find: func(c *calc) []Finding {
			flop, read := c.traffic(l70, "bf16", 1, 1024)
			ridge := c.Div(c.peak(h100, "bf16"), c.bandwidth(h100))
			return []Finding{c.is(most("below the ridge", ridge.V, perB), c.Div(flop, read)), c.shown("the ridge of an H100", perB, ridge)}
		}},
}

// shrink is how much smaller than 16 bits a recipe makes a model.
func shrink(c *calc, id, recipe string) ledger.Num {
	return c.Div(c.stored(id, "bf16"), c.stored(id, recipe))
}
