package learn

import (
	"errors"
	"strings"
	"testing"

	"github.com/memwall/memwall"
)

var asker = &memwall.Asker{}

// told tells a lesson or ends the test.
func told(t *testing.T, topic string, x Example) *Lesson {
	t.Helper()
	l, err := Tell(asker, topic, x)
	if err != nil {
		t.Fatalf("%s, %v: %v", topic, x, err)
	}
	return l
}

// TestLessonsAsTheyAre: a lesson's own example leaves nothing unknown, and no part of a lesson is missing.
func TestLessonsAsTheyAre(t *testing.T) {
	names := Names()
	if len(names) < 12 {
		t.Errorf("only %d lessons: %v", len(names), names)
	}
	for _, x := range Topics() {
		if n := len([]rune(x.Line)); n == 0 || n > 62 {
			t.Errorf("%s: a line of %d letters for the list", x.Topic, n)
		}
	}
	for _, topic := range names {
		l := told(t, topic, Example{})
		for _, u := range l.Unknown {
			t.Errorf("%s: %s", topic, u)
		}
		if l.Title == "" || len(l.Blocks) < 4 || len(l.Try) == 0 || len(l.Next) == 0 {
			t.Errorf("%s lacks something: %d blocks, %d commands, next %v", topic, len(l.Blocks), len(l.Try), l.Next)
		}
		for _, n := range l.Next {
			if _, err := find(n); err != nil {
				t.Errorf("%s: next %s: %v", topic, n, err)
			}
		}
		for name, line := range read("lessons/" + topic).asked() {
			if l.Questions[name] == "" {
				t.Errorf("%s asks %s (%s) and uses nothing of it", topic, name, line)
			}
		}
	}
}

// asked are the questions of a script.
func (s *script) asked() map[string]string {
	out := map[string]string{}
	for _, a := range s.asks {
		out[a.key] = a.value
	}
	return out
}

// Kinds of models and devices that lessons are told with: dense, experts, latent, hybrid, state alone, sliding, small; a desktop
// card, several makers, a processor, one of one's own without figures.
var (
	models = []string{"llama-3.1-70b", "mixtral-8x7b", "deepseek-v3", "qwen3-next-80b-a3b", "falcon-mamba-7b", "gemma-3-27b",
		"qwen2.5-0.5b", "gpt-oss-20b"}
	devices = []string{"h100", "rtx-4090", "mi300x", "m4-max", "name=mine,memory=48GiB,bandwidth=1TB/s"}
)

// TestLessonsForOthers: every lesson can be told with every kind of model and of device.
func TestLessonsForOthers(t *testing.T) {
	for n, topic := range Names() {
		for i, m := range models {
			l := told(t, topic, Example{m, devices[(n+i)%len(devices)]})
			if len(l.Blocks) < 2 {
				t.Errorf("%s with %s: %d blocks", topic, m, len(l.Blocks))
			}
			for _, b := range l.Blocks {
				checkBlock(t, topic+" with "+m, &b)
			}
		}
	}
}

func checkBlock(t *testing.T, where string, b *Block) {
	t.Helper()
	texts := []Text{b.Text}
	for _, r := range b.Rows {
		texts = append(texts, r.Cells...)
		if r.Share < 0 || r.Share > 1 {
			t.Errorf("%s: a bar of %g", where, r.Share)
		}
	}
	for _, x := range texts {
		for _, bad := range []string{"NaN", "Inf", "$model", "$device", "$holding", "$ample", "{", "}"} {
			if strings.Contains(x.String(), bad) {
				t.Errorf("%s: %s in %q", where, bad, x)
			}
		}
	}
}

// TestNumbersAreThoseOfAnswers: what a lesson shows is what the answer to the same question says.
func TestNumbersAreThoseOfAnswers(t *testing.T) {
	for _, m := range []string{"llama-3.1-70b", "deepseek-v3", "qwen3-next-80b-a3b"} {
		r := &memwall.Request{Ask: "fit", Model: m}
		r.Engine, r.Context = "generic", 8192
		a, err := asker.Ask(r)
		if err != nil {
			t.Fatal(err)
		}
		l := told(t, "kv-cache", Example{m, "h100"})
		found := false
		for _, p := range l.Blocks[0].Text {
			if p.From == "one.per_token" {
				found = true
				if p.Value == nil || *p.Value != float64(a.KV.BytesPerToken) {
					t.Errorf("%s: a token takes %v in the lesson, %d in the answer", m, p.Value, a.KV.BytesPerToken)
				}
			}
		}
		if !found {
			t.Errorf("%s: the lesson says %q", m, l.Blocks[0].Text)
		}
	}
}

