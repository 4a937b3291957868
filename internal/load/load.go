// Package load parses the flags and URL parameters of a workload and its goal.
package load

import (
	"fmt"
	"slices"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
	"github.com/memwall/memwall/workload"
)

// Load is who asks for what, and how soon it is wanted.
type Load struct {
	Spec workload.Spec
	// Goal is nil until something is said of it.
	Goal          *memwall.Goal
	Disaggregated *plan.Disaggregated
	// Data reads files of lengths; nil refuses them.
	Data memwall.LengthSource
}

// Wanted is the goal, which comes with the first word that says something of it.
func (f *Load) Wanted() *memwall.Goal {
	if f.Goal == nil {
		f.Goal = &memwall.Goal{}
	}
	return f.Goal
}

// Word is one thing that may be said: its name, what stands behind it, and what reads that.
type Word struct {
	Name, Operand, Doc string
	Example            string   // of what stands behind it
	Choices            []string // nil for any
	Read               func(string) error
}

// Set reads a text.
func (w *Word) Set(s string) error {
	if len(w.Choices) > 0 && !slices.Contains(w.Choices, s) {
		return fmt.Errorf("%q is not one of %s", s, strings.Join(w.Choices, ", "))
	}
	return w.Read(s)
}

// Hint shows how the word is used, with what stands before its name.
func (w *Word) Hint(before string) string {
	if w.Example == "" {
		return w.Doc
	}
	return "such as " + before + w.Name + " " + w.Example
}

const lawUsage = "a number or a distribution: lognormal:1500,0.5, uniform:100-2000, exponential:300, gamma:300,2, empirical:100,900"

// Words are what may be said of a workload and of the goal for it, in the order of help.
func (f *Load) Words() []Word {
	w := &f.Spec
	return []Word{
		{"rate", "RATE", "requests that arrive per second, however many are still running: 4, 90/min; with --turns, sessions", "4", nil,
			rateOf(&w.Rate)},
		{"users", "N|max", "users in a closed loop instead: each asks again once it has its answer; max: as many as the bounds allow", "64",
			nil, f.users},
		{"arrivals", "KIND", "poisson; gamma, in bursts (--cv); closed, with --users; burst, all at once; trace, as recorded", "",
			[]string{"poisson", "gamma", "closed", "burst", "trace"}, WordOf(&w.Arrivals)},
		{"cv", "X", "burstiness of arrivals: 0 evenly spaced, 1 like poisson, 3 in bursts", "2", nil, optionalOf(&w.CV)},
		{"prompt", "TOKENS|LAW", "tokens per prompt: " + lawUsage + "; @FILE: lengths from a file, one a line", "lognormal:1500,0.5", nil,
			tokensOf(&w.Prompt, f.Data)},
		{"output", "TOKENS|LAW", "tokens per answer, likewise", "exponential:300", nil, tokensOf(&w.Output, f.Data)},
		{"requests", "N", "requests in all: 10k, 1M", "10k", nil, CountOf(&w.Requests)},
		{"warmup", "N", "first requests, left out of all times; 0 counts every request", "200", nil, warmupOf(&w.Warmup)},
		{"duration", "TIME", "how long requests keep arriving: 10min, 1h", "10min", nil, SecondsOf(&w.DurationS)},
		{"seed", "N", "random seed: another gives other requests of the same distributions", "2", nil, CountOf(&w.Seed)},
		{"shared-prefix", "TOKENS", "tokens that all prompts start with, such as a system prompt", "2k", nil,
			lengthOf(&w.SharedPrefix)},
		{"prefixes", "N[:ZIPF]", "how many such prefixes there are, and how unevenly they are used", "50", nil, choiceOf(&w.Prefixes)},
		{"turns", "N|LAW", "requests per session, each with the whole conversation so far", "4", nil,
			func(s string) error { return lawOf(&f.sessions().Turns, s, unit.ParseNumber) }},
		{"think", "TIME|LAW", "pause between an answer and the next turn", "30s", nil,
			func(s string) error { return lawOf(&f.sessions().ThinkS, s, Seconds) }},
		{"max-session", "TOKENS", "end a session before a prompt longer than this", "32k", nil,
			func(s string) error { return lengthOf(&f.sessions().MaxTokens)(s) }},
		{"patience", "TIME|LAW", "how long a client waits before it gives up", "60s", nil,
			func(s string) error { return lawOf(&w.Patience, s, Seconds) }},
		{"lora-adapters", "N[:ZIPF]", "how many adapters requests use, and how unevenly", "16:1", nil, choiceOf(&w.Adapters)},
		{"priorities", "SHARES", "shares of requests with priority 0, 1, …: 0.1,0.9", "0.1,0.9", nil, sharesOf(&w.Priorities)},
		{"trace", "FILE", "replay recorded requests, gzipped or not; - for stdin", "azure.csv", nil, WordOf(&w.Trace)},
		{"format", "FORMAT", "format of the recording, where its start does not tell: memwall, azure, mooncake, burstgpt, sharegpt, engine",
			"", []string{"memwall", "azure", "mooncake", "burstgpt", "sharegpt", "engine"}, WordOf(&w.Reading.Format)},
		{"speed", "X", "replay this many times faster than recorded", "2", nil, numberOf(&w.Reading.Speed)},
		{"max-prompt", "TOKENS", "cut recorded prompts to this length", "32k", nil, lengthOf(&w.Reading.MaxPrompt)},
		{"block-tokens", "TOKENS", "tokens per recorded block of hash_ids", "512", nil, lengthOf(&w.Reading.Block)},
		{"bytes-per-token", "X", "bytes of recorded text per token", "4", nil, numberOf(&w.Reading.PerToken)},
		{"disaggregate", "P:D", "P prefill and D decode workers of --tp devices each, instead of workers that do both", "1:3",
			nil, f.disaggregate},
		{"ttft", "TIME", "goal for TTFT at p99: 500ms; other percentiles: p50:300ms,p99:1s", "500ms", nil,
			f.goalOf(func(g *memwall.Goal) *map[string]float64 { return &g.TTFT })},
		{"tpot", "TIME", "goal for TPOT at p99: 50ms", "50ms", nil,
			f.goalOf(func(g *memwall.Goal) *map[string]float64 { return &g.TPOT })},
	}
}

