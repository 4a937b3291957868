package examples

import (
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/speed"
)

// notes is the fifth document.
var notes = Document{
	Number: 5,
	Title:  "GPU and hardware considerations",
	About: "Notes for an interview, with a program at the end. Right in what it multiplies, often wrong in what it leaves\n" +
		"out: gradients, master copies, 48 of 80 layers, and which way the bytes of a link go.",
	Sections: []Section{
		{"Estimating", notesEstimate},
		{"Training", notesTraining},
		{"Quantisation", notesQuant},
		{"Parallelism and ZeRO", notesParallel},
		{"Memory and links", notesLinks},
		{"The program", notesProgram},
	},
}

var notesEstimate = []Row{
	{ID: "5.1", Claim: "GB of weights = parameters × bytes / 1024³", Verdict: UnitSlip,
		Why: "Dividing by 1024³ gives GiB. The notes' own examples, 7 × 2 = 14, divide by 10⁹.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(said("13.04", gb), c.weights(7e9, 2))}
		}},
	{ID: "5.2", Claim: "bytes: FP32, BF16, FP16, INT8, INT4", Verdict: Right, Why: "By definition.",
		Find: func(c *calc) []Finding {
			return []Finding{
				c.is(said("4", bytesU), c.element(dtype.F32)), c.is(said("2", bytesU), c.element(dtype.BF16)),
				c.is(said("2", bytesU), c.element(dtype.F16)),
				c.is(said("1", bytesU), c.element(dtype.I8)), c.is(said("0.5", bytesU), c.element(dtype.I4))}
		}},
	{ID: "5.3", Claim: "bytes of NF4", Verdict: Depends,
		Why: "On double quantisation: a scale for every 64 numbers costs half a bit, and an eighth when it is quantised itself.",
		Find: func(c *calc) []Finding {
			return []Finding{c.when("double", said("0.5", bytesU), c.Div(c.width(dtype.NF4Double), c.Lit(8))),
				c.when("single", said("0.5", bytesU), c.Div(c.width(dtype.NF4Single), c.Lit(8)))}
		}},
	{ID: "5.4", Claim: "BF16 weights of 7B, 13B, 70B, 405B", Verdict: Right, Why: "Twice the name.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(said("14", gb), c.weights(7e9, 2)), c.is(said("26", gb), c.weights(13e9, 2)),
				c.is(said("140", gb), c.weights(70e9, 2)), c.is(said("810", gb), c.weights(405e9, 2))}
		}},
	{ID: "5.5", Claim: "A100 80GB that hold 405B, 10 and more", Verdict: Right,
		Why: "Ten by capacity. Tensor parallelism wants a number that divides 128 heads, so in practice it is two nodes of eight.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(said("10", plain), c.CeilDiv(c.stored("llama-3.1-405b", "bf16"), c.usable(a100)))}
		}},
	{ID: "5.6", Claim: "A100 80GB that hold 70B", Verdict: Right, Why: "{1} on each with one user at 8k.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(said("2", plain), c.CeilDiv(c.stored(l70, "bf16"), c.usable(a100))),
				c.fit(ask{model: l70, weights: "bf16", on: "2x" + a100, ctx: 8192, users: 1}).fits("fits 80 GB, each")}
		}},
	{ID: "5.7", Claim: "70B in 4 bits", Verdict: Depends, Why: "On the file, as in 4.33.",
		Find: func(c *calc) []Finding {
			return []Finding{c.when("codes only", said("35", gb), c.weights(70e9, 0.5)),
				c.when("AWQ file", said("35", gb), c.stored(l70, "awq"))}
		}},
	{ID: "5.8", Claim: "which one A100 80GB holds", Verdict: Right, Why: "With room for {1} users at 8k.",
		Find: func(c *calc) []Finding {
			a := c.fit(ask{model: l70, weights: "awq", on: a100, ctx: 8192, users: 1})
			return []Finding{a.fits("fits 80 GB"), c.shown("users at 8k", plain, a.users())}
		}},
	{ID: "5.9", Claim: "13B in BF16 on one A100 40GB", Verdict: Right, Why: "{1} with one user at 4k.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(said("26", gb), c.weights(13e9, 2)),
				c.fit(ask{model: "llama-2-13b", weights: "bf16", on: a100half, ctx: 4096, users: 1}).fits("fits 40 GB")}
		}},
}

