package examples

import (
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/ledger"
)

// Devices and models that many rows speak of.
const (
	h100     = "h100-sxm-80gb"
	h100PCIe = "h100-pcie-80gb" // the H100 whose caches were measured in public
	a100     = "a100-sxm-80gb"
	a100half = "a100-sxm-40gb"
	l70      = "llama-3-70b"
	l8       = "llama-3.1-8b"
	l7       = "llama-2-7b"
)

// wall is the second document.
var wall = Document{
	Number: 2,
	Title:  "Why memory systems matter in large language models",
	About: "A long article with a table or a worked sum for every point. The arithmetic is mostly careful; what goes\n" +
		"wrong is which number goes in: a sparse peak, a forgotten read, a cache that shrank on the way.",
	Sections: []Section{
		{"The wall", wallPeak},
		{"Weights and KV cache", wallWeights},
		{"Training state and attention", wallAttention},
		{"Tokens per second", wallSpeed},
		{"Techniques", wallTechniques},
		{"The memory hierarchy of an H100", wallHierarchy},
		{"Offloading, and 70B on two GPUs", wallCase},
		{"What comes next", wallFuture},
	},
}

var wallPeak = []Row{
	{ID: "2.1", Claim: "H100 in FP16, \"nearly 2 quadrillion\" a second", Verdict: Wrong,
		Best: "1,979 TFLOP/s is what an H100 does when half of the weights are zeros. Dense it is 989.",
		Why:  "This is the rate with 2:4 sparsity, which no ordinary model uses. Dense it is half.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(said("1,979", tflops), c.peak(h100, "fp16")), c.is(about("2,000", tflops), c.peak(h100, "fp16"))}
		}},
	{ID: "2.2", Claim: "share of the peak that serving a 70B reaches", Verdict: Depends,
		Why: "On the batch. While weights stream in at full bandwidth, each 2-byte weight does 2 FLOP per sequence: memory allows 0.3 % " +
			"of the peak for one sequence, a tenth for 32.",
		Find: func(c *calc) []Finding {
			use := func(batch float64) ledger.Num {
				return c.Div(c.Mul(c.given("batch", batch), c.bandwidth(h100),
					c.Div(c.given("flop_per_weight", 2), c.given("bytes_per_weight", 2))), c.peak(h100, "bf16"))
			}
			return []Finding{c.when("batch 1", span("10", "20", pct), use(1)), c.when("batch 32", span("10", "20", pct), use(32))}
		}},
	{ID: "2.3", Claim: "H100 SXM, memory bandwidth", Verdict: Right,
		Why:  "The datasheet's figure. Measured reads reach 87 (A100) to 95 % (H100 PCIe) of such figures.",
		Find: func(c *calc) []Finding { return []Finding{c.is(said("3.35", tbs), c.bandwidth(h100))} }},
	{ID: "2.4", Claim: "reading 140 GB of weights once", Verdict: Right,
		Why: "The floor under every decode step at batch 1, and the most useful division in this field.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(said("42", millis), c.Div(c.given("weights", 140e9), c.bandwidth(h100)))}
		}},
	{ID: "2.5", Claim: "work that fits in those 42 ms", Verdict: Wrong,
		Why: "The sum carries the sparse peak on, so it is twice too large. And a rate times a time is a count: TFLOP, not TFLOPS.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(said("83", tflop), c.Mul(c.peak(h100, "fp16"), c.given("seconds", 0.042)))}
		}},
}

