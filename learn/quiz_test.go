package learn

import (
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/memwall/memwall"
)

// worked works every question out.
func worked(t *testing.T) (out []*Question) {
	t.Helper()
	entries, err := Quiz("", nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range entries {
		q, err := entries[i].Work(asker)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, q)
	}
	return out
}

// TestQuestions: each has a level, an answer that its own judge takes, a working with it, and wrong answers are wrong.
func TestQuestions(t *testing.T) {
	list := worked(t)
	if len(list) < 30 {
		t.Errorf("only %d questions", len(list))
	}
	ids, topics := map[string]bool{}, map[string]bool{}
	for _, q := range list {
		if ids[q.ID] || q.ID == "" || q.Level < 1 || q.Level > 3 || len(q.Working) == 0 {
			t.Errorf("%s %q: level %d, %d blocks of working", q.Topic, q.ID, q.Level, len(q.Working))
		}
		ids[q.ID], topics[q.Topic] = true, true
		for _, b := range append(q.Working, Block{Text: q.Text}) {
			checkBlock(t, q.ID, &b)
			if strings.Contains(b.Text.String(), unknown) {
				t.Errorf("%s: %s", q.ID, b.Text)
			}
		}
		if ok, err := q.Judge(q.Answer.Text); !ok || err != nil {
			t.Errorf("%s: %q is not its answer: %v", q.ID, q.Answer.Text, err)
		}
		if ok, _ := q.Judge(wrongAnswer(q)); ok {
			t.Errorf("%s: %q is right too", q.ID, wrongAnswer(q))
		}
		if _, err := q.Judge("I do not know"); err == nil {
			t.Errorf("%s: words are an answer", q.ID)
		}
	}
	for _, name := range Names() {
		if !topics[name] {
			t.Errorf("no question about %s", name)
		}
	}
}

func wrongAnswer(q *Question) string {
	for _, c := range q.Choices {
		if c != q.Answer.Text {
			return c
		}
	}
	wrong := *q.Answer.Value * (1 + 2*q.Within)
	if q.Unit == "count" {
		wrong++
	}
	s, _ := written(wrong, q.Unit)
	return s
}

func TestJudge(t *testing.T) {
	number := func(x float64, unit string) *Question {
		return &Question{Unit: unit, Within: 0.05, Answer: Piece{Value: &x}}
	}
	size, count, ratio := number(40*(1<<30), "GiB"), number(18, "count"), number(2.5, "×")
	for _, c := range []struct {
		q     *Question
		typed string
		right bool
		fails bool
	}{
		{size, "40", true, false}, {size, "40 GiB", true, false}, {size, "40gib", true, false}, {size, "42.9 GB", true, false},
		{size, "40,960 MiB", true, false}, {size, "20 GiB", false, false},
		{size, "40 ms", false, true}, {size, "", false, true}, {size, "forty", false, true}, {size, "-40", false, true},
		{size, "40 parsecs", false, true}, {size, "1e400", false, true}, {size, "..", false, true},
		{count, "18", true, false}, {count, "18 users", true, false}, {count, "12", false, false}, {count, "NaN", false, true},
		{ratio, "2.5", true, false}, {ratio, "2.5x", true, false}, {ratio, "2.5 ×", true, false}, {ratio, "3 times", false, false},
		{number(3.8, "$"), "$3.8", true, false}, {number(0.27, "%"), "27 %", true, false}, {number(0.27, "%"), "27", true, false},
		{number(0.042, "ms"), "0.042 s", true, false},
	} {
		right, err := c.q.Judge(c.typed)
		if right != c.right || (err != nil) != c.fails {
			t.Errorf("%q of %s: %v, %v", c.typed, c.q.Unit, right, err)
		}
	}
	choice := &Question{Choices: []string{"fits", "does not fit"}, Answer: Piece{Text: "does not fit"}}
	for typed, want := range map[string]bool{"b": true, "2": true, "Does not fit": true, "a": false, "fits": false} {
		if right, err := choice.Judge(typed); right != want || err != nil {
			t.Errorf("%q: %v, %v", typed, right, err)
		}
	}
	for _, typed := range []string{"c", "0", "3", "-1", "maybe", "", "é"} {
		if _, err := choice.Judge(typed); err == nil {
			t.Errorf("%q is a choice", typed)
		}
	}
}

