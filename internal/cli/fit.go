package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/internal/render"
	"github.com/memwall/memwall/internal/render/svg"
	"github.com/memwall/memwall/internal/runfile"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/spell"
)

// fitFlags holds the flags of fit that are not request fields.
type fitFlags struct {
	request memwall.Request
	explain string
	layers  bool
	notes   bool
	check   string
	svg     string
	roof    string
	by      string
	// calibration is the path of a calibration file, noCalibration for none, "" for the default path.
	calibration string
	from        string
	files       []string // that configure a training run
	emit        string
	also        []string
	quality     string
}

const strict = "strict"

const fromUsage = "a pasted command of an engine ('vllm serve …'), or a file of one: compose, Kubernetes, Modelfile, Python; - for stdin"

func (a *app) fit() *cobra.Command {
	f := &fitFlags{}
	c := &cobra.Command{
		Use: "fit MODEL", Short: "does it fit, and where does every byte go",
		Long: "MODEL is a catalog id (llama-3.1-8b), a GGUF or safetensors file, a folder, a config.json, or a remote model: org/name, repo:Q4_K_M, hf:org/name@revision, ollama:name:tag, modelscope:org/name, https://… " +
			"Lengths use k = 1,024; sizes need GB or GiB. Without --on, the answer names hardware that would do.",
		Example: "memwall fit llama-3.1-70b --on 2xh100\nmemwall fit qwen3-32b --weights q4_k_m --on rtx-4090 --ctx 20k\nmemwall fit llama-3.1-70b --on 2xh100 --users 6 --kv fp8 --check\nmemwall fit llama-3.1-70b --on 2xh100 --explain=kv_cache",
		RunE:    func(c *cobra.Command, args []string) error { return a.runFit(c, f, args) },
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return catalog.IDs(), cobra.ShellCompDirectiveDefault
		},
	}
	flags := c.Flags()
	flags.SortFlags = false
	requestFlags(flags, &f.request, "fit")
	flags.StringVar(&f.from, "from", "", fromUsage)
	group(flags.Lookup("from"), groupWhat)
	flags.StringArrayVar(&f.also, "also", nil, "another model on the same hardware, with its flags in quotes; repeatable")
	group(flags.Lookup("also"), groupWhat)
	flags.StringVar(&f.explain, "explain", "", "formula, inputs, source and band of every number, or of one item")
	flags.Lookup("explain").NoOptDefVal = render.All
	flags.BoolVar(&f.layers, "layers", false, "the model's operators, by kind of layer")
	flags.BoolVar(&f.notes, "notes", false, "all notes, defaults included")
	flags.StringVar(&f.by, "by", "", "group the ledger by how long allocations live")
	flags.StringVar(&f.emit, "emit", "", "print only a file that runs the plan: "+strings.Join(memwall.LaunchForms(), ", "))
	flags.StringVar(&f.svg, "svg", "", "also write the ledger as a picture")
	flags.StringVar(&f.roof, "roofline", "", "also draw the plan's steps under the device's roofline")
	flags.StringVar(&f.check, "check", "", "exit 3 if it does not fit, 1 if unknown; strict: 3 if tight")
	flags.Lookup("check").NoOptDefVal = "fits"
	flags.StringVar(&f.calibration, "calibration", "", "file from memwall calibrate, if not in its default place; none: ignore it")
	group(flags.Lookup("calibration"), groupWhat)
	f.qualityFlag(flags)
	grouped(flags, groupOutput, "explain", "layers", "notes", "by", "emit", "svg", "roofline", "check")
	complete(c)
	return c
}

func hardwareNames() []string { return append([]string{"cpu"}, hardware.IDs()...) }

func recipeNames() (out []string) {
	for _, r := range dtype.Recipes() {
		out = append(out, r.Name)
	}
	return out
}