var notesTraining = []Row{
	{ID: "5.10", Claim: "weights and Adam: 2 + 4 + 4 bytes", Verdict: Right, Why: "As a sum of these three.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(said("10", bytesU), c.Add(c.given("weight", 2), c.given("momentum", 4), c.given("variance", 4)))}
		}},
	{ID: "5.11", Claim: "things that Adam stores for each parameter", Verdict: Wrong,
		Why: "Two: momentum and variance. The weights are there without it. (With an FP32 master copy it is three, but then not the BF16 " +
			"weights.)",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(said("3", plain), c.Add(c.given("momentum", 1), c.given("variance", 1)))}
		}},
	{ID: "5.12", Claim: "bytes per parameter to train", Verdict: Wrong,
		Best: "Ten bytes per parameter train nothing: the gradients are missing. Twelve is the least with FP32 moments, sixteen is usual.",
		Why:  "Without gradients there is no step. 12 with them, 16 with a master copy; 8 when everything, moments too, is BF16.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(said("10", bytesU), states(c, 2, 2, 0, 8)), c.shown("with master copy", bytesU, states(c, 2, 2, 4, 8))}
		}},
	{ID: "5.13", Claim: "7B to train, by hand and by the program", Verdict: Wrong,
		Why: "As 5.12, times seven billion. (There is no Llama 3 7B; it is an 8B.)",
		Find: func(c *calc) []Finding {
			n := c.given("parameters", 7e9)
			return []Finding{c.is(said("70", gb), c.Mul(n, states(c, 2, 2, 0, 8))),
				c.shown("with master copy", gb, c.Mul(n, states(c, 2, 2, 4, 8)))}
		}},
	{ID: "5.14", Claim: "which two A100 40GB hold, with ZeRO", Verdict: Depends,
		Why: "On the recipe. All in BF16 each takes {0} with a sequence of 2k; with FP32 copies, as ZeRO keeps them, {1}.",
		Find: func(c *calc) []Finding {
			on := func(framework, sharding, precision string) answer {
				return c.train(run{model: l7, on: "2x" + a100half, framework: framework, sharding: sharding, precision: precision})
			}
			return []Finding{on("transformers", "fsdp", "bf16").fitsWhen("all in BF16, FSDP", "fits 2 × 40 GB"),
				on("deepspeed", "zero3", "").fitsWhen("ZeRO-3", "fits 2 × 40 GB")}
		}},
	{ID: "5.15", Claim: "70B to train", Verdict: Wrong, Why: "840 with gradients, 1,120 with a master copy.",
		Find: func(c *calc) []Finding {
			n := c.given("parameters", 70e9)
			return []Finding{c.is(said("700", gb), c.Mul(n, states(c, 2, 2, 0, 8))), c.is(said("700", gb), c.Mul(n, states(c, 2, 2, 4, 8)))}
		}},
	{ID: "5.16", Claim: "A100 80GB for that, 9 and more", Verdict: Depends,
		Why: "On the recipe, as 5.14. All in BF16 each of nine takes {0} with a sequence of 2k; ZeRO-3 with its FP32 copies takes {1}, " +
			"and {2} on each of sixteen.",
		Find: func(c *calc) []Finding {
			on := func(cards, framework, sharding, precision string) answer {
				return c.train(run{model: "llama-2-70b", on: cards + "x" + a100, framework: framework, sharding: sharding,
					precision: precision})
			}
			return []Finding{on("9", "transformers", "fsdp", "bf16").fitsWhen("all in BF16, FSDP", "nine hold it"),
				on("9", "deepspeed", "zero3", "").fitsWhen("ZeRO-3", "nine hold it"),
				c.shown("each of 16, ZeRO-3", gb, on("16", "deepspeed", "zero3", "").needed())}
		}},
	{ID: "5.17", Claim: "Adam's state in sizes of the model", Verdict: Depends,
		Why: "On the weights it is compared with: 2 × when they are FP32, 4 × when they are BF16 as here.",
		Find: func(c *calc) []Finding {
			m := c.Mul(c.given("moments", 2), c.element(dtype.F32))
			return []Finding{c.when("FP32 weights", said("2", times), c.Div(m, c.element(dtype.F32))),
				c.when("BF16 weights", said("2", times), c.Div(m, c.element(dtype.BF16)))}
		}},
	{ID: "5.18", Claim: "gradients in sizes of the model", Verdict: Right,
		Why: "In the weights' own format; twice that in frameworks that keep them in FP32.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(said("1", times), c.Div(c.element(dtype.BF16), c.element(dtype.BF16)))}
		}},
	{ID: "5.19", Claim: "activations = tokens × hidden × layers × batch, cleared by checkpoints", Verdict: Wrong,
		Why: "The other way round: one vector per token and layer is what checkpoints keep. Without them Llama 2 7B keeps 23 times that " +
			"for 4,096 tokens.",
		Find: func(c *calc) []Finding {
			n, layers := c.given("tokens", 4096), c.given("layers", 32)
			formula := c.Mul(n, c.given("hidden", 4096), layers, c.element(dtype.BF16))
			return []Finding{c.is(between("1.07 GB, put in", formula.V*0.99, formula.V*1.01, gb), c.Mul(n, layers, c.saved(l7))),
				c.shown("the formula in BF16, and what checkpoints keep", gb, formula)}
		}},
}

