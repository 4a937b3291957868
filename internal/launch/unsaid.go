package launch

import (
	_ "embed" // unsaid.tsv
	"slices"
	"strings"
	"sync"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/plain"
)

// Ggml lists the engines based on llama.cpp.
var Ggml = []string{"llama.cpp", "llama-server", "ollama", "ik_llama.cpp"}

// kinds of engines, by the words of unsaid.tsv.
var kinds = map[string][]string{"ggml": Ggml, "pytorch": {"vllm", "sglang", "tensorrt-llm", "transformers"}, "plain": plain.Names()}

//go:embed unsaid.tsv
var unsaidText string

// unsaid lists everything in a plan that the command running it does not express. All else is recovered when the
// command is parsed.
var unsaid = sync.OnceValue(func() (all []api.Unsaid) {
	for line := range strings.Lines(unsaidText) {
		cells := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if strings.HasPrefix(line, "#") || len(cells) < 3 {
			continue
		}
		u := api.Unsaid{Field: cells[0], Why: cells[2]}
		if len(cells) > 3 {
			u.Until, _ = engine.ParseVersion(cells[3])
		}
		for name := range strings.FieldsSeq(cells[1]) {
			if kind, ok := kinds[name]; ok {
				u.Engines = append(u.Engines, kind...)
			} else {
				u.Engines = append(u.Engines, name)
			}
		}
		all = append(all, u)
	}
	return all
})

// UnsaidBy returns the request fields that an engine's command line cannot express. The name may carry a version.
func UnsaidBy(name string) (out []api.Unsaid) {
	name, text, _ := strings.Cut(name, "@")
	v, err := engine.ParseVersion(text)
	for _, u := range unsaid() {
		past := u.Until != (engine.Version{}) && (err != nil || v.AtLeast(u.Until))
		if !past && (u.Engines == nil || slices.Contains(u.Engines, name)) {
			out = append(out, u)
		}
	}
	return out
}
