package validation

import (
	"slices"
	"strconv"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/engine"
)

// Measure is one kind of figure, compared over all rows that have it.
type Measure struct {
	Name  string
	About string
	// Sets are the collections whose rows count, by prefix of their name.
	Sets string
	// Figures are the names in Row.Got that count.
	Figures []string
	// Given puts what the row measured into the question, rounded down or up by half a digit with side -1 or
	// +1; false when the row lacks it.
	Given func(ask *memwall.Request, row *Row, side float64) bool
	// AnyDevice: the figure does not depend on the device, which the row need not name.
	AnyDevice bool
	// Find reads our figure in the answer.
	Find func(a *memwall.Answer, figure string) (Range, bool)
	// Exact: the figure follows from rules alone and must be equal to the last printed digit.
	Exact bool
	// Target is the median relative error aimed at.
	Target float64
	// Fitted: constants fitted to some of the rows go into the figure. Those rows are scored apart.
	Fitted bool
	// Bandless: no answer shows the figure, so it has no band.
	Bandless bool
	// Absolute: errors are in units of the figure (GiB), not relative to it.
	Absolute bool
	// Unfit says why a comparison shows nothing, once both figures are there; "" when it does.
	Unfit func(c *Comparison) string
}

// Range is a prediction with its 90 % band.
type Range struct{ Mid, Low, High float64 }

func exactly(x float64) Range { return Range{x, x, x} }

// Measures are the kinds of figures in the order of the report.
var Measures = slices.Concat(counted, buffers("llama.cpp ", "llamacpp-"), buffers("llama.cpp, own headers: ", "own-headers"), printed)

// buffers are those that llama.cpp prints for headers of a set.
func buffers(of, sets string) []Measure {
	return []Measure{
		{Name: of + "weights", About: "model buffers of every device and the host", Sets: sets, Figures: places("weights"),
			Find: item("weights"), Exact: true},
		{Name: of + "KV cache", About: "KV buffers", Sets: sets, Figures: places("kv_cache", "context"), Find: item("kv_cache"),
			Exact: true},
		{Name: of + "state", About: "recurrent-state buffers", Sets: sets, Figures: places("state"), Find: item("state"), Exact: true},
		{Name: of + "output", About: "output buffer", Sets: sets, Figures: places("output"), Find: item("output"), Exact: true},
		{Name: of + "compute", About: "compute buffers", Sets: sets, Figures: places("compute"), Find: item("compute"), Target: 0.01},
	}
}

var counted = []Measure{
	{Name: "parameters", About: "published totals of checkpoints", Sets: "parameters",
		Figures: []string{"parameters", "parameters_with_mtp", "parameters_head_twice", "parameters_without_head"}, Find: parameters,
		AnyDevice: true, Exact: true},
}

