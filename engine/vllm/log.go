package vllm

import (
	"io"
	"strings"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/startup"
	"github.com/memwall/memwall/plan"
)

// The start-up log, 0.2 to 0.27. Lines of several eras say the same figure; Reader knows them by their
// words and takes them from any place in a line, so that prefixes of processes, containers and loggers do
// not matter. Sources of the words: vllm/worker, vllm/v1/worker/gpu_worker.py, gpu_model_runner.py,
// v1/core/kv_cache_utils.py, engine/llm_engine.py, executor/executor_base.py, entrypoints/openai.

// Reader collects what the lines of a log say.
type Reader struct {
	log startup.Log
	// config is the text of the first "Initializing" line; another one after figures is another server.
	config string
	v0, v1 bool
	newest string // era of the youngest line seen
	done   bool
}

// ReadLog reads a whole text.
func ReadLog(r io.Reader) (*startup.Log, error) {
	lines, err := startup.NewLines(r)
	if err != nil {
		return nil, err
	}
	var reader Reader
	for line, ok := lines.Next(); ok; line, ok = lines.Next() {
		reader.Line(&line)
	}
	return reader.Log(), lines.Err()
}

// lineRule is one form of line: what it is known by, and what it tells.
type lineRule struct {
	words string
	since string // the first version that prints it, for logs without a version
	v1    bool
	read  func(r *Reader, l *startup.Line, rest string)
}

var lineRules = []lineRule{
	{"Loading model weights took", "0.3", false, (*Reader).weights},
	{"Model loading took", "0.7.4", false, (*Reader).weights},
	{"# GPU blocks:", "0.1", false, (*Reader).blocks},
	{"# cuda blocks:", "0.7", false, (*Reader).blocks},
	{"# rocm blocks:", "0.7", false, (*Reader).blocks},
	{"GPU KV cache size:", "0.8", true, figure("kv_tokens", "GPU KV cache size", "tokens")},
	{"Maximum concurrency for", "0.6.3", false, (*Reader).concurrency},
	{"Available KV cache memory:", "0.9.2", true, figure("kv_available", "Available KV cache memory", "GiB")},
	{"Graph capturing finished in", "0.2.5", false, (*Reader).graphs},
	{"CUDA graph memory profiling is enabled (default since v0.21.0)", "0.21", true, (*Reader).nothingNew},
	{"vLLM Version:", "", false, (*Reader).server},
	{"Estimated CUDA graph memory:", "0.17", true, figure("graphs_estimate", "Estimated CUDA graph memory", "GiB")},
	{"Memory profiling results:", "0.6.4", false, (*Reader).profile},
	{"can use total_gpu_memory (", "0.6.5", false, (*Reader).budget},
	{"model weights take", "0.6.5", false, (*Reader).shares},
	{"Free memory on device", "0.9.2", true, (*Reader).free},
	{"Desired GPU memory utilization is (", "0.10.2", true, (*Reader).usage},
	{"To serve at least one request with the model", "0.7", true, (*Reader).refused},
	{"maximum number of tokens that can be stored in KV cache (", "0.1", false, (*Reader).tooLong},
	{"No available memory for the cache blocks", "0.1", false, (*Reader).nothing},
	{"Using max model len", "0.9.2", false, (*Reader).length},
	{"Chunked prefill is enabled with max_num_batched_tokens=", "0.5.4", false, (*Reader).step},
	{"Setting attention block size to", "0.10.2", true, (*Reader).pageSize},
	{"Using FlashInfer for top-p & top-k sampling", "0.6.6", true, (*Reader).flashInfer},
	{"vLLM API server version", "", false, (*Reader).server},
	{"Initializing a V0 LLM engine (v", "0.7", false, (*Reader).engineV0},
	{"Initializing a V1 LLM engine (v", "0.7", true, (*Reader).engine},
	{"Initializing an LLM engine (v", "0.3.3", false, (*Reader).engine},
	{"Initializing an LLM engine with config:", "0.1", false, (*Reader).settings},
	{"non-default args: {", "0.8.5", false, (*Reader).arguments},
	{"args: Namespace(", "0.1", false, (*Reader).arguments},
}

