package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/memwall/memwall"
)

// TestEveryFieldIsAskable: each field of a request has a flag on every command that asks its questions, with a sentence in the help, or a
// form of its own that names a flag or an argument which is there.
func TestEveryFieldIsAskable(t *testing.T) {
	root := (&app{Config: Config{}.filled()}).root()
	flagsOf := func(name string) *pflag.FlagSet {
		c, _, err := root.Find([]string{name})
		if err != nil {
			t.Fatal(err)
		}
		return c.Flags()
	}
	for _, f := range memwall.Fields() {
		form, other := elsewhere[f.Name]
		if (flagFor(&f) != "") == other {
			t.Errorf("%s: a flag %q, and the form %q", f.Name, flagFor(&f), form)
		}
		if other {
			checkForm(t, root, f.Name, form)
			continue
		}
		for _, ask := range []string{"fit", "train", "plan", "sim"} {
			if !f.OfAsk(ask) || ask == "sim" && !slices.Contains(f.Asks, "sim") && f.Asks != nil {
				continue
			}
			if p := flagsOf(ask).Lookup(flagFor(&f)); p == nil || len(p.Usage) < 3 || len(p.Annotations[groupKey]) == 0 {
				t.Errorf("memwall %s --help has no sentence for --%s", ask, flagFor(&f))
			}
		}
	}
}

// checkForm: the flag and the command that a form names are there.
func checkForm(t *testing.T, root *cobra.Command, field, form string) {
	t.Helper()
	for part := range strings.SplitSeq(form, ", ") {
		name, rest, _ := strings.Cut(part, " ")
		if name == "the" || name == "MODEL" {
			continue
		}
		c, _, err := root.Find([]string{name})
		if err != nil || c == root {
			t.Errorf("%s: %q names no command", field, part)
			continue
		}
		if flag, ok := strings.CutPrefix(rest, "--"); ok {
			flag, _, _ = strings.Cut(flag, " ")
			if c.Flags().Lookup(flag) == nil {
				t.Errorf("%s: memwall %s has no --%s", field, name, flag)
			}
		}
	}
}