func (a *app) runFit(c *cobra.Command, f *fitFlags, args []string) error {
	a.asking = "fit"
	r, unread, err := a.requestFor("fit", c, f, args)
	if err != nil {
		return err
	}
	if err := a.tune(f.calibration); err != nil {
		return err
	}
	if err := alsoPlans(a, c, f.also, r); err != nil {
		return err
	}
	r.Ask = "fit"
	if f.emit != "" && !a.json {
		return a.emit(f, r, unread)
	}
	r.Explain = f.explain != "" || !a.json
	answer, err := a.asker.Ask(r)
	if err != nil {
		return unnamed(err, f.from != "" && len(args) == 0)
	}
	a.linkTo(r)
	answer.Notes = append(unread, answer.Notes...)
	layers, err := a.layersOf(f, r)
	if err != nil {
		return err
	}
	if err := a.pictures(f, r, answer); err != nil {
		return err
	}
	if err := a.answerFit(f, answer, layers); err != nil {
		return err
	}
	return checked(f.check, answer.Verdict)
}

// requestFor merges flags, arguments and a pasted command into a request.
func (a *app) requestFor(ask string, c *cobra.Command, f *fitFlags, args []string) (*memwall.Request, []memwall.Note, error) {
	if err := f.options(c); err != nil {
		return nil, nil, err
	}
	r, notes, err := &f.request, []memwall.Note(nil), error(nil)
	switch {
	case f.from != "":
		r, notes, err = a.fromCommand(f.from)
	case len(f.files) > 0:
		r, notes, err = a.fromTraining(f.files)
	}
	if err != nil {
		return nil, nil, err
	}
	if r != &f.request {
		overlay(c.Flags(), &f.request, r)
	}
	if f.from != "" && !c.Flags().Changed("devices") {
		notes = append(notes, memwall.DevicesOfText(r)...)
	}
	if len(f.files) > 0 && !c.Flags().Changed("devices") {
		notes = append(notes, memwall.DevicesOfRun(r)...)
	}
	if f.from != "" && r.Model == "" && len(args) == 0 {
		return nil, nil, noModel(ask, r, notes)
	}
	if len(f.files) > 0 && runfile.Unsaid(r.Model) && len(args) == 0 {
		message, fix := runfile.Unnamed(r.Framework, r.Model, f.files[0], notes)
		return nil, nil, usage("model", "", message, fix)
	}
	if args, err = f.arguments(ask, args, r.Model != ""); err != nil {
		return nil, nil, err
	}
	if len(args) > 0 {
		notes = append(notes, standsFor(r)...)
		r.Model = args[0]
	}
	if ask == "plan" && r.Hardware == "" {
		r.Hardware = "any"
	}
	if err := a.readQuality(f.quality, r); err != nil {
		return nil, nil, err
	}
	note, err := a.fillLocal(r, c.Flags().Changed("reserve"))
	n, pasted := max(r.Devices, r.Plan.Ranks()), len(f.files) > 0 || f.from != ""
	if pasted && (n > 1 || r.Devices > 0) && strings.HasPrefix(r.Hardware, "cpu") && !c.Flags().Changed("on") {
		return nil, nil, usage("hardware", "", fmt.Sprintf("the text gives its server %s, and this machine has no accelerator: of which kind?", term.Plural(n, "device", "devices")), fmt.Sprintf("--on HARDWARE, such as --on %dxh100 or --on %dxrtx-4090", n, n))
	}
	return r, append(notes, note...), err
}

// options validates the words of flags that are not fields.
func (f *fitFlags) options(c *cobra.Command) error {
	if c.Flags().Changed("by") && f.by != "life" {
		return usage("by", f.by, fmt.Sprintf("--by %q is not a way to group the ledger", f.by), "--by life")
	}
	if f.check != "" && f.check != "fits" && f.check != strict {
		return usage("check", f.check, fmt.Sprintf("--check=%s is not known", f.check), "--check, or --check=strict")
	}
	return nil
}

// arguments returns the MODEL argument; a second word after --explain names the item.
func (f *fitFlags) arguments(ask string, args []string, has bool) ([]string, error) {
	most := 1
	switch {
	case len(args) == 0 && !has:
		return nil, usage("model", "", "MODEL is missing", "memwall "+ask+" llama-3.1-8b --on rtx-4090")
	case len(args) == 2 && f.explain == render.All:
		f.explain, most = itemOf(args), 2
		args = modelOf(args)
	}
	if len(args) > most {
		return oneName(ask, args)
	}
	return args, nil
}