// Line reads one line.
func (r *Reader) Line(l *startup.Line) {
	r.log.Spot(l.Text)
	if strings.Contains(l.Text, "█") {
		r.banner(l.Text)
		return
	}
	for i := range lineRules {
		rule := &lineRules[i]
		rest, ok := startup.After(l.Text, rule.words)
		if !ok {
			continue
		}
		if r.begins(rule.words, rest) {
			r.done = true
			r.log.Servers++
		}
		if r.done {
			return
		}
		r.era(rule, l.Text)
		rule.read(r, l, rest)
	}
}

// begins reports whether a line starts another server: an identity after figures, unless it is the same
// configuration again (each data parallel rank prints it).
func (r *Reader) begins(words, rest string) bool {
	if len(r.log.Figures) == 0 || r.done {
		return false
	}
	switch {
	case strings.HasPrefix(words, "vLLM API server"):
		return true
	case strings.HasPrefix(words, "Initializing"):
		return r.config != "" && rest != r.config
	}
	return false
}

func (r *Reader) era(rule *lineRule, text string) {
	r.v1 = r.v1 || rule.v1 || strings.Contains(text, "kv_cache_utils.py")
	r.v0 = r.v0 || strings.Contains(text, "worker.py:") && !strings.Contains(text, "gpu_worker.py:") || strings.HasPrefix(rule.words, "# cuda")
	if rule.since == "" {
		return
	}
	r.notBefore(rule.since)
}

func (r *Reader) notBefore(since string) {
	have, _ := engine.ParseVersion(r.newest)
	if v, err := engine.ParseVersion(since); err == nil && v.AtLeast(have) {
		r.newest = since
	}
}

func figure(id, name, unit string) func(*Reader, *startup.Line, string) {
	return func(r *Reader, l *startup.Line, rest string) { r.log.Add(id, name, unit, l, rest) }
}

// weights: four decimals until 2025, two since.
func (r *Reader) weights(l *startup.Line, rest string) {
	if _, _, digits, after := startup.Number(rest); digits < 3 && strings.Contains(after, "GiB memory") {
		r.notBefore("0.14")
	}
	r.log.Add("weights", "Model loading took", "GiB", l, rest)
}

func (r *Reader) blocks(l *startup.Line, rest string) {
	r.log.Add("kv_blocks", "# GPU blocks", "", l, rest)
}

// concurrency: "Maximum concurrency for 131,072 tokens per request: 5.23x".
func (r *Reader) concurrency(l *startup.Line, rest string) {
	if n, ok := startup.Whole(rest); ok {
		r.context(n)
	}
	if rest, ok := startup.After(rest, "per request:"); ok {
		r.log.Add("concurrency", "Maximum concurrency", "x", l, rest)
	}
}

// graphs: "Graph capturing finished in 9 secs, took 0.66 GiB".
func (r *Reader) graphs(l *startup.Line, rest string) {
	if rest, ok := startup.After(rest, "took"); ok {
		r.log.Add("graphs", "Graph capturing took", "GiB", l, rest)
	}
}

// profile: "total_gpu_memory=79.22GiB … non_torch_memory=1.79GiB kv_cache_size=53.29GiB
// gpu_memory_utilization=0.90" of 0.6.4.
func (r *Reader) profile(l *startup.Line, rest string) {
	for _, f := range []struct{ words, id, name string }{
		{"total_gpu_memory=", "total", "total_gpu_memory"}, {"non_torch_memory=", "non_torch", "non_torch_memory"}, {"kv_cache_size=", "kv_available", "kv_cache_size"},
		{"kv_cache_memory=", "kv_available", "kv_cache_memory"},
	} {
		if rest, ok := startup.After(rest, f.words); ok {
			r.log.Add(f.id, f.name, "GiB", l, rest)
		}
	}
	if rest, ok := startup.After(rest, "gpu_memory_utilization="); ok {
		r.utilization(rest)
	}
}

// budget: "total_gpu_memory (79.19GiB) x gpu_memory_utilization (0.90) = 71.27GiB".
func (r *Reader) budget(l *startup.Line, rest string) {
	after, ok := r.log.Add("total", "total_gpu_memory", "GiB", l, rest)
	if !ok {
		return
	}
	if rest, ok := startup.After(after, "gpu_memory_utilization ("); ok {
		r.utilization(rest)
		if rest, ok := startup.After(rest, "="); ok {
			r.log.Add("budget", "budget of gpu_memory_utilization", "GiB", l, rest)
		}
	}
}