var wallWeights = []Row{
	{ID: "2.6", Claim: "bytes: FP16, BF16, FP32, INT8, INT4", Verdict: Right,
		Why: "By definition. Stored INT4 carries scales too: 0.52 bytes with groups of 128.",
		Find: func(c *calc) []Finding {
			return []Finding{
				c.is(said("2", bytesU), c.element(dtype.F16)), c.is(said("2", bytesU), c.element(dtype.BF16)),
				c.is(said("4", bytesU), c.element(dtype.F32)),
				c.is(said("1", bytesU), c.element(dtype.I8)), c.is(said("0.5", bytesU), c.element(dtype.I4))}
		}},
	{ID: "2.7", Claim: "FP16 weights of 7B, 13B, 32B, 70B, 130B, 405B", Verdict: Right,
		Why: "Twice the name. The real Llama 3.1 405B has 405.85 B parameters.",
		Find: func(c *calc) []Finding {
			return []Finding{
				c.is(said("14", gb), c.weights(7e9, 2)), c.is(said("26", gb), c.weights(13e9, 2)), c.is(said("64", gb), c.weights(32e9, 2)),
				c.is(said("140", gb), c.weights(70e9, 2)), c.is(said("260", gb), c.weights(130e9, 2)),
				c.is(said("810", gb), c.weights(405e9, 2)),
				c.shown("Llama 3.1 405B", gb, c.stored("llama-3.1-405b", "bf16"))}
		}},
	{ID: "2.8", Claim: "memory of H100, A100 (two sizes), RTX 4090", Verdict: UnitSlip,
		Best: "Cards are sold in GiB and labelled GB: an \"80 GB\" H100 has 85.9 GB, of which a program sees 85.0.",
		Why:  "All four are binary. The difference is 7 %: more than most activations.",
		Find: func(c *calc) []Finding {
			return []Finding{
				c.is(said("80", gb), c.memory(h100)), c.is(said("40", gb), c.memory(a100half)), c.is(said("80", gb), c.memory(a100)),
				c.is(said("24", gb), c.memory("rtx-4090")),
				c.shown("H100, seen by a program", gb, c.usable(h100))}
		}},
	{ID: "2.9", Claim: "a 70B takes several GPUs, or hard quantisation", Verdict: Stale,
		Why: "True of 80 GB cards. It needs {2} in BF16 with a user at 8k, and cards of 192 GB and more have that.",
		Find: func(c *calc) []Finding {
			now := c.fit(ask{model: l70, weights: "bf16", on: "mi300x", ctx: 8192, users: 1})
			several := most("does not fit one", float64(now.first().Needed), gb)
			return []Finding{c.when("H100, 2022", several, c.usable(h100)), c.when("MI300X, 2023", several, c.usable("mi300x")),
				c.shown("70B at 8k on one MI300X", gb, now.needed())}
		}},
	{ID: "2.10", Claim: "KV cache of a 70B with 8 KV heads, per token", Verdict: Right,
		Why: "2 × 80 layers × 8 heads × 128 × 2 bytes. All layers together, both keys and values.",
		Find: func(c *calc) []Finding {
			per := c.fit(ask{model: l70, engine: "generic", ctx: 4096, users: 1}).perToken()
			return []Finding{c.is(said("327,680", bytesU), per), c.is(said("0.33", mb), per),
				c.shown("by hand", bytesU, c.Mul(c.Lit(2), c.given("layers", 80), c.given("kv_heads", 8), c.given("head_dim", 128),
					c.given("bytes", 2)))}
		}},
	{ID: "2.11", Claim: "KV cache of 32 sequences of 4,096 tokens", Verdict: Right,
		Why: "It is also exactly 40 GiB.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(said("43", gb), c.fit(ask{model: l70, engine: "generic", ctx: 4096, users: 32}).item("kv_cache"))}
		}},
	{ID: "2.12", Claim: "the cache can outgrow the weights", Verdict: Depends,
		Why: "On the number of tokens in flight. The cache just computed is {0} the weights; from about 430,000 tokens on the claim " +
			"is true.",
		Find: func(c *calc) []Finding {
			more := least("more than the weights", 1, times)
			ratio := func(users int64) ledger.Num {
				return c.Div(c.fit(ask{model: l70, engine: "generic", ctx: 4096, users: users}).item("kv_cache"), c.stored(l70, "bf16"))
			}
			return []Finding{c.when("32 × 4k", more, ratio(32)), c.when("128 × 4k", more, ratio(128))}
		}},
}

var wallAttention = []Row{
	{ID: "2.13", Claim: "Adam's state per parameter", Verdict: Right,
		Why: "Momentum and variance, each in FP32.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(said("8", bytesU), c.Mul(c.given("moments", 2), c.element(dtype.F32)))}
		}},
	{ID: "2.14", Claim: "7B: weights, gradients, momentum, variance", Verdict: Right,
		Why: "Two and two bytes, four and four.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(said("14", gb), c.weights(7e9, 2)), c.is(said("14", gb), c.weights(7e9, 2)),
				c.is(said("28", gb), c.weights(7e9, 4)), c.is(said("28", gb), c.weights(7e9, 4))}
		}},
	{ID: "2.15", Claim: "and that is the least a 7B needs to train", Verdict: Depends,
		Why: "On the recipe. Mixed precision keeps an FP32 copy of the weights as well; pure BF16 with BF16 moments needs 56 GB.",
		Find: func(c *calc) []Finding {
			n := c.given("parameters", 7e9)
			return []Finding{
				c.when("FP32 moments", said("84", gb), c.Mul(n, c.wideMoments().each())),
				c.when("with master copy", said("84", gb), c.Mul(n, c.withCopy().each())),
				c.when("all in BF16", said("84", gb), c.Mul(n, c.allBF16().each()))}
		}},
	{ID: "2.16", Claim: "attention memory: O(n²) written out, O(n) with FlashAttention", Verdict: Right,
		Why: "Twice the tokens: four times the scores, but twice the outputs and statistics.",
		Find: func(c *calc) []Finding {
			scores := func(n float64) ledger.Num { return c.Mul(c.given("n", n), c.given("n", n)) }
			rows := func(n float64) ledger.Num { return c.Mul(c.given("n", n), c.given("head_dim", 128)) }
			return []Finding{c.is(between("n²: 4×", 3.99, 4.01, times), c.Div(scores(8192), scores(4096))),
				c.is(between("n: 2×", 1.99, 2.01, times), c.Div(rows(8192), rows(4096)))}
		}},
	{ID: "2.17", Claim: "scores of 32 sequences × 32 heads × 4,096²", Verdict: Right,
		Why: "For one layer, in FP16. Exactly 32 GiB.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(said("34", gb), scoreBytes(c, 32, 32, 4096, 2))}
		}},
	{ID: "2.18", Claim: "the same at 64k tokens", Verdict: Depends,
		Why: "On the batch. One sequence takes a quarter of a terabyte for each layer, the batch of 32 of the line before takes 8.8 TB.",
		Find: func(c *calc) []Finding {
			s := least("terabytes", 1e12, tb)
			return []Finding{c.when("batch 1", s, scoreBytes(c, 1, 32, 65536, 2)), c.when("batch 32", s, scoreBytes(c, 32, 32, 65536, 2))}
		}},
	{ID: "2.19", Claim: "FlashAttention at 64k tokens", Verdict: Depends,
		Why: "On what is counted. The kernel's own extra is one FP32 number per token and head; its output of 32 heads is 64 times that.",
		Find: func(c *calc) []Finding {
			n, h := c.given("tokens", 65536), c.given("heads", 32)
			return []Finding{
				c.when("statistics of a layer", about("100", mb), c.Mul(n, h, c.element(dtype.F32))),
				c.when("output of a layer", about("100", mb), c.Mul(n, h, c.given("head_dim", 128), c.element(dtype.F16)))}
		}},
	{ID: "2.20", Claim: "FlashAttention 2 and 3 against standard attention", Verdict: Right,
		Best: "FlashAttention does the same arithmetic and moves 50 times fewer bytes at 4k, 800 times at 64k. It gains only what its " +
			"kernel then reaches of the peak.",
		Why: "Standard attention moves its scores four times and is bound by that; the fused kernel is bound by arithmetic, so the gain " +
			"is its share of the peak: {0} at the 35 % that version 2 reaches on an H100, {1} at the 75 % of version 3 " +
			"(arXiv:2407.08608). The length hardly matters.",
		Find: func(c *calc) []Finding {
			s := span("2", "3", times)
			return []Finding{
				c.when("version 2, 16k", s, c.flashGain(l8, 16384, c.given("of_peak", 0.35))),
				c.when("version 3, 16k", s, c.flashGain(l8, 16384, c.given("of_peak", 0.75))),
				c.shown("version 3, 1k", times, c.flashGain(l8, 1024, c.given("of_peak", 0.75))),
				c.shown("bytes moved, 1k", times, c.trafficShare(l8, 1024)),
				c.shown("bytes moved, 4k", times, c.trafficShare(l8, 4096)),
				c.shown("bytes moved, 64k", times, c.trafficShare(l8, 65536))}
		}},
}

