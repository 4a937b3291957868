package observe

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Reading is what an engine said of itself at one moment. What it does not say is nil: unknown, and not 0. Counts are sums
// over the engine's workers.
type Reading struct {
	Engine string   // as plans name it; "tgi"
	Models []string // served, in order of their names

	Running, Waiting *float64 // requests
	// KVUsage is the part of the cache that is taken, 0 to 1, of the worker that has most of it taken. KVTokens is how many
	// tokens the caches of all workers hold.
	KVUsage, KVTokens *float64
	// Preemptions, Finished (requests), PromptTokens and OutputTokens count from the engine's start; Hits of Queries
	// tokens or blocks were found in the prefix cache.
	Preemptions, Finished, PromptTokens, OutputTokens, Hits, Queries *float64
	// OutputRate is the engine's own figure of tokens a second.
	OutputRate *float64
	// Seconds: to the first token, for each further token of a request, between two tokens, of whole requests, in the queue.
	TTFT, TPOT, ITL, E2E, Queue *Histogram
	// Notes say what was there and could not be read.
	Notes []string
}

// ErrEngine is the error of a page that no known engine wrote.
var ErrEngine = errors.New("no metric of vLLM, SGLang, TensorRT-LLM, llama-server or TGI is on the page")

// Read makes a reading of a page of metrics.
func Read(text []byte) (*Reading, error) {
	p, err := Parse(text)
	if err != nil {
		return nil, err
	}
	n := p.engine()
	if n == nil {
		return nil, ErrEngine
	}
	r := &Reading{Engine: n.engine, Models: p.models(n.prefix)}
	for _, f := range []struct {
		to   **float64
		from []string
	}{
		{&r.Running, n.running}, {&r.Waiting, n.waiting}, {&r.Preemptions, n.preemptions}, {&r.Finished, n.finished},
		{&r.PromptTokens, n.promptTokens},
		{&r.OutputTokens, n.outputTokens}, {&r.OutputRate, n.outputRate}, {&r.KVTokens, n.capacity}, {&r.Hits, n.hits},
		{&r.Queries, n.queries},
	} {
		*f.to = p.sum(f.from)
	}
	r.KVUsage = p.largest(n.kv)
	if r.KVUsage != nil && !(*r.KVUsage >= 0 && *r.KVUsage <= 1) {
		r.Notes, r.KVUsage = append(r.Notes, fmt.Sprintf("a cache that is taken to %g is not part of one", *r.KVUsage)), nil
	}
	if r.KVTokens == nil {
		r.KVTokens = p.blocks()
	}
	r.histograms(p, n)
	if p.Broken > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("%d lines are not metrics; %s", p.Broken, p.FirstBroken))
	}
	return r, nil
}

func (r *Reading) histograms(p *Page, n *names) {
	for _, f := range []struct {
		to   **Histogram
		from []string
	}{{&r.TTFT, n.ttft}, {&r.TPOT, n.tpot}, {&r.ITL, n.itl}, {&r.E2E, n.e2e}, {&r.Queue, n.queue}} {
		for _, name := range f.from {
			h, err := histogramOf(p.Samples, name)
			if err != nil {
				r.Notes = append(r.Notes, name+": "+err.Error())
				continue
			}
			if h != nil {
				*f.to = h
				break
			}
		}
	}
}

// engine is the one of whose metrics the page has most; nil without any.
func (p *Page) engine() (best *names) {
	most := 0
	for i := range engines {
		n := 0
		for _, s := range p.Samples {
			if strings.HasPrefix(s.Name, engines[i].prefix) {
				n++
			}
		}
		if n > most {
			best, most = &engines[i], n
		}
	}
	return best
}

// models are the names in the labels of an engine's metrics, 64 at most.
func (p *Page) models(prefix string) (out []string) {
	const most = 64
	for _, s := range p.Samples {
		for _, label := range []string{"model_name", "model", "name"} {
			m := s.Labels[label]
			if m == "" || !strings.HasPrefix(s.Name, prefix) {
				continue
			}
			if !slices.Contains(out, m) && len(out) < most {
				out = append(out, m)
			}
			break
		}
	}
	slices.Sort(out)
	return out
}

// each calls yield with the samples of the first name that the page has.
func (p *Page) each(list []string, yield func(float64)) (found bool) {
	for _, want := range list {
		name, label, value := parts(want)
		for i := range p.Samples {
			if s := &p.Samples[i]; s.Name == name && (label == "" || s.Labels[label] == value) {
				found = true
				yield(s.Value)
			}
		}
		if found {
			return true
		}
	}
	return false
}

// parts of "name{label=value}" and of "name*".
func parts(want string) (name, label, value string) {
	if base, ok := strings.CutSuffix(want, "*"); ok {
		return base + "_sum", "", ""
	}
	name, rest, _ := strings.Cut(want, "{")
	label, value, _ = strings.Cut(strings.TrimSuffix(rest, "}"), "=")
	return name, label, value
}

func (p *Page) sum(list []string) *float64 {
	sum := 0.0
	if !p.each(list, func(v float64) { sum += v }) || !(sum >= 0) {
		return nil
	}
	return &sum
}

func (p *Page) largest(list []string) *float64 {
	var most *float64
	p.each(list, func(v float64) {
		if most == nil || v > *most {
			most = &v
		}
	})
	return most
}

// blocks is what vLLM says of its cache in labels: blocks times tokens of each, of all workers.
func (p *Page) blocks() *float64 {
	sum := 0.0
	for i := range p.Samples {
		s := &p.Samples[i]
		if s.Name != "vllm:cache_config_info" {
			continue
		}
		n, err := strconv.ParseFloat(s.Labels["num_gpu_blocks"], 64)
		size, err2 := strconv.ParseFloat(s.Labels["block_size"], 64)
		if err == nil && err2 == nil && n > 0 && size > 0 && n*size < 1e15 {
			sum += n * size
		}
	}
	if sum == 0 {
		return nil
	}
	return &sum
}