var notesQuant = []Row{
	{ID: "5.20", Claim: "LLM.int8(): 8 bits, against FP16", Verdict: Right, Why: "1.92 of the whole Llama 2 7B.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(said("8", bits), c.width(dtype.LLMInt8)), c.is(about("2", times), shrink(c, l7, "bnb-int8"))}
		}},
	{ID: "5.21", Claim: "quality it loses", Verdict: Depends,
		Why: "On model and measure: 1.04 % of MMLU for Llama 3 8B, 0.2 % of perplexity for 8-bit weights of Llama 3.1 8B.",
		Find: func(c *calc) []Finding {
			s := most("<1 %", 0.01, pct)
			return []Finding{
				c.when("int8 weights, perplexity", s,
					c.Sub(c.Div(c.In("int8", 7.3451, "published: pytorch/ao"), c.In("bf16", 7.3315, "")), c.Lit(1))),
				c.when("LLM.int8(), MMLU", s, c.Sub(c.Lit(1),
					c.Div(c.In("int8", 64.53, "published: matt-c1/llama-3-quant-comparison"), c.In("bf16", 65.21, ""))))}
		}},
	{ID: "5.22", Claim: "GPTQ, AWQ and NF4 against FP16", Verdict: Depends,
		Why: "On the vocabulary, which stays in 16 bits: 3.5 × for a 70B, 2.8 × for an 8B.",
		Find: func(c *calc) []Finding {
			var out []Finding
			for _, r := range []struct{ name, recipe string }{{"GPTQ", "gptq"}, {"AWQ", "awq"}, {"NF4", "nf4"}} {
				out = append(out, c.when(r.name+", 70B", about("4", times), shrink(c, l70, r.recipe)),
					c.when(r.name+", 8B", about("4", times), shrink(c, l8, r.recipe)))
			}
			return out
		}},
	{ID: "5.23", Claim: "share of channels that AWQ protects", Verdict: Right,
		Why: "As its paper says of the weights (arXiv:2306.00978). Keeping them in FP16 would make 4 bits 4.12; scaling them costs " +
			"nothing.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(said("1", pct), c.In("salient", 0.01, "published: arXiv:2306.00978")),
				c.shown("kept in FP16", bits, c.Add(c.Mul(c.given("rest", 0.99), c.given("bits", 4)),
					c.Mul(c.given("salient", 0.01), c.given("fp16_bits", 16))))}
		}},
	{ID: "5.24", Claim: "BF16: bits, against itself", Verdict: Right, Why: "The baseline.",
		Find: func(c *calc) []Finding {
			w := c.width(dtype.Of(dtype.BF16))
			return []Finding{c.is(said("16", bits), w), c.is(said("1", times), c.Div(w, w))}
		}},
	{ID: "5.25", Claim: "Q4_K_M: bits", Verdict: Right, Why: "4.9 over the whole file of Llama 3.1 8B: some tensors have 6.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(span("4", "5", bits), c.Div(c.Mul(c.Lit(8), c.stored(l8, "q4_k_m")), c.params(l8)))}
		}},
	{ID: "5.26", Claim: "Q4_K_M against FP16", Verdict: Wrong, Why: "16 over 4.9. Even a 70B shrinks by 3.3 only.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(about("4", times), shrink(c, l8, "q4_k_m")), c.is(about("4", times), shrink(c, l70, "q4_k_m"))}
		}},
}