// scoreBytes is the attention matrix of one layer.
func scoreBytes(c *calc, batch, heads, n, bytes float64) ledger.Num {
	return c.Mul(c.given("batch", batch), c.given("heads", heads), c.given("tokens", n), c.given("tokens", n), c.given("bytes", bytes))
}

var wallSpeed = []Row{
	{ID: "2.21", Claim: "most tokens per second of a 70B on one H100", Verdict: Right,
		Why: "One over the 42 ms. A bound for one sequence: batches read the weights once for all, and the 140 GB do not fit on that card.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(said("24", tokps), c.Div(c.bandwidth(h100), c.given("weights", 140e9)))}
		}},
	{ID: "2.22", Claim: "below 1B parameters decoding is compute-bound", Verdict: Wrong,
		Best: "Small models are as memory-bound as large ones: decoding does one FLOP per byte at any size, and an H100 wants 295.",
		Why: "Size cancels out: a model with half the weights does half the work. Small models are bound by launches, long prompts and " +
			"large batches by arithmetic.",
		Find: func(c *calc) []Finding {
			flop, read := c.traffic("qwen2.5-0.5b", "bf16", 1, 1024)
			ridge := c.Div(c.peak(h100, "bf16"), c.bandwidth(h100))
			return []Finding{c.is(least("above the ridge", ridge.V, perB), c.Div(flop, read)),
				c.shown("the ridge of an H100", perB, ridge),
				c.shown("of a 1B's token, waiting for the host: transformers", pct,
					c.waiting(c.stream("llama-3.2-1b", "transformers", h100).Parts, "llama-3.2-1b with transformers on "+h100)),
				c.shown("vLLM", pct, c.waiting(c.served("llama-3.2-1b", "bf16", h100, 1).Parts, "llama-3.2-1b with vLLM on "+h100)),
				c.shown("vLLM, 70B on four cards", pct, c.waiting(c.served(l70, "bf16", h100, 4).Parts, l70+" with vLLM on 4 "+h100)),
				c.shown("compute-bound from users, 1B", plain, c.computeBound("llama-3.2-1b", h100)),
				c.shown("and 70B", plain, c.computeBound(l70, h100))}
		}},
	speedRow("2.23", "1B on an H100", "llama-3.2-1b", aboutSpan("200", "300", tokps),
		"Possible, and bound by launches, not by memory: a program that launches each kernel from Python stays below, one that replays "+
			"them passes it."),
	speedRow("2.24", "7B on an H100", l7, aboutSpan("80", "120", tokps),
		"Possible, and stale: more than a program that launches from Python does, less than one of today."),
	speedRow("2.25", "13B on an H100", "llama-2-13b", aboutSpan("45", "60", tokps), "Possible, and stale as the 7B."),
	{ID: "2.26", Claim: "70B on an H100", Verdict: Depends,
		Why: "Impossible on one card, whose bandwidth would allow 24, because it cannot hold them; the two that can allow 47.",
		Find: func(c *calc) []Finding {
			w := c.stored(l70, "bf16")
			return []Finding{
				c.when("one card, which cannot hold it", aboutSpan("20", "30", tokps), c.Div(c.bandwidth(h100), w)),
				c.when("two cards", aboutSpan("20", "30", tokps), c.Div(c.Mul(c.given("cards", 2), c.bandwidth(h100)), w)),
				c.shown("two cards, vLLM", tokps, c.serves(l70, "bf16", h100, 2))}
		}},
	{ID: "2.27", Claim: "405B, quantised, on an H100", Verdict: Wrong,
		Why: "Impossible. In 4 bits it takes 217 GB, and what the card cannot hold crosses PCIe for every token: no faster than that. " +
			"Four cards hold it.",
		Find: func(c *calc) []Finding {
			w, held := c.stored("llama-3.1-405b", "awq"), c.usable(h100)
			crossing := c.Div(c.Sub(w, held), c.pcie(h100))
			return []Finding{c.when("one card, at most", aboutSpan("5", "10", tokps),
				c.Div(c.Lit(1), c.Add(crossing, c.Div(held, c.bandwidth(h100))))),
				c.shown("weights in 4 bits", gb, w),
				c.shown("four cards, at most", tokps, c.Div(c.Mul(c.given("cards", 4), c.bandwidth(h100)), w)),
				c.shown("eight cards in FP8, vLLM", tokps, c.serves("llama-3.1-405b", "fp8", h100, 8))}
		}},
	{ID: "2.28", Claim: "that table: speed falls as size grows, inversely", Verdict: Wrong,
		Why: "From 1B to 70B it falls to a tenth, not to a seventieth. By its own numbers the small models are bound by something else.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(between("70×", 65, 75, times), c.Div(c.given("tokens_at_1B", 250), c.given("tokens_at_70B", 25)))}
		}},
}