// shares: "model weights take 12.55GiB; non_torch_memory takes 0.16GiB; PyTorch activation peak memory
// takes 2.38GiB; the rest of the memory reserved for KV Cache is 56.18GiB."
func (r *Reader) shares(l *startup.Line, rest string) {
	r.log.Add("weights", "model weights take", "GiB", l, rest)
	for _, f := range []struct{ words, id, name string }{
		{"non_torch_memory takes", "non_torch", "non_torch_memory"}, {"activation peak memory takes", "activations", "PyTorch activation peak memory"},
		{"reserved for KV Cache is", "kv_available", "memory reserved for KV Cache"},
	} {
		if rest, ok := startup.After(rest, f.words); ok {
			r.log.Add(f.id, f.name, "GiB", l, rest)
		}
	}
}

// free: "Free memory on device cuda:0 (59.32/79.15 GiB) on startup is less than desired GPU memory
// utilization (0.9, 71.24 GiB)".
func (r *Reader) free(l *startup.Line, rest string) {
	inner, ok := startup.After(rest, "(")
	if !ok {
		return
	}
	after, ok := r.log.Add("free", "Free memory on device", "GiB", l, inner)
	if ok && strings.HasPrefix(after, "/") {
		r.log.Add("total", "memory of the device", "GiB", l, after[1:])
	}
	if rest, ok := startup.After(rest, "utilization ("); ok {
		r.utilization(rest)
		r.log.Note("refused", "the server refused to start: less memory is free than gpu_memory_utilization asks for")
	}
}

// usage: "Desired GPU memory utilization is (0.9, 71.33 GiB). Actual usage is 0.93 GiB for weight, 1.17
// GiB for peak activation, 0.06 GiB for non-torch memory, and 0.47 GiB for CUDAGraph memory. … Current kv
// cache memory in use is 73400320 bytes."
func (r *Reader) usage(l *startup.Line, rest string) {
	r.utilization(rest)
	if rest, ok := startup.After(rest, ","); ok {
		r.log.Add("budget", "budget of gpu_memory_utilization", "GiB", l, rest)
	}
	for _, f := range []struct{ words, id, name string }{
		{"GiB for peak activation", "activations", "peak activation"}, {"GiB for non-torch memory", "non_torch", "non-torch memory"}, {"GiB for CUDAGraph memory", "graphs", "CUDAGraph memory"},
	} {
		r.before(l, rest, f.words, f.id, f.name)
	}
	if rest, ok := startup.After(rest, "kv cache memory in use is"); ok {
		r.log.Add("kv_bytes", "kv cache memory in use", "bytes", l, rest)
	}
}

// before adds the number that stands before words.
func (r *Reader) before(l *startup.Line, text, words, id, name string) {
	i := strings.Index(text, words)
	if i < 0 {
		return
	}
	head := strings.TrimRight(text[:i], " ")
	start := strings.LastIndexAny(head, " (,") + 1
	r.log.Add(id, name, "GiB", l, head[start:])
}

// refused: "… max seq len (100000), (4.26 GiB KV cache is needed, which is larger than the available KV
// cache memory (4.25 GiB). Based on the available memory, the estimated maximum model length is 5088."
func (r *Reader) refused(l *startup.Line, rest string) {
	if rest, ok := startup.After(rest, "max seq len ("); ok {
		if n, ok := startup.Whole(rest); ok {
			r.context(n)
		}
	}
	r.before(l, rest, "GiB KV cache is needed", "kv_needed", "KV cache needed for one request")
	if rest, ok := startup.After(rest, "available KV cache memory ("); ok && r.log.Find("kv_available") == nil {
		r.log.Add("kv_available", "Available KV cache memory", "GiB", l, rest)
	}
	if rest, ok := startup.After(rest, "estimated maximum model length is"); ok {
		r.log.Add("max_length", "estimated maximum model length", "tokens", l, strings.TrimRight(rest, "."))
	}
	r.log.Note("refused", "the server refused to start: one request of the full length does not fit in the cache")
}

// tooLong: V0's refusal names the tokens that fit.
func (r *Reader) tooLong(l *startup.Line, rest string) {
	r.log.Add("kv_tokens", "tokens that can be stored in KV cache", "tokens", l, rest)
	if rest, ok := startup.After(l.Text, "max seq len ("); ok {
		if n, ok := startup.Whole(rest); ok {
			r.context(n)
		}
	}
	r.log.Note("refused", "the server refused to start: its cache holds fewer tokens than one request may have")
}

