package docs

import (
	"path"
	"strings"
	"testing"
)

// parts are what every case study has, in this order.
var parts = []string{"# ", "**Question.**", "**Answer.**", "## The ledger", "## What one would change", "## Run it",
	"## What memwall does not know"}

// lacks gives the first part that a case study does not have behind the one before; "" when it has all.
func lacks(p *page) string {
	i := 0
	for n, l := range p.lines {
		if !p.code[n] && i < len(parts) && strings.HasPrefix(l, parts[i]) {
			i++
		}
	}
	if i < len(parts) {
		return parts[i]
	}
	return ""
}

// TestCaseStudiesAreWhole: each has its parts and computed figures, and the index links to it.
func TestCaseStudiesAreWhole(t *testing.T) {
	const dir = "docs/case-studies/"
	all := pages(t)
	index := all[dir+"README.md"]
	if index == nil {
		t.Fatal("no index")
	}
	seen := 0
	for name, p := range all {
		if path.Dir(name)+"/" != dir || p == index {
			continue
		}
		seen++
		if s := lacks(p); s != "" {
			t.Errorf("%s lacks %q", name, s)
		}
		if n := strings.Count(p.text(), "<!--= "); n < 5 {
			t.Errorf("%s computes %d figures", name, n)
		}
		if !strings.Contains(index.text(), "("+path.Base(name)+")") {
			t.Errorf("the index does not link to %s", name)
		}
	}
	if seen < 7 {
		t.Errorf("%d case studies", seen)
	}
}

// TestPartialCaseStudyIsSeen: the check above can fail.
func TestPartialCaseStudyIsSeen(t *testing.T) {
	whole := strings.Join(parts, "\n")
	for _, s := range parts {
		if got := lacks(newPage("x.md", strings.Replace(whole, s, "", 1))); got == "" {
			t.Errorf("without %q nothing is missed", s)
		}
	}
	if got := lacks(newPage("x.md", whole)); got != "" {
		t.Errorf("a whole page lacks %q", got)
	}
}
