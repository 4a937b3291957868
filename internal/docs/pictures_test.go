package docs

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// pictures are those of pages, each drawn by a command whose --svg names it.
var pictures = []string{
	"fit qwen3-30b-a3b --weights q4_k_m --on rtx-4060-ti-16gb --ctx 32k --svg docs/images/fit.svg",
}

// TestPictures: what a page shows is what the program draws, and each picture is shown by a page.
func TestPictures(t *testing.T) {
	all := pages(t)
	t.Chdir(root)
	for _, command := range pictures {
		args := strings.Fields(command)
		name := args[len(args)-1]
		drawn := filepath.Join(t.TempDir(), "drawn.svg")
		args[len(args)-1] = drawn
		if _, talk, code := runWriting(args); code != 0 {
			t.Errorf("memwall %s: exit %d\n%s", command, code, strings.Join(talk, "\n"))
			continue
		}
		want, err := os.ReadFile(drawn)
		if err != nil {
			t.Fatal(err)
		}
		have, _ := os.ReadFile(name) // a picture that is missing is stale
		switch {
		case !shownBySome(all, name):
			t.Errorf("no page shows %s", name)
		case bytes.Equal(have, want):
		case *update:
			if err := os.WriteFile(name, want, 0o644); err != nil {
				t.Error(err)
			}
		default:
			t.Errorf("%s is stale: go test ./internal/docs -update writes it", name)
		}
	}
}

func shownBySome(all map[string]*page, name string) bool {
	for _, p := range all {
		for _, l := range p.lines {
			if strings.Contains(l, "("+name+")") {
				return true
			}
		}
	}
	return false
}
