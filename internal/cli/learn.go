package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/memwall/memwall/internal/render"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/learn"
	"github.com/memwall/memwall/model/catalog"
)

// learnFlags holds the flags of learn.
type learnFlags struct {
	example learn.Example
	quiz    bool
	topic   string
	seed    uint64
}

func (a *app) learn() *cobra.Command {
	f := &learnFlags{}
	c := &cobra.Command{
		Use: "learn [TOPIC]", Short: "lessons and questions on LLM memory and speed, their numbers computed as you read",
		Long:    "A lesson explains one thing, with the formula, a worked example, and common mistakes. Every number is computed by the same core as fit, train and sim. Without a topic, lists the lessons.",
		Example: "memwall learn\nmemwall learn kv-cache\nmemwall learn kv-cache --model deepseek-v3 --on h200\nmemwall learn --quiz --topic training",
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return learn.Names(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, args []string) error {
			topic := strings.Join(args, " ")
			if f.quiz {
				return a.runQuiz(c, f, topic)
			}
			if err := quizAlone(c); err != nil {
				return err
			}
			return a.runLearn(f, topic)
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.example.Model, "model", "", "model for the example, instead of the lesson's own")
	flags.StringVar(&f.example.Hardware, "on", "", "device for the example")
	flags.BoolVar(&f.quiz, "quiz", false, "interview questions: one by one in a terminal, otherwise with their answers")
	flags.StringVar(&f.topic, "topic", "", "questions about one topic")
	flags.Uint64Var(&f.seed, "seed", 0, "seed for a repeatable order of questions; default: easy ones first")
	grouped(flags, groupWhat, "model", "on", "quiz", "topic", "seed")
	completeWith(c, map[string]func() []string{"model": catalog.IDs, "on": hardwareNames, "topic": learn.Names})
	return c
}

func (a *app) runLearn(f *learnFlags, topic string) error {
	if topic == "" {
		list := learn.Topics()
		return a.show(list, func(st term.Style) string { return render.Lessons(list, st) })
	}
	l, err := learn.Tell(&a.asker, topic, f.example)
	if err != nil {
		return err
	}
	return a.show(l, func(st term.Style) string { return render.Lesson(l, st) })
}
