package render

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/memwall/memwall"
)

// A broken command is the command again once a shell has joined its lines.
func FuzzCommandLines(f *testing.F) {
	f.Add("vllm serve x --tensor-parallel-size 2", 40)
	f.Add("llama-server -m 'a b.gguf' -c 4096", 60)
	f.Fuzz(func(t *testing.T, command string, width int) {
		first, _, _ := strings.Cut(command, " ")
		if width < MinWidth || width > MaxWidth || !utf8.ValidString(command) || strings.ContainsAny(command, "\\\n\t") || strings.Contains(first, "(") {
			return
		}
		shell := strings.ReplaceAll(strings.Join(commandLines(command, width), "\n"), "\\\n", "")
		squeeze := func(s string) string { return strings.ReplaceAll(s, " ", "") }
		if squeeze(shell) != squeeze(command) {
			t.Errorf("%q became %q", command, shell)
		}
	})
}

// The pieces of a formula make the formula.
func FuzzTokenise(f *testing.F) {
	f.Add("max(a, 2 × b) / c_2 - floor(1.5)")
	f.Fuzz(func(t *testing.T, formula string) {
		if !utf8.ValidString(formula) {
			return
		}
		var b strings.Builder
		for _, k := range tokenise(formula, []memwall.ExplainInput{{Name: "a", Value: 1}}) {
			b.WriteString(k.name)
		}
		if b.String() != formula {
			t.Errorf("%q became %q", formula, b.String())
		}
		for _, c := range chunks(tokenise(formula, nil)) {
			if c.name != c.value {
				t.Errorf("%q over %q without any input", c.name, c.value)
			}
		}
	})
}

// Whatever a name holds, nothing that a terminal obeys gets through.
func FuzzClean(f *testing.F) {
	f.Add("\x1b]0;title\x07", true)
	f.Fuzz(func(t *testing.T, s string, only bool) {
		for _, r := range clean(s, only) {
			if r < ' ' || r >= 0x7f && r < 0xa0 || only && r > 0x7f && string(r) != hard {
				t.Errorf("%q keeps %q", s, r)
			}
		}
	})
}
