package vllm

import (
	"strings"

	"github.com/memwall/memwall/engine/startup"
)

// Lines that print figures; log.go says by which words each is known.

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
	if n, ok := startup.Integer(rest); ok {
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
		{"total_gpu_memory=", "total", "total_gpu_memory"}, {"non_torch_memory=", "non_torch", "non_torch_memory"},
		{"kv_cache_size=", "kv_available", "kv_cache_size"},
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
		{"non_torch_memory takes", "non_torch", "non_torch_memory"}, {"activation peak memory takes", "activations",
			"PyTorch activation peak memory"},
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
		{"GiB for peak activation", "activations", "peak activation"}, {"GiB for non-torch memory", "non_torch", "non-torch memory"},
		{"GiB for CUDAGraph memory", "graphs", "CUDAGraph memory"},
	} {
		r.before(l, rest, f.words, f.id, f.name)
	}
	rest, ok := startup.After(rest, "kv cache memory in use is")
	// In GiB it is the pool that a line before told.
	if _, _, _, after := startup.Number(rest); ok && !strings.HasPrefix(strings.TrimSpace(after), "GiB") {
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
		if n, ok := startup.Integer(rest); ok {
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
		if n, ok := startup.Integer(rest); ok {
			r.context(n)
		}
	}
	r.log.Note("refused", "the server refused to start: its cache holds fewer tokens than one request may have")
}

func (r *Reader) nothing(*startup.Line, string) {
	r.log.Note("refused", "the server refused to start: nothing was left for the cache")
}

// pageSize of hybrid models follows from the state's size; the printed one is compared.
func (r *Reader) pageSize(l *startup.Line, rest string) {
	r.log.Add("block_tokens", "attention block size", "tokens", l, rest)
}
