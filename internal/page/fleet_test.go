package page

import (
	"html"
	"regexp"
	"strings"
	"testing"
)

// TestFleetsRefuse: files of the machine are not read, and what is not a plan or not a number is said in its place.
func TestFleetsRefuse(t *testing.T) {
	for href, says := range map[string]string{
		"/autoscale?m=llama-3.1-8b&on=l40s&ttft=1s&load=/etc/passwd":      "reads no files",
		"/autoscale?m=llama-3.1-8b&on=l40s&ttft=1s&load=1,x":              "reads no files",
		"/autoscale?m=llama-3.1-8b&on=l40s&ttft=1s&load=1,2&min=many":     "Min:",
		"/autoscale?m=llama-3.1-8b&on=l40s&ttft=1s&load=1,2&nosuch=1":     "not a field",
		"/pack?on=2xh100&models=qwen3-8b --nosuch 3":                      "no flag --nosuch",
		"/pack?on=2xh100&models=qwen3-8b llama-3.1-8b":                    "one model",
		"/pack?on=2xh100&models=qwen3-8b --on h100":                       "its own hardware",
		"/pack?on=2xh100&models=--ctx 8k":                                 "names no model",
		"/pack?on=2xh100&models=999x qwen3-8b":                            "64 models",
		"/pack?on=2xh100&models=qwen3-8b --ctx eight":                     "eight",
		"/pack?on=2xh100%2Bl40s&models=qwen3-8b":                          "one kind",
		"/pack?on=2xh100&models=" + strings.Repeat("9x qwen3-8b%3B", 100): "64 models",
	} {
		r := get(t, href, "")
		if words := html.UnescapeString(r.HTML); r.Status != 422 || !strings.Contains(words, says) {
			t.Errorf("%s: %d, and no %q", href, r.Status, says)
		}
	}
}

// TestPoolSaysPlaces: the page has the places that the card has, and each model as it was written.
func TestPoolSaysPlaces(t *testing.T) {
	page := regexp.MustCompile(`<[^>]*>`).ReplaceAllString(get(t, "/pack?on=2xh100&models=qwen3-8b --ctx=16k%3B 2x llama-3.1-8b", "").HTML, " ")
	for _, want := range []string{"Fits", "3 models", "qwen3-8b --ctx=16k", "1 of 2 devices"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in %s", want, page)
		}
	}
	if r := get(t, "/pack?on=h100&models=deepseek-v3", ""); r.Status != 200 || !strings.Contains(r.HTML, "No room") {
		t.Errorf("a model too large: %d", r.Status)
	}
}
