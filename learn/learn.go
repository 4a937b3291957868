// Package learn teaches where the memory and time of language models go, with lessons and interview-style questions.
// Lessons are texts without results: every number is an expression over memwall's answers or catalogs, evaluated for
// the reader's model and hardware.
//
// See lessons/kv-cache.txt for the notation, page.go for its parser, ask.go for the questions it can ask, write.go for
// formatting numbers, and quiz.go for the questions to the reader. docs/guides/add-a-lesson.md says how to add one.
package learn

import (
	"fmt"
	"sort"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/spell"
)

// Topic is the name of a lesson with its one-line summary.
type Topic struct {
	Topic string   `json:"topic"`
	Line  string   `json:"line"`
	Also  []string `json:"also,omitempty"` // aliases
	order string
}

// Topics returns the lessons in teaching order.
func Topics() []Topic {
	var out []Topic
	for _, name := range files("lessons") {
		out = append(out, topicOf(read("lessons/"+name)))
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].order < out[j].order })
	return out
}

// Names returns the names of the lessons.
func Names() []string {
	var out []string
	for _, t := range Topics() {
		out = append(out, t.Topic)
	}
	return out
}

func topicOf(s *script) Topic {
	return Topic{Topic: s.key("topic"), Line: s.key("line"), Also: list(s.key("also")), order: s.key("order")}
}

// list splits a text at commas.
func list(s string) (out []string) {
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}

// read parses a text of the pack.
func read(name string) *script {
	return parse(name, texts()[name])
}

// find returns the lesson that a word refers to. The error is a *memwall.Error with similar names.
func find(word string) (string, error) {
	w := fold(word)
	var names []string
	for _, t := range Topics() {
		for _, n := range append([]string{t.Topic}, t.Also...) {
			if fold(n) == w {
				return t.Topic, nil
			}
			names = append(names, n)
		}
	}
	e := &memwall.Error{Code: memwall.BadField, Field: "topic", Value: word, Message: fmt.Sprintf("no lesson called %q", word),
		Hint: "memwall learn lists them"}
	if near := spell.Nearest(w, names); len(near) > 0 {
		e.Hint = "did you mean: " + strings.Join(near, ", ")
	}
	return "", e
}

// fold normalizes a name: KV_Cache becomes kv-cache.
func fold(s string) string {
	return strings.NewReplacer(" ", "-", "_", "-").Replace(strings.ToLower(strings.TrimSpace(s)))
}