var notesParallel = []Row{
	{ID: "5.27", Claim: "all-reduces of tensor parallelism, per layer and direction", Verdict: Wrong,
		Why: "Two: after attention and after the FFN (arXiv:1909.08053). And what is joined after a column split is gathered, not reduced.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(said("1", plain), c.Add(c.given("attention", 1), c.given("ffn", 1)))}
		}},
	{ID: "5.28", Claim: "pipeline bubble = (p − 1) / (m + p − 1)", Verdict: Right,
		Why: "Counted here: each of 4 stages works 8 of the 11 slots. A step has an end as well, where the optimizer works: of a whole " +
			"one {1} is lost.",
		Find: func(c *calc) []Finding {
			p, m := c.given("stages", 4), c.given("micro_batches", 8)
			slots := c.Sub(c.Add(m, p), c.Lit(1))
			formula := c.Div(c.Sub(p, c.Lit(1)), slots)
			pace := func(micro int64) ledger.Num {
				return c.train(run{model: l7, on: "4x" + a100, framework: "megatron", pp: 4, accumulation: micro,
					recompute: "none"}).perSecond()
			}
			return []Finding{c.is(between("3 of 11, put in", formula.V, formula.V, pct), c.Sub(c.Lit(1), c.Div(m, slots))),
				c.shown("pace lost against 1,024 micro-batches, a 7B in 4 stages", pct, c.Sub(c.Lit(1), c.Div(pace(8), pace(1024))))}
		}},
	{ID: "5.29", Claim: "ZeRO-1 saves", Verdict: Depends, Why: "On the number of ranks, as in 4.26.",
		Find: func(c *calc) []Finding {
			return []Finding{c.when("64 ranks", about("4", times), c.saves("zero1", 64)),
				c.when("8 ranks", about("4", times), c.saves("zero1", 8))}
		}},
	{ID: "5.30", Claim: "ZeRO-2 saves", Verdict: Depends, Why: "As 4.27.",
		Find: func(c *calc) []Finding {
			return []Finding{c.when("256 ranks", about("8", times), c.saves("zero2", 256)),
				c.when("8 ranks", about("8", times), c.saves("zero2", 8))}
		}},
	{ID: "5.31", Claim: "ZeRO-3 saves (16 or more), enough for one node", Verdict: Depends,
		Why: "On the ranks. One node has eight, and saves eight times.",
		Find: func(c *calc) []Finding {
			return []Finding{c.when("16 ranks", about("16", times), c.saves("zero3", 16)),
				c.when("8 ranks", about("16", times), c.saves("zero3", 8))}
		}},
	{ID: "5.32", Claim: "ZeRO-1 and -2 send an all-reduce and a scatter", Verdict: Wrong,
		Why: "An all-reduce is a scatter and a gather already. Both stages do these two and send what plain data parallelism sends: " +
			"twice the parameters (arXiv:1910.02054, section 7).",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(said("3", times), c.Add(c.given("reduce_scatter", 1), c.given("all_gather", 1)))}
		}},
	{ID: "5.33", Claim: "ZeRO-Infinity trains a trillion on few GPUs", Verdict: Right,
		Why: "As far as memory goes: 16 TB of states on the 30.7 TB of a DGX H100's drives.",
		Find: func(c *calc) []Finding {
			n := c.node("dgx-h100")
			return []Finding{c.is(most("fits one node's NVMe", float64(n.NVMe.Value), tb),
				c.Mul(c.given("parameters", 1e12), states(c, 2, 2, 4, 8)))}
		}},
}

