package main

import (
	"strings"
	"testing"
)

// TestManual: each command that people may call has a page, and pages and completions are the same each time.
func TestManual(t *testing.T) {
	pages, err := manual("1.2.3", at)
	if err != nil {
		t.Fatal(err)
	}
	scripts, err := completions()
	if err != nil {
		t.Fatal(err)
	}
	again, err := manual("1.2.3", at)
	if err != nil || len(again) != len(pages) {
		t.Fatalf("%d pages, then %d, %v", len(pages), len(again), err)
	}
	names := map[string]string{}
	for i, p := range append(pages, scripts...) {
		names[p.name] = string(p.data)
		if i < len(again) && string(again[i].data) != string(p.data) {
			t.Errorf("%s differs from one time to the next", p.name)
		}
	}
	for name, words := range map[string]string{
		"memwall.1": "memwall 1.2.3", "memwall-fit.1": "context", "memwall-train.1": "micro", "memwall-serve.1": "tls", "bash/memwall": "__start_memwall", "zsh/_memwall": "#compdef memwall", "fish/memwall.fish": "complete -c memwall",
		"powershell/memwall.ps1": "Register-ArgumentCompleter",
	} {
		if !strings.Contains(names[name], words) {
			t.Errorf("%s does not say %q:\n%.400s", name, words, names[name])
		}
	}
}
