package examples

import (
	"math"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/ledger"
)

// primer is the third document.
var primer = Document{
	Number: 3,
	Title:  "A primer on GPU memory and quantisation",
	About: "Boxes and tables for beginners. It was written when a 7B was Llama 2, with a key and a value for every head;\n" +
		"most of its figures on caches are about that model, and the newer ones need a quarter or less.",
	Sections: []Section{
		{"Machines", primerMachines},
		{"A 7B: training and inference", primerSeven},
		{"Formats and quantisation", primerFormats},
		{"Which GPU", primerChoice},
	},
}

var primerMachines = []Row{
	{ID: "3.1", Claim: "cores of a CPU", Verdict: Stale, Why: "Server sockets have passed it three times over.",
		Find: func(c *calc) []Finding {
			cores := func(id string) ledger.Num { return fact(c, "cores", c.device(id).SMs, id) }
			return []Finding{c.when("EPYC 7763, 2021", span("8", "64", plain), cores("epyc-7763")),
				c.when("EPYC 9965, 2024", span("8", "64", plain), cores("epyc-9965"))}
		}},
	{ID: "3.2", Claim: "cores of a GPU: 1,000 to 10,000 and more", Verdict: Right,
		Why: "Counted as makers do, an FP32 lane is a core: 128 in each multiprocessor.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(atLeast("1,000", plain),
				c.Mul(fact(c, "sm", c.device("rtx-4090").SMs, "rtx-4090"), c.given("lanes", 128)))}
		}},
	{ID: "3.3", Claim: "a GPU against a CPU", Verdict: Depends,
		Why: "On which ones. Decoding goes by bandwidth: an RTX 4090 has 11 times that of a desktop, an H100 four times that of the " +
			"widest server socket.",
		Find: func(c *calc) []Finding {
			s := span("10", "100", times)
			return []Finding{
				c.when("RTX 4090, Ryzen 9950X", s, c.Div(c.bandwidth("rtx-4090"), c.bandwidth("ryzen-9-9950x"))),
				c.when("H100, Xeon 6980P", s, c.Div(c.bandwidth(h100), c.bandwidth("xeon-6980p-mrdimm")))}
		}},
	{ID: "3.4", Claim: "what tensor cores add", Verdict: Depends,
		Why: "On the card. GeForce cards double FP32's rate, data-centre cards do 16 times as much.",
		Find: func(c *calc) []Finding {
			gain := func(id string) ledger.Num { return c.Div(c.peak(id, "fp16"), c.peak(id, "fp32")) }
			return []Finding{c.when("RTX 4090", span("2", "4", times), gain("rtx-4090")), c.when("A100", span("2", "4", times), gain(a100))}
		}},
	{ID: "3.5", Claim: "memory of 3090, 4090, A10, L4; A100 (two), H100", Verdict: UnitSlip,
		Why: "All of them GiB. A10 and L4 keep a sixteenth for error correction, so programs see 22 GiB there.",
		Find: func(c *calc) []Finding {
			var out []Finding
			for _, d := range []struct{ id, said string }{{"rtx-3090", "24"}, {"rtx-4090", "24"}, {"a10", "24"}, {"l4", "24"},
				{a100half, "40"}, {a100, "80"}, {h100, "80"}} {
				out = append(out, c.is(said(d.said, gb), c.memory(d.id)))
			}
			return append(out, c.shown("L4, seen by a program", gb, c.usable("l4")))
		}},
}

