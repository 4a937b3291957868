package vllm

import (
	"strings"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/startup"
	"github.com/memwall/memwall/plan"
)

// What the engine says about its own configuration.

func (r *Reader) length(_ *startup.Line, rest string) {
	if n, ok := startup.Integer(rest); ok {
		r.context(n)
	}
}

func (r *Reader) context(n int64) {
	if r.log.Plan.Context == 0 && n <= plan.MaxContext {
		r.log.Plan.Context = plan.Int(n)
	}
}

func (r *Reader) step(_ *startup.Line, rest string) {
	if n, ok := startup.Integer(rest); ok && r.log.Plan.MaxBatchedTokens == 0 && n <= plan.MaxContext {
		r.log.Plan.MaxBatchedTokens = plan.Int(n)
	}
}

func (r *Reader) utilization(rest string) {
	text, value, _, _ := startup.Number(rest)
	if text != "" && value > 0 && value <= 1 && r.log.Plan.GPUMemoryUtilization == nil {
		r.log.Plan.GPUMemoryUtilization = &value
	}
}

// loads: "Starting to load model NAME...".
func (r *Reader) loads(_ *startup.Line, rest string) {
	name, _, _ := strings.Cut(rest, " ")
	r.log.Named(strings.TrimSuffix(name, "..."))
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
	r.log.CutAt(l)
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
	r.takeSettings(startup.ParseSettings(rest))
	r.log.CutAt(l)
}

// FromSettings converts a running server's own arguments to a log with a plan and no figures.
func FromSettings(s startup.Settings) *startup.Log {
	r := &Reader{}
	r.takeSettings(s)
	r.log.Engine, r.log.Servers, r.log.Signs = "vllm", 1, 1
	return &r.log
}

// takeSettings reads arguments by their names.
func (r *Reader) takeSettings(s startup.Settings) {
	p := &r.log.Plan
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
	r.flagged(s)
	for _, name := range []string{"num_gpu_blocks_override", "speculative_model"} {
		if v := s.Str(name); v != "" && v != "0" && v != "1" && v != "0.0" && v != "1.0" {
			r.log.Note("not_read", "%s is set in the log and changes the cache; memwall does not read it", name)
		}
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
