package page

import (
	"html"
	"regexp"
	"strings"
	"testing"
)

// TestNoEmptyForms: every page is answered before anything is typed, and what a question lacks comes from its example alone.
func TestNoEmptyForms(t *testing.T) {
	for _, q := range questions() {
		if q.path == "learn" {
			continue
		}
		r := get(t, "/"+q.path, "")
		if r.Status != 200 || !strings.Contains(r.HTML, `id="answer"`) {
			t.Errorf("/%s: %d, no answer", q.path, r.Status)
		}
	}
	s, err := readState("sim", "m=qwen3-8b&on=h100")
	if err != nil {
		t.Fatal(err)
	}
	if s.filled(); s.query.Get("m") != "qwen3-8b" || s.query.Get("on") != "h100" || s.query.Get("rate") == "" {
		t.Errorf("filled to %s", s.href())
	}
	whole, err := readState("serve", "m=qwen3-8b&users=3")
	if err != nil {
		t.Fatal(err)
	}
	if whole.filled(); len(whole.query) != 2 {
		t.Errorf("a whole question was filled to %s", whole.href())
	}
}

// TestStart: each question of the first page has an answer, which leads to a page that says the same.
func TestStart(t *testing.T) {
	first := get(t, "/", "").HTML
	found := regexp.MustCompile(`class="gist"[^>]* href="([^"]*)"[^>]*><b>([^<]*)</b>|class="gist" data-live href="([^"]*)"><b>([^<]*)</b>`).FindAllStringSubmatch(first, -1)
	if len(found) != len(openings())+1 {
		t.Fatalf("%d answers of %d", len(found), len(openings())+1)
	}
	for _, m := range found {
		to, lead := html.UnescapeString(m[1]+m[3]), m[2]+m[4]
		page := regexp.MustCompile(`<[^>]*>`).ReplaceAllString(get(t, to, "").HTML, "")
		if words := strings.TrimSuffix(strings.TrimPrefix(lead, "✓ Room for "), "."); !strings.Contains(page, strings.SplitN(words, " at once", 2)[0]) {
			t.Errorf("%s does not say %q", to, lead)
		}
	}
}

// TestDroppedSettings: an engine leaves out what it does not know, and nothing else; without one all stays.
func TestDroppedSettings(t *testing.T) {
	for query, want := range map[string]string{
		"m=qwen3-30b-a3b&cpu-moe=8&engine=vllm&kv=fp8": "cpu-moe", "m=qwen3-30b-a3b&cpu-moe=8": "", "m=qwen3-30b-a3b&cpu-moe=8&engine=llama.cpp": "",
		"m=qwen3-30b-a3b&cpu-moe=8&engine=sglang@0.5": "cpu-moe", "m=qwen3-30b-a3b&cpu-moe=8&engine=nosuch": "",
	} {
		s, err := readState("fit", query)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(s.dropped(), " "); got != want || s.query.Has("cpu-moe") == (want != "") {
			t.Errorf("%s: dropped %q", query, got)
		}
	}
}

// TestChips: each thing that is set can be taken away by a link that leaves the rest.
func TestChips(t *testing.T) {
	page := html.UnescapeString(get(t, "/fit?m=qwen3-8b&on=rtx-4090&kv=q8_0&engine=llama.cpp", "").HTML)
	for _, want := range []string{`href="/fit?engine=llama.cpp&m=qwen3-8b&on=rtx-4090"`, `href="/fit?kv=q8_0&m=qwen3-8b&on=rtx-4090"`} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(page, `leave out m `) {
		t.Error("the model can be left out")
	}
}

// TestWorkingCommand: the command of a plan that does not fit is that of one which does.
func TestWorkingCommand(t *testing.T) {
	page := regexp.MustCompile(`</?span>`).ReplaceAllString(html.UnescapeString(get(t, "/fit?"+example, "").HTML), "")
	if command := regexp.MustCompile(`<code>(vllm serve[^<]*)`).FindAllStringSubmatch(page, -1); len(command) != 1 || !strings.Contains(command[0][1], "FP8") {
		t.Errorf("commands %q", command)
	}
}

// TestPresets: each is answered, says its source when taken, and leaves the model and the hardware.
func TestPresets(t *testing.T) {
	base, err := readState("sim", "m=llama-3.1-8b&on=h100&rate=1")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range presets() {
		r := get(t, base.with(p.sets...).href(), "")
		if r.Status != 200 || !strings.Contains(r.HTML, p.source+"</li>") || !strings.Contains(r.HTML, "H100") {
			t.Errorf("%s: %d", p.name, r.Status)
		}
	}
}
