package sglang

import (
	"strings"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/startup"
	"github.com/memwall/memwall/plan"
)

// The start-up log, 0.2 to 0.5. What it calls GB is GiB. Sources of the words:
// python/sglang/srt/model_executor/model_runner.py, mem_cache/memory_pool.py, managers/scheduler.py,
// entrypoints/engine.py.

// Reader collects what the lines of a log say.
type Reader struct {
	log    startup.Log
	newest string
	done   bool
	// further starts that the text holds
	further int
}

type lineRule struct {
	words string
	since string // the first version that prints it
	read  func(r *Reader, l *startup.Line, rest string)
}

var lineRules = []lineRule{
	{"server_args=ServerArgs(", "0.2.7", (*Reader).arguments},
	{"Load weight begin.", "0.1.17", (*Reader).loading},
	{"Load weight end.", "0.1.17", (*Reader).loaded},
	{"Memory pool end.", "0.1.17", (*Reader).pooled},
	{"KV Cache is allocated.", "0.4.1", (*Reader).cache},
	{"KV Cache VA upper bound.", "0.5.10", (*Reader).cache},
	{"Mamba Cache is allocated.", "0.5.3", (*Reader).states},
	{"max_total_num_tokens=", "0.1.17", (*Reader).tokens},
	{"max_total_num_token=", "0.1", (*Reader).tokens},
	{"graph end.", "0.4.3", (*Reader).graphs},
	{"Not enough memory. Please try to increase --mem-fraction-static", "0.2", (*Reader).nothing},
	{"sglang: ", "", (*Reader).version},
	{"sglang version ", "", (*Reader).version},
}

// Line reads one line.
func (r *Reader) Line(l *startup.Line) {
	r.log.Spot(l.Text)
	for i := range lineRules {
		rule := &lineRules[i]
		rest, ok := startup.After(l.Text, rule.words)
		if !ok {
			continue
		}
		if rule.words == "server_args=ServerArgs(" && len(r.log.Figures) > 0 && !r.done {
			r.done = true
			r.further++
		}
		if r.done {
			return
		}
		have, _ := engine.ParseVersion(r.newest)
		if v, err := engine.ParseVersion(rule.since); err == nil && v.AtLeast(have) {
			r.newest = rule.since
		}
		rule.read(r, l, rest)
	}
}

func (r *Reader) version(_ *startup.Line, rest string) {
	v, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	if _, err := engine.ParseVersion(v); err == nil && r.log.Version == "" && len(v) < 64 {
		r.log.Version = v
	}
}

func (r *Reader) avail(id, name string, l *startup.Line, rest string) {
	if rest, ok := startup.After(rest, "avail mem="); ok {
		r.log.Add(id, name, "GB", l, rest)
	}
}

func (r *Reader) loading(l *startup.Line, rest string) {
	r.avail("avail_before", "avail mem before loading", l, rest)
}

// loaded: "Load weight end. type=Qwen2ForCausalLM, dtype=torch.bfloat16, avail mem=24.59 GB, mem
// usage=14.23 GB."
func (r *Reader) loaded(l *startup.Line, rest string) {
	r.avail("avail_after", "avail mem after loading", l, rest)
	if rest, ok := startup.After(rest, "mem usage="); ok {
		r.log.Add("weights", "mem usage of the weights", "GB", l, rest)
	}
	s := startup.ParseSettings(rest)
	if q := s.Str("quant"); q != "" && r.log.Quant == "" {
		r.log.Quant = q
	}
	float32Doubled(&r.log.Plan, s, r.log.Quant)
}

func (r *Reader) pooled(l *startup.Line, rest string) {
	r.avail("avail_pool", "avail mem behind the pools", l, rest)
}

// cache: "KV Cache is allocated. #tokens: 372945, K size: 9.96 GB, V size: 9.96 GB", or "KV size: …".
func (r *Reader) cache(l *startup.Line, rest string) {
	for _, f := range []struct{ words, id, name, unit string }{
		{"#tokens:", "kv_tokens", "#tokens", "tokens"}, {"K size:", "kv_k", "K size", "GB"}, {"V size:", "kv_v", "V size", "GB"},
		{"KV size:", "kv_size", "KV size", "GB"},
	} {
		rest := rest
		if f.id == "kv_v" {
			rest = strings.ReplaceAll(rest, "KV size:", "")
		}
		if rest, ok := startup.After(rest, f.words); ok {
			r.log.Add(f.id, f.name, f.unit, l, rest)
		}
	}
}

// states: "Mamba Cache is allocated. max_mamba_cache_size: 512, conv_state size: 0.44GB, ssm_state size:
// 9.00GB".
func (r *Reader) states(l *startup.Line, rest string) {
	for _, f := range []struct{ words, id, name, unit string }{
		{"max_mamba_cache_size:", "states", "max_mamba_cache_size", "states"}, {"conv_state size:", "state_conv", "conv_state size", "GB"},
		{"ssm_state size:", "state_ssm", "ssm_state size", "GB"},
	} {
		if rest, ok := startup.After(rest, f.words); ok {
			r.log.Add(f.id, f.name, f.unit, l, rest)
		}
	}
}

