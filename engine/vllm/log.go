package vllm

import (
	"strconv"
	"strings"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/startup"
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
	aside  bool   // graphs are inside the budget
	newest string // era of the youngest line seen
	done   bool
	// further starts that the text holds
	further int
}

// lineRule is one form of line: what it is known by, and what it tells.
type lineRule struct {
	words string
	since string // the first version that prints it, for logs without a version
	v1    bool
	read  func(r *Reader, l *startup.Line, rest string)
}

var lineRules = []lineRule{
	{"Starting to load model ", "0.2.5", false, (*Reader).loads},
	{"Loading model weights took", "0.3", false, (*Reader).weights},
	{"Model loading took", "0.7.4", false, (*Reader).weights},
	{"# GPU blocks:", "0.1", false, (*Reader).blocks},
	{"# cuda blocks:", "0.7", false, (*Reader).blocks},
	{"# rocm blocks:", "0.7", false, (*Reader).blocks},
	{"GPU KV cache size:", "0.8", true, figure("kv_tokens", "GPU KV cache size", "tokens")},
	{"Maximum concurrency for", "0.6.3", false, (*Reader).concurrency},
	{"Available KV cache memory:", "0.9.2", true, figure("kv_available", "Available KV cache memory", "GiB")},
	{"Graph capturing finished in", "0.2.5", false, (*Reader).graphs},
	{"CUDA graph memory profiling is enabled (default since v0.21.0)", "0.21", true, (*Reader).graphsAside},
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

// Line processes one line.
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
			r.further++
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
	r.v0 = r.v0 || strings.Contains(text, "worker.py:") && !strings.Contains(text, "gpu_worker.py:") ||
		strings.HasPrefix(rule.words, "# cuda")
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

// graphsAside: the pool is what the estimate for graphs leaves. Builds between releases print it below a number that is too low.
func (r *Reader) graphsAside(*startup.Line, string) { r.aside = true }

func (r *Reader) flashInfer(*startup.Line, string) {
	r.log.Note("flashinfer_sampler", "the log says that FlashInfer samples: 14 bytes a logit instead of 38 to 50 before 0.16")
}

// Log returns what was read.
func (r *Reader) Log() *startup.Log {
	l := &r.log
	l.Engine = "vllm"
	l.Servers = 1 + r.further
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
		l.Note("v0_engine", "the log is of the V0 engine in version %s: the rules of %s, which ran it by default, are used", l.Version,
			lastV0)
		l.Era = lastV0
		l.Version = ""
	case err == nil && r.aside && v.AtLeast(graphsEstimated) && v.Before(graphsInBudget):
		l.Note("newer_build", "the log is of a build of %s that sets CUDA graphs aside: the rules of %s, the first that did, are used",
			l.Version, graphsInBudget)
		l.Era, l.Version = graphsInBudget.String(), ""
	case err == nil && r.v1 && v.Before(v1Default):
		if r.untagged() {
			l.Note("untagged_build", "the log is of a build that calls itself %s: the rules of %s, of which its lines are, are used",
				l.Version, l.Era)
			l.Version = ""
			return
		}
		l.Note("v1_engine", "the log is of the V1 engine in version %s: the rules of %s, the first that ran it by default, are used",
			l.Version, firstV1)
		l.Era, l.Version = firstV1, ""
	}
}

// untagged reports whether lines are of a later version than the number says: a checkout without tags builds 0.1.dev1+g…, or counts its
// commits, 0.1.dev18496+g….
func (r *Reader) untagged() bool {
	era, err := engine.ParseVersion(r.log.Era)
	if counted := byCommits(r.log.Version); err != nil || counted.AtLeast(era) {
		era = counted
		r.log.Era = counted.String()
	}
	return era.AtLeast(v1Default)
}

// commits are how many a checkout had at about the release that came next: builds that say their day beside their number, of 2026-04-30
// (16,260) and 2026-07-27 (18,496).
var commits = []struct {
	from int
	v    engine.Version
}{{18000, engine.V(0, 24, 0)}, {16000, engine.V(0, 20, 0)}}

func byCommits(version string) engine.Version {
	count, _, _ := strings.Cut(strings.TrimPrefix(version, "0.1.dev"), "+")
	n, err := strconv.Atoi(count)
	for _, c := range commits {
		if err == nil && n >= c.from {
			return c.v
		}
	}
	return engine.Version{}
}

const (
	lastV0  = "0.7"
	firstV1 = "0.8"
)
