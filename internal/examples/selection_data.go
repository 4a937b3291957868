package examples

// Subjects: what a size stood for in 2023 and stands for today. A length that the older model was trained to.
var (
	seven       = subject{name: "Llama 2 7B, 4k", id: l7, weights: "f16", ctx: 4096}
	seven4      = subject{name: "Llama 2 7B, 4k", id: l7, weights: "awq", ctx: 4096}
	eight       = subject{name: "Llama 3.1 8B, 8k", id: "llama-3.1-8b", weights: "bf16", ctx: 8192}
	eight4      = subject{name: "Llama 3.1 8B, 8k", id: "llama-3.1-8b", weights: "awq", ctx: 8192}
	thirteen    = subject{name: "Llama 2 13B, 4k", id: "llama-2-13b", weights: "f16", ctx: 4096}
	thirteen4   = subject{name: "Llama 2 13B, 4k", id: "llama-2-13b", weights: "awq", ctx: 4096}
	fourteen    = subject{name: "Qwen3 14B, 8k", id: "qwen3-14b", weights: "bf16", ctx: 8192}
	fourteen4   = subject{name: "Qwen3 14B, 8k", id: "qwen3-14b", weights: "awq", ctx: 8192}
	seventy2    = subject{name: "Llama 2 70B, 4k", id: "llama-2-70b", weights: "f16", ctx: 4096}
	seventy24   = subject{name: "Llama 2 70B, 4k", id: "llama-2-70b", weights: "awq", ctx: 4096}
	seventy     = subject{name: "Llama 3.1 70B, 8k", id: "llama-3.1-70b", weights: "bf16", ctx: 8192}
	seventy8    = subject{name: "Llama 3.1 70B, 8k", id: "llama-3.1-70b", weights: "fp8", ctx: 8192}
	seventy4    = subject{name: "Llama 3.1 70B, 8k", id: "llama-3.1-70b", weights: "awq", ctx: 8192}
	seventy18   = subject{name: "18 users", id: "llama-3.1-70b", weights: "gptq", ctx: 8192, users: 18}
	seventy36   = subject{name: "36 users, KV fp8", id: "llama-3.1-70b", weights: "gptq", kv: "fp8", ctx: 8192, users: 36}
	seventyKV   = subject{name: "Llama 3.1 70B, KV fp8, 8k", id: "llama-3.1-70b", weights: "awq", kv: "fp8", ctx: 8192}
	fourHundred = subject{name: "Llama 3.1 405B, 8k", id: "llama-3.1-405b", weights: "bf16", ctx: 8192}
)