func (r *Reader) nothing(*startup.Line, string) {
	r.log.Note("refused", "the server refused to start: nothing was left for the cache")
}

// nothingNew: the line only dates the log.
func (r *Reader) nothingNew(*startup.Line, string) {}

func (r *Reader) length(_ *startup.Line, rest string) {
	if n, ok := startup.Whole(rest); ok {
		r.context(n)
	}
}

func (r *Reader) context(n int64) {
	if r.log.Plan.Context == 0 && n <= plan.MaxContext {
		r.log.Plan.Context = plan.Int(n)
	}
}

func (r *Reader) step(_ *startup.Line, rest string) {
	if n, ok := startup.Whole(rest); ok && r.log.Plan.MaxBatchedTokens == 0 && n <= plan.MaxContext {
		r.log.Plan.MaxBatchedTokens = plan.Int(n)
	}
}

// pageSize of hybrid models follows from the state's size; the printed one is compared.
func (r *Reader) pageSize(l *startup.Line, rest string) {
	r.log.Add("block_tokens", "attention block size", "tokens", l, rest)
}

func (r *Reader) flashInfer(*startup.Line, string) {
	r.log.Note("flashinfer_sampler", "the log says that FlashInfer samples: 14 bytes a logit instead of 38 to 50 before 0.16")
}

func (r *Reader) utilization(rest string) {
	text, value, _, _ := startup.Number(rest)
	if text != "" && value > 0 && value <= 1 && r.log.Plan.GPUMemoryUtilization == nil {
		r.log.Plan.GPUMemoryUtilization = &value
	}
}

func (r *Reader) server(_ *startup.Line, rest string) {
	r.version(rest)
}

func (r *Reader) version(rest string) {
	v := strings.TrimLeft(rest, " v")
	if i := strings.IndexAny(v, " )"); i >= 0 {
		v = v[:i]
	}
	if _, err := engine.ParseVersion(v); err == nil && r.log.Version == "" && len(v) < 64 {
		r.log.Version = v
	}
	r.log.Signs++
}

func (r *Reader) engineV0(l *startup.Line, rest string) {
	r.v0 = true
	r.engine(l, rest)
}

func (r *Reader) engine(l *startup.Line, rest string) {
	r.version(rest)
	if _, config, ok := strings.Cut(rest, "config:"); ok {
		if r.config == "" {
			r.config = rest
		}
		r.settings(l, config)
	}
}

// settings of the engine's configuration.
func (r *Reader) settings(l *startup.Line, rest string) {
	r.log.Signs++
	s, p := startup.ParseSettings(rest), &r.log.Plan
	r.log.Named(s.Str("model"))
	r.log.Named(s.Str("served_model_name"))
	r.log.Named(s.Str("tokenizer"))
	if q := s.Str("quantization"); q != "" && r.log.Quant == "" {
		r.log.Quant = q
	}
	if n, ok := s.Int("max_seq_len"); ok {
		r.context(n)
	}
	r.groups(s, p)
	r.cacheFormat(s, p)
	r.log.Plan.EnforceEager = orBool(p.EnforceEager, s.Bool("enforce_eager"))
	r.log.Plan.PrefixCache = orBool(p.PrefixCache, s.Bool("enable_prefix_caching"))
	r.log.Plan.ChunkedPrefill = orBool(p.ChunkedPrefill, s.Bool("chunked_prefill_enabled"))
	if l.Cut {
		r.log.Note("cut_line", "line %d is cut: settings behind the cut are not known", l.Number)
	}
}

func (r *Reader) groups(s startup.Settings, p *plan.Plan) {
	for _, f := range []struct {
		name string
		at   *int64
	}{{"tensor_parallel_size", &p.TP}, {"pipeline_parallel_size", &p.PP}, {"data_parallel_size", &p.DP}} {
		if n, ok := s.Int(f.name); ok && *f.at == 0 && n > 0 && n <= plan.MaxRanks {
			*f.at = n
		}
	}
}

// cacheFormat: auto is the format of the weights that are not quantised; all of those have 16 bits but
// float32.
func (r *Reader) cacheFormat(s startup.Settings, p *plan.Plan) {
	full := strings.HasSuffix(s.Str("dtype"), "float32")
	if full && r.log.Quant == "" && p.Weights == "" {
		p.Weights = dtype.F32.Name
	}
	kv := s.Str("kv_cache_dtype")
	switch {
	case p.KV != "":
	case kv != "" && kv != "auto":
		p.KV = kv
	case kv == "auto" && full:
		p.KV = dtype.F32.Name
	}
}

