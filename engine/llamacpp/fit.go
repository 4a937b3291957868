package llamacpp

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// --fit: what llama.cpp chooses for what a plan leaves open, so that a margin of every device's memory stays
// free (common/fit.cpp, on by default from b7407, #16653). In this order: nothing when all of it fits; a shorter
// context, where none is given; layers, fit_layers.go. It counts as its dry run does, which knows neither the
// growth of the driver's context nor the limits of the host's memory.

// Defaults of --fit-target and --fit-ctx (common/common.h).
const (
	fitMargin  = 1024 // MiB on each device
	fitContext = 4096
)

// fitter searches what --fit would choose for a plan.
type fitter struct {
	engine  Engine
	job     *engine.Job
	rules   *rules
	given   given
	layers  int     // repeating layers
	experts bool    // routed experts may leave for the host one by one
	free    []int64 // bytes of each device, or of the host
	known   *known
	target  []int64 // most that may be used of each
}

// given is what somebody chose before --fit: it leaves that alone, or gives up.
type given struct{ context, layers, split, override bool }

// fitOutcome is what --fit chose, and why it gave up if it did.
type fitOutcome struct {
	trial  trial
	asked  int64 // context before
	failed string
}

// fit lets --fit choose, writes that into the plan and remarks on it.
func (e Engine) fit(j *engine.Job, r *rules, g given) {
	p := j.Plan
	if p.Fit != "on" || !r.fits || cutsTensors(j) || j.Machine == nil || e.Check(j) != nil {
		return // what is wrong with the plan is said by Check
	}
	f, err := newFitter(e, j, r, g)
	if err != nil {
		return
	}
	out, err := f.run()
	if err != nil {
		j.Note("fit", "warn", "fit", "what --fit would choose is not known: %v", err)
		return
	}
	out.trial.write(p)
	if out.trial.partial() > 0 {
		p.OverrideTensor = out.trial.overrides(f.layers, func(place int) string { return placeName(j, r, place) })
	}
	f.remark(&out)
}

func newFitter(e Engine, j *engine.Job, r *rules, g given) (*fitter, error) {
	f := &fitter{engine: e, job: j, rules: r, given: g, layers: len(j.Model.Decoder().Layers), experts: j.Model.Traits.Experts > 0, known: knownOf(j)}
	margins, err := fitMargins(j.Plan.FitTarget, max(1, used(j)))
	if err != nil {
		return nil, err
	}
	f.free = freeAtLoad(j)
	for i, n := range f.free {
		f.target = append(f.target, n-margins[i])
	}
	return f, nil
}

// fitMargins reads --fit-target: MiB for each device, or one number for all.
func fitMargins(text string, devices int) ([]int64, error) {
	parts := strings.FieldsFunc(text, func(c rune) bool { return c == ',' || c == '/' })
	out := make([]int64, devices)
	for i := range out {
		out[i] = fitMargin << 20
	}
	if len(parts) > 1 && len(parts) != devices {
		return nil, &plan.Problem{Field: "fit_target", Value: text, Message: fmt.Sprintf("fit_target = %s has %d margins; devices: %d", text, len(parts), devices), Fix: "one number for all devices, or one for each"}
	}
	for i, part := range parts {
		n, err := strconv.ParseInt(strings.TrimSpace(part), 10, 32)
		if err != nil || n < 0 {
			return nil, &plan.Problem{Field: "fit_target", Value: text, Message: fmt.Sprintf("fit_target = %s has %q, which is not a number of MiB", text, part), Fix: "MiB for each device, as in 1024,512"}
		}
		out[i] = n << 20
	}
	if len(parts) == 1 {
		for i := range out {
			out[i] = out[0]
		}
	}
	return out, nil
}

// freeAtLoad is what devices report as free when a model is loaded: all that a plan may use but the driver's
// context, which nothing has made grow yet. Without devices it is the host's whole memory.
func freeAtLoad(j *engine.Job) []int64 {
	if used(j) == 0 {
		return []int64{int64(j.Machine.Host.Memory.Value) - int64(j.Plan.Reserved)}
	}
	out := make([]int64, used(j))
	for i := range out {
		d := usedDevice(j, i)
		out[i] = int64(d.Usable.Value) - int64(j.Plan.Reserved) - int64(contextAtLoad(built(j.Plan, d), d))
	}
	return out
}

// run is --fit as a whole.
func (f *fitter) run() (fitOutcome, error) {
	out := fitOutcome{}
	if !f.given.context {
		out.trial.context = f.longest()
	}
	out.asked = out.trial.context
	full, err := f.measure(out.trial)
	if err != nil || f.meets(full.used) {
		return out, err
	}
	if surplus(f.target, full.used) < 0 && !f.given.context {
		done, err := f.shorten(&out.trial, full)
		if err != nil || done {
			return out, err
		}
	}
	if out.failed = f.bound(); out.failed != "" {
		return out, nil
	}
	placed, err := f.fill(out.trial)
	if err == nil {
		out.trial = placed
	}
	return out, err
}

// meets reports whether every device keeps its margin.
func (f *fitter) meets(used []int64) bool {
	for i, n := range used {
		if n > f.target[i] {
			return false
		}
	}
	return true
}

// surplus is what all devices together have left.
func surplus(target, used []int64) (n int64) {
	for i := range used {
		n += target[i] - used[i]
	}
	return n
}

func sum(list []int64) (n int64) {
	for _, x := range list {
		n += x
	}
	return n
}

// bound says why --fit gives up: it moves nothing that somebody placed.
func (f *fitter) bound() string {
	devices := len(f.free)
	switch {
	case used(f.job) == 0:
		return "no context is short enough for the host's memory"
	case f.given.layers:
		return fmt.Sprintf("gpu_layers = %d is given", *f.job.Plan.GPULayers)
	case devices > 1 && f.given.split:
		return "tensor_split is given"
	case devices > 1 && f.job.Plan.SplitMode == "row":
		return "weights that split_mode = row cuts are left where they are"
	case f.given.override:
		return "override_tensor is given"
	}
	return ""
}

// remark says what --fit did.
func (f *fitter) remark(out *fitOutcome) {
	p, t := f.job.Plan, &out.trial
	var did []string
	if t.context != out.asked {
		did = append(did, fmt.Sprintf("context %s → %s", unit.Count(out.asked), unit.Count(t.context)))
	}
	if t.placed() {
		did = append(did, fmt.Sprintf("%d of %d layers on the device", *p.GPULayers, f.layers+1))
		if n := t.partial(); n > 0 {
			did = append(did, fmt.Sprintf("%d of them in part", n))
		}
	}
	if out.failed != "" {
		f.job.Note("fit_failed", "warn", "fit", "--fit gives up, and llama.cpp loads the plan as it stands: %s", out.failed)
	}
	switch {
	case len(did) == 0:
	case out.failed != "":
		f.job.Note("fit", "info", "fit", "--fit: %s, which does not suffice", strings.Join(did, ", "))
	default:
		f.job.Note("fit", "info", "fit", "--fit: %s, so that %s MiB stay free", strings.Join(did, ", "), f.marginText())
	}
}

func (f *fitter) marginText() string {
	if f.job.Plan.FitTarget != "" {
		return f.job.Plan.FitTarget
	}
	return strconv.Itoa(fitMargin)
}
