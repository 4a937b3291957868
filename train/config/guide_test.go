package config

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/memwall/memwall/train/config/keys"
)

// TestGuideNamesKeys: the keys of the guide's table are the frameworks'.
func TestGuideNamesKeys(t *testing.T) {
	page, err := os.ReadFile("../../docs/guides/train-configs.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(page), "\n| field |")
	if !ok {
		t.Fatal("the guide has no table of fields")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	lines := strings.Split(table, "\n")
	columns := strings.Split(strings.Trim(lines[0], "| "), "|")
	code := regexp.MustCompile("`([^`]+)`")
	seen := 0
	for _, line := range lines[2:] {
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i, name := range columns {
			f, err := find(strings.TrimSpace(name))
			if err != nil {
				t.Fatal(err)
			}
			for _, key := range code.FindAllStringSubmatch(cells[i+1], -1) {
				if seen++; key[1] != "ds_config.json" && !known(f, key[1]) {
					t.Errorf("%s has no key %s", f.name, key[1])
				}
			}
		}
	}
	if seen < 80 {
		t.Errorf("the table names %d keys", seen)
	}
}

// known tells a key of any file of a framework; the table names TRL's as its command line has them.
func known(f *framework, key string) bool {
	for i := range f.parts {
		if keys.Known(f.parts[i].keys, key) {
			return true
		}
	}
	return f.name == "trl" && keys.Known("trl-sft trl-gkd trl-model transformers", key)
}
