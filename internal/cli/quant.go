package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/render/cards"
	"github.com/memwall/memwall/internal/render/svg"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/quant"
	"github.com/memwall/memwall/unit"
)

// quantFlags are the flags of quant.
type quantFlags struct {
	formats, family, by string
	budget              string
	imatrix, inputs     string
	write, save, recipe string
	force, again        bool
	fits, svg           string
	context             int64
	least               []string
	curve               bool
	tokens              int
	method              string
}

// quant measures what formats cost the weights of a file.
func (a *app) quant() *cobra.Command {
	var f quantFlags
	c := &cobra.Command{
		Use: "quant FILE", Short: "what each format costs these weights in bytes and error, and the best mixture for a budget",
		Long: "FILE is a safetensors or GGUF file with weights of 16 or 32 bits (or q8_0), or the folder of a model. Every matrix is stored in every format and read back. " +
			"--budget chooses a format for each matrix: the least error in so many bytes of weights. " +
			"Of a file of keys and values (past_key_values.0.key, cache_k_l0) it says what formats cost these, by token and by channel.",
		Example: "memwall quant ./model.safetensors\nmemwall quant ./Llama-3.1-8B --budget 6GiB --floor attn_v=q5_k\nmemwall quant ./Llama-3.1-8B --fits rtx-4070 --ctx 32k\nmemwall quant ./model.gguf --formats q4_k,iq4_xs --per role\nmemwall quant ./a.gguf --imatrix a.imatrix --budget 5GiB --write mix.gguf",
		RunE: func(_ *cobra.Command, args []string) error {
			a.asking = "quant"
			switch {
			case len(args) == 0:
				return usage("file", "", "no file is given", "memwall quant ./model.safetensors")
			case len(args) > 1:
				return usage("argument", args[1], fmt.Sprintf("quant takes one FILE, and %q was given beside it", args[1]), "quote a name that has spaces")
			}
			return a.runQuant(&f, args[0])
		},
	}
	f.flags(c)
	return c
}

func (f *quantFlags) flags(c *cobra.Command) {
	flags := c.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.formats, "formats", "", "which formats, such as q4_k,q8_0; all: all that are known")
	flags.StringVar(&f.imatrix, "imatrix", "", "an importance matrix of llama.cpp: errors count by the inputs of their column")
	flags.StringVar(&f.inputs, "activations", "", "safetensors with inputs of the matrices, by their names: errors count by what they do to the output")
	flags.StringVar(&f.method, "method", "", "find the codes of formats from inputs: gptq (--activations), or awq, folded into the norms and matrices before")
	flags.StringVar(&f.budget, "budget", "", "bytes that the weights may take: choose a format for each matrix")
	flags.StringVar(&f.fits, "fits", "", "a device, in place of --budget: the weights that fit beside all else that it holds")
	flags.Var(lengthValue{&f.context}, "ctx", "tokens of context that must fit too; the engine's default without it")
	flags.StringVar(&f.family, "family", "gguf", "whose formats a mixture is of: gguf or hub")
	flags.StringArrayVar(&f.least, "floor", nil, "the narrowest format that a role may get in a mixture")
	flags.IntVar(&f.tokens, "tokens-axis", -2, "of keys and values: the dimension that counts tokens, from 0; -2 is the last but one")
	for _, name := range []string{"formats", "imatrix", "activations", "method", "budget", "fits", "ctx", "family", "floor", "tokens-axis"} {
		group(flags.Lookup(name), groupWhat)
	}
	flags.StringVar(&f.by, "per", "", "errors of each role, layer or tensor")
	flags.BoolVar(&f.curve, "curve", false, "the whole trade-off between bytes and error")
	flags.StringVar(&f.write, "write", "", "write the weights as stored: the mixture for --budget, or the one format of --formats")
	flags.StringVar(&f.recipe, "recipe", "", "write the mixture as a recipe of llm-compressor: each module's format, for --family hub")
	flags.StringVar(&f.save, "save", "", "write what was measured as JSON, for --quality of fit and plan")
	flags.BoolVar(&f.again, "again", false, "measure again what an earlier run measured")
	flags.BoolVar(&f.force, "force", false, "replace the file that --write names")
	flags.StringVar(&f.svg, "svg", "", "also draw how weights are spread, the error of formats by size, and outliers")
	for _, name := range []string{"per", "curve", "svg", "save", "recipe", "write", "force", "again"} {
		group(flags.Lookup(name), groupOutput)
	}
}