func TestWhatCannotBeTold(t *testing.T) {
	for _, c := range []struct {
		topic       string
		x           Example
		field, hint string
	}{
		{"kv-cach", Example{}, "topic", "kv-cache"},
		{"parallelsim", Example{}, "topic", "parallelism"},
		{"", Example{}, "topic", ""},
		{"photosynthesis", Example{}, "topic", "lists them"},
		{"kv", Example{Model: "lama-3.1-70b"}, "model", "llama-3.1-70b"},
		{"kv", Example{Hardware: "h10"}, "hardware", "a10"},
		{"kv", Example{Hardware: "rtx-4090+rtx-3060"}, "hardware", "one accelerator"},
	} {
		_, err := Tell(asker, c.topic, c.x)
		var e *memwall.Error
		if !errors.As(err, &e) || e.Field != c.field || !strings.Contains(e.Hint, c.hint) {
			t.Errorf("%q %v: %v, want an error of %s with %q", c.topic, c.x, err, c.field, c.hint)
		}
	}
}

// TestBrokenLessonIsSeen: mistakes in a text are errors, and figures that nobody knows are not.
func TestBrokenLessonIsSeen(t *testing.T) {
	const head = "topic: x\ntitle: X\nmodel: llama-3.1-8b\non: h100\nask one: fit $model engine=generic context=8k\nask bad: fit $model " +
		"nothing=1\n\n"
	for body, want := range map[string]string{
		"{one.per_token | parsecs}":            "not a unit",
		"{one.per_token":                       "without its }",
		"table:\na | b\n1 | 2 | 3":             "3 cells below 2 heads",
		"bars:\nonly a label":                  "bars have a label and a number",
		"read: 9.1\nsaid: 1\nours: 2":          "wants the number of a row",
		"read: 2.1\nsaid: 1\nours: 2\nwhat: 3": "neither said",
		"formula: card x":                      "",
	} {
		_, err := tell(asker, parse("x", head+body), Example{})
		if want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", body, err, want)
		}
	}
	for _, body := range []string{"{one.nothing}", "{two.per_token}", "{bad.needed}", "{one.per_token +}",
		"{one.per_token / one.ledger.0.nothing}"} {
		l, err := tell(asker, parse("x", head+body), Example{})
		if err != nil || len(l.Unknown) != 1 || l.Blocks[0].Text.String() != unknown {
			t.Errorf("%q: %v, %v: want one unknown figure", body, l, err)
		}
	}
}

// TestReferencesStayWhole: what a reader calls a model is data, whatever stands in it.
func TestReferencesStayWhole(t *testing.T) {
	strange := "./my {odd} $model | file.gguf"
	a := &memwall.Asker{Models: renamed{strange}}
	l, err := Tell(a, "kv-cache", Example{Model: strange})
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Unknown) > 0 || !strings.Contains(l.Blocks[0].Text.String(), "320 KiB") ||
		!strings.Contains(l.Try[0], "fit '"+strange+"' --on") {
		t.Errorf("%q, %q, %v", l.Blocks[0].Text, l.Try, l.Unknown)
	}
}

// renamed is a source that knows a model by another reference too.
type renamed struct{ ref string }

func (r renamed) Model(ref string) (*memwall.Resolved, error) {
	if ref == r.ref {
		ref = "llama-3.1-70b"
	}
	return memwall.Catalog{}.Model(ref)
}

func TestConditions(t *testing.T) {
	const text = "topic: x\ntitle: X\nmodel: falcon-mamba-7b\non: h100\nask one: fit $model engine=generic context=8k\n\nif " +
		"one.per_token\ncache\n\nunless one.per_token\nstate\n\nif you have a cache, this is a paragraph\n\ntable:\na | b\nif " +
		"one.per_token\n1 | 2\nunless one.per_token\n3 | 4"
	l, err := tell(asker, parse("x", text), Example{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, b := range l.Blocks {
		got = append(got, b.Text.String())
		for _, r := range b.Rows {
			got = append(got, r.Cells[0].String())
		}
	}
	if s := strings.Join(got, "; "); s != "state; if you have a cache, this is a paragraph; ; 3" {
		t.Errorf("shown: %s", s)
	}
}

func TestUnits(t *testing.T) {
	for _, c := range []struct {
		x    float64
		name string
		want string
	}{
		{327680, "bytes", "320 KiB"}, {2684354560, "bytes", "2.5 GiB"}, {2684354560, "in GiB", "2.5"}, {80e9, "GB", "80 GB"},
		{1e6, "", "1,000,000"},
		{0.0078125, "power", "0.00781"}, {65504, "power", "65,504"}, {3.4028e38, "power", "3.40e38"}, {5.96e-8, "power", "5.96e-8"},
		{8192, "length", "8k"},
		{0.5, "%", "50 %"}, {3.83, "$/M", "$3.8 per M"}, {2, "×", "2 ×"}, {-1.5, "", "−1.5"}, {989e12, "TFLOP/s", "989 TFLOP/s"},
		{3.35e12, "rate", "3.35 TB/s"},
	} {
		if got, ok := written(c.x, c.name); !ok || got != c.want {
			t.Errorf("%g | %s = %q, want %q", c.x, c.name, got, c.want)
		}
	}
}