// tokens: "max_total_num_tokens=372945, chunked_prefill_size=8192, max_prefill_tokens=16384,
// max_running_requests=4097, context_len=32768". The runtime prints the same name in its errors; a line
// with available_size is one of those.
func (r *Reader) tokens(l *startup.Line, rest string) {
	if strings.Contains(l.Text, "available_size=") {
		return
	}
	r.log.Add("kv_tokens", "max_total_num_tokens", "tokens", l, rest)
	s, p := startup.ParseSettings(rest), &r.log.Plan
	if n, ok := s.Int("context_len"); ok && n > 0 && n <= plan.MaxContext && p.Context == 0 {
		p.Context = plan.Int(n)
	}
	if n, ok := s.Int("max_running_requests"); ok && n > 0 && n <= plan.MaxSequences && p.MaxSeqs == 0 {
		p.MaxSeqs = plan.Int(n)
	}
	r.chunk(s)
	if rest, ok := startup.After(rest, "available_gpu_mem="); ok {
		r.log.Add("avail_end", "available_gpu_mem", "GB", l, rest)
	}
}

// chunk: -1 means whole prompts.
func (r *Reader) chunk(s startup.Settings) {
	p := &r.log.Plan
	switch n, ok := s.Int("chunked_prefill_size"); {
	case p.MaxBatchedTokens > 0 || p.ChunkedPrefill != nil:
	case s["chunked_prefill_size"] == "-1":
		p.ChunkedPrefill = new(bool)
	case ok && n > 0 && n <= plan.MaxContext:
		p.MaxBatchedTokens = plan.Int(n)
	}
}

// graphs: "Capture cuda graph end. Time elapsed: 4.96 s. mem usage=0.66 GB. avail mem=13.29 GB."
func (r *Reader) graphs(l *startup.Line, rest string) {
	if strings.Contains(l.Text, "draft") {
		return
	}
	if rest, ok := startup.After(rest, "mem usage="); ok {
		r.log.Add("graphs", "mem usage of the graphs", "GB", l, rest)
	}
}

func (r *Reader) nothing(*startup.Line, string) {
	r.log.Note("refused", "the server refused to start: nothing was left for the cache")
}

// arguments that the server settled on.
func (r *Reader) arguments(l *startup.Line, rest string) {
	r.log.Signs++
	r.takeSettings(startup.ParseSettings(rest))
	r.log.CutAt(l)
}

// FromSettings converts a running server's own arguments to a log with a plan and no figures.
func FromSettings(s startup.Settings) *startup.Log {
	r := &Reader{}
	r.takeSettings(s)
	r.log.Engine, r.log.Servers, r.log.Signs = "sglang", 1, 1
	return &r.log
}

// takeSettings reads arguments by their names.
func (r *Reader) takeSettings(s startup.Settings) {
	p := &r.log.Plan
	r.log.Named(s.Str("model_path"))
	r.log.Named(s.Str("served_model_name"))
	r.log.Named(s.Str("tokenizer_path"))
	if q := s.Str("quantization"); q != "" && r.log.Quant == "" {
		r.log.Quant = q
	}
	for _, f := range []struct {
		name string
		at   *int64
	}{{"tp_size", &p.TP}, {"pp_size", &p.PP}, {"dp_size", &p.DP}, {"ep_size", &p.EP}} {
		if n, ok := s.Int(f.name); ok && *f.at == 0 && n > 0 && n <= plan.MaxRanks {
			*f.at = n
		}
	}
	if on := s.Bool("enable_dp_attention"); on != nil && *on {
		r.log.Note("not_read", "attention runs in data parallel groups inside the tensor parallel one; memwall does not read that")
		p.DP = 0
	}
	if n, ok := s.Int("context_length"); ok && n > 0 && n <= plan.MaxContext && p.Context == 0 {
		p.Context = plan.Int(n)
	}
	if n, ok := s.Int("page_size"); ok && n > 0 && n <= 1<<20 {
		p.BlockSize = plan.Int(n)
	}
	if n, ok := s.Int("max_running_requests"); ok && n > 0 && n <= plan.MaxSequences {
		p.MaxSeqs = plan.Int(n)
	}
	if p.MemFractionStatic == nil {
		p.MemFractionStatic = s.Share("mem_fraction_static")
	}
	r.chunk(s)
	p.EnforceEager = s.Bool("disable_cuda_graph")
	if off := s.Bool("disable_radix_cache"); off != nil {
		on := !*off
		p.PrefixCache = &on
	}
	if kv := s.Str("kv_cache_dtype"); kv != "" && kv != "auto" {
		p.KV = kv
	}
	float32Doubled(p, s, r.log.Quant)
	if n, ok := s.Int("max_total_tokens"); ok && n > 0 {
		r.log.Note("token_cap", "--max-total-tokens %d caps the pool: what the memory would hold is not what is printed", n)
	}
	for _, name := range []string{"cpu_offload_gb", "speculative_algorithm", "hybrid_kvcache_ratio"} {
		if v := s.Str(name); v != "" && v != "0" {
			r.log.Note("not_read", "%s is set in the log and changes the cache; memwall does not read it", name)
		}
	}
}

// float32Doubled: unquantised weights in float32 double weights and cache.
func float32Doubled(p *plan.Plan, s startup.Settings, quant string) {
	if strings.HasSuffix(s.Str("dtype"), "float32") && quant == "" && p.Weights == "" {
		p.Weights = dtype.F32.Name
		if p.KV == "" {
			p.KV = dtype.F32.Name
		}
	}
}

// Log gives what was read.
func (r *Reader) Log() *startup.Log {
	l := &r.log
	l.Engine, l.Era = "sglang", r.newest
	l.Servers = 1 + r.further
	if l.Servers > 1 {
		l.Note("two_servers", "the text holds the start of more than one server: the first is taken")
	}
	return l
}
