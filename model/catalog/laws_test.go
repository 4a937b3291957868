package catalog

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/memwall/memwall/dtype"
)

var (
	idForm  = regexp.MustCompile(`^[a-z0-9]+([.-][a-z0-9]+)*$`)
	hubForm = regexp.MustCompile(`^[\w.-]+/[\w.-]+$`)
	month   = regexp.MustCompile(`^20\d\d-(0[1-9]|1[0-2])$`)
)

// TestEntriesAreWhole: every entry says who it is, where its figures are from, and how it is stored.
func TestEntriesAreWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range All() {
		if !idForm.MatchString(e.ID) || seen[e.ID] {
			t.Errorf("id %q, or twice", e.ID)
		}
		seen[e.ID] = true
		unpublished := e.Hub == "" && strings.HasPrefix(e.Source, "arXiv:") // a paper alone tells of it
		if e.Name == "" || !hubForm.MatchString(e.Hub) && !unpublished || !month.MatchString(e.Released) || len(e.Source) < 10 {
			t.Errorf("%s: name %q, hub %q, released %q, source %q", e.ID, e.Name, e.Hub, e.Released, e.Source)
		}
		if e.Weights != "" && dtype.FindRecipe(e.Weights) == nil {
			t.Errorf("%s is stored in %q, which is not a recipe", e.ID, e.Weights)
		}
	}
	if len(seen) < 150 || len(seen) != len(IDs()) {
		t.Errorf("%d entries, %d ids", len(seen), len(IDs()))
	}
}

// TestEveryNameFindsItsEntry: id, hub name, title and aliases, as they stand and as people change them.
func TestEveryNameFindsItsEntry(t *testing.T) {
	for _, e := range All() {
		names := append([]string{e.ID, e.Hub, e.Name, strings.ToUpper(e.ID), strings.ReplaceAll(e.ID, "-", "_"), strings.ReplaceAll(e.ID, "-", " ")}, e.Aliases...)
		for _, n := range slices.DeleteFunc(names, func(n string) bool { return n == "" }) {
			found, err := Find(n)
			if err != nil || found.ID != e.ID {
				t.Errorf("%q of %s finds %v, %v", n, e.ID, found, err)
			}
		}
	}
}

// TestMisspeltNames: a letter too few or one exchanged is told what was meant.
func TestMisspeltNames(t *testing.T) {
	for _, id := range []string{"llama-3.1-70b", "qwen3-30b-a3b", "deepseek-v3", "gemma-3-27b"} {
		for _, wrong := range []string{id[:3] + id[4:], id[1:], id[:len(id)-3] + "x" + id[len(id)-2:]} {
			_, err := Find(wrong)
			var e *NotFoundError
			if !errors.As(err, &e) || !slices.Contains(e.Candidates, id) {
				t.Errorf("%q: %v", wrong, err)
			}
		}
	}
	for _, none := range []string{"", " ", "zzzzzzzzzzzz", strings.Repeat("llama", 100), "\x00", `"`, `\`} {
		_, err := Find(none)
		var e *NotFoundError
		if !errors.As(err, &e) || e.Hint() == "" || len(e.Error()) > 500 {
			t.Errorf("%q: %v", none, err)
		}
	}
}

// FuzzFind: any name gives an entry, which its own id finds again, or an error with a hint.
func FuzzFind(f *testing.F) {
	for _, s := range []string{"llama-3.1-8b", "LLaMA 3 8B", "openai/gpt-oss-20b", "qwen", "", "RedHatAI/Qwen3-14B-FP8-dynamic", `a"b\`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		e, err := Find(name)
		var none *NotFoundError
		switch {
		case err == nil:
			if again, err := Find(e.ID); err != nil || again.ID != e.ID {
				t.Errorf("%q finds %s, which finds %v", name, e.ID, err)
			}
		case !errors.As(err, &none) || none.Hint() == "" || len(none.Error()) > 2000:
			t.Errorf("%q: %v", name, err)
		}
	})
}
