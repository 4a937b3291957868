package main

import (
	"strconv"
	"strings"
)

// variety are requests of every kind that a server takes; %d is a number that nobody asked with before. Those without
// a body are pages and lists. Some are wrong.
var variety = []call{
	{path: "/v1/fit", body: `{"model":"llama-3.1-8b","hardware":"rtx-4090","context":%d}`},
	{path: "/v1/fit", body: `{"model":"qwen3-32b","weights":"q4_k_m","hardware":"rtx-4090","context":%d,"explain":true}`},
	{path: "/v1/fit", body: `{"model":"deepseek-v3","hardware":"8xh200","context":%d}`},
	{path: "/v1/fit", body: `{"model":"gpt-oss-120b","hardware":"2xrtx-5090","context":%d,"also":[{"model":"qwen3-8b"}]}`},
	{path: "/v1/train", body: `{"model":"llama-3.1-8b","hardware":"h100","method":"lora","sequence_length":%d}`},
	{path: "/v1/diff", body: `{"model":"llama-3.1-8b","hardware":"h100","context":%d,"change":{"weights":"fp8"}}`},
	{path: "/v1/sim", body: `{"model":"llama-3.1-8b","hardware":"h100","workload":{"rate":2,"requests":200,
		"prompt":{"mean":500},"output":{"mean":100},"seed":%d}}`},
	{path: "/v1/diagnose", body: `{"hardware":"rtx-4090",
		"text":"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate %d MiB. GPU 0 has a total capacity of 23.52 GiB"}`},
	{path: "/v1/compare", body: `{"text":"load_tensors:        CUDA0 model buffer size =  %d.50 MiB"}`},
	{path: "/v1/fit", body: `{"model":"no-such-model-%d","hardware":"rtx-4090"}`},
	{path: "/v1/fit", body: `{"model":"llama-3.1-8b","hardware":"rtx-4090","no-field":%d}`},
	{path: "/v1/fit", body: `{"model":%d`},
	{path: "/?m=llama-3.1-8b&on=rtx-4090&ctx=%d"},
	{path: "/fit?m=qwen3-32b&on=2xrtx-3090&ctx=%d"},
	{path: "/train?m=qwen3-8b&on=h100&seq=%d"},
	{path: "/v1/models?q=%d"},
	{path: "/v1/hardware"},
	{path: "/nothing/%d"},
	{path: "/mcp", body: `{"jsonrpc":"2.0","id":%d,"method":"tools/list"}`},
	{path: "/metrics"},
}

// searches take long, and who asks for some leaves; one in a hundred requests is one.
var searches = []call{
	{path: "/v1/plan", body: `{"model":"llama-3.1-8b","hardware":"h100","workload":{"rate":2,"requests":300,
		"prompt":{"mean":500},"output":{"mean":100},"seed":%d},"goal":{"ttft_ms":{"p99":2000}}}`},
	{path: "/v1/pick", body: `{"hardware":"rtx-4090","context":%d}`},
	{path: "/v1/plan", body: `{"model":"qwen3-32b","hardware":"rtx-4090","context":%d}`},
	{path: "/v1/sim", body: `{"model":"llama-3.1-8b","hardware":"h100","workload":{"rate":4,"requests":1000000,
		"prompt":{"mean":1000},"output":{"mean":200},"seed":%d}}`, leaves: true},
}

// every is one of all.
func every(n int) call {
	of, i := variety, n%len(variety)
	if n%100 == 99 {
		of, i = searches, n/100%len(searches)
	}
	a := of[i]
	number := strconv.Itoa(1024 + n)
	a.path, a.body = strings.ReplaceAll(a.path, "%d", number), strings.ReplaceAll(a.body, "%d", number)
	return a
}