// oneName joins unquoted words into one name, such as "llama 4 maverick", if the catalog has it. A machine among them was meant for
// --on.
func oneName(ask string, args []string) ([]string, error) {
	for _, a := range args[1:] {
		if _, _, err := hardware.Parse(a, 0); err == nil {
			return nil, usage("argument", a, fmt.Sprintf("%s takes one MODEL, and %q beside it is hardware", ask, a), "--on "+a)
		}
	}
	name := strings.Join(args, " ")
	if r, err := catalog.Read(name); err == nil && !r.Assumed {
		return []string{name}, nil
	}
	return nil, usage("argument", args[1], fmt.Sprintf("%s takes one MODEL, and %q was given too", ask, args[1]), "quote a name that has spaces")
}

// itemOf and modelOf distinguish a ledger id from a model: the id has no hyphens, dots or slashes.
func itemOf(args []string) string {
	if strings.ContainsAny(args[0], "-./") || args[0] != strings.ToLower(args[0]) {
		return args[1]
	}
	return args[0]
}

func modelOf(args []string) []string {
	if itemOf(args) == args[1] {
		return args[:1]
	}
	return args[1:]
}

func (a *app) layersOf(f *fitFlags, r *memwall.Request) ([]memwall.LayerGroup, error) {
	if !f.layers {
		return nil, nil
	}
	return a.asker.Layers(r)
}

// answerFit writes an answer as text or JSON.
func (a *app) answerFit(f *fitFlags, answer *memwall.Answer, layers []memwall.LayerGroup) error {
	if f.explain != "" && f.explain != render.All {
		if err := explainable(answer, f.explain); err != nil {
			return err
		}
	}
	if a.json {
		if f.explain != "" && f.explain != render.All {
			answer.Explain = only(answer, f.explain)
		}
		answer.Layers = layers
		return writeJSON(a.Stdout, answer, true)
	}
	return a.print(render.Fit(answer, render.FitOptions{Explain: f.explain, Notes: f.notes, ByLife: f.by != "", Layers: layers}, a.style()))
}

// explainable rejects a name that matches no number of the answer.
func explainable(answer *memwall.Answer, name string) error {
	if len(render.Find(answer, name)) > 0 {
		return nil
	}
	names := render.Explainable(answer)
	hint := "one of " + strings.Join(names, ", ") + "; or a JSON pointer such as devices/0/usable_bytes"
	if near := spell.Nearest(name, names); len(near) > 0 {
		hint = "did you mean: " + strings.Join(near, ", ")
	}
	return usage("explain", name, fmt.Sprintf("--explain=%s: the answer has no number of that name", name), hint)
}

func only(answer *memwall.Answer, name string) map[string]memwall.Explain {
	out := map[string]memwall.Explain{}
	for at, e := range answer.Explain {
		if slices.Contains(render.Find(answer, name), at) {
			out[at] = e
		}
	}
	return out
}

// pictures writes the pictures of a plan that flags name.
func (a *app) pictures(f *fitFlags, r *memwall.Request, answer *memwall.Answer) error {
	if err := a.picture("svg", f.svg, func() ([]byte, error) { return svg.Ledger(answer), nil }); err != nil {
		return err
	}
	return a.picture("roofline", f.roof, func() ([]byte, error) {
		l, err := a.asker.Roofline(r)
		if err != nil {
			return nil, err
		}
		if l == nil {
			return nil, usage("roofline", f.roof, "--roofline: no rate of this plan's device, or of what its layers read, is known", "a plan on one kind of hardware that memwall hardware lists with its rates")
		}
		return svg.Roofline(l), nil
	})
}

// picture writes the SVG that a flag names, if any.
func (a *app) picture(flag, name string, draw func() ([]byte, error)) error {
	if name == "" {
		return nil
	}
	svg, err := draw()
	if err != nil {
		return err
	}
	if err := a.WriteFile(name, svg); err != nil {
		return unwritten(flag, name, err)
	}
	return nil
}

// checked converts a verdict into the exit code of --check.
func checked(check string, v memwall.Verdict) error {
	switch {
	case check == "" || v == memwall.Fits:
		return nil
	case v == memwall.Unknown:
		return verdictError(unanswered)
	case v == memwall.DoesNotFit, check == strict:
		return verdictError(doesNotFit)
	}
	return nil
}
