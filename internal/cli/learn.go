package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/memwall/memwall/internal/render"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/learn"
	"github.com/memwall/memwall/model/catalog"
)

// learnFlags are those of learn.
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
		Long:    "A lesson says one thing, with the formula, a model worked through, and what is often read and wrong. Every number is computed by the same core as fit, train and sim. Without a topic, the lessons.",
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
	flags.StringVar(&f.example.Model, "model", "", "the model of the example, instead of the lesson's own")
	flags.StringVar(&f.example.Hardware, "on", "", "the device of the example")
	flags.BoolVar(&f.quiz, "quiz", false, "questions as in an interview: one after another at a terminal, with their answers elsewhere")
	flags.StringVar(&f.topic, "topic", "", "questions about one topic")
	flags.Uint64Var(&f.seed, "seed", 0, "an order of questions that can be repeated; without it the easy ones come first")
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
