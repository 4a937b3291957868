package cli

import (
	"strings"
	"testing"

	"github.com/memwall/memwall"
)

// TestDefaults: help tells those that stand whatever the model, the hardware and the framework, and no others. What is told is what a
// flag takes.
func TestDefaults(t *testing.T) {
	for ask, want := range map[string]map[string]string{
		"fit":   {"context": "8k", "sequences": "1", "ubatch": "512", "engine": "", "weights": "", "tp": "", "max_num_seqs": ""},
		"train": {"method": "full", "framework": "transformers", "micro_batch": "1", "dp": "", "sharding": ""},
	} {
		told := defaults(ask)
		for field, value := range want {
			if told[field] != value {
				t.Errorf("%s: %s is %q by default, not %q", ask, field, value, told[field])
			}
		}
		for field, value := range told {
			f, r := memwall.FieldByName(field), &memwall.Request{}
			if f.Flag == "" || value == "" {
				continue
			}
			if err := (&fieldValue{field: f, at: f.Value(r)}).Set(value); err != nil && f.Value(r).IsZero() {
				t.Errorf("%s: --%s does not take its default %s: %v", ask, f.Flag, value, err)
			}
		}
	}
}

// TestHelpWhole: no alternative of a flag is cut out of its help.
func TestHelpWhole(t *testing.T) {
	for _, ask := range []string{"fit", "plan", "train", "sim", "pick"} {
		var out strings.Builder
		Run(Config{Args: []string{ask, "--help"}, Stdout: &out, Models: memwall.Catalog{}})
		words := strings.Fields(out.String())
		for i := range memwall.Fields() {
			f := &memwall.Fields()[i]
			if f.Flag == "" || !strings.Contains(out.String(), "--"+f.Flag+" ") {
				continue
			}
			for _, w := range f.Enum {
				if !holds(words, w) {
					t.Errorf("%s --help: --%s without %s", ask, f.Flag, w)
				}
			}
		}
	}
}

func holds(words []string, want string) bool {
	for _, w := range words {
		for _, part := range strings.FieldsFunc(w, func(r rune) bool { return strings.ContainsRune("|,;()", r) }) {
			if part == want {
				return true
			}
		}
	}
	return false
}