var primerSeven = []Row{
	{ID: "3.6", Claim: "7B: weights in FP16 and INT8, gradients in FP16", Verdict: Right,
		Why: "Two bytes, one byte, two bytes. LLM.int8() files keep embeddings in 16 bits and still round to 7.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(said("14", gb), c.weights(7e9, 2)), c.is(said("7", gb), c.weights(7e9, 1)),
				c.is(said("14", gb), c.weights(7e9, 2)), c.shown("Llama 2 7B, LLM.int8()", gb, c.stored(l7, "bnb-int8"))}
		}},
	{ID: "3.7", Claim: "7B in INT4", Verdict: Depends, Why: "On the file: scales, and embeddings that stay in 16 bits.",
		Find: func(c *calc) []Finding {
			return []Finding{c.when("codes only", said("3.5", gb), c.weights(7e9, 0.5)),
				c.when("AWQ, Llama 2 7B", said("3.5", gb), c.stored(l7, "awq")),
				c.when("AWQ, Llama 3.1 8B", said("3.5", gb), c.stored(l8, "awq"))}
		}},
	{ID: "3.8", Claim: "Adam for a 7B: 2 + 2 bytes of moments, 4 of master copy", Verdict: Depends,
		Why: "On the width of the moments. Where there is an FP32 master copy they are FP32 as well, and Adam takes 12 bytes, not 8.",
		Find: func(c *calc) []Finding {
			n := c.given("parameters", 7e9)
			return []Finding{
				c.when("16-bit moments", said("56", gb), c.Mul(n, c.Add(c.given("m", 2), c.given("v", 2), c.given("master", 4)))),
				c.when("FP32 moments", said("56", gb), c.Mul(n, c.Add(c.given("m", 4), c.given("v", 4), c.given("master", 4))))}
		}},
	{ID: "3.9", Claim: "7B: weights, gradients and Adam", Verdict: Depends, Why: "As 3.8. The same total as 2.15, reached by other parts.",
		Find: func(c *calc) []Finding {
			n := c.given("parameters", 7e9)
			return []Finding{c.when("16-bit moments", about("84", gb), c.Mul(n, states(c, 2, 2, 4, 4))),
				c.when("FP32 moments, as DeepSpeed keeps them", about("84", gb), c.Mul(n, c.withCopy().each()))}
		}},
	{ID: "3.10", Claim: "7B: activations of training", Verdict: Depends,
		Why: "On recomputation and tokens. 4,096 tokens kept whole are {0}; with every layer computed again, {1} stay.",
		Find: func(c *calc) []Finding {
			kept := func(recompute, name string) ledger.Num {
				return c.train(run{model: l7, on: a100, seq: 4096, recompute: recompute}).inPhase("forward and loss", name)
			}
			return []Finding{
				c.when("kept whole", span("10", "50", gb), kept("none", "saved activations")),
				c.when("recomputed", span("10", "50", gb), kept("full", "inputs of blocks"))}
		}},
	{ID: "3.11", Claim: "7B: memory to train", Verdict: Depends,
		Why: "On the recipe. One sequence of 2k, computed again in backward: {1} all in BF16, {0} with FP32 copies.",
		Find: func(c *calc) []Finding {
			return []Finding{c.when("mixed precision", atLeast("80", gb), c.withCopy().needed()),
				c.when("all BF16", atLeast("80", gb), c.allBF16().needed())}
		}},
	{ID: "3.12", Claim: "which one A100 80GB can hold", Verdict: Wrong,
		Why: "Not by the primer's own sum: 84 GB and at least 10 of activations are more than the 85.0 GB that a program sees.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(most("fits 80 GB", float64(c.device(a100).Usable.Value), gb),
				c.Add(c.given("states", 84e9), c.given("activations", 10e9)))}
		}},
	{ID: "3.13", Claim: "KV cache of a 7B, per token", Verdict: Stale,
		Best: "A token of a 7B once left 0.5 MB in the cache. With grouped queries it leaves 0.13.",
		Why:  "Half a megabyte is Llama 2 7B; no 7B leaves 2 MB. Eight KV heads instead of 32 make it a quarter.",
		Find: func(c *calc) []Finding {
			per := func(id string) ledger.Num {
				return c.fit(ask{model: id, engine: "generic", ctx: 4096, users: 1}).perToken()
			}
			return []Finding{c.when("Llama 2 7B, 2023", aboutSpan("0.5", "2", mb), per(l7)),
				c.when("Llama 3.1 8B, 2024", aboutSpan("0.5", "2", mb), per(l8))}
		}},
	{ID: "3.14", Claim: "KV cache of 8k tokens", Verdict: Stale, Why: "As 3.13.",
		Find: func(c *calc) []Finding {
			kv := func(id string) ledger.Num {
				return c.fit(ask{model: id, engine: "generic", ctx: 8192, users: 1}).item("kv_cache")
			}
			return []Finding{c.when("Llama 2 7B, 2023", span("4", "16", gb), kv(l7)),
				c.when("Llama 3.1 8B, 2024", span("4", "16", gb), kv(l8))}
		}},
	{ID: "3.15", Claim: "7B in FP16 with 8k of context, in all", Verdict: Depends, Why: "One user needs {0} under vLLM, two need {1}.",
		Find: func(c *calc) []Finding {
			all := func(users int64) ledger.Num {
				return c.fit(ask{model: l7, weights: "f16", on: a100half, ctx: 8192, users: users}).needed()
			}
			return []Finding{c.when("1 user", aboutSpan("20", "30", gb), all(1)), c.when("2 users", aboutSpan("20", "30", gb), all(2))}
		}},
	{ID: "3.16", Claim: "7B in INT4 with 8k of context, in all", Verdict: Right,
		Why: "The old cache and the small file, or the new cache and a larger file: both end near it.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(aboutSpan("8", "12", gb),
				c.fit(ask{model: l7, weights: "awq", on: a100half, ctx: 8192, users: 1}).needed()),
				c.is(aboutSpan("8", "12", gb), c.fit(ask{model: l8, weights: "awq", on: a100half, ctx: 8192, users: 1}).needed())}
		}},
	{ID: "3.17", Claim: "7B at home in INT4", Verdict: Depends, Why: "On model and context.",
		Find: func(c *calc) []Finding {
			return []Finding{c.when("Llama 3.1 8B, 8k", about("8", gb),
				c.fit(ask{model: l8, weights: "awq", on: "rtx-4090", ctx: 8192, users: 1}).needed()),
				c.when("Llama 2 7B, 4k", about("8", gb),
					c.fit(ask{model: l7, weights: "awq", on: "rtx-4090", ctx: 4096, users: 1}).needed())}
		}},
	{ID: "3.18", Claim: "training against the size of the model", Verdict: Depends,
		Why: "On the master copy: 6 × without, 8 × with. The first document says 6 to 8.",
		Find: func(c *calc) []Finding {
			w := c.given("weight", 2)
			return []Finding{c.when("12 bytes each", span("4", "6", times), c.Div(c.wideMoments().each(), w)),
				c.when("16 bytes each", span("4", "6", times), c.Div(c.withCopy().each(), w))}
		}},
}

