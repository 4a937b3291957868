package memwall_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// foreign are modules that no host program is to have in its graph: what only farms, browser tests and packages need.
var foreign = []string{"github.com/nats-io/", "github.com/jackc/pgx", "github.com/chromedp/", "github.com/goreleaser/", "github.com/yuin/goldmark"}

var required = regexp.MustCompile(`(?m)^\t(\S+) (v\S+)`)

// requirements of a go.mod: versions by module.
func requirements(t *testing.T, name string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, m := range required.FindAllStringSubmatch(string(text), -1) {
		out[m[1]] = m[2]
	}
	return out
}

// TestModules: whoever imports memwall gets none of the modules of memwall-farm and of the browser tests, which have modules
// of their own; what these share with memwall is of the same version.
func TestModules(t *testing.T) {
	ours := requirements(t, "go.mod")
	if len(ours) < 10 {
		t.Fatalf("%d requirements are seen", len(ours))
	}
	seen := map[string]bool{}
	for _, other := range []string{"farm/go.mod", "browser/go.mod", "release/go.mod"} {
		for module, version := range requirements(t, other) {
			if v := ours[module]; v != "" && v != version {
				t.Errorf("%s has %s %s, and go.mod has %s", other, module, version, v)
			}
			for _, f := range foreign {
				seen[f] = seen[f] || strings.HasPrefix(module, f)
			}
		}
	}
	for _, f := range foreign {
		for module := range ours {
			if strings.HasPrefix(module, f) {
				t.Errorf("go.mod requires %s", module)
			}
		}
		if !seen[f] {
			t.Errorf("no module of %s is required anywhere: is the name still right?", f)
		}
	}
}
