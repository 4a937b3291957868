package docs

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"testing"
)

var (
	target = regexp.MustCompile(`\]\(<?([^)>\s]+)>?[^)]*\)`)
	// machine matches absolute paths of somebody's machine.
	machine = regexp.MustCompile(`(?:^|[^\w./-])((?:/tmp|/root|/home|/Users)(?:/[\w.-]+)+|/root)(?:$|[^\w-])`)
)

// badLinks lists the links of pages that lead nowhere: a missing file, or an anchor that its page lacks.
// exists tells whether there is a file or folder of a name from the root.
func badLinks(all map[string]*page, exists func(string) bool) (out []string) {
	for _, p := range all {
		for i, l := range p.lines {
			if p.code[i] {
				continue
			}
			for _, m := range target.FindAllStringSubmatch(inlineCode.ReplaceAllString(l, ""), -1) {
				if why := follow(all, p, m[1], exists); why != "" {
					out = append(out, fmt.Sprintf("%s:%d: %s: %s", p.name, i+1, m[1], why))
				}
			}
		}
	}
	sort.Strings(out)
	return out
}

// follow says why a link leads nowhere; "" when it does not, or leaves the repository.
func follow(all map[string]*page, from *page, link string, exists func(string) bool) string {
	if strings.Contains(link, "://") || strings.HasPrefix(link, "mailto:") {
		return ""
	}
	file, anchor, _ := strings.Cut(link, "#")
	name := from.name
	if file != "" {
		name = path.Join(path.Dir(from.name), file)
	}
	if !exists(name) {
		return "no such file"
	}
	if to := all[name]; anchor != "" && (to == nil || !to.anchors()[anchor]) {
		return "no such heading"
	}
	return ""
}

// machinePaths lists absolute paths that only exist where a page was written: homes, and the folder that the
// repository lies in.
func machinePaths(all map[string]*page, here string) (out []string) {
	for _, p := range all {
		for i, l := range p.lines {
			if m := machine.FindStringSubmatch(l); m != nil {
				out = append(out, fmt.Sprintf("%s:%d: %s", p.name, i+1, m[1]))
			}
			if strings.Contains(l, here) {
				out = append(out, fmt.Sprintf("%s:%d: %s", p.name, i+1, here))
			}
		}
	}
	sort.Strings(out)
	return out
}

func inRepository(name string) bool {
	_, err := os.Stat(filepath.Join(root, filepath.FromSlash(name)))
	return err == nil
}

// TestLinks: relative links and anchors of every page resolve.
func TestLinks(t *testing.T) {
	all := pages(t)
	if all["docs/formulas.md"] == nil {
		t.Fatal("docs/formulas.md is missing")
	}
	for _, s := range badLinks(all, inRepository) {
		t.Error(s)
	}
}

// TestMachinePaths: no page names a folder of the machine that it was written on.
func TestMachinePaths(t *testing.T) {
	here, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range machinePaths(pages(t), here) {
		t.Error(s)
	}
}

// TestBadPageIsSeen: the checks above can fail.
func TestBadPageIsSeen(t *testing.T) {
	bad := newPage("docs/bad.md", strings.Join([]string{
		"# Bad", "[gone](gone.md) and [here](#bad) and [nowhere](#worse)", "`[code](is-not-a-link.md)`", "```", "[nor](this.md)", "```",
		"[other](good.md#absent) [out](https://example.org/x)", "built in /home/ann/build and (/root)",
		"a/root/b, /tmp alone, in /src/memwall/docs",
	}, "\n"))
	all := map[string]*page{"docs/bad.md": bad, "docs/good.md": newPage("docs/good.md", "# Good")}
	got := badLinks(all, func(name string) bool { return all[name] != nil })
	want := []string{"docs/bad.md:2: #worse: no such heading", "docs/bad.md:2: gone.md: no such file",
		"docs/bad.md:7: good.md#absent: no such heading"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("bad links\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := machinePaths(all, "/src/memwall"); len(got) != 2 || got[0] != "docs/bad.md:8: /home/ann/build" ||
		got[1] != "docs/bad.md:9: /src/memwall" {
		t.Errorf("machine paths %q", got)
	}
}