var wallTechniques = []Row{
	{ID: "2.29", Claim: "INT8 and INT4 against FP16", Verdict: Right,
		Why: "For one large matrix, scales included. Whole models shrink less: 2.30.",
		Find: func(c *calc) []Finding {
			return []Finding{
				c.is(said("2", times), c.Div(c.width(dtype.Of(dtype.F16)), c.width(dtype.Int8Channel))),
				c.is(said("4", times), c.Div(c.width(dtype.Of(dtype.F16)), c.width(dtype.AWQ(128))))}
		}},
	{ID: "2.30", Claim: "7B in INT4", Verdict: Depends,
		Why: "On whether every number shrinks. Real files keep embeddings and head in 16 bits and add scales.",
		Find: func(c *calc) []Finding {
			return []Finding{c.when("codes only", said("3.5", gb), c.weights(7e9, 0.5)),
				c.when("AWQ file, Llama 2 7B", said("3.5", gb), c.stored(l7, "awq"))}
		}},
	{ID: "2.31", Claim: "and so much less than FP16", Verdict: Depends,
		Why: "As 2.30; the larger the vocabulary, the less is saved.",
		Find: func(c *calc) []Finding {
			less := func(id string) ledger.Num { return c.Sub(c.Lit(1), c.Div(c.stored(id, "awq"), c.stored(id, "bf16"))) }
			return []Finding{
				c.when("codes only", said("75", pct), c.Sub(c.Lit(1), c.Div(c.element(dtype.I4), c.element(dtype.F16)))),
				c.when("Llama 2 7B", said("75", pct), less(l7)), c.when("Llama 3.1 8B", said("75", pct), less(l8))}
		}},
	{ID: "2.32", Claim: "perplexity on WikiText-2 in FP16", Verdict: Depends,
		Why: "On the length of the windows. Published for Llama 2 7B: 5.47 over 2,048 tokens, 5.79 over llama.cpp's 512.",
		Find: func(c *calc) []Finding {
			return []Finding{
				c.when("2,048 tokens", said("5.50", plain), c.In("perplexity", 5.47, "published: mit-han-lab/omniserve")),
				c.when("512 tokens", said("5.50", plain), c.In("perplexity", 5.794552, "published: llama.cpp, examples/perplexity"))}
		}},
	{ID: "2.33", Claim: "perplexity in INT8", Verdict: Depends,
		Why: "On the method: both figures are SmoothQuant's, by two groups.",
		Find: func(c *calc) []Finding {
			return []Finding{
				c.when("its authors", said("5.52", plain), c.In("perplexity", 5.515, "published: mit-han-lab/smoothquant")),
				c.when("others", said("5.52", plain), c.In("perplexity", 5.54, "published: mit-han-lab/omniserve"))}
		}},
	{ID: "2.34", Claim: "what GPTQ in 4 bits loses (5.50 to 5.58)", Verdict: Wrong,
		Why: "Published for Llama 2 7B with groups of 128: from 5.47 to 5.63, twice the loss. Without groups it is much more.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(said("0.08", plain),
				c.Sub(c.In("gptq", 5.63, "published: mit-han-lab/omniserve"), c.In("fp16", 5.47, "")))}
		}},
	{ID: "2.35", Claim: "what naive INT4 loses (5.50 to 6.20)", Verdict: Depends,
		Why: "On the model. Plain rounding per channel cost Llama 7B 0.61 and Llama 2 7B 1.7.",
		Find: func(c *calc) []Finding {
			return []Finding{
				c.when("Llama 7B", said("0.70", plain), c.Sub(c.In("rounded", 6.29, "published: IST-DASLab/gptq"), c.In("fp16", 5.68, ""))),
				c.when("Llama 2 7B", said("0.70", plain),
					c.Sub(c.In("rounded", 7.2, "published: facebookresearch/SpinQuant"), c.In("fp16", 5.5, "")))}
		}},
	{ID: "2.36", Claim: "cache wasted by reserving the full length", Verdict: Depends,
		Why: "On how long requests get against the reservation.",
		Find: func(c *calc) []Finding {
			waste := func(used, reserved float64) ledger.Num {
				return c.Sub(c.Lit(1), c.Div(c.given("mean_length", used), c.given("reserved", reserved)))
			}
			return []Finding{c.when("1,300 of 2,048 used", span("30", "50", pct), waste(1300, 2048)),
				c.when("1,000 of 8,192 used", span("30", "50", pct), waste(1000, 8192))}
		}},
	{ID: "2.37", Claim: "cache wasted with pages", Verdict: Depends,
		Why: "On the length. Half of the last page is empty: 7.5 of 16 tokens on average, which is much for a hundred tokens and nothing " +
			"for a thousand.",
		Find: func(c *calc) []Finding {
			waste := func(tokens float64) ledger.Num {
				empty := c.Div(c.Sub(c.given("page", 16), c.Lit(1)), c.Lit(2))
				return c.Div(empty, c.Add(c.given("tokens", tokens), empty))
			}
			return []Finding{c.when("100 tokens", span("5", "10", pct), waste(100)),
				c.when("1,024 tokens", span("5", "10", pct), waste(1024))}
		}},
	{ID: "2.38", Claim: "throughput that pages buy", Verdict: Later, Waits: Simulation,
		Why:  "To be computed: the same requests through a server with and without pages, and what each wastes.",
		Find: func(c *calc) []Finding { return []Finding{c.waits(span("2", "4", times))} }},
	{ID: "2.39", Claim: "throughput that continuous batching buys", Verdict: Later, Waits: Simulation,
		Why:  "To be computed: the same requests in static batches and joining as they come.",
		Find: func(c *calc) []Finding { return []Finding{c.waits(span("2", "5", times))} }},
	{ID: "2.40", Claim: "draft model of 1B", Verdict: Right,
		Why:  "Twice the name again.",
		Find: func(c *calc) []Finding { return []Finding{c.is(said("2", gb), c.weights(1e9, 2))} }},
	{ID: "2.41", Claim: "reads per token with 4 drafted ones", Verdict: Wrong,
		Why: "The draft model runs four times, so its 2 GB are read four times.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(said("35.5", gb), drafted(c, c.given("tokens", 4)))}
		}},
	{ID: "2.42", Claim: "bandwidth saved by that", Verdict: Depends,
		Why: "On how many drafts are accepted. Of four, at 80 % each, 3.4 tokens come out of a step, the target's own included; if none " +
			"ever failed it would be five.",
		Find: func(c *calc) []Finding {
			target := c.given("target", 140e9)
			a := c.given("accepted", 0.8)
			// 1 + a + a² + a³ + a⁴: a draft counts only while all before it were accepted
			tokens := c.Lit(1)
			for range 4 {
				tokens = c.Add(c.Lit(1), c.Mul(a, tokens))
			}
			return []Finding{c.when("4 tokens a step, as counted", said("4", times), c.Div(target, drafted(c, c.given("tokens", 4)))),
				c.when("80 % accepted", said("4", times), c.Div(target, drafted(c, tokens))),
				c.shown("Llama 3 70B and 3.2 1B at 1k, caches read too", gb, draftedReal(c, tokens))}
		}},
	{ID: "2.43", Claim: "Mixtral 8x7B: parameters, and in FP16", Verdict: Right,
		Why: "Not 8 × 7: attention is shared. The 94 GB are twice the rounded 47.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(said("47", params), c.params("mixtral-8x7b")), c.is(said("94", gb), c.weights(47e9, 2)),
				c.shown("exactly", gb, c.stored("mixtral-8x7b", "bf16"))}
		}},
	{ID: "2.44", Claim: "Mixtral's active parameters, 2 of 8 experts (and 24 GB)", Verdict: Wrong,
		Why: "Two experts and everything that is shared are 13 billion, and twice that in bytes. That this happens to be 24 GiB is chance.",
		Find: func(c *calc) []Finding {
			n := c.active("mixtral-8x7b")
			return []Finding{c.is(about("12", params), n), c.shown("in FP16", gb, c.Mul(n, c.element(dtype.F16)))}
		}},
	{ID: "2.45", Claim: "memory that is active, of the 94 GB", Verdict: Depends,
		Why: "On the batch. One token reads a quarter; 32 tokens choose every expert between them. And all of it has to be held.",
		Find: func(c *calc) []Finding {
			read := func(batch int64) ledger.Num {
				_, n := c.traffic("mixtral-8x7b", "bf16", batch, 1)
				return n
			}
			return []Finding{c.when("1 token", about("25", gb), read(1)), c.when("32 tokens", about("25", gb), read(32))}
		}},
}

