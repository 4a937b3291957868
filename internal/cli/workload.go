package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
	"github.com/memwall/memwall/workload"
)

// workFlag is a flag that says something of a workload.
type workFlag struct {
	name, operand, doc string
	example            string   // of what stands behind it
	words              []string // offered by completion
	set                func(string) error
}

// workValue makes a flag of one.
type workValue struct{ *workFlag }

func (v workValue) Type() string   { return v.operand }
func (v workValue) String() string { return "" }

// Set reads the flag's text.
func (v workValue) Set(s string) error {
	err := oneOf(s, v.words)
	if err == nil {
		err = v.set(s)
	}
	if err != nil {
		return &memwall.Error{Code: memwall.BadField, Field: v.name, Value: s, Message: fmt.Sprintf("--%s: %s", v.name, err), Hint: v.hint()}
	}
	return nil
}

// hint shows how the flag is used.
func (v workValue) hint() string {
	if v.example == "" {
		return v.doc
	}
	return "such as --" + v.name + " " + v.example
}

const lawUsage = "a number, or a law: lognormal:1500,0.5, uniform:100-2000, exponential:300, gamma:300,2, empirical:100,900"

// workFlags are the flags of a workload and of the goal for it, in the order of help.
func (f *simFlags) workFlags(data memwall.LengthSource) []workFlag {
	w := &f.spec
	return []workFlag{
		{"rate", "RATE", "requests that arrive a second, whoever is still served: 4, 90/min; of sessions, where there are turns", "4", nil, rateOf(&w.Rate)},
		{"users", "N", "users of a closed loop instead: each asks again when its answer is there", "64", nil, countOf(&w.Concurrency)},
		{"arrivals", "KIND", "poisson at the rate; gamma in clumps (--cv); closed with --users; burst all at once; trace as recorded", "", []string{"poisson", "gamma", "closed", "burst", "trace"}, wordOf(&w.Arrivals)},
		{"cv", "X", "how uneven arrivals are: 0 evenly spaced, 1 as poisson, 3 in clumps", "2", nil, optionalOf(&w.CV)},
		{"prompt", "TOKENS|LAW", "tokens of a prompt: " + lawUsage + "; @FILE: lengths from a file, one a line", "lognormal:1500,0.5", nil, tokensOf(&w.Prompt, data)},
		{"output", "TOKENS|LAW", "tokens of an answer, likewise", "exponential:300", nil, tokensOf(&w.Output, data)},
		{"requests", "N", "how many requests in all: 10k, 1M", "10k", nil, countOf(&w.Requests)},
		{"duration", "TIME", "how long requests arrive: 10min, 1h", "10min", nil, secondsOf(&w.DurationS)},
		{"seed", "N", "another seed gives other requests of the same laws", "2", nil, countOf(&w.Seed)},
		{"shared-prefix", "TOKENS", "tokens that prompts begin with in common, such as a system prompt", "2k", nil, lengthOf(&w.SharedPrefix)},
		{"prefixes", "N[:ZIPF]", "how many such beginnings there are, and how unevenly they are used", "50", nil, choiceOf(&w.Prefixes)},
		{"turns", "N|LAW", "requests of a session, each with all that was said before", "4", nil, func(s string) error { return lawOf(&f.sessions().Turns, s, unit.ParseNumber) }},
		{"think", "TIME|LAW", "pause between an answer and the next turn", "30s", nil, func(s string) error { return lawOf(&f.sessions().ThinkS, s, parseSeconds) }},
		{"max-session", "TOKENS", "a session ends before a prompt longer than that", "32k", nil, func(s string) error { return lengthOf(&f.sessions().MaxTokens)(s) }},
		{"patience", "TIME|LAW", "after which a client hangs up", "60s", nil, func(s string) error { return lawOf(&w.Patience, s, parseSeconds) }},
		{"lora-adapters", "N[:ZIPF]", "how many adapters requests ask for, and how unevenly", "16:1", nil, choiceOf(&w.Adapters)},
		{"priorities", "SHARES", "shares of requests with priority 0, 1, …: 0.1,0.9", "0.1,0.9", nil, sharesOf(&w.Priorities)},
		{"trace", "FILE", "requests from a recording, packed or not; - for stdin", "azure.csv", nil, wordOf(&w.Trace)},
		{"format", "FORMAT", "memwall, azure, mooncake, burstgpt, sharegpt or engine, where the recording's beginning does not tell", "", []string{"memwall", "azure", "mooncake", "burstgpt", "sharegpt", "engine"}, wordOf(&w.Reading.Format)},
		{"speed", "X", "how much faster than recorded requests arrive", "2", nil, numberOf(&w.Reading.Speed)},
		{"max-prompt", "TOKENS", "longer recorded prompts are cut to that", "32k", nil, lengthOf(&w.Reading.MaxPrompt)},
		{"block-tokens", "TOKENS", "tokens of a recorded block of hash_ids", "512", nil, lengthOf(&w.Reading.Block)},
		{"bytes-per-token", "X", "how many bytes of a recorded text count as a token", "4", nil, numberOf(&w.Reading.PerToken)},
		{"disaggregate", "P:D", "workers that compute prompts and workers that generate, of --tp devices each, in place of some that do both", "1:3", nil, f.disaggregate},
		{"ttft", "TIME", "goal for the first token, 99 of 100 requests: 500ms; p50:300ms,p99:1s for others", "500ms", nil, f.goalOf(func(g *memwall.Goal) *map[string]float64 { return &g.TTFT })},
		{"tpot", "TIME", "goal for each further token, 99 of 100 requests: 50ms", "50ms", nil, f.goalOf(func(g *memwall.Goal) *map[string]float64 { return &g.TPOT })},
	}
}

