package cli

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/load"
)

// workValue adapts a workload word to a flag.
type workValue struct{ *load.Word }

func (v workValue) Type() string   { return v.Operand }
func (v workValue) String() string { return "" }

// Set parses the flag's text.
func (v workValue) Set(s string) error {
	if err := v.Word.Set(s); err != nil {
		return &memwall.Error{Code: memwall.BadField, Field: v.Name, Value: s, Message: fmt.Sprintf("--%s: %s", v.Name, err), Hint: v.Hint("--")}
	}
	return nil
}

func word(name, operand, doc, example string, choices []string, read func(string) error) load.Word {
	return load.Word{Name: name, Operand: operand, Doc: doc, Example: example, Choices: choices, Read: read}
}

// addWords adds flags for words that a command lacks, and completes their values.
func addWords(c *cobra.Command, list []load.Word, of string) {
	for i := range list {
		w := &list[i]
		if c.Flags().Lookup(w.Name) != nil {
			continue
		}
		group(c.Flags().VarPF(workValue{w}, w.Name, "", w.Doc), of)
		if w.Choices != nil {
			offer(c, w.Name, cobra.FixedCompletions(w.Choices, cobra.ShellCompDirectiveNoFileComp))
		}
	}
}

// addWork adds the flags of a workload.
func (f *simFlags) addWork(c *cobra.Command, data memwall.LengthSource) {
	f.Data = data
	addWords(c, f.Words(), groupWorkload)
	c.Flags().BoolVar(&f.Spec.Reading.SkipBad, "skip-bad", false, "skip and count recorded requests with errors")
	group(c.Flags().Lookup("skip-bad"), groupWorkload)
}

// workNames maps the names used by engines' own benchmarks.
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