// drafted is what a step with four drafts of a 1B for a 70B reads, per token that comes out.
func drafted(c *calc, tokens ledger.Num) ledger.Num {
	return c.Div(c.Add(c.given("target", 140e9), c.Mul(c.given("drafts", 4), c.given("draft", 2e9))), tokens)
}

// draftedReal is drafted with the bytes that two models of the catalog read, caches at 1k among them.
func draftedReal(c *calc, tokens ledger.Num) ledger.Num {
	_, target := c.traffic(l70, "bf16", 1, 1024)
	_, draft := c.traffic("llama-3.2-1b", "bf16", 1, 1024)
	return c.Div(c.Add(target, c.Mul(c.given("drafts", 4), draft)), tokens)
}

var wallHierarchy = []Row{
	{ID: "2.46", Claim: "L1, per SM", Verdict: UnitSlip, Why: "Caches are binary.",
		Find: func(c *calc) []Finding { return []Finding{c.is(said("256", kb), c.levelSize(h100, "l1"))} }},
	{ID: "2.47", Claim: "L1, latency", Verdict: Wrong, Why: "A chase of pointers takes twice as long or more.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(span("10", "20", cycles), c.levelCycles(h100PCIe, "l1"))}
		}},
	{ID: "2.48", Claim: "L1, all SMs together", Verdict: Wrong,
		Why:  "Measured on the PCIe card and scaled to the SMs of the SXM card; a higher clock adds a little, not a factor of three.",
		Find: func(c *calc) []Finding { return []Finding{c.is(said("80", tbs), perSM(c, "l1"))} }},
	{ID: "2.49", Claim: "L2", Verdict: UnitSlip, Why: "50 MiB.",
		Find: func(c *calc) []Finding { return []Finding{c.is(said("50", mb), c.levelSize(h100, "l2"))} }},
	{ID: "2.50", Claim: "L2, latency", Verdict: Right, Why: "Of its near half.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(span("200", "300", cycles), c.levelCycles(h100PCIe, "l2"))}
		}},
	{ID: "2.51", Claim: "L2, bandwidth", Verdict: Wrong, Why: "Measured reads, scaled as in 2.48.",
		Find: func(c *calc) []Finding { return []Finding{c.is(said("12", tbs), perSM(c, "l2"))} }},
	{ID: "2.52", Claim: "HBM, latency", Verdict: Right, Why: "Measured on the PCIe card.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(span("500", "800", cycles), c.levelCycles(h100PCIe, "device"))}
		}},
	{ID: "2.53", Claim: "host memory, up to", Verdict: Right,
		Why: "What eight H100 usually come with; two sockets of today take up to 12 TB.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(said("2", tb), fact(c, "host", c.node("dgx-h100").Host.Memory, "dgx-h100"))}
		}},
	{ID: "2.54", Claim: "host memory over PCIe, latency", Verdict: Depends,
		Why: "On load or copy. A load over a coherent link takes under a microsecond, a call of cudaMemcpy tens of them.",
		Find: func(c *calc) []Finding {
			return []Finding{
				c.when("load over NVLink-C2C, GH200", span("10", "20", micros), c.levelLatency("gh200-96gb", "c2c")),
				c.when("copy of 1 kB, V100", span("10", "20", micros), c.In("copy", 30e-6, "te42kyfo/gpu-benches, measured"))}
		}},
	{ID: "2.55", Claim: "host memory over PCIe, bandwidth", Verdict: Right,
		Why: "What 16 lanes of PCIe 5 signal in one direction; 63.0 after coding. Grace Hopper, which the article puts behind the same " +
			"link, has NVLink-C2C: 450 GB/s each way.",
		Find: func(c *calc) []Finding {
			return []Finding{
				c.is(said("64", gbs), c.Div(c.Mul(c.given("transfers_per_second", 32e9), c.given("lanes", 16)), c.Lit(8))),
				c.shown("after coding", gbs, c.pcie(h100))}
		}},
	{ID: "2.56", Claim: "NVMe, size of a drive", Verdict: Right, Why: "A DGX H100 has eight.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(span("2", "8", tb), c.Div(fact(c, "nvme", c.node("dgx-h100").NVMe, "dgx-h100"), c.given("drives", 8)))}
		}},
	{ID: "2.57", Claim: "NVMe, latency", Verdict: Depends,
		Why: "On the queue. One mebibyte alone needs 0.15 ms to come over; with 16 jobs at work a read took 1.4 ms.",
		Find: func(c *calc) []Finding {
			return []Finding{
				c.when("1 MiB, idle", span("50", "200", micros),
					c.Div(c.given("block", 1<<20), c.levelRate("samsung-pm9a3-pcie-4.0", "nvme"))),
				c.when("16 jobs", span("50", "200", micros),
					c.In("read", 1.4e-3, "stas00/ml-engineering, fio on a Samsung 980 PRO, measured"))}
		}},
	{ID: "2.58", Claim: "NVMe, bandwidth", Verdict: Right, Why: "A drive on four lanes of PCIe 4; PCIe 5 doubles it.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(said("7", gbs), c.levelRate("samsung-pm9a3-pcie-4.0", "nvme"))}
		}},
	{ID: "2.59", Claim: "HBM is slower to answer than L1", Verdict: Wrong, Why: "By the measured cycles.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(said("50", times), c.Div(c.levelCycles(h100PCIe, "device"), c.levelCycles(h100PCIe, "l1")))}
		}},
	{ID: "2.60", Claim: "host memory is slower to answer than L1", Verdict: Wrong,
		Why: "Even the article's own upper 20 µs are half of that, against the measured L1.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(said("2,000", times), c.Div(c.given("host", 20e-6), c.levelLatency(h100PCIe, "l1")))}
		}},
	{ID: "2.61", Claim: "a disk is slower to answer than L1", Verdict: Depends, Why: "On which end of the article's 50 to 200 µs.",
		Find: func(c *calc) []Finding {
			s := about("10,000", times)
			l1 := c.levelLatency(h100PCIe, "l1")
			return []Finding{c.when("200 µs", s, c.Div(c.given("disk", 200e-6), l1)), c.when("50 µs", s, c.Div(c.given("disk", 50e-6), l1))}
		}},
}

