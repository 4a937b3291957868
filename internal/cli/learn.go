package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/memwall/memwall/internal/render"
	"github.com/memwall/memwall/learn"
	"github.com/memwall/memwall/model/catalog"
)

// learnFlags are those of learn.
type learnFlags struct {
	example learn.Example
}

func (a *app) learn() *cobra.Command {
	f := &learnFlags{}
	c := &cobra.Command{
		Use: "learn [TOPIC]", Short: "lessons and questions about the memory of language models, with numbers computed now",
		Long:    "A lesson says one thing, with the formula, a model worked through, and what is often read and wrong. Every number is computed by the same core as fit, train and sim. Without a topic, the lessons.",
		Example: "memwall learn\nmemwall learn kv-cache\nmemwall learn kv-cache --model deepseek-v3 --on h200\nmemwall learn --quiz --topic training",
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return learn.Names(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, args []string) error { return a.runLearn(f, strings.Join(args, " ")) },
	}
	flags := c.Flags()
	flags.StringVar(&f.example.Model, "model", "", "the model of the example, instead of the lesson's own")
	flags.StringVar(&f.example.Hardware, "on", "", "the device of the example")
	for _, name := range []string{"model", "on"} {
		group(flags.Lookup(name), groupWhat)
	}
	completeWith(c, map[string]func() []string{"model": catalog.IDs})
	return c
}

func (a *app) runLearn(f *learnFlags, topic string) error {
	if topic == "" {
		list := learn.Topics()
		return a.show(list, func(st render.Style) string { return render.Lessons(list, st) })
	}
	l, err := learn.Tell(&a.asker, topic, f.example)
	if err != nil {
		return err
	}
	return a.show(l, func(st render.Style) string { return render.Lesson(l, st) })
}
