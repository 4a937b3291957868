package browser

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// TestDocs: the docs from files on disk: words are found as one types, the keys reach what is found, and what is typed stays text; no
// page is wider than a phone, and letters stand out in both themes.
func TestDocs(t *testing.T) {
	folder := t.TempDir()
	if said, err := exec.Command("go", "run", "-C", "../release", "./docsite", "-out", folder).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	home := "file://" + folder + "/"
	ctx := browse(t, home)
	do(t, ctx, chromedp.EmulateViewport(1200, 900))
	open(t, ctx, home+"guides/install.html")
	search := func(words string) {
		do(t, ctx, chromedp.KeyEvent("/"))
		script[any](t, ctx, `document.querySelector('#search input').value = ''`)
		do(t, ctx, chromedp.KeyEvent(words))
	}
	search("<b>xyzzy")
	says(t, ctx, ".found", "Nothing has all of these words.")
	do(t, ctx, chromedp.KeyEvent("\u001b"))
	if script[bool](t, ctx, `document.querySelector('.found').checkVisibility() || !!document.querySelector('.found b')`) {
		t.Error("Escape leaves the results, or they have elements of what was typed")
	}
	script[any](t, ctx, `document.activeElement.blur()`)
	search("mla latent cac")
	says(t, ctx, "#found", "MLA latent cache")
	look(t, ctx, "docs-search")
	do(t, ctx, chromedp.KeyEvent("\u0301")) // arrow down
	if at := script[string](t, ctx, `document.activeElement.href`); at != home+"formulas.html#mla-latent-cache" {
		t.Errorf("the first that is found is %s", at)
	}
	for _, page := range []string{"index", "guides/make-it-fit", "decisions/0009-dependencies"} {
		for _, theme := range []string{"light", "dark"} {
			if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
				Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}}); err != nil {
				t.Fatal(err)
			}
			for _, wide := range []int64{360, 1200} {
				do(t, ctx, chromedp.EmulateViewport(wide, 800), chromedp.Navigate(home+page+".html"))
				if over := script[int64](t, ctx, "document.documentElement.scrollWidth - document.documentElement.clientWidth"); over > 0 {
					t.Errorf("%s at %d: %d pixels too wide", page, wide, over)
				}
				if faint := script[string](t, ctx, contrast); faint != "" {
					t.Errorf("%s, %s: too faint: %s", page, theme, faint)
				}
				look(t, ctx, fmt.Sprintf("docs-%s-%s-%d", strings.ReplaceAll(page, "/", "-"), theme, wide))
			}
		}
	}
}