// perSM scales a rate that was measured on the H100 PCIe by the number of SMs of the SXM card.
func perSM(c *calc, of string) ledger.Num {
	return c.Mul(c.levelRate(h100PCIe, of), c.Div(fact(c, "sm", c.device(h100).SMs, h100), fact(c, "sm", c.device(h100PCIe).SMs, h100PCIe)))
}

var wallCase = []Row{
	{ID: "2.62", Claim: "70B with two layers on the GPU at a time", Verdict: Depends,
		Why: "On the context. Two layers take 3.4 GB, embedding and head 4.2, the rest is cache: {0} at 8k.",
		Find: func(c *calc) []Finding {
			return []Finding{c.when("one user at 8k", span("10", "15", gb), resident(c, 8192)),
				c.when("one user at 32k", span("10", "15", gb), resident(c, 32768))}
		}},
	{ID: "2.63", Claim: "the other 78 layers in host memory", Verdict: Wrong,
		Why: "1.71 GB a layer. By the article's own 140 GB for 80 layers it would be 136.5.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(said("130", gb), c.Mul(c.given("layers", 78), c.layer(l70), c.element(dtype.F16)))}
		}},
	{ID: "2.64", Claim: "so a 70B runs on a 24 GB GPU", Verdict: Right,
		Why: "It fits. It also reads all other layers over PCIe for every token, which takes {1}.",
		Find: func(c *calc) []Finding {
			all := c.Mul(c.given("layers", 78), c.layer(l70), c.element(dtype.F16))
			return []Finding{c.is(most("fits 24 GB", float64(c.device("rtx-4090").Usable.Value), gb), resident(c, 8192)),
				c.shown("time per token", Unit{"s", 1, 0}, c.Div(all, c.pcie("rtx-4090")))}
		}},
	{ID: "2.65", Claim: "four H100 together, two H100", Verdict: UnitSlip, Why: "80 GiB each.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(said("320", gb), c.Mul(c.given("cards", 4), c.memory(h100))),
				c.is(said("160", gb), c.Mul(c.given("cards", 2), c.memory(h100)))}
		}},
	{ID: "2.66", Claim: "70B on four: weights on each", Verdict: Right,
		Why: "Everything that matters is cut in four; norms are copied, which is nothing.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(said("35", gb), c.fit(ask{model: l70, weights: "bf16", on: "4x" + h100, ctx: 8192, users: 30}).item(
				"weights"))}
		}},
	{ID: "2.67", Claim: "KV cache on each of four", Verdict: Depends,
		Why: "On the load, which is not given: 30 users at 8k make it, the article's own batch of 32 × 4,096 makes half.",
		Find: func(c *calc) []Finding {
			kv := func(ctx, users int64) ledger.Num {
				return c.fit(ask{model: l70, weights: "bf16", on: "4x" + h100, ctx: ctx, users: users}).item("kv_cache")
			}
			return []Finding{c.when("30 × 8k", about("20", gb), kv(8192, 30)), c.when("32 × 4k", about("20", gb), kv(4096, 32))}
		}},
	{ID: "2.68", Claim: "together, on each of four", Verdict: Depends,
		Why: "On whether the engine needs room: vLLM adds activations, graphs and NCCL, and needs {1}.",
		Find: func(c *calc) []Finding {
			a := c.fit(ask{model: l70, weights: "bf16", on: "4x" + h100, ctx: 8192, users: 30})
			return []Finding{c.when("weights and cache", said("55", gb), c.Add(a.item("weights"), a.item("kv_cache"))),
				c.when("vLLM", said("55", gb), a.needed())}
		}},
	{ID: "2.69", Claim: "70B in INT4: all, and on each of two", Verdict: Depends,
		Why: "On the file, as in 2.30: 128,256 rows of embedding and head stay in 16 bits.",
		Find: func(c *calc) []Finding {
			two := c.fit(ask{model: l70, weights: "awq", on: "2x" + h100, ctx: 8192, users: 1})
			return []Finding{
				c.when("codes only", said("35", gb), c.weights(70e9, 0.5)), c.when("AWQ file", said("35", gb), c.stored(l70, "awq")),
				c.when("codes, each", said("17.5", gb), c.Div(c.weights(70e9, 0.5), c.given("cards", 2))),
				c.when("AWQ, each", said("17.5", gb), two.item("weights"))}
		}},
	{ID: "2.70", Claim: "what INT8 takes off the cache", Verdict: Right, Why: "One byte for two.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(said("50", pct), c.Sub(c.Lit(1), c.Div(c.element(dtype.I8), c.element(dtype.F16))))}
		}},
	{ID: "2.71", Claim: "that cache on each of two H100, in INT8", Verdict: Wrong,
		Best: "Halving the cache and halving the GPUs leaves each GPU where it was: 20 GB, not 10.",
		Why:  "20 GB on each of four are 80 GB. INT8 makes 40 of them, and two cards hold 20 each.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(said("10", gb), halfCache(c))}
		}},
	{ID: "2.72", Claim: "weights and cache on each of two", Verdict: Wrong, Why: "17.5 and the 20 of the line before.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(said("27.5", gb), c.Add(c.given("weights", 17.5e9), halfCache(c)))}
		}},
	{ID: "2.73", Claim: "which fits an H100 with ease", Verdict: Right,
		Why: "True of the right sum too: with real INT4 weights and vLLM's own needs it is {0}.",
		Find: func(c *calc) []Finding {
			return []Finding{c.fit(ask{model: l70, weights: "awq", kv: "fp8", on: "2x" + h100, ctx: 8192, users: 30}).fits("fits 80 GB")}
		}},
}