var primerFormats = []Row{
	{ID: "3.19", Claim: "bytes per parameter, and GB per billion: FP32, FP16, BF16, INT8, INT4", Verdict: Right,
		Why: "The two tables are one: a byte per parameter is a GB per billion.",
		Find: func(c *calc) []Finding {
			var out []Finding
			for _, f := range []struct {
				f    *dtype.Format
				said string
			}{{dtype.F32, "4.0"}, {dtype.F16, "2.0"}, {dtype.BF16, "2.0"}, {dtype.I8, "1.0"}, {dtype.I4, "0.5"}} {
				out = append(out, c.is(said(f.said, gb), c.Mul(c.given("parameters", 1e9), c.element(f.f))))
			}
			return out
		}},
	{ID: "3.20", Claim: "the bar drawn for FP16 beside FP32's", Verdict: Wrong,
		Best: "Measure the bars: FP16's is 20 of 32 cells long, which would be 2.5 GB.",
		Why:  "Bars are figures too. 32 cells stand for 4.0 GB, so 2.0 GB want 16 and have 20.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(said("2.0", gb), c.Mul(c.given("fp32", 4e9), c.Div(c.given("cells", 20), c.given("cells_of_fp32", 32))))}
		}},
	{ID: "3.21", Claim: "speed of FP16 against FP32", Verdict: Depends,
		Why: "On the units that do the work: twice by bandwidth and on GeForce cards, 16 times on an A100's tensor cores.",
		Find: func(c *calc) []Finding {
			gain := func(id string) ledger.Num { return c.Div(c.peak(id, "fp16"), c.peak(id, "fp32")) }
			return []Finding{c.when("RTX 4090", said("2", times), gain("rtx-4090")), c.when("A100", said("2", times), gain(a100))}
		}},
	{ID: "3.22", Claim: "BF16 reaches as far as FP32", Verdict: Right,
		Why: "Both have 8 bits of exponent: 3.39e38 and 3.40e38. FP16 ends at 65,504.",
		Find: func(c *calc) []Finding {
			top := func(f *dtype.Format) ledger.Num { return c.In(f.Name+"_largest", f.Float.Max(), "dtype") }
			return []Finding{c.is(between("the same", 0.99, 1, times), c.Div(top(dtype.BF16), top(dtype.F32))),
				c.shown("FP16's largest", plain, top(dtype.F16))}
		}},
	{ID: "3.23", Claim: "BF16 from the A100 (compute capability 8.0) on", Verdict: Right,
		Why: "The first NVIDIA device of the catalog with a BF16 rate has compute capability 8.0, the A100's.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(said("8.0", plain), firstBF16(c))}
		}},
	{ID: "3.24", Claim: "INT8 and INT4 against FP32", Verdict: Right, Why: "For one matrix, scales included.",
		Find: func(c *calc) []Finding {
			full := c.width(dtype.Of(dtype.F32))
			return []Finding{c.is(said("4", times), c.Div(full, c.width(dtype.LLMInt8))),
				c.is(said("8", times), c.Div(full, c.width(dtype.AWQ(128))))}
		}},
	{ID: "3.25", Claim: "quality lost in INT8", Verdict: Depends,
		Why: "On the method. Eight bits for the weights alone cost 0.2 % of perplexity; LLM.int8() a point of MMLU.",
		Find: func(c *calc) []Finding {
			return []Finding{
				c.when("LLM.int8(), Llama 3 8B, MMLU", about("1", pct),
					c.Sub(c.Lit(1), c.Div(c.In("int8", 64.53, "published: matt-c1/llama-3-quant-comparison"), c.In("bf16", 65.21, "")))),
				c.when("weights only, Llama 3.1 8B, perplexity", about("1", pct),
					c.Sub(c.Div(c.In("int8", 7.3451, "published: pytorch/ao"), c.In("bf16", 7.3315, "")), c.Lit(1)))}
		}},
	{ID: "3.26", Claim: "quality lost in INT4", Verdict: Depends,
		Why: "On the method. AWQ costs Llama 2 7B 2.4 % of perplexity, plain rounding per channel 31 %.",
		Find: func(c *calc) []Finding {
			return []Finding{
				c.when("AWQ", span("1", "3", pct),
					c.Sub(c.Div(c.In("awq", 5.60, "published: mit-han-lab/omniserve"), c.In("fp16", 5.47, "")), c.Lit(1))),
				c.when("rounding", span("1", "3", pct),
					c.Sub(c.Div(c.In("rounded", 7.2, "published: facebookresearch/SpinQuant"), c.In("fp16", 5.5, "")), c.Lit(1)))}
		}},
	{ID: "3.27", Claim: "INT8 by hand: the scale for −1 to 1", Verdict: Right,
		Why: "255 steps between 256 codes. Without a zero point such a scale maps 1.0 to 127.5, which has no code; 1/127 is what " +
			"kernels use.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(said("0.00784", plain), c.Div(c.Sub(c.given("max", 1), c.given("min", -1)), c.given("steps", 255)))}
		}},
	{ID: "3.28", Claim: "and 0.0234375 in it, before rounding to 3", Verdict: Right, Why: "The weight is 3/128, which FP16 holds exactly.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(said("2.99", plain), c.Div(c.given("weight", 0.0234375), c.given("scale", 0.00784)))}
		}},
	{ID: "3.29", Claim: "and back", Verdict: Right, Why: "0.4 % more than it was.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(said("0.02352", plain), c.Mul(c.given("code", 3), c.given("scale", 0.00784)))}
		}},
	{ID: "3.30", Claim: "bits of GPTQ, AWQ, bitsandbytes (two)", Verdict: Right,
		Why: "With their scales; groups of 128, double quantisation for NF4.",
		Find: func(c *calc) []Finding {
			return []Finding{c.is(said("4", bits), c.width(dtype.GPTQ(dtype.I4, 128))), c.is(said("4", bits), c.width(dtype.AWQ(128))),
				c.is(said("4", bits), c.width(dtype.NF4Double)), c.is(said("8", bits), c.width(dtype.LLMInt8))}
		}},
}

