// Package learn teaches where the memory and the time of language models go: lessons, and questions as a candidate
// would be asked. Lessons are texts of this package without results in them: each number is an expression over answers
// of memwall itself or over its catalogs, computed for the model and the hardware that the reader names.
//
// Open lessons/kv-cache.txt for the notation, page.go for how such a text is read, ask.go for the questions that
// it asks, write.go for how a number is put into a sentence, quiz.go for the questions to the reader.
// docs/guides/add-a-lesson.md says how to add one.
package learn

import (
	"fmt"
	"sort"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/spell"
)

// Topic is a lesson by its name, and the line that the list shows.
type Topic struct {
	Topic string   `json:"topic"`
	Line  string   `json:"line"`
	Also  []string `json:"also,omitempty"` // other names
	order string
}

// Topics lists the lessons in the order in which they teach.
func Topics() []Topic {
	var out []Topic
	for _, name := range files("lessons") {
		out = append(out, topicOf(read("lessons/"+name)))
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].order < out[j].order })
	return out
}

// Names are those of the lessons.
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

// list parts a text at its commas.
func list(s string) (out []string) {
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}

// read parses a text.
func read(name string) *script {
	return parse(name, texts()[name])
}

// find gives the name of the lesson that a word means. The error is an *memwall.Error with names that are near.
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

// fold is a name as people spell it: KV_Cache is kv-cache.
func fold(s string) string {
	return strings.NewReplacer(" ", "-", "_", "-").Replace(strings.ToLower(strings.TrimSpace(s)))
}
