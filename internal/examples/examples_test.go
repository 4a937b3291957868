package examples

import (
	"flag"
	"fmt"
	"go/ast"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/ledger"
)

var update = flag.Bool("update", false, "write docs/worked-examples.md")

const page = "../../docs/worked-examples.md"

// The page in docs is what the program renders.
func TestMarkdown(t *testing.T) {
	got, err := Markdown()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.MkdirAll(filepath.Dir(page), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(page, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if got == string(want) {
		return
	}
	g, w := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			t.Fatalf("line %d of %s\nhas  %s\nwant %s\ngo test ./internal/examples -update writes it", i+1, page, w[i], g[i])
		}
	}
	t.Fatalf("%s has %d lines, want %d", page, len(w), len(g))
}

// Every verdict agrees with its values.
func TestVerdicts(t *testing.T) {
	for _, d := range judgedTexts(t) {
		for _, r := range d.Rows() {
			found, err := r.Findings()
			if err != nil {
				t.Errorf("%s: %v", r.ID, err)
				continue
			}
			if err := r.Check(found); err != nil {
				t.Errorf("%s (%s): %v", r.ID, r.Claim, err)
			}
		}
	}
}

// Every printed formula gives the printed value when it is evaluated from its printed inputs.
func TestFormulas(t *testing.T) {
	for _, d := range judgedTexts(t) {
		for _, r := range d.Rows() {
			found, err := r.Findings()
			if err != nil {
				t.Fatalf("%s: %v", r.ID, err)
			}
			for _, f := range found {
				if f.Role == Waiting {
					continue
				}
				got, err := ledger.Eval(f.How.Text, f.How.Inputs)
				if err != nil || math.Abs(got-f.Value) > 1e-9*math.Abs(f.Value) {
					t.Errorf("%s: %s = %v, want %v (%v)", r.ID, f.How.Text, got, f.Value, err)
				}
			}
		}
	}
}

// Rows say what and why in sentences, and their texts ask only for values that are there.
func TestRows(t *testing.T) {
	for _, d := range judgedTexts(t) {
		for _, r := range d.Rows() {
			found, _ := r.Findings()
			text := r.Claim + fill(r.Why, found) + fill(r.Best, found)
			switch {
			case r.Claim == "" || strings.ContainsAny(text, "|{}"):
				t.Errorf("%s: text %q", r.ID, text)
			case !strings.HasSuffix(strings.TrimSuffix(r.Why, ")"), "."):
				t.Errorf("%s: why %q", r.ID, r.Why)
			case (r.Verdict == Later) != (r.Waits != ""):
				t.Errorf("%s: %s waits for %q", r.ID, r.Verdict, r.Waits)
			case r.Verdict == Later && !strings.Contains(r.Why, "To be computed"):
				t.Errorf("%s: does not say what will be computed", r.ID)
			}
		}
	}
}

// The commands shown are in the words of the command line.
func TestCommands(t *testing.T) {
	flags, seen := map[string]bool{}, 0
	for _, f := range memwall.Fields() {
		flags["--"+f.Flag] = true
	}
	for _, d := range judgedTexts(t) {
		for _, r := range d.Rows() {
			found, _ := r.Findings()
			for _, f := range found {
				for _, in := range f.How.Inputs {
					if !strings.HasPrefix(in.Origin, "memwall fit ") && !strings.HasPrefix(in.Origin, "memwall train ") {
						continue
					}
					seen++
					for _, w := range strings.Fields(in.Origin) {
						if strings.HasPrefix(w, "--") && !flags[w] {
							t.Errorf("%s: no flag %s", r.ID, w)
						}
					}
				}
			}
		}
	}
	if seen == 0 {
		t.Error("no commands")
	}
}

// A failed look-up reaches the caller.
func TestFailure(t *testing.T) {
	for _, text := range []string{
		`stored("no-such-model", "bf16")`,
		`stored(l8, "no-such-recipe")`,
		`bandwidth("no-such-card")`,
		`levelRate(h100, "no-such-level")`,
		`fact("host", "no-such-node")`,
		`fact("no-such-fact", h100)`,
		`fit{model: "no-such-model"}.needed()`,
		`fit{model: l8, engine: "generic"}.item("no-such-item")`,
		`fit{model: l8, no_such_field: 1}.needed()`,
		`flop("no-such-model", "bf16", 1, 1)`,
		`saved("no-such-model")`,
		`train{model: "no-such-model"}.memoryHeld()`,
		`train{model: l8, on: h100}.inPhase("forward and loss", "no such item")`,
		`noSuchFunction(1)`,
		`l8(1)`,
		`weights(7e9)`,
		`shrink(l8)`,
		`weights(7e9, "2")`,
		`7e9 % 2`,
		`l8 * 2`,
	} {
		lines, err := readLines([]string{fmt.Sprintf("shown(%q, gb, %s)", "it", text)})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := (&Row{lines: lines}).Findings(); err == nil {
			t.Errorf("%s: no error", text)
		}
	}
	if _, err := readLines([]string{"weights("}); err == nil {
		t.Error("half a line is read")
	}
	if _, err := (&Row{lines: []line{{expr: ast.NewIdent("l8")}}}).Findings(); err == nil {
		t.Error("a name is a finding")
	}
}