// quantAsk is what the flags ask for.
type quantAsk struct {
	formats []*quant.Format
	family  quant.Family
	floors  []quant.Floor
	budget  unit.Bytes
	parts   func([]*quant.Measured, *quant.Format) []quant.Part
}

func (f *quantFlags) read() (*quantAsk, error) {
	q := &quantAsk{}
	var err error
	if q.formats, err = formatsOf(f.formats); err != nil {
		return nil, err
	}
	if q.formats, err = f.askable(q.formats); err != nil {
		return nil, err
	}
	if q.formats, err = f.improvable(q.formats); err != nil {
		return nil, err
	}
	for _, s := range f.least {
		role, name, _ := strings.Cut(s, "=")
		floor, ok := quant.FloorOf(role, name)
		if !ok {
			return nil, usage("floor", s, fmt.Sprintf("--floor %q is not a role and a format", s), "--floor attn_v=q6_k")
		}
		q.floors = append(q.floors, floor)
	}
	if f.budget != "" {
		if q.budget, err = unit.ParseBytes(f.budget); err != nil || q.budget <= 0 {
			return nil, usage("budget", f.budget, fmt.Sprintf("--budget %q is no number of bytes", f.budget), "--budget 8GiB")
		}
	}
	if f.fits != "" && f.budget != "" {
		return nil, usage("fits", f.fits, "--budget and --fits both say how much there is", "give one of them")
	}
	if f.recipe != "" && f.fits == "" && q.budget == 0 {
		return nil, usage("recipe", f.recipe, "a recipe is of a mixture, and there is no --budget", "--budget 8GiB --family hub")
	}
	if f.write != "" && f.fits == "" && q.budget == 0 && len(q.formats) != 1 {
		return nil, usage("write", f.write, "what to write is not said: there is no --budget, and not one format", "--formats q4_k --write "+f.write)
	}
	return q, f.words(q)
}

func (f *quantFlags) words(q *quantAsk) error {
	switch f.family {
	case "gguf":
	case "hub":
		q.family = quant.Hub
	default:
		return usage("family", f.family, fmt.Sprintf("--family %q is neither gguf nor hub", f.family), "--family gguf")
	}
	switch f.by {
	case "", "tensor":
	case "role":
		q.parts = quant.ByRole
	case "layer":
		q.parts = quant.ByLayer
	default:
		return usage("per", f.by, fmt.Sprintf("--per %q is not role, layer or tensor", f.by), "--per role")
	}
	return nil
}

// usual formats are those that are measured unless others are named: of each size what people choose from.
const usual = "q8_0,q6_k,q5_k,q5_0,q4_k,q4_0,iq4_xs,q3_k,q2_k,fp8,int8,int4-g128,int4-zero-g128,nvfp4,mxfp4,nf4"

