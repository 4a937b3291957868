package cli

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/quantize"
	"github.com/memwall/memwall/internal/render/cards"
	"github.com/memwall/memwall/internal/render/svg"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/unit"
)

// quant returns the command that measures what formats cost a file's weights.
func (a *app) quant() *cobra.Command {
	o, picture := &quantize.Options{}, ""
	c := &cobra.Command{
		Use: "quant FILE", Short: "what each format costs these weights in bytes and error, and the best mixture for a budget",
		Long: "FILE is a safetensors or GGUF file with weights of 16 or 32 bits (or q8_0), or a model folder. Every matrix is stored in every format and read back. " +
			"--budget chooses a format for each matrix: the least error within that many bytes of weights. " +
			"For a file of keys and values (past_key_values.0.key, cache_k_l0) it reports the error of cache formats, per token and per channel.",
		Example: "memwall quant ./model.safetensors\nmemwall quant ./Llama-3.1-8B --budget 6GiB --floor attn_v=q5_k\nmemwall quant ./Llama-3.1-8B --fits rtx-4070 --ctx 32k\nmemwall quant ./model.gguf --formats q4_k,iq4_xs --per role\nmemwall quant ./a.gguf --imatrix a.imatrix --budget 5GiB --write mix.gguf",
		RunE: func(_ *cobra.Command, args []string) error {
			a.asking = "quant"
			switch {
			case len(args) == 0:
				return usage("file", "", "no file is given", "memwall quant ./model.safetensors")
			case len(args) > 1:
				return usage("argument", args[1], fmt.Sprintf("quant takes one FILE, and %q was given too", args[1]), "quote a name that has spaces")
			}
			return a.runQuant(args[0], o, picture)
		},
	}
	quantFlags(c.Flags(), o, &picture)
	return c
}

func quantFlags(flags *pflag.FlagSet, o *quantize.Options, picture *string) {
	flags.SortFlags = false
	flags.StringVar(&o.Formats, "formats", "", "formats to try, such as q4_k,q8_0; all: every known format")
	flags.StringVar(&o.Imatrix, "imatrix", "", "importance matrix of llama.cpp: weighs errors by the inputs of their column")
	flags.StringVar(&o.Inputs, "activations", "", "safetensors with the inputs of each matrix, by its name: weighs errors by their effect on the output")
	flags.StringVar(&o.Method, "method", "", "quantise using inputs: gptq (--activations), or awq, folded into the preceding norms and matrices")
	flags.StringVar(&o.Budget, "budget", "", "most bytes for the weights: choose a format for each matrix")
	flags.StringVar(&o.Fits, "fits", "", "a device, instead of --budget: the space it has left for weights")
	flags.Var(lengthValue{&o.Context}, "ctx", "with --fits: context that must fit too; default: the engine's")
	flags.StringVar(&o.Family, "family", "gguf", "which formats a mixture uses: gguf or hub")
	flags.StringArrayVar(&o.Floors, "floor", nil, "the narrowest format that a role may get in a mixture")
	flags.IntVar(&o.Tokens, "tokens-axis", -2, "for keys and values: the token dimension, from 0; -2 is the second to last")
	grouped(flags, groupWhat, "formats", "imatrix", "activations", "method", "budget", "fits", "ctx", "family", "floor", "tokens-axis")
	flags.StringVar(&o.By, "per", "", "show errors by role, layer or tensor")
	flags.BoolVar(&o.Curve, "curve", false, "the whole trade-off between bytes and error")
	flags.StringVar(&o.Write, "write", "", "write the weights as stored: the mixture for --budget, or the one format of --formats")
	flags.StringVar(&o.Recipe, "recipe", "", "write the mixture as an llm-compressor recipe, for --family hub")
	flags.StringVar(&o.Save, "save", "", "write the measurements as JSON, for --quality of fit and plan")
	flags.BoolVar(&o.Again, "again", false, "measure again what an earlier run measured")
	flags.BoolVar(&o.Force, "force", false, "replace the file that --write names")
	flags.StringVar(picture, "svg", "", "also draw the distribution of weights, format errors by size, and outliers")
	grouped(flags, groupOutput, "per", "curve", "svg", "save", "recipe", "write", "force", "again")
}

// runQuant measures, and draws the picture if requested.
func (a *app) runQuant(name string, o *quantize.Options, picture string) error {
	ctx, stop := a.until()
	defer stop()
	o.Spread = picture != ""
	r, err := quantize.Run(ctx, name, o, a.quantPorts())
	if err != nil {
		return err
	}
	if picture != "" {
		if err := a.WriteFile(picture, svg.Quant(r)); err != nil {
			return &memwall.Error{Code: memwall.BadFile, Field: "svg", Value: picture, Message: fmt.Sprintf("--svg: %v", err), Hint: "a file in a folder that exists and can be written"}
		}
	}
	return a.show(r, func(st term.Style) string { return cards.Quant(r, st) })
}

func (a *app) quantPorts() quantize.Ports {
	p := quantize.Ports{
		Weights: a.Weights, Statistics: a.Statistics, Models: a.asker.Models, Ask: a.asker.Ask, WriteFile: a.WriteFile,
		Parallel: parallel, Memory: quantize.MemoryFolder(a.Env, runtime.GOOS),
		Create: func(name string) (quantize.File, error) { return a.CreateFile(name) },
		Exists: a.isThere,
	}
	if a.ErrTerminal {
		p.Progress = a.Stderr
	}
	return p
}

// lengthValue is a flag for a length such as 32k.
type lengthValue struct{ n *int64 }

// Type returns the kind of value for help.
func (lengthValue) Type() string { return "length" }

func (lengthValue) String() string { return "" }

// Set parses a length.
func (v lengthValue) Set(s string) (err error) {
	*v.n, err = unit.ParseLength(s)
	return err
}
