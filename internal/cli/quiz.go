package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/render"
	"github.com/memwall/memwall/learn"
)

// quizAlone rejects quiz flags for a lesson.
func quizAlone(c *cobra.Command) error {
	for _, name := range []string{"topic", "seed"} {
		if f := c.Flags().Lookup(name); f.Changed {
			return usage(name, f.Value.String(), "--"+name+" is about questions", "memwall learn --quiz --"+name+" "+f.Value.String())
		}
	}
	return nil
}

// runQuiz asks questions at a terminal; elsewhere it prints them with their answers.
func (a *app) runQuiz(c *cobra.Command, f *learnFlags, topic string) error {
	for _, name := range []string{"model", "on"} {
		if c.Flags().Changed(name) {
			return usage(name, c.Flags().Lookup(name).Value.String(), "questions name their own models and hardware", "leave --"+name+" out, or memwall learn TOPIC --"+name)
		}
	}
	if topic != "" && f.topic != "" {
		return usage("topic", f.topic, fmt.Sprintf("two topics: %s and --topic %s", topic, f.topic), "give one")
	}
	var seed *uint64
	if c.Flags().Changed("seed") {
		seed = &f.seed
	}
	list, err := learn.Quiz(topic+f.topic, seed)
	switch {
	case err != nil:
		return err
	case a.json:
		return a.quizJSON(list)
	case a.Terminal:
		return a.interview(list)
	}
	return a.printQuiz(list)
}

// quizJSON writes all questions with their answers.
func (a *app) quizJSON(list []learn.Entry) error {
	out := []*learn.Question{}
	for i := range list {
		q, err := list[i].Work(&a.asker)
		if err != nil {
			return err
		}
		out = append(out, q)
	}
	return writeJSON(a.Stdout, out, true)
}

func place(i, n int) string { return fmt.Sprintf("%d of %d", i+1, n) }

func (a *app) printQuiz(list []learn.Entry) error {
	for i := range list {
		q, err := list[i].Work(&a.asker)
		if err != nil {
			return err
		}
		text := render.Question(q, place(i, len(list)), a.style()) + "\n" + render.Worked(q, "", a.style())
		if i > 0 {
			text = "\n" + text
		}
		if err := a.print(text); err != nil {
			return err
		}
	}
	return nil
}

// interview asks questions until there are no more questions, or no more answers.
func (a *app) interview(list []learn.Entry) error {
	in := bufio.NewReader(io.LimitReader(a.Stdin, 1<<20))
	if err := a.print("Enter alone shows the answer, q ends.\n"); err != nil {
		return err
	}
	right, answered := 0, 0
	for i := range list {
		q, err := list[i].Work(&a.asker)
		if err != nil {
			return err
		}
		if err := a.print("\n" + render.Question(q, place(i, len(list)), a.style())); err != nil {
			return err
		}
		verdict, more := a.answered(in, q)
		if !more {
			break
		}
		if verdict != "" {
			answered++
		}
		if verdict == "right" {
			right++
		}
		if err := a.print("\n" + render.Worked(q, verdict, a.style())); err != nil {
			return err
		}
	}
	return a.print(fmt.Sprintf("\n%d of %d right\n", right, answered))
}

// answered reads lines until one is an answer. verdict is right, wrong, or "" for an empty line; more is false if the user quits.
func (a *app) answered(in *bufio.Reader, q *learn.Question) (verdict string, more bool) {
	for {
		if a.print("> ") != nil {
			return "", false
		}
		line, err := in.ReadString('\n')
		line = strings.TrimSpace(line)
		switch {
		case line == "" && err != nil, strings.EqualFold(line, "q"):
			return "", false
		case line == "":
			return "", true
		}
		ok, wrong := q.Judge(line)
		if wrong == nil {
			return map[bool]string{true: "right", false: "wrong"}[ok], true
		}
		var e *memwall.Error
		if errors.As(wrong, &e) {
			io.WriteString(a.Stderr, render.Error(e, a.styleOf(a.ErrTerminal)))
		}
	}
}