// firstBF16 is the lowest compute capability of the catalog with a rate for BF16.
func firstBF16(c *calc) ledger.Num {
	low := math.Inf(1)
	for _, d := range hardware.All() {
		if x := number(d.Capability); d.Vendor == "NVIDIA" && d.Peaks.BF16.Known && x > 0 {
			low = min(low, x)
		}
	}
	return c.In("capability", low, "hardware catalog, lowest with a BF16 rate")
}

var primerChoice = []Row{
	{ID: "3.31", Claim: "7B in FP16 from 16 GB: RTX 4090, A10, L4", Verdict: Depends,
		Why: "On the context. A 16 GB card holds 1k under vLLM and not 4k; the three named have 24 and hold it easily.",
		Find: func(c *calc) []Finding {
			on := func(card string, ctx int64) answer {
				return c.fit(ask{model: l7, weights: "f16", on: card, ctx: ctx, users: 1})
			}
			return []Finding{on("rtx-4080", 1024).fitsWhen("1k on 16 GB", "fits 16 GB"),
				on("rtx-4080", 4096).fitsWhen("4k on 16 GB", "fits 16 GB"), c.shown("4k on an L4", gb, on("l4", 4096).needed())}
		}},
	{ID: "3.32", Claim: "7B in INT4 from 8 GB: RTX 3090, 4080", Verdict: Depends,
		Why: "On the model. An 8 GB card holds Llama 2 7B at 4k, not Llama 3.1 8B at 8k: its vocabulary stays in 16 bits. The two named " +
			"have 24 and 16 and hold both.",
		Find: func(c *calc) []Finding {
			on := func(card, id string, ctx int64) answer {
				return c.fit(ask{model: id, weights: "awq", on: card, ctx: ctx, users: 1})
			}
			return []Finding{on("rtx-4060", l7, 4096).fitsWhen("Llama 2 7B, 4k", "fits 8 GB"),
				on("rtx-4060", l8, 8192).fitsWhen("Llama 3.1 8B, 8k", "fits 8 GB"),
				on("rtx-3090", l8, 8192).fitsWhen("the same", "fits 24 GB"), on("rtx-4080", l8, 8192).fitsWhen("the same", "fits 16 GB")}
		}},
	{ID: "3.33", Claim: "13B in FP16: A100 40GB, A6000", Verdict: Right, Why: "{0} at 4k: weights, cache, and a little.",
		Find: func(c *calc) []Finding {
			on := func(card string) answer {
				return c.fit(ask{model: "llama-2-13b", weights: "f16", on: card, ctx: 4096, users: 1})
			}
			return []Finding{c.is(atLeast("30", gb), on(a100half).needed()), on(a100half).fits("fits 40 GB"),
				on("rtx-a6000").fits("fits 48 GB")}
		}},
	{ID: "3.34", Claim: "13B in INT4 from 12 GB: RTX 4090", Verdict: Depends,
		Why: "On what takes the rest of the card. {0} at 4k are less than 12 GB and a little more than vLLM may use of them; the " +
			"4090 has 24.",
		Find: func(c *calc) []Finding {
			on := func(card string) answer {
				return c.fit(ask{model: "llama-2-13b", weights: "awq", on: card, ctx: 4096, users: 1})
			}
			return []Finding{on("rtx-3060").fitsWhen("vLLM on a 12 GB card", "fits 12 GB"),
				on("rtx-4090").fitsWhen("on the 4090", "fits 24 GB")}
		}},
	{ID: "3.35", Claim: "70B in FP16: two A100 80GB", Verdict: Right, Why: "{1} on each with one user at 8k, and vLLM may take 78.",
		Find: func(c *calc) []Finding {
			a := c.fit(ask{model: l70, weights: "f16", on: "2x" + a100, ctx: 8192, users: 1})
			return []Finding{c.is(atLeast("140", gb), c.Mul(c.given("cards", 2), a.needed())), a.fits("fits 80 GB, each")}
		}},
	{ID: "3.36", Claim: "70B in INT4: A100 40GB", Verdict: Wrong,
		Best: "A 70B in 4 bits does not fit an A100 40GB: its file has {1}, and vLLM may take {2} of the card.",
		Why:  "The file alone has {1}, and vLLM may take {2} of the card.",
		Find: func(c *calc) []Finding {
			a := c.fit(ask{model: l70, weights: "awq", on: a100half, ctx: 4096, users: 1})
			return []Finding{a.fits("fits 40 GB"), c.shown("AWQ file", gb, c.stored(l70, "awq")),
				c.shown("vLLM may use", gb, c.Size("usable", a.usable(), a.command))}
		}},
	{ID: "3.37", Claim: "70B in INT4: two RTX 4090", Verdict: Depends,
		Why: "At 4k, {0} on each as vLLM starts by itself, with graphs for 256 sequences, and {1} with 16.",
		Find: func(c *calc) []Finding {
			on := func(when string, seqs int64) Finding {
				f := c.fit(ask{model: l70, weights: "awq", on: "2xrtx-4090", ctx: 4096, users: 1, seqs: seqs}).fits("fits 24 GB, each")
				f.When = when
				return f
			}
			return []Finding{on("256 sequences", 256), on("16 sequences", 16)}
		}},
	{ID: "3.38", Claim: "7B, full fine-tuning on one A100 80GB", Verdict: Depends,
		Best: "A 7B trains in full on one A100 80GB when all is in BF16, {0}; in mixed precision it does not, {1}.",
		Why: "On the recipe. All in BF16 it fits with a sequence of 2k; with FP32 copies, which is what mixed precision means to most, " +
			"nothing about activations helps.",
		Find: func(c *calc) []Finding {
			return []Finding{c.allBF16().fitsWhen("all in BF16", "fits 80 GB"), c.withCopy().fitsWhen("mixed precision", "fits 80 GB")}
		}},
	{ID: "3.39", Claim: "7B with LoRA: 20 GB and more, RTX 4090, A10", Verdict: Depends,
		Why: "On recomputation. A sequence of 2k takes {0} with it and {2} without, where neither card has that. The weights alone are " +
			"13.5 GB.",
		Find: func(c *calc) []Finding {
			on := func(card, recompute string) answer {
				return c.train(run{model: l7, on: card, method: "lora", recompute: recompute})
			}
			return []Finding{on("rtx-4090", "full").fitsWhen("RTX 4090, blocks computed again", "fits 24 GB"),
				on("a10", "full").fitsWhen("A10, blocks computed again", "fits 24 GB"),
				on("rtx-4090", "none").fitsWhen("RTX 4090, all kept", "fits 24 GB"),
				on("a10", "none").fitsWhen("A10, all kept", "fits 24 GB")}
		}},
	{ID: "3.40", Claim: "13B with LoRA: 30 GB and more, A100 40GB, A6000", Verdict: Depends,
		Why: "As 3.39: {0} with recomputation, {2} without, which only the A6000 has.",
		Find: func(c *calc) []Finding {
			on := func(card, recompute string) answer {
				return c.train(run{model: "llama-2-13b", on: card, method: "lora", recompute: recompute})
			}
			return []Finding{on(a100half, "full").fitsWhen("A100 40GB, blocks computed again", "fits 40 GB"),
				on("rtx-a6000", "full").fitsWhen("A6000, blocks computed again", "fits 48 GB"),
				on(a100half, "none").fitsWhen("A100 40GB, all kept", "fits 40 GB"),
				on("rtx-a6000", "none").fitsWhen("A6000, all kept", "fits 48 GB")}
		}},
}