var printed = []Measure{
	{Name: "llama.cpp logs: KV cache", About: "KV buffers in logs of many builds and backends", Sets: "llama-logs",
		Figures: places("kv_cache"), Find: item("kv_cache"), Exact: true},
	{Name: "llama.cpp logs: output", About: "output buffers in these logs", Sets: "llama-logs", Figures: places("output"),
		Find: item("output"), Exact: true},
	{Name: "llama.cpp logs: weights", About: "model buffers in these logs, of files whose mixture only its name tells", Sets: "llama-logs",
		Figures: places("weights"), Find: item("weights"), Target: 0.005},
	{Name: "llama.cpp logs: compute", About: "compute buffers in these logs", Sets: "llama-logs", Figures: places("compute"),
		Find: item("compute"), Target: 0.05},
	{Name: "vLLM weights", AnyDevice: true, About: "'Model loading took'", Sets: "vllm", Figures: []string{"weights"},
		Find: print("Model loading took"), Target: 0.005, Fitted: true},
	{Name: "vLLM activations", About: "peak of the profile run", Sets: "vllm", Figures: []string{"activations"}, Find: item("activations"),
		Target: 0.05},
	{Name: "vLLM available KV", About: "'Available KV cache memory', from the configuration alone", Sets: "vllm",
		Figures: []string{"kv_available"}, Find: print("Available KV cache memory"), Target: 0.05, Fitted: true},
	{Name: "vLLM pool size", About: "tokens or blocks of the pool, from the configuration alone", Sets: "vllm",
		Figures: []string{"tokens", "blocks"}, Find: pool, Target: 0.05, Fitted: true},
	{Name: "vLLM tokens, KV given", AnyDevice: true, About: "tokens or blocks of a pool of the printed size", Sets: "vllm",
		Figures: []string{"tokens", "blocks"}, Given: kvGiven, Find: pool, Exact: true, Unfit: otherWorker},
	{Name: "vLLM concurrency, KV given", AnyDevice: true, About: "'Maximum concurrency' of a pool of the printed size", Sets: "vllm",
		Figures: []string{"concurrency"}, Given: kvGiven, Find: print("Maximum concurrency"), Exact: true, Unfit: otherWorker},
	{Name: "vLLM needed KV", AnyDevice: true, About: "KV cache needed for one request of full length", Sets: "vllm",
		Figures: []string{"kv_needed"}, Find: print("KV cache needed for one request"), Exact: true},
	{Name: "vLLM longest, KV given", AnyDevice: true, About: "estimated maximum model length of a pool of the printed size", Sets: "vllm",
		Figures: []string{"max_length"}, Given: kvGiven, Find: print("Estimated maximum model length"), Exact: true},
	{Name: "SGLang pool size", About: "'max_total_num_tokens' or the size of the pool, from the configuration alone", Sets: "sglang",
		Figures: []string{"tokens", "kv_size"}, Find: sglangPool, Target: 0.05},
	{Name: "SGLang free before loading", About: "'Load weight begin. avail mem'", Sets: "sglang", Figures: []string{"begin"},
		Find: print("Load weight begin. avail mem"), Target: 0.01},
	{Name: "SGLang free after loading", About: "'Load weight end. avail mem'", Sets: "sglang", Figures: []string{"loaded"},
		Find: print("Load weight end. avail mem"), Target: 0.01},
	{Name: "SGLang free after pools", About: "'Memory pool end. avail mem', in GiB", Sets: "sglang", Figures: []string{"left"},
		Find: print("Memory pool end. avail mem"), Target: 0.25, Absolute: true},
	{Name: "vLLM CUDA graphs, estimated", AnyDevice: true, About: "'Estimated CUDA graph memory'", Sets: "vllm",
		Figures: []string{"graphs_estimate"}, Find: print("Estimated CUDA graph memory"), Target: 0.25, Fitted: true},
	{Name: "vLLM CUDA graphs", About: "'Graph capturing finished … took'", Sets: "vllm", Figures: []string{"graphs"}, Find: item("graphs"),
		Target: 0.25, Absolute: true, Fitted: true},
}

// places are a figure on the first device, the second, the host, all devices, and everywhere.
func places(figures ...string) (out []string) {
	for _, f := range figures {
		out = append(out, f, "1."+f, "host."+f, "devices."+f, "all."+f)
	}
	return out
}

// parameters as a checkpoint counts them: with prediction layers or without, a tied head once or twice.
func parameters(a *memwall.Answer, figure string) (Range, bool) {
	n := a.Model.Parameters
	switch figure {
	case "parameters_with_mtp":
		n += a.Model.ParametersMTP
	case "parameters_head_twice":
		n += a.Model.EmbeddingParameters
	case "parameters_without_head":
		n -= a.Model.EmbeddingParameters
	}
	return exactly(float64(n)), true
}

