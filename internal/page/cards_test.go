package page

import (
	"regexp"
	"strings"
	"testing"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/model/catalog"
)

// TestCards: a card says what the core answers, leads to the ledgers behind it, and has a badge.
func TestCards(t *testing.T) {
	for _, c := range []struct{ href, says, leads string }{
		{"/models/qwen3-32b", "32.8B parameters", "/fit?devices=1&amp;m=qwen3-32b&amp;on=rtx-4090&amp;weights=q4_k_m"},
		{"/models/gpt-oss-120b", "In mxfp4 it fits on", "/fit?devices=1&amp;m=gpt-oss-120b&amp;on=a100-sxm-80gb&amp;weights=mxfp4"},
		{"/hardware/rtx-3060-12gb", "Its best models", "/fit?m=qwen3.5-9b&amp;on=rtx-3060-12gb&amp;weights=q8_0"},
		{"/hardware/aws-p5.48xlarge", "h100", ""},
		{"/formats/q4_k_m", "when to use it", ""},
		{"/models", "released", "/models/qwen3-32b"},
		{"/hardware", "TFLOP/s", "/hardware/rtx-4090"},
		{"/formats", "recipes", "/formats/q4_k_m"},
	} {
		r := get(t, c.href, "")
		if r.Status != 200 || !strings.Contains(r.HTML, c.says) || c.leads != "" && !strings.Contains(r.HTML, `href="`+c.leads+`"`) {
			t.Errorf("%s: %d, no %q or %q", c.href, r.Status, c.says, c.leads)
		}
		if !strings.Contains(r.HTML, "<title>") || !strings.Contains(r.HTML, `<meta name="description"`) && strings.Count(c.href, "/") > 1 {
			t.Errorf("%s has no description", c.href)
		}
	}
	for href, says := range map[string]string{"/models/qwen3-32b.svg": "Qwen3 32B · q4_k_m: fits 24 GB", "/models/llama-3.1-405b.svg": "fits 512 GB", "/hardware/rtx-4090.svg": "rtx-4090 runs: "} {
		if r := get(t, href, ""); r.Type != "image/svg+xml" || !strings.Contains(r.HTML, says) {
			t.Errorf("%s: %d %s", href, r.Status, r.HTML)
		}
	}
	for _, href := range []string{"/models/nope", "/models/<script>", "/models/.svg", "/formats/bf16.svg", "/hardware/name=x,memory=24PiB.svg", "/models/" + strings.Repeat("x", 300), "/models?q=" + strings.Repeat("x", 300), "/hardware/%zz", "/models?q=%zz"} {
		r := get(t, href, "")
		if r.Status != 404 || strings.Contains(r.HTML, "<script>") {
			t.Errorf("%s: %d", href, r.Status)
		}
	}
}

// TestCardsOfASite: as files of folders they say where they are, and each link leads within the site.
func TestCardsOfASite(t *testing.T) {
	s := &Site{Asker: &memwall.Asker{Models: memwall.Catalog{}}, OnePage: true, Up: "../../", Base: "https://example.org/mw/"}
	html := s.Page(t.Context(), "/models/qwen3-32b", "", "").HTML
	for _, want := range []string{`<link rel="canonical" href="https://example.org/mw/models/qwen3-32b/">`, `property="og:image"`, `src="./../../card.js"`, `href="../../?ask=fit&amp;`, `src="./../../models/qwen3-32b.svg"`} {
		if !strings.Contains(html, want) {
			t.Errorf("no %s", want)
		}
	}
	for _, m := range regexp.MustCompile(`(?:href|src)="([^"#]*)"`).FindAllStringSubmatch(html, -1) {
		if !strings.HasPrefix(m[1], "../../?") && !strings.HasPrefix(m[1], "./../../") && !strings.HasPrefix(m[1], "https://example.org/mw/") && m[1] != "data:," {
			t.Errorf("a link to %s", m[1])
		}
	}
	if have, want := len(modelNames()), len(catalog.IDs()); have != want {
		t.Errorf("%d pages of %d models", have, want)
	}
}