// resident is what two layers, the ends and the cache of one user take.
func resident(c *calc, context float64) ledger.Num {
	weights := c.Mul(c.Add(c.Mul(c.given("layers", 2), c.layer(l70)), c.ends(l70)), c.element(dtype.F16))
	return c.Add(weights, c.Mul(c.given("tokens", context), c.fit(ask{model: l70, engine: "generic", ctx: 8192, users: 1}).perToken()))
}

// halfCache moves a cache of 20 GB on each of four cards to two, in half the width.
func halfCache(c *calc) ledger.Num {
	return c.Div(c.Mul(c.given("cache", 20e9), c.given("cards", 4), c.given("int8_per_fp16", 0.5)), c.given("cards", 2))
}

var wallFuture = []Row{
	{ID: "2.74", Claim: "HBM4, bandwidth of a stack", Verdict: Wrong,
		Why: "A stack has 2,048 lines at 8 Gb/s (JESD270-4); the fastest announced device reaches 2.75 TB/s a stack.",
		Find: func(c *calc) []Finding {
			return []Finding{
				c.is(span("4", "8", tbs), c.Div(c.Mul(c.given("lines", 2048), c.given("bits_per_second", 8e9)), c.Lit(8))),
				c.is(span("4", "8", tbs), c.Div(c.bandwidth("rubin"), c.given("stacks", 8)))}
		}},
	{ID: "2.75", Claim: "HBM4, size of a stack", Verdict: Wrong,
		Why: "Sixteen dies of 32 Gbit at most (JESD270-4). The range is that of whole devices of the generation before.",
		Find: func(c *calc) []Finding {
			return []Finding{
				c.is(span("128", "256", gb), c.Div(c.Mul(c.given("dies", 16), c.given("bits", 32<<30)), c.Lit(8))),
				c.is(span("128", "256", gb), c.Div(c.memory("rubin"), c.given("stacks", 8)))}
		}},
	{ID: "2.76", Claim: "8 GPUs on 2 TB of CXL need no tensor parallelism", Verdict: Wrong,
		Why: "A pool behind PCIe 5 × 16 is read 53 times slower than HBM. Reading a 70B through it takes 2.2 s; eight GPUs read their " +
			"parts in 5 ms, which leaves time for many all-reduces.",
		Find: func(c *calc) []Finding {
			w := c.given("weights", 140e9)
			parts := c.Div(w, c.Mul(c.given("cards", 8), c.bandwidth(h100)))
			return []Finding{c.is(most("no slower", parts.V, millis), c.Div(w, c.pcie(h100))), c.shown("tensor parallel", millis, parts)}
		}},
	{ID: "2.77", Claim: "energy that computing in memory saves", Verdict: Depends,
		Why: "On the reuse. If moving data cost nothing, decoding (1 FLOP a byte) would take a 45th; work at the ridge would gain a " +
			"seventh.",
		Find: func(c *calc) []Finding {
			s := span("10", "100", times)
			move := c.In("joule_per_byte", 8*3.92e-12, "3.92 pJ a bit of HBM2: O'Connor et al., MICRO 2017")
			flop := c.Div(fact(c, "watts", c.device(h100).TDP, h100), c.peak(h100, "bf16"))
			save := func(intensity ledger.Num) ledger.Num { return c.Div(c.Add(c.Div(move, intensity), flop), flop) }
			return []Finding{c.when("decode, at most", s, save(c.given("flop_per_byte", 1))),
				c.when("at the ridge, at most", s, save(c.given("flop_per_byte", 295)))}
		}},
	{ID: "2.78", Claim: "transformers keep a KV cache of O(n²)", Verdict: Wrong,
		Why: "The cache is O(n), as the article says elsewhere; the scores are O(n²). Twice the tokens are twice the cache.",
		Find: func(c *calc) []Finding {
			kv := func(ctx int64) ledger.Num {
				return c.fit(ask{model: l70, engine: "generic", ctx: ctx, users: 1}).item("kv_cache")
			}
			return []Finding{c.is(between("n²: 4×", 3.99, 4.01, times), c.Div(kv(8192), kv(4096)))}
		}},
	{ID: "2.79", Claim: "KV cache of a 70B at 1M tokens", Verdict: Right, Why: "A million tokens; at 1,048,576 it is 344 GB, or 320 GiB.",
		Find: func(c *calc) []Finding {
			per := c.fit(ask{model: l70, engine: "generic", ctx: 8192, users: 1}).perToken()
			return []Finding{c.is(rounded("330", gb, 10), c.Mul(c.given("tokens", 1e6), per))}
		}},
	{ID: "2.80", Claim: "without FlashAttention at 1M tokens", Verdict: Depends,
		Why: "On whether the scores of all layers are alive at once, as in training, or of one, as in inference.",
		Find: func(c *calc) []Finding {
			s := least(">500 TB", 500e12, tb)
			one := scoreBytes(c, 1, 64, 1e6, 2)
			return []Finding{c.when("one layer", s, one), c.when("80 layers", s, c.Mul(c.given("layers", 80), one))}
		}},
	{ID: "2.81", Claim: "Mamba at 1M tokens", Verdict: Wrong,
		Best: "A Mamba of 2.8B keeps {1} at a million tokens. The 330 GB in the table are a transformer's.",
		Why:  "The article's next line says so itself: the state has a fixed size.",
		Find: func(c *calc) []Finding {
			n := mambaState(c, 1<<20)
			return []Finding{c.is(rounded("330", gb, 10), n), c.shown("in MB", mb, n)}
		}},
	{ID: "2.82", Claim: "recurrent models: O(1) in the context", Verdict: Right, Why: "The same bytes at 1k and at 1M.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(between("1×", 1, 1, times), c.Div(mambaState(c, 1<<20), mambaState(c, 1<<10)))}
		}},
	{ID: "2.83", Claim: "a trillion parameters are still to come", Verdict: Stale, Why: "Kimi K2 has {1} parameters, and they are public.",
		Find: func(c *calc) []Finding {
			s := most("under 1,000 billion", 1e12, params)
			return []Finding{c.when("Llama 3.1 405B, 2024", s, c.params("llama-3.1-405b")), c.when("Kimi K2, 2025", s, c.params("kimi-k2"))}
		}},
}

func mambaState(c *calc, context int64) ledger.Num {
	return c.fit(ask{model: "mamba-2.8b", engine: "generic", ctx: context, users: 1}).item("state")
}