// item sums the lines of a ledger with an id, on the device or host that the figure names.
func item(id string) func(*memwall.Answer, string) (Range, bool) {
	return func(a *memwall.Answer, figure string) (Range, bool) {
		place, _, found := strings.Cut(figure, ".")
		if !found {
			place = "0"
		}
		items, ok := ledgerAt(a, place)
		r := sum(items, id)
		if strings.HasSuffix(figure, "context") { // llama.cpp's word for caches of both kinds
			r.add(sum(items, "state"))
		}
		return r, ok
	}
}

func ledgerAt(a *memwall.Answer, place string) (items []memwall.Item, ok bool) {
	if place == "devices" || place == "all" {
		for i := range a.Devices {
			items = append(items, a.Devices[i].Ledger...)
		}
	}
	if (place == "host" || place == "all") && a.Host != nil {
		items = append(items, a.Host.Ledger...)
	}
	if place == "host" || place == "devices" || place == "all" {
		return items, true
	}
	for i := range a.Devices {
		first, _, _ := strings.Cut(a.Devices[i].Ranks, "-")
		if first == place {
			return append(a.Devices[i].Ledger[:len(a.Devices[i].Ledger):len(a.Devices[i].Ledger)], a.Devices[i].Beside...), true
		}
	}
	return nil, false
}

func sum(items []memwall.Item, id string) (r Range) {
	for i := range items {
		it := &items[i]
		if it.ID == id {
			r.add(Range{float64(it.Bytes), float64(it.Low), float64(it.High)})
		}
	}
	return r
}

func (r *Range) add(o Range) {
	r.Mid += o.Mid
	r.Low += o.Low
	r.High += o.High
}

// print reads a figure that the engine will print.
func print(name string) func(*memwall.Answer, string) (Range, bool) {
	return func(a *memwall.Answer, _ string) (Range, bool) {
		for _, p := range a.Prints {
			if p.Name == name {
				return scaled(p), true
			}
		}
		return Range{}, false
	}
}

func scaled(p memwall.Print) Range {
	k := 1.0
	switch p.Unit {
	case "GiB", "GB":
		k = 1 << 30
	case "MiB":
		k = 1 << 20
	}
	return Range{p.Value * k, p.Low * k, p.High * k}
}

// pool is the size of vLLM's or SGLang's pool as the version prints it.
func pool(a *memwall.Answer, figure string) (Range, bool) {
	if figure == "blocks" {
		if r, ok := print("# GPU blocks")(a, figure); ok {
			return r, true
		}
		return exactly(float64(a.KV.Blocks)), true
	}
	return print("GPU KV cache size")(a, figure)
}

func sglangPool(a *memwall.Answer, figure string) (Range, bool) {
	if figure == "tokens" {
		return print("max_total_num_tokens")(a, figure)
	}
	if whole, ok := print("KV size")(a, figure); ok { // of a latent cache
		return whole, ok
	}
	k, ok := print("K size")(a, figure)
	v, _ := print("V size")(a, figure)
	k.add(v)
	return k, ok
}

// kvGiven puts the printed size of the pool in place of a utilization.
func kvGiven(ask *memwall.Request, row *Row, side float64) bool {
	v, ok := row.Got["kv_available"]
	if !ok || v.Mid <= 0 {
		return false
	}
	ask.GPUMemoryUtilization = nil
	return ask.Set("kv_cache_memory_bytes", strconv.FormatInt(int64(v.Mid+side*v.Half), 10)) == nil
}

// otherWorker: from 0.11 a log has the available memory of the first worker alone
// (vllm/v1/worker/gpu_worker.py, info_once), but the pool has the blocks of the worker with the least: of
// several ranks the printed memory does not say what the pool holds, whether the two agree or not.
func otherWorker(c *Comparison) string {
	_, version, _ := strings.Cut(c.Row.Ask.Engine, "@")
	v, err := engine.ParseVersion(version)
	if err != nil || v.Before(engine.V(0, 11, 0)) || c.Row.Ask.Ranks() < 2 {
		return ""
	}
	return "the log has the first worker's memory, and the pool is that of a worker with less"
}