var notesLinks = []Row{
	{ID: "5.34", Claim: "registers, per SM", Verdict: Right, Why: "65,536 of four bytes, 256 KiB.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(about("256", kb), c.levelSize("h800-pcie-80gb", "register"))}
		}},
	{ID: "5.35", Claim: "L1, per SM", Verdict: Depends,
		Why: "On the generation: V100 128 KiB, A100 192, H100 256. L1 and the SRAM of the next line are the same memory.",
		Find: func(c *calc) []Finding {
			return []Finding{c.when("V100", about("128", kb), c.levelSize("v100-pcie-16gb", "l1")),
				c.when("A100", about("128", kb), c.levelSize(a100, "l1"))}
		}},
	{ID: "5.36", Claim: "SRAM, per SM of an A100", Verdict: Right, Why: "192 KiB, of which a kernel may use 164 as shared memory.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(about("192", kb), c.levelSize(a100, "l1"))}
		}},
	{ID: "5.37", Claim: "SRAM, bandwidth", Verdict: Right, Why: "Measured reads of L1, all SMs together.",
		Find: func(c *calc) []Finding { return []Finding{c.is(about("20", tbs), c.levelRate(a100, "l1"))} }},
	{ID: "5.38", Claim: "HBM of an A100", Verdict: UnitSlip, Why: "80 GiB.",
		Find: func(c *calc) []Finding { return []Finding{c.is(said("80", gb), c.memory(a100))} }},
	{ID: "5.39", Claim: "HBM of an A100, bandwidth", Verdict: Right, Why: "2.04 of the SXM card, 1.94 of the PCIe card.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(about("2", tbs), c.bandwidth(a100)), c.is(about("2", tbs), c.bandwidth("a100-pcie-80gb"))}
		}},
	{ID: "5.40", Claim: "HBM is slower than SRAM", Verdict: Right,
		Why: "9.5 by these two figures, 10.9 by measured reads of both. One digit is what such a ratio has.",
		Find: func(c *calc) []Finding {
			s := between("10×", 9, 11, times)
			return []Finding{c.is(s, c.Div(c.levelRate(a100, "l1"), c.bandwidth(a100)))}
		}},
	{ID: "5.41", Claim: "attention matrix of 128k tokens", Verdict: UnitSlip, Why: "32 GiB in FP16, for each head of each layer.",
		Find: func(c *calc) []Finding {
			n := c.given("tokens", 131072)
			return []Finding{c.is(said("32", gb), c.Mul(n, n, c.element(dtype.F16)))}
		}},
	{ID: "5.42", Claim: "PCIe 4 × 16, both ways", Verdict: Wrong,
		Best: "PCIe 4 × 16 moves 31.5 GB/s each way. NVLink's 900 counts both ways. Compared alike it is 14 times as fast, not 28.",
		Why:  "32 is one direction. Both are 63.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(about("32", gbs), c.Mul(c.given("ways", 2), c.pcie(a100)))}
		}},
	{ID: "5.43", Claim: "NVLink of A100 and H100, both ways", Verdict: Depends,
		Why: "On the card: NVLink 4 is the H100's; the A100 has NVLink 3.",
		Find: func(c *calc) []Finding {
			both := func(id string) ledger.Num { return c.Mul(c.given("ways", 2), c.link(id)) }
			return []Finding{c.when("H100", about("900", gbs), both(h100)), c.when("A100", about("900", gbs), both(a100))}
		}},
	{ID: "5.44", Claim: "NVLink over PCIe", Verdict: Wrong,
		Why: "One divides both ways by one way. Alike, NVLink 4 is 14 times PCIe 4 and 7 times the PCIe 5 that the H100 has.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(said("28", times), c.Div(c.link(h100), c.pcie(a100))),
				c.shown("H100's own PCIe", times, c.Div(c.link(h100), c.pcie(h100)))}
		}},
	{ID: "5.45", Claim: "NVSwitch, all to all", Verdict: Right, Why: "Eight cards send at 450 GB/s each.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(about("3.6", tbs), c.Mul(c.given("cards", 8), c.link(h100)))}
		}},
	{ID: "5.46", Claim: "tensor-parallel scaling on 8 A100: NVLink, PCIe", Verdict: Depends,
		Why: "On the work. A prompt of 8k moves much between the cards of a 70B: PCIe leaves a seventh of eight cards, NVLink two " +
			"thirds. A token of one user moves little and waits for latency: there both are alike.",
		Find: func(c *calc) []Finding {
			prompt, token := speed.Batch{Prefill: 8192, Prompts: 1, Finished: 1}, speed.Batch{Decodes: 1, Context: 1024}
			const nvlink, pcie = "8xa100-sxm-80gb", "8xa100-pcie-80gb"
			return []Finding{c.when("NVLink, a prompt", about("95", pct), c.scaling(l70, nvlink, prompt)),
				c.when("NVLink, a token", about("95", pct), c.scaling(l70, nvlink, token)),
				c.when("PCIe, a prompt", about("50", pct), c.scaling(l70, pcie, prompt)),
				c.when("PCIe, a token", about("50", pct), c.scaling(l70, pcie, token))}
		}},
}

var notesProgram = []Row{
	{ID: "5.47", Claim: "its 8B in BF16 at 4k: weights, cache", Verdict: Right,
		Why: "Its defaults, 32 layers and 8 KV heads of 128, are this model's.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(said("16", gb), c.stored("llama-3-8b", "bf16")),
				c.is(said("0.537", gb), c.fit(ask{model: "llama-3-8b", engine: "generic", ctx: 4096, users: 1}).item("kv_cache"))}
		}},
	{ID: "5.48", Claim: "its 70B in INT4 at 4k: cache", Verdict: Wrong,
		Best: "The program gives a 70B the 32 layers that are its default: 48 of 80 layers of cache are missing.",
		Why:  "The call leaves the 32 layers of the default, so the cache is that of an 8B.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(said("0.537", gb), c.fit(ask{model: l70, engine: "generic", ctx: 4096, users: 1}).item("kv_cache")),
				c.shown("weights in INT4", gb, c.stored(l70, "awq"))}
		}},
}