func formatsOf(names string) ([]*quant.Format, error) {
	if names == "all" {
		return quant.Formats(), nil
	}
	var out []*quant.Format
	for name := range strings.SplitSeq(cmp.Or(names, usual), ",") {
		f, near := quant.Find(name)
		if f == nil {
			hint := "--formats all"
			if len(near) > 0 {
				hint = "did you mean: " + strings.Join(near, ", ")
			}
			return nil, usage("formats", name, fmt.Sprintf("no format called %q can be tried", name), hint)
		}
		if !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	return out, nil
}

// askable drops formats that ask for more about inputs than the files tell; one that was named is an error.
func (f *quantFlags) askable(formats []*quant.Format) ([]*quant.Format, error) {
	known := quant.Nothing
	switch {
	case f.inputs != "":
		known = quant.OfEach
	case f.imatrix != "":
		known = quant.OfColumns
	}
	beyond := func(x *quant.Format) bool { return x.Asks > known }
	if i := slices.IndexFunc(formats, beyond); i >= 0 && f.formats != "all" {
		x := formats[i]
		return nil, usage("formats", x.Name, x.Name+" is found from the inputs of a matrix, and no file tells enough of them", "--activations FILE")
	}
	return slices.DeleteFunc(slices.Clone(formats), beyond), nil
}

func (a *app) runQuant(f *quantFlags, name string) error {
	q, err := f.read()
	if err != nil {
		return err
	}
	if a.Weights == nil {
		return &memwall.Error{Code: memwall.Unsupported, Field: "file", Value: name, Message: "weights cannot be read here", Hint: "run memwall where the file is"}
	}
	m, files, err := a.Weights(name)
	if err != nil {
		return err
	}
	defer files.Close()
	if quant.IsCache(m) {
		return a.runCache(f, q, m)
	}
	if err := a.room(f, q, name); err != nil {
		return err
	}
	stats, inputs, err := a.statistics(f)
	if err != nil {
		return err
	}
	defer inputs.Close()
	folds, err := a.fold(f, q, name, m, stats)
	if err != nil {
		return err
	}
	kept := a.remembered(m, stats, f.again)
	defer kept.close()
	all, stopped, err := a.weighed(m, q.formats, stats, kept)
	if err != nil {
		return err
	}
	r := quant.NewReport(m, all, q.formats)
	r.Schema, r.Stopped, r.Method, r.Gained, r.Unfolded = memwall.Schema, stopped, stats.Method, folds.gained, folds.left
	if r.Weighed == 0 && stats.Tells() != quant.Nothing && !stopped {
		return &memwall.Error{Code: memwall.BadFile, Field: "imatrix", Value: cmp.Or(f.imatrix, f.inputs), Message: "no matrix of " + name + " is in the statistics of inputs", Hint: "statistics of the same model, with its names"}
	}
	if err := f.extend(r, q, m, all); err != nil {
		return err
	}
	if f.write != "" && !stopped {
		if err := a.writeQuant(f, q, m, all, stats, r); err != nil {
			return err
		}
	}
	if !stopped {
		if err := a.saveQuant(f.save, m, all); err != nil {
			return err
		}
	}
	if err := a.writeRecipe(f.recipe, r); err != nil {
		return err
	}
	if err := a.drawQuant(f, r, all); err != nil {
		return err
	}
	return a.show(r, func(st term.Style) string { return cards.Quant(r, st) })
}

// drawQuant writes the picture that --svg names.
func (a *app) drawQuant(f *quantFlags, r *quant.Report, all []*quant.Measured) error {
	if f.svg == "" {
		return nil
	}
	r.Spread = quant.SpreadOf(all)
	if err := a.WriteFile(f.svg, svg.Quant(r)); err != nil {
		return &memwall.Error{Code: memwall.BadFile, Field: "svg", Value: f.svg, Message: fmt.Sprintf("--svg: %v", err), Hint: "a file in a folder that exists and can be written"}
	}
	return nil
}

// room makes a budget of what a device has left.
func (a *app) room(f *quantFlags, q *quantAsk, name string) error {
	if f.fits == "" {
		return nil
	}
	r := &memwall.Request{Ask: "fit", Model: name}
	r.Hardware, r.Engine = f.fits, map[quant.Family]string{quant.GGUF: "llama.cpp", quant.Hub: "vllm"}[q.family]
	if f.context > 0 {
		r.Context = plan.Int(f.context)
	}
	answer, err := a.asker.Ask(r)
	if err != nil {
		return err
	}
	room, ok := answer.RoomForWeights()
	if !ok {
		return &memwall.Error{Code: memwall.Unsupported, Field: "fits", Value: f.fits, Message: "what " + f.fits + " has room for beside the weights is not known, or is nothing", Hint: "one device, a model with its config.json, a smaller --ctx; or --budget SIZE"}
	}
	q.budget = room
	return nil
}

// statistics of the inputs, as far as files are given.
func (a *app) statistics(f *quantFlags) (*quant.Statistics, io.Closer, error) {
	if a.Statistics == nil || f.imatrix == "" && f.inputs == "" {
		return &quant.Statistics{}, io.NopCloser(nil), nil
	}
	return a.Statistics(f.imatrix, f.inputs)
}

// extend adds what was asked for beside the sums.
func (f *quantFlags) extend(r *quant.Report, q *quantAsk, m *quant.Model, all []*quant.Measured) error {
	if q.parts != nil {
		r.SetParts(all, q.formats, q.parts)
	}
	if f.by == "tensor" {
		r.SetEach(all)
	}
	if (q.budget == 0 && !f.curve) || r.Stopped {
		return nil
	}
	c := quant.NewChoice(all, q.family, q.floors)
	c.GGUF = m.GGUF != nil
	if len(c.Groups) == 0 {
		return usage("family", f.family, fmt.Sprintf("none of the formats that were tried is of %s files", f.family), "--family hub, or other --formats")
	}
	if f.curve {
		r.SetCurve(c)
	}
	if q.budget == 0 {
		return nil
	}
	x, ok := c.Within(q.budget)
	if !ok {
		least, most := c.Range()
		return &memwall.Error{Code: memwall.BadField, Field: "budget", Value: cmp.Or(f.budget, f.fits), Message: fmt.Sprintf("no mixture of these formats takes %v: they go from %v to %v", q.budget, least, most), Hint: fmt.Sprintf("--budget %d", least)}
	}
	r.SetMix(c, x, q.budget)
	return nil
}

// weighed tries the formats on every tensor, as many at a time as there are processors, the largest first.
func (a *app) weighed(m *quant.Model, formats []*quant.Format, stats *quant.Statistics, kept *quantMemory) (all []*quant.Measured, stopped bool, err error) {
	ctx, done := a.until()
	defer done()
	results, order := kept.recall(m.Tensors, formats, stats.Tells())
	slices.SortStableFunc(order, func(a, b *quant.Tensor) int { return cmp.Compare(b.Bytes, a.Bytes) })
	p := a.bytesProgress(quant.Reading(order, formats), quant.Bytes(order))
	var mu sync.Mutex
	var next, read atomic.Int64
	var workers sync.WaitGroup
	failed := make([]error, min(runtime.GOMAXPROCS(0), max(1, len(order))))
	var broken atomic.Bool
	for i := range failed {
		workers.Go(func() {
			w := &quant.Work{Formats: formats, Inputs: stats.Inputs, Done: func(n int64) bool {
				p.report(read.Add(n))
				return ctx.Err() == nil && !broken.Load()
			}}
			for n := next.Add(1) - 1; n < int64(len(order)); n = next.Add(1) - 1 {
				x, err := w.Measure(order[n])
				if err != nil {
					failed[i] = err
					broken.Store(true)
					return
				}
				mu.Lock()
				results[x.Tensor] = x
				kept.add(x)
				mu.Unlock()
			}
		})
	}
	workers.Wait()
	p.clear()
	return inTensorOrder(m, results), ctx.Err() != nil, firstFault(failed)
}

func inTensorOrder(m *quant.Model, results map[*quant.Tensor]*quant.Measured) (all []*quant.Measured) {
	for _, t := range m.Tensors {
		if x := results[t]; x != nil {
			all = append(all, x)
		}
	}
	return all
}

// firstFault is an error that is not the user's own interrupt.
func firstFault(failed []error) error {
	for _, err := range failed {
		if err != nil && !errors.Is(err, quant.ErrStopped) {
			return &memwall.Error{Code: memwall.BadFile, Field: "file", Message: err.Error(), Hint: "fetch the file again"}
		}
	}
	return nil
}

// lengthValue is a flag that takes a length such as 32k.
type lengthValue struct{ n *int64 }

// Type names the kind of value for help.
func (lengthValue) Type() string { return "length" }

func (lengthValue) String() string { return "" }

// Set reads a length.
func (v lengthValue) Set(s string) (err error) {
	*v.n, err = unit.ParseLength(s)
	return err
}
