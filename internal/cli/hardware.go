package cli

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/internal/card"
	"github.com/memwall/memwall/internal/render"
	"github.com/memwall/memwall/internal/render/cards"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/internal/topology"
	"github.com/memwall/memwall/model/catalog"
)

// hardwareFlags select what is shown of a device.
type hardwareFlags struct {
	tiers, explain bool
	measure        bool
	topo           string
	request        memwall.Request // of --for
}

func (a *app) hardware() *cobra.Command {
	f := &hardwareFlags{}
	c := &cobra.Command{
		Use: "hardware [NAME | FILTER]", Short: "the devices in the catalog, or one of them in detail",
		Long: "NAME is a device or a node as people, clouds and nvidia-smi write it, local for this machine, or a custom device: 'name=x,memory=24GiB,bandwidth=1TB/s,bf16=80TFLOPS'. " +
			"Every figure has a source; a dash is a figure without one.",
		Example: "memwall hardware\nmemwall hardware rtx\nmemwall hardware h100-sxm-80gb --explain\nmemwall hardware h100 --for llama-3.1-8b\nmemwall hardware a100-sxm-80gb --tiers\nnvidia-smi topo -m | memwall hardware a100 --topo - --for llama-3.1-70b\nmemwall hardware p5.48xlarge\nmemwall hardware local --measure\nmemwall hardware add 'name=x,memory=24GiB,bandwidth=1TB/s'",
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return hardware.IDs(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, args []string) error { return a.runHardware(c, f, strings.Join(args, " ")) },
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.request.Model, "for", "", "the most its rates allow for a model, in decode for one user and in prefill")
	for _, name := range []string{"weights", "kv", "context"} {
		field := memwall.FieldByName(name)
		flags.Var(&fieldValue{field: field, at: field.Value(&f.request)}, field.Flag, "with --for: "+field.Doc)
	}
	flags.BoolVar(&f.explain, "explain", false, "what each figure determines")
	flags.BoolVar(&f.tiers, "tiers", false, "memory hierarchy: size, latency and bandwidth, from registers to NVMe")
	flags.BoolVar(&f.measure, "measure", false, "with local: measure memory bandwidth and compute of its processors; takes a second or two")
	flags.StringVar(&f.topo, "topo", "", "FILE or - with the output of nvidia-smi topo -m or rocm-smi --showtopo: which GPUs to group; with --for also what their all-reduces cost")
	grouped(flags, groupWhat, "topo", "for", "weights", "kv", "ctx")
	grouped(flags, groupOutput, "explain", "tiers", "measure")
	completeWith(c, map[string]func() []string{"for": catalog.IDs, "weights": recipeNames})
	c.AddCommand(a.addDevice())
	return c
}

func (a *app) runHardware(c *cobra.Command, f *hardwareFlags, words string) error {
	if words == "local" && f.shown() {
		return a.local(f)
	}
	words, err := a.machineWords(words)
	if err == nil {
		err = f.check(c, words)
	}
	switch {
	case err != nil:
		return err
	case f.tiers:
		return a.tiers(words)
	case f.topo != "":
		return a.topology(f, words)
	case f.request.Model != "":
		return a.roof(f, words)
	case words == "":
		return a.listDevices("")
	}
	if n := card.NodeOf(words); n != nil && !f.explain {
		return a.show(n, func(st term.Style) string { return cards.Node(n, st) })
	}
	return a.device(words, f.explain)
}

// shown reports whether the machine as a whole is meant, not its first device.
func (f *hardwareFlags) shown() bool {
	return !f.tiers && !f.explain && f.request.Model == "" && f.topo == ""
}

// check rejects flags that lack what they apply to.
func (f *hardwareFlags) check(c *cobra.Command, words string) error {
	if f.measure {
		return usage("measure", "", "--measure is about this machine", "memwall hardware local --measure")
	}
	chosen := ""
	for _, name := range []string{"topo", "for", "explain", "tiers"} {
		switch {
		case !c.Flags().Changed(name), name == "for" && chosen == "topo":
		case chosen != "":
			return usage(name, "", "--"+chosen+" and --"+name+" are two questions", "ask one at a time")
		case words == "":
			return usage(name, "", "--"+name+" is about one device", "memwall hardware h100 --"+strings.TrimSpace(name+" "+c.Flag(name).Value.String()))
		default:
			chosen = name
		}
	}
	if c.Flags().Changed("for") {
		if f.request.Model == "" {
			return usage("for", "", "--for names no model", "--for llama-3.1-8b")
		}
		return nil
	}
	for _, name := range []string{"weights", "kv", "ctx"} {
		if c.Flags().Changed(name) {
			return usage(name, "", "--"+name+" says how a model is run, and none is named", "--for llama-3.1-8b --"+name+" …")
		}
	}
	return nil
}

func (a *app) roof(f *hardwareFlags, words string) error {
	f.request.Hardware = words
	r, err := a.asker.Roof(&f.request)
	if err != nil {
		return err
	}
	return a.show(r, func(st term.Style) string { return render.Roof(r, st) })
}

func (a *app) tiers(words string) error {
	t, err := card.TiersOf(words)
	if err != nil {
		return err
	}
	return a.show(t, func(st term.Style) string { return cards.Tiers(t, st) })
}

func (a *app) topology(f *hardwareFlags, words string) error {
	text, err := readOf(a, f.topo)
	if err != nil {
		return usage("topo", f.topo, "--topo: "+f.topo+" cannot be read: "+err.Error(), "nvidia-smi topo -m | memwall hardware h100 --topo -")
	}
	t, err := topology.For(string(text), words, &f.request, a.asker.Ask)
	if err != nil {
		return err
	}
	return a.show(t, func(st term.Style) string { return cards.Topology(t, st) })
}

func (a *app) device(words string, explain bool) error {
	h, err := card.HardwareOf(a.Models, words)
	var missing *hardware.Error
	switch {
	case err == nil && explain:
		h.Explained()
		return a.show(h, func(st term.Style) string { return render.Why(h, st) })
	case err == nil:
		return a.show(h, func(st term.Style) string { return cards.Hardware(h, st) })
	case errors.As(err, &missing) && !explain && len(card.Devices(words))+len(card.Nodes(words)) > 0:
		return a.listDevices(words)
	}
	return err
}
