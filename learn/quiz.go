package learn

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/memwall/memwall"
)

// Question is an interview-style question with its worked answer.
type Question struct {
	ID    string `json:"id"`
	Topic string `json:"topic"`
	Level int    `json:"level"` // 1 to 3
	Text  Text   `json:"text"`
	// Choices are the possible answers. Without any, the answer is a number in Unit, accepted within a tolerance.
	Choices []string `json:"choices,omitempty"`
	Unit    string   `json:"unit,omitempty"`
	Within  float64  `json:"within,omitempty"`
	Answer  Piece    `json:"answer"`
	Working []Block  `json:"working"`
	Try     []string `json:"try,omitempty"`
	// Questions are what was asked of memwall.
	Questions map[string]string `json:"questions,omitempty"`
}

// Entry is a question before evaluation.
type Entry struct {
	Topic  string
	Level  int
	script *script
}

// Quiz returns the questions of a topic, or all for "", easiest first or shuffled by a seed. The error is a
// *memwall.Error.
func Quiz(topic string, seed *uint64) ([]Entry, error) {
	if topic != "" {
		name, err := find(topic)
		if err != nil {
			return nil, err
		}
		topic = name
	}
	var out []Entry
	for _, name := range Names() {
		if topic == "" || name == topic {
			out = append(out, entriesOf(name)...)
		}
	}
	if seed == nil {
		sort.SliceStable(out, func(i, j int) bool { return out[i].Level < out[j].Level })
		return out, nil
	}
	shuffle(out, *seed)
	return out, nil
}

// entriesOf returns the questions of a topic.
func entriesOf(topic string) (out []Entry) {
	for part := range strings.SplitSeq("\n"+unremarked(texts()["questions/"+topic]), "\nquestion:") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		s := parse(topic, "question:"+part)
		level, _ := strconv.Atoi(s.key("level"))
		out = append(out, Entry{topic, level, s})
	}
	return out
}

// shuffle permutes questions as determined by a seed (Fisher and Yates).
func shuffle(list []Entry, seed uint64) {
	g := rand.NewPCG(seed, 0)
	for i := len(list) - 1; i > 0; i-- {
		j := int(g.Uint64() % uint64(i+1))
		list[i], list[j] = list[j], list[i]
	}
}

// Work evaluates a question. An error is a *memwall.Error and indicates a bug.
func (e *Entry) Work(asker *memwall.Asker) (*Question, error) {
	s := e.script
	x, err := resolved(asker, Example{cmp.Or(s.key("model"), "llama-3.1-70b"), cmp.Or(s.key("on"), "h100")})
	if err != nil {
		return nil, err
	}
	w := newWriter(newDesk(asker, x, s.asks))
	q := &Question{ID: s.key("question"), Topic: e.Topic, Level: e.Level, Text: w.text(s.key("text")), Choices: list(s.key("choices"))}
	w.answer(q, s.key("answer"), s.key("within"))
	var l Lesson
	for i := range s.blocks {
		w.block(&l, &s.blocks[i])
	}
	q.Working, q.Try, q.Questions = l.Blocks, l.Try, w.desk.questions()
	if err := cmp.Or(s.err, w.err); err != nil {
		return nil, &memwall.Error{Code: memwall.Internal, Field: "question", Value: q.ID,
			Message: fmt.Sprintf("the question %s: %v", q.ID, err), Hint: "this is a bug; report it"}
	}
	return q, nil
}

// answer computes the right answer: a number in the unit after its bar, or one of the choices.
func (w *writer) answer(q *Question, text, within string) {
	inside := strings.TrimSuffix(strings.TrimPrefix(text, "{"), "}")
	q.Answer = w.piece(inside)
	if len(q.Choices) > 0 {
		if !slices.Contains(q.Choices, q.Answer.Text) {
			w.fault("%s: the answer %q is none of %v", q.ID, q.Answer.Text, q.Choices)
		}
		return
	}
	_, name, _ := strings.Cut(inside, "|")
	q.Unit = strings.TrimSpace(name)
	percent, err := strconv.ParseFloat(strings.TrimSuffix(within, " %"), 64)
	if err != nil || percent <= 0 || q.Answer.Value == nil {
		w.fault("%s: a number within how many percent: %q, %q", q.ID, text, within)
	}
	q.Within = percent / 100
}
