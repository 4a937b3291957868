package docs

import (
	"strings"
	"testing"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/learn"
)

// lessonCommands are those that lessons and questions ask their readers to try.
func lessonCommands(t *testing.T) (out []string) {
	t.Helper()
	asker := &memwall.Asker{}
	for _, name := range learn.Names() {
		l, err := learn.Tell(asker, name, learn.Example{})
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, l.Try...)
	}
	list, err := learn.Quiz("", nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range list {
		q, err := list[i].Work(asker)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, q.Try...)
	}
	return out
}

// TestLessonCommands: what a lesson asks its reader to try is answered.
func TestLessonCommands(t *testing.T) {
	seen := map[string]bool{}
	for _, line := range lessonCommands(t) {
		if seen[line] {
			continue
		}
		seen[line] = true
		args, err := words(line)
		if err != nil || args[0] != "memwall" {
			t.Errorf("%q is not a command of memwall: %v", line, err)
			continue
		}
		if out, talk, code := run(args[1:]); code != 0 || len(out) == 0 {
			t.Errorf("%s: exit %d: %s", line, code, strings.Join(talk, "\n"))
		}
	}
	if len(seen) < 20 {
		t.Errorf("only %d commands", len(seen))
	}
}