// arguments of the command line, as the server prints them: only those that were given, or all of them in
// older versions.
func (r *Reader) arguments(l *startup.Line, rest string) {
	r.log.Signs++
	s, p := startup.ParseSettings(rest), &r.log.Plan
	r.log.Named(s.Str("model", "model_tag"))
	if q := s.Str("quantization"); q != "" && r.log.Quant == "" {
		r.log.Quant = q
	}
	r.groups(s, p)
	r.cacheFormat(s, p)
	for _, f := range []struct {
		name string
		at   *plan.Int
		most int64
	}{
		{"max_model_len", &p.Context, plan.MaxContext}, {"max_num_seqs", &p.MaxSeqs, plan.MaxSequences},
		{"max_num_batched_tokens", &p.MaxBatchedTokens, plan.MaxContext}, {"block_size", &p.BlockSize, 1 << 20},
	} {
		if n, ok := s.Int(f.name); ok && *f.at == 0 && n > 0 && n <= f.most {
			*f.at = plan.Int(n)
		}
	}
	if p.GPUMemoryUtilization == nil {
		p.GPUMemoryUtilization = s.Share("gpu_memory_utilization")
	}
	for _, name := range []string{"kv_cache_memory_bytes", "kv_cache_memory"} {
		if n, ok := s.Int(name); ok && n > 0 {
			p.KVCacheMemory = plan.Size(n)
		}
	}
	p.EnforceEager = orBool(p.EnforceEager, s.Bool("enforce_eager"))
	if on := s.Bool("enable_expert_parallel"); on != nil && *on {
		p.EP = max(1, p.TP) * max(1, p.DP)
	}
	for _, name := range []string{"cpu_offload_gb", "num_gpu_blocks_override", "speculative_config", "speculative_model", "decode_context_parallel_size"} {
		if v := s.Str(name); v != "" && v != "0" && v != "1" && v != "0.0" && v != "1.0" {
			r.log.Note("not_read", "%s is set in the log and changes the cache; memwall does not read it", name)
		}
	}
	if l.Cut {
		r.log.Note("cut_line", "line %d is cut: settings behind the cut are not known", l.Number)
	}
}

func orBool(a, b *bool) *bool {
	if a != nil {
		return a
	}
	return b
}

// banner: from 0.12 the server draws its name, with "version …" and "model …" beside it.
func (r *Reader) banner(text string) {
	if rest, ok := startup.After(text, "version "); ok {
		r.version(rest)
	}
	if rest, ok := startup.After(text, "model "); ok {
		r.log.Named(strings.TrimSpace(rest))
	}
}

// Log gives what was read.
func (r *Reader) Log() *startup.Log {
	l := &r.log
	l.Engine = "vllm"
	l.Servers++
	if l.Servers > 1 {
		l.Note("two_servers", "the text holds the start of more than one server: the first is taken")
	}
	l.Era = r.newest
	r.generation()
	return l
}

// generation: from 0.8 the V1 engine is the default; a log of V0 from then on has the rules of the last
// version that ran it by default, and a log of V1 before has those of the first.
func (r *Reader) generation() {
	l := &r.log
	v, err := engine.ParseVersion(l.Version)
	switch {
	case err != nil && r.v0 && !r.v1:
		l.Era = lastV0
	case err != nil && r.v1:
		if era, err := engine.ParseVersion(l.Era); err == nil && era.Before(v1Default) {
			l.Era = firstV1
		}
	case err == nil && r.v0 && !r.v1 && v.AtLeast(v1Default):
		l.Note("v0_engine", "the log is of the V0 engine in version %s: the rules of %s, which ran it by default, are used", l.Version, lastV0)
		l.Era = lastV0
		l.Version = ""
	case err == nil && r.v1 && v.Before(v1Default):
		l.Note("v1_engine", "the log is of the V1 engine in version %s: the rules of %s, the first that ran it by default, are used", l.Version, firstV1)
		l.Era = firstV1
		l.Version = ""
	}
}

const (
	lastV0  = "0.7"
	firstV1 = "0.8"
)
