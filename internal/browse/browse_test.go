package browse

import (
	"strings"
	"testing"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/card"
	"github.com/memwall/memwall/internal/term"
)

// TestBrowse: what is seen after keys, in 80 columns and 24 lines, and what goes to the clipboard.
func TestBrowse(t *testing.T) {
	var first *memwall.Answer // to the question that all begin with
	for _, c := range []struct {
		name, keys  string
		says, lacks []string
		copies      string
	}{
		{"the models that this machine runs", "", []string{"memwall this machine: rtx-4090", "context ‹ what suits ›", "›  Qwen3.8",
			"tok/s", "/ search"}, nil, ""},
		{"the next of them", "down", []string{"   Qwen3.8", "›  "}, []string{"›  Qwen3.8 27B"}, ""},
		{"its ledger", "enter", []string{"✓ fits   Qwen3.8", "weights", "Esc back"}, nil, ""},
		{"back again", "enter esc", []string{"/ search"}, []string{"Esc back"}, ""},
		{"its command", "c", []string{"copied: "}, nil, "llama-server"},
		{"the whole catalog", "/ l l a m a - 3 . 1 - 4 enter", []string{"/llama-3.1-4", "Llama 3.1 405B"}, []string{"Qwen3.8"}, ""},
		{"what does not fit has no command", "/ l l a m a - 3 . 1 - 4 enter c", []string{"no command: it does not fit"}, nil, ""},
		{"nor is it run", "/ l l a m a - 3 . 1 - 4 enter r", []string{"not run: it does not fit"}, nil, ""},
		{"nor what is for another card", "tab tab right r", []string{"not run: that is another machine"}, nil, ""},
		{"a longer context", "right right right", []string{"context ‹ 16k ›"}, nil, ""},
		{"another format", "tab right", []string{"format ‹ q4_k_m ›"}, []string{"q8_0"}, ""},
		{"another card", "tab tab right", []string{"memwall rtx-3060-12gb", "card ‹ rtx-3060-12gb ›"}, []string{"this machine"}, ""},
		{"round to the last card", "tab tab left", []string{"card ‹ m3-ultra"}, nil, ""},
		{"nothing is called so", "/ z z z z z enter enter", []string{"none: another card"}, nil, ""},
		{"help", "?", []string{"the screen is as it was"}, []string{"Qwen"}, ""},
		{"hostile letters", "/ \x1b[31m \u202e enter", []string{"/"}, []string{"\x1b[31m", "\u202e"}, ""},
	} {
		x := New(memwall.Ask, &card.Local{Words: "rtx-4090"}, func(columns int) term.Style { return term.Style{Width: columns} })
		if x.answer, x.stale = first, first == nil; x.stale {
			x.tick()
			first = x.answer
		}
		for _, k := range strings.Fields(c.keys) {
			if x.key(k) {
				t.Errorf("%s: %s ends it", c.name, k)
			}
			x.tick()
		}
		copied, text := x.toCopy(), x.draw(80, 24)
		if c.copies != "" && !strings.Contains(copied, c.copies) || c.copies == "" && copied != "" {
			t.Errorf("%s: %q is copied", c.name, copied)
		}
		for _, want := range c.says {
			if !strings.Contains(text, want) && !strings.Contains(strings.Join(strings.Fields(text), " "),
				strings.Join(strings.Fields(want), " ")) {
				t.Errorf("%s: no %q in\n%s", c.name, want, text)
			}
		}
		for _, not := range c.lacks {
			if strings.Contains(text, not) {
				t.Errorf("%s: %q in\n%s", c.name, not, text)
			}
		}
		lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
		for _, l := range lines {
			if len([]rune(l)) > 80 {
				t.Errorf("%s: %d columns: %s", c.name, len([]rune(l)), l)
			}
		}
		if len(lines) > 24 {
			t.Errorf("%s: %d lines", c.name, len(lines))
		}
		if x.Runs() != nil {
			t.Errorf("%s: it leaves a plan to be run", c.name)
		}
		if !x.key("q") && !x.search {
			t.Errorf("%s: q does not end it", c.name)
		}
	}
}

// TestRuns: r leaves the screen with the plan that the list is at, as its ledger would have it.
func TestRuns(t *testing.T) {
	x := New(memwall.Ask, &card.Local{Words: "rtx-4090"}, func(columns int) term.Style { return term.Style{Width: columns} })
	if x.tick(); !x.key("r") {
		t.Fatalf("r does not leave: %s", x.told)
	}
	r := x.Runs()
	if a, err := memwall.Ask(r); err != nil || a.Verdict != memwall.Fits || r.Hardware != "rtx-4090" || r.Weights == "" {
		t.Errorf("it leaves %+v for %v", r, err)
	}
}
