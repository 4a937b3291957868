package memwall

import (
	"context"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/diagnose/cause"
	"github.com/memwall/memwall/internal/launch"
	"github.com/memwall/memwall/internal/planner"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/internal/simulate"
	"github.com/memwall/memwall/internal/timing"
	"github.com/memwall/memwall/internal/training"
	"github.com/memwall/memwall/model/family"
	"github.com/memwall/memwall/scale"
	"github.com/memwall/memwall/sim"
	"github.com/memwall/memwall/speed/serving"
)

// Launch renders the plan of a fit request in one of the LaunchForms. Every form expresses the same plan as the command
// line, and FromCommand reads it back unchanged.
func (a *Asker) Launch(r *Request, form string) (*Launch, error) {
	return launch.Launch(a.env(), r, form)
}

// Layers returns the layer groups of the model of a fit request, in model order.
func (a *Asker) Layers(r *Request) ([]LayerGroup, error) { return a.env().Layers(r) }

// Remembered returns the number of models, machines, networks and partial plans in the asker's cache, about 6 KiB each
// on average. It is 0 for an asker that does not cache.
func (a *Asker) Remembered() int { return a.env().Remembered() }

// Size answers a fit request with ledgers, verdict and figures only, omitting what-ifs and suggestions. Searches and
// scoreboards use it because it is cheaper than Ask.
func (a *Asker) Size(r *Request) (*Answer, error) { return timing.Size(a.env(), r) }

// Roof returns the upper bounds on the speed of a model on one device of the request's hardware. Weights, KV cache
// format and context come from the request, or from the defaults of a fit without an engine. The error is an *Error.
func (a *Asker) Roof(r *Request) (*Roof, error) { return timing.Roof(a.env(), r) }

// Roofline places a fit's predicted speed under the rooflines of its devices. It returns nil if the devices differ, a
// rate is unknown, or the model has layers whose memory traffic is unknown. The error is an *Error.
func (a *Asker) Roofline(r *Request) (*Roofline, error) { return timing.Roofline(a.env(), r) }

// Served compiles the request's plan for an engine with continuous batching, as the speed predictions do, but without
// calibration. The error is an *Error.
func (a *Asker) Served(r *Request) (*serving.Model, error) { return timing.Served(a.env(), r) }

// Curve simulates one replica of a sim request over a range of loads, for package scale to replay days of a fleet with.
// If the plan does not fit, the curve is nil and the answer says why. The error is an *Error.
func (a *Asker) Curve(ctx context.Context, r *Request) (*scale.Curve, *Answer, error) {
	c, out, err := simulate.Curve(ctx, a.env(), r)
	if err != nil {
		return nil, nil, api.AsError(err)
	}
	return c, out, nil
}

// Day simulates a load request by request on replicas that start and stop as in a replay of package scale. The error is
// an *Error.
func (a *Asker) Day(ctx context.Context, r *Request, l *scale.Load, lives []scale.Life) (*sim.Result, error) {
	return simulate.Day(ctx, a.env(), r, l, lives)
}

// FromCommand parses what users paste to run a model into a fit request: a command line ("vllm serve …", "docker run …
// llama-server …"), a compose file or Kubernetes manifest, a Modelfile, or Python code that calls transformers. The
// second result lists, verbatim, options that are unknown or that affect memory but have no request field. Such text
// rarely names the hardware; the caller must add it.
func FromCommand(text string) (*Request, []string, error) { return launch.FromCommand(text) }

// DevicesOfText sets the device count of a request parsed by FromCommand once its hardware has been added: a text that
// assigns its server two of eight devices results in two. The notes describe each change.
func DevicesOfText(r *Request) []Note { return launch.DevicesOfText(r) }

// DevicesOfRun does the same for a request parsed by FromTraining, where the number of processes stated counts.
func DevicesOfRun(r *Request) []Note { return launch.DevicesOfRun(r) }

// FromTraining parses the configuration files and commands of a training run into a train request. It reads torchtune,
// torchtitan, axolotl, LLaMA-Factory, TRL and Unsloth (YAML, arguments, and Python, which is never executed),
// DeepSpeed, accelerate, Megatron-LM, litgpt, ms-swift, verl, OpenRLHF and NeMo-RL. The second result lists, verbatim,
// settings that have no request field. Such files do not name the hardware; the caller must add it. The error is an
// *Error.
func FromTraining(texts [][]byte) (*Request, []string, error) { return training.FromConfig(texts) }

// Decode parses a request from JSON. An unknown field, a duplicate field or an invalid value is reported as an *Error
// naming the field.
func Decode(data []byte) (*Request, error) { return api.Decode(data) }

// CommandLine returns the memwall command line that asks the request.
func CommandLine(r *Request) string { return cause.CommandLine(r) }

// RecipeInName returns the quantization format in the name of a GGUF file, or "" if it has none.
func RecipeInName(file string) string { return cause.RecipeInName(file) }

// Change returns the JSON merge patch that sets every field that to has.
func Change(to *Request) map[string]any { return planner.Change(to) }

// Engines returns the names of all engines.
func Engines() []string { return question.Engines() }

// Fields returns the fields of a Request in declaration order.
func Fields() []Field { return api.Fields() }

// FieldByName returns the field with the given JSON name, or nil.
func FieldByName(name string) *Field { return api.FieldByName(name) }

// NeverNone reports whether a plan cannot go without the field, so that its zero value does not ask for the default
// either.
func NeverNone(field string) bool { return api.NeverNone(field) }

// LaunchForms returns the forms in which Launch can render a plan.
func LaunchForms() []string { return launch.LaunchForms() }

// UnsaidBy returns the request fields that the named engine's command line cannot express. The name may carry a
// version.
func UnsaidBy(name string) (out []Unsaid) { return launch.UnsaidBy(name) }

// FieldCode returns the error code for a field error: whether the value is invalid or asks for something that is not
// described.
func FieldCode(f *family.FieldError) string { return api.FieldCode(f) }

// Phases returns the phases of a long-running question, in order, each with a description of the work done in it.
func Phases() [][2]string { return api.Phases() }

// PerHour returns the rent in dollars per hour of the given number of devices, named as in a request. It returns nil if
// the hardware is unknown or has no known rental price.
func PerHour(hardware string, devices int64) *float64 { return question.PerHour(hardware, devices) }

// Patch returns the request with a JSON merge patch (RFC 7396) applied.
func Patch(r *Request, patch map[string]any) (*Request, error) { return api.Patch(r, patch) }

// askText answers a request whose plan is given as text: an engine's command or manifest, or a training framework's
// configuration. Fields set in the request override the text; what the text says beyond the fields becomes a note.
func (a *Asker) askText(ctx context.Context, r *Request) (*Answer, error) {
	read := func() (*Request, []string, error) { return FromCommand(r.Text) }
	if r.Ask == api.AskTrain {
		read = func() (*Request, []string, error) { return FromTraining([][]byte{[]byte(r.Text)}) }
	}
	q, unread, err := read()
	if err != nil {
		return nil, err
	}
	for _, f := range Fields() {
		if v := f.Value(r); f.Name != "text" && !v.IsZero() {
			f.Value(q).Set(v)
		}
	}
	notes := DevicesOfText(q)
	if len(unread) > 0 {
		notes = append(notes, Note{Code: "unread_keys", Severity: "warn", Field: "text",
			Text: "not counted, as no field of a plan holds it: " + strings.Join(unread, "; ")})
	}
	out, err := a.ask(ctx, q)
	if err == nil {
		out.Notes = append(notes, out.Notes...)
	}
	return out, err
}