// selection is what the documents say of inference, in their order.
var selection = []advice{
	{doc: 2, model: "70B FP16", says: "four H100, comfortably", then: seventy, on: []spot{{name: "4 × H100", id: "4x" + h100}}},
	{doc: 2, model: "70B FP16", says: "two H100 only once quantised", then: seventy, on: []spot{{name: "2 × H100", id: "2x" + h100}},
		not: true,
		why: "Two hold it in 16 bits, for a few users at 8k."},
	{doc: 2, model: "70B INT4, KV INT8", says: "two H100, comfortably", then: seventyKV, on: []spot{{name: "2 × H100", id: "2x" + h100}}},
	{doc: 3, model: "7B FP16", says: "16 GB and more: RTX 4090, A10, L4", then: seven, now: eight,
		on:  []spot{{name: "16 GB", id: "rtx-4080"}, {name: "RTX 4090", id: "rtx-4090"}, {name: "A10", id: "a10"}, {name: "L4", id: "l4"}},
		why: "The three named hold it, then and now; the 16 GB of a card are not 16 GB for a model."},
	{doc: 3, model: "7B INT4", says: "8 GB and more: RTX 3090, 4080", then: seven4, now: eight4,
		on: []spot{{name: "8 GB", id: "rtx-4060"}, {name: "RTX 3090", id: "rtx-3090"}, {name: "RTX 4080", id: "rtx-4080"}}},
	{doc: 3, model: "13B FP16", says: "A100 40GB, A6000", then: thirteen, now: fourteen,
		on: []spot{{name: "A100 40GB", id: a100half}, {name: "A6000", id: "rtx-a6000"}}},
	{doc: 3, model: "13B INT4", says: "12 GB and more: RTX 4090", then: thirteen4, now: fourteen4,
		on:  []spot{{name: "12 GB", id: "rtx-3060"}, {name: "RTX 4090", id: "rtx-4090"}},
		why: "vLLM leaves a twelfth of the card alone, and that decides on 12 GB."},
	{doc: 3, model: "70B FP16", says: "two A100 80GB", then: seventy2, now: seventy, on: []spot{{name: "2 × A100", id: "2x" + a100}}},
	{doc: 3, model: "70B INT4", says: "A100 40GB, two RTX 4090", then: seventy24, now: seventy4,
		on:  []spot{{name: "A100 40GB", id: a100half}, {name: "2 × RTX 4090", id: "2xrtx-4090"}},
		why: "Two cards of 24 are more than one of 40: the file alone all but fills that one."},
	{doc: 4, model: "70B FP16", says: "not on one H100", then: seventy, on: []spot{{name: "H100", id: h100}}, not: true},
	{doc: 4, model: "70B FP8", says: "on one H100, with no headroom", then: seventy8, on: []spot{{name: "H100", id: h100}}},
	{doc: 4, model: "70B INT4", says: "on one H100, comfortably", then: seventy4, on: []spot{{name: "H100", id: h100}}},
	{doc: 4, model: "70B INT4", says: "on one H100, 18 users at 8k", then: seventy18, on: []spot{{name: "H100", id: h100}},
		why: "It counts the card's whole memory and a smaller file."},
	{doc: 4, model: "70B INT4, KV INT8", says: "on one H100, 36 users at 8k", then: seventy36, on: []spot{{name: "H100", id: h100}},
		why: "As above."},
	{doc: 5, model: "13B BF16", says: "one A100 40GB", then: thirteen, now: fourteen, on: []spot{{name: "A100 40GB", id: a100half}}},
	{doc: 5, model: "70B BF16", says: "two A100 80GB", then: seventy2, now: seventy, on: []spot{{name: "2 × A100", id: "2x" + a100}}},
	{doc: 5, model: "70B BF16", says: "not one A100 80GB", then: seventy2, now: seventy, on: []spot{{name: "A100", id: a100}}, not: true},
	{doc: 5, model: "70B INT4", says: "one A100 80GB", then: seventy24, now: seventy4, on: []spot{{name: "A100", id: a100}}},
	{doc: 5, model: "405B BF16", says: "ten A100 80GB or more", then: fourHundred,
		on: []spot{{name: "10 × A100, tp 2, pp 5", id: "10x" + a100, tp: 2, pp: 5},
			{name: "12 × A100, tp 4, pp 3", id: "12x" + a100, tp: 4, pp: 3},
			{name: "16 × A100, tp 8, pp 2", id: "16x" + a100, tp: 8, pp: 2}},
		why: "Ten hold the weights and not a plan: stages of whole layers are uneven, and each keeps memory to work in."},
}

// grid is our own table: models and formats against devices.
var gridSubjects = []struct {
	label string
	subject
	engine string
}{
	{"Llama 2 7B FP16, 4k", seven, ""},
	{"Llama 2 7B AWQ, 4k", seven4, ""},
	{"Llama 3.1 8B BF16, 8k", eight, ""},
	{"Llama 3.1 8B AWQ, 8k", eight4, ""},
	{"Llama 3.1 8B Q4_K_M, 8k", subject{id: "llama-3.1-8b", weights: "q4_k_m", ctx: 8192}, "llama.cpp"},
	{"Llama 2 13B FP16, 4k", thirteen, ""},
	{"Llama 2 13B AWQ, 4k", thirteen4, ""},
	{"Qwen3 14B BF16, 8k", fourteen, ""},
	{"Qwen3 14B AWQ, 8k", fourteen4, ""},
	{"Qwen3 14B Q4_K_M, 8k", subject{id: "qwen3-14b", weights: "q4_k_m", ctx: 8192}, "llama.cpp"},
	{"Llama 3.1 70B BF16, 8k", seventy, ""},
	{"Llama 3.1 70B FP8, 8k", seventy8, ""},
	{"Llama 3.1 70B AWQ, 8k", seventy4, ""},
	{"Llama 3.1 70B Q4_K_M, 8k", subject{id: "llama-3.1-70b", weights: "q4_k_m", ctx: 8192}, "llama.cpp"},
}

var gridPlaces = []spot{
	{name: "RTX 4060 8GB", id: "rtx-4060"}, {name: "RTX 3060 12GB", id: "rtx-3060"}, {name: "RTX 4080 16GB", id: "rtx-4080"},
	{name: "RTX 4090 24GB", id: "rtx-4090"}, {name: "L4 24GB", id: "l4"},
	{name: "A100 40GB", id: a100half}, {name: "A6000 48GB", id: "rtx-a6000"}, {name: "2 × RTX 4090", id: "2xrtx-4090"},
	{name: "A100 80GB", id: a100}, {name: "H100 80GB", id: h100}, {name: "2 × A100 80GB", id: "2x" + a100},
}