// users of a closed loop, or as many as the goal allows.
func (f *Load) users(s string) error {
	if s == "max" || s == "most" {
		f.Wanted().MostUsers = true
		return nil
	}
	return CountOf(&f.Spec.Concurrency)(s)
}

// sessions of the workload, which come with the first flag that says something of them.
func (f *Load) sessions() *workload.Sessions {
	if f.Spec.Sessions == nil {
		f.Spec.Sessions = &workload.Sessions{}
	}
	return f.Spec.Sessions
}

// workers reads how many workers.
func workers(s string) (int64, error) {
	n, err := unit.ParseCount(s)
	return n, err
}

// disaggregate reads how many workers there are of each kind.
func (f *Load) disaggregate(s string) error {
	first, rest, _ := strings.Cut(s, ":")
	prefill, err := workers(first)
	if err != nil {
		return err
	}
	decode, err := workers(rest)
	if err != nil {
		return err
	}
	f.Disaggregated = &plan.Disaggregated{Prefill: plan.Int(prefill), Decode: plan.Int(decode)}
	return nil
}

// goalOf sets the bound of a percentile, the 99th unless another is named.
func (f *Load) goalOf(which func(*memwall.Goal) *map[string]float64) func(string) error {
	return func(s string) error {
		bounds := map[string]float64{}
		for _, word := range strings.Split(s, ",") {
			name, text, named := strings.Cut(word, ":")
			if !named {
				name, text = "p99", word
			}
			t, err := unit.ParseSeconds(text)
			if err != nil {
				return err
			}
			bounds[name] = t.Milliseconds()
		}
		*which(f.Wanted()) = bounds
		return nil
	}
}

// WordOf takes a text as it is.
func WordOf(at *string) func(string) error {
	return func(s string) error { *at = s; return nil }
}

func rateOf(at *float64) func(string) error {
	return func(s string) (err error) { *at, err = unit.ParseRate(s); return err }
}

// numberOf reads a number.
func numberOf(at *float64) func(string) error {
	return func(s string) (err error) { *at, err = unit.ParseNumber(s); return err }
}

func optionalOf(at **float64) func(string) error {
	return func(s string) error {
		x, err := unit.ParseNumber(s)
		*at = &x
		return err
	}
}

// SecondsOf reads a time.
func SecondsOf(at *float64) func(string) error {
	return func(s string) (err error) { *at, err = Seconds(s); return err }
}

// Seconds reads a time, such as 90s or 5min.
func Seconds(s string) (float64, error) {
	t, err := unit.ParseSeconds(s)
	return float64(t), err
}

// CountOf reads a number in decimal, and refuses none.
func CountOf(at *plan.Int) func(string) error {
	return func(s string) error {
		n, err := unit.ParseCount(s)
		if err == nil && n == 0 {
			err = fmt.Errorf("%q is none", s)
		}
		*at = plan.Int(n)
		return err
	}
}

// warmupOf reads a number of requests, of which there may be none.
func warmupOf(at **plan.Int) func(string) error {
	return func(s string) error {
		n, err := unit.ParseCount(s)
		count := plan.Int(n)
		*at = &count
		return err
	}
}

func lengthOf(at *plan.Int) func(string) error {
	return func(s string) error {
		n, err := unit.ParseLength(s)
		*at = plan.Int(n)
		return err
	}
}

func choiceOf(at *workload.Choice) func(string) error {
	return func(s string) (err error) { *at, err = workload.ParseChoice(s); return err }
}

func sharesOf(at *[]float64) func(string) error {
	return func(s string) error {
		for _, word := range strings.Split(s, ",") {
			x, err := unit.ParseNumber(word)
			if err != nil {
				return err
			}
			*at = append(*at, x)
		}
		return nil
	}
}

func lawOf(at *workload.Law, s string, number func(string) (float64, error)) (err error) {
	*at, err = workload.ParseLaw(s, number)
	return err
}

// tokensOf reads a law of lengths, or a file of them.
func tokensOf(at *workload.Law, data memwall.LengthSource) func(string) error {
	return func(s string) error {
		if name, ok := strings.CutPrefix(s, "@"); ok {
			return lengthsOf(at, name, data)
		}
		return lawOf(at, s, func(s string) (float64, error) {
			n, err := unit.ParseLength(s)
			if err == nil && n == 0 {
				err = fmt.Errorf("%q is not a token", s)
			}
			return float64(n), err
		})
	}
}

func lengthsOf(at *workload.Law, name string, data memwall.LengthSource) error {
	if data == nil {
		return fmt.Errorf("files of lengths are not read here")
	}
	all, err := data.Lengths(name)
	if err != nil {
		return err
	}
	*at = workload.Law{Law: "empirical", Values: make([]float64, len(all))}
	for i, n := range all {
		at.Values[i] = float64(n)
	}
	return nil
}