func FuzzJudge(f *testing.F) {
	f.Add("42.9 GB")
	f.Add("b")
	x := 40.0
	f.Fuzz(func(_ *testing.T, typed string) {
		_, _ = (&Question{Unit: "GiB", Within: 0.1, Answer: Piece{Value: &x}}).Judge(typed)
		_, _ = (&Question{Choices: []string{"a", "b"}}).Judge(typed)
	})
}

// TestOrder: a seed decides the order, all questions stay, and without one the easy ones come first.
func TestOrder(t *testing.T) {
	ids := func(topic string, seed *uint64) (out []string) {
		list, err := Quiz(topic, seed)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			out = append(out, e.script.key("question"))
		}
		return out
	}
	seven, eight := uint64(7), uint64(8)
	plain, a, b, c := ids("", nil), ids("", &seven), ids("", &seven), ids("", &eight)
	if !slices.Equal(a, b) || slices.Equal(a, c) || slices.Equal(a, plain) {
		t.Errorf("orders: %v %v %v", a, b, c)
	}
	slices.Sort(a)
	slices.Sort(plain)
	if !slices.Equal(a, plain) {
		t.Error("a seed changes which questions there are")
	}
	list, _ := Quiz("kv", nil)
	if !slices.IsSortedFunc(list, func(a, b Entry) int { return a.Level - b.Level }) || len(list) == 0 {
		t.Errorf("levels of kv: %v", list)
	}
	var e *memwall.Error
	if _, err := Quiz("nothing-like-it", nil); !errors.As(err, &e) {
		t.Errorf("an unknown topic: %v", err)
	}
}

// claimRow is a row of docs/worked-examples.md: its number, and its verdict at the end.
var claimRow = regexp.MustCompile(`(?m)^\| ([1-5]\.\d+) +\|.*\| (\w+) +\|$`)

// TestErrata: each erratum stands in the worked examples, which do not call the figure right, and their titles agree; where both
// figures can be read in one unit they differ by more than rounding.
func TestErrata(t *testing.T) {
	page, err := os.ReadFile("../docs/worked-examples.md")
	if err != nil {
		t.Fatal(err)
	}
	verdicts := map[string]string{}
	for _, m := range claimRow.FindAllStringSubmatch(string(page), -1) {
		verdicts[m[1]] = m[2]
	}
	for number, title := range articles {
		if !strings.Contains(string(page), "\n## "+number+". "+title+"\n") {
			t.Errorf("%s is not the title of document %s", title, number)
		}
	}
	seen := map[string]bool{}
	for _, topic := range Names() {
		for _, b := range told(t, topic, Example{}).Blocks {
			if b.Kind == Erratum {
				seen[b.Errata.Article] = true
				if v := verdicts[b.Errata.Claim]; v == "" || v == "right" {
					t.Errorf("%s: worked example %s is called %q", topic, b.Errata.Claim, v)
				}
				differs(t, topic, b.Errata)
			}
		}
	}
	if len(seen) != len(articles) {
		t.Errorf("errata of %d articles: %v", len(seen), seen)
	}
}

var saidFigure = regexp.MustCompile(`^[\d.,]+( [^\s,;:]+)?`)

// differs compares a quoted figure with the first that was computed.
func differs(t *testing.T, topic string, w *Wrong) {
	t.Helper()
	for _, p := range w.Ours {
		if p.Value == nil {
			continue
		}
		_, name, _ := strings.Cut(p.Text, " ")
		q := &Question{Unit: name, Within: 0.015, Answer: p}
		if right, err := q.Judge(strings.TrimSuffix(saidFigure.FindString(w.Said), ",")); right && err == nil {
			t.Errorf("%s, %s: %q is what comes out: %s", topic, w.Claim, w.Said, w.Ours)
		}
		return
	}
}