// sessions of the workload, which come with the first flag that says something of them.
func (f *simFlags) sessions() *workload.Sessions {
	if f.spec.Sessions == nil {
		f.spec.Sessions = &workload.Sessions{}
	}
	return f.spec.Sessions
}

// disaggregate reads how many workers there are of each kind.
func (f *simFlags) disaggregate(s string) error {
	first, rest, _ := strings.Cut(s, ":")
	prefill, err := parseWhole(first)
	if err != nil {
		return err
	}
	decode, err := parseWhole(rest)
	if err != nil {
		return err
	}
	f.request.Disaggregated = &plan.Disaggregated{Prefill: plan.Int(prefill), Decode: plan.Int(decode)}
	return nil
}

// goalOf sets the bound of a percentile, the 99th unless another is named.
func (f *simFlags) goalOf(which func(*memwall.Goal) *map[string]float64) func(string) error {
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
		*which(f.wanted()) = bounds
		return nil
	}
}

// addWork adds the flags to a command and offers their words.
func (f *simFlags) addWork(c *cobra.Command, data memwall.LengthSource) {
	list := f.workFlags(data)
	for i := range list {
		w := &list[i]
		group(c.Flags().VarPF(workValue{w}, w.name, "", w.doc), groupWorkload)
		if w.words != nil {
			offer(c, w.name, cobra.FixedCompletions(w.words, cobra.ShellCompDirectiveNoFileComp))
		}
	}
	c.Flags().BoolVar(&f.spec.Reading.SkipBad, "skip-bad", false, "recorded requests with faults are counted and left out")
	group(c.Flags().Lookup("skip-bad"), groupWorkload)
}

// workNames are what engines' own benchmarks call the same.
var workNames = map[string]string{
	"request-rate": "rate", "qps": "rate", "rps": "rate", "concurrency": "users", "max-concurrency": "users", "num-prompts": "requests", "num-requests": "requests",
	"prefix-count": "prefixes", "think-time": "think", "max-prompt-tokens": "max-prompt", "shared-prefix-tokens": "shared-prefix",
}

func simNames(flags *pflag.FlagSet, name string) pflag.NormalizedName {
	n := fieldNames(flags, name)
	if other, ok := workNames[string(n)]; ok {
		return pflag.NormalizedName(other)
	}
	return n
}

func wordOf(at *string) func(string) error {
	return func(s string) error { *at = s; return nil }
}

func rateOf(at *float64) func(string) error {
	return func(s string) (err error) { *at, err = unit.ParseRate(s); return err }
}

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

func secondsOf(at *float64) func(string) error {
	return func(s string) (err error) { *at, err = parseSeconds(s); return err }
}

func parseSeconds(s string) (float64, error) {
	t, err := unit.ParseSeconds(s)
	return float64(t), err
}

// countOf reads a number in decimal, and refuses none.
func countOf(at *plan.Int) func(string) error {
	return func(s string) error {
		n, err := unit.ParseCount(s)
		if err == nil && n == 0 {
			err = fmt.Errorf("%q is none", s)
		}
		*at = plan.Int(n)
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
				err = fmt.Errorf("%q is no token", s)
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
