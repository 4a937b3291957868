package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/render"
	"github.com/memwall/memwall/internal/term"
)

// diagnose returns the command that reads a program's output when it ran out of memory.
func (a *app) diagnose() *cobra.Command {
	var r memwall.Request
	var notes bool
	c := &cobra.Command{
		Use: "diagnose [FILE]", Short: "why it ran out of memory: the cause, a fix for now, a fix for good",
		Long: "FILE is a log or a pasted error of PyTorch, llama.cpp, vLLM, SGLang, TensorRT-LLM, TGI, Ollama, JAX, MLX, NCCL, Kubernetes or the kernel; without it, or with -, standard input is read. " +
			"The plan is read from the log; give what the log does not say as flags, such as --model and --on. Keys and passwords in it are redacted.",
		Example: "memwall diagnose train.log\nkubectl logs POD | memwall diagnose --on h100\nmemwall diagnose train.log --model llama-3.1-8b --on rtx-4090 --micro-batch 2 --seq 4k",
		RunE: func(c *cobra.Command, args []string) error {
			a.asking = "diagnose"
			if len(args) > 1 {
				return usage("argument", args[1], fmt.Sprintf("diagnose takes one FILE, and %q was given too", args[1]), "quote a name that has spaces")
			}
			text, err := a.log(args)
			if err != nil {
				return err
			}
			defer text.Close()
			answer, err := a.asker.Diagnose(text, r)
			if err != nil {
				return err
			}
			return a.show(answer, func(st term.Style) string { return render.Diagnose(answer, notes, st) })
		},
	}
	c.Flags().SortFlags = false
	requestFlags(c.Flags(), &r, "fit", "train")
	c.Flags().StringVar(&r.Model, "model", "", "the model, when the text does not name one of the catalog")
	c.Flags().BoolVar(&notes, "notes", false, "all notes")
	complete(c)
	return c
}
