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

// Launch writes the plan of a fit request as a file of one of LaunchForms. Every form says what the command says, and
// FromCommand reads it as the same plan.
func (a *Asker) Launch(r *Request, form string) (*Launch, error) {
	return launch.Launch(a.env(), r, form)
}

// Layers lists what the model of a fit request is made of, in order.
func (a *Asker) Layers(r *Request) ([]LayerGroup, error) { return a.env().Layers(r) }

// Remembered is how many models, machines, networks and parts of plans the asker keeps, each of which takes some 6 KiB in
// the mean; 0 where it remembers nothing.
func (a *Asker) Remembered() int { return a.env().Remembered() }

// Size answers a fit request with ledgers, verdict and figures alone: no outlook, no suggestions. It is what
// searches and scoreboards ask.
func (a *Asker) Size(r *Request) (*Answer, error) { return timing.Size(a.env(), r) }

// Roof bounds a model on one device of the request's hardware. Weights, KV and context are the request's, or
// the defaults of a fit without an engine. The error is an *Error.
func (a *Asker) Roof(r *Request) (*Roof, error) { return timing.Roof(a.env(), r) }

// Roofline puts a fit's predicted speed under the roofs of its devices. It is nil where devices differ, a rate is not
// known, or layers read what nobody knows. The error is an *Error.
func (a *Asker) Roofline(r *Request) (*Roofline, error) { return timing.Roofline(a.env(), r) }

// Served compiles the plan of a request for an engine that batches, as answers of speed do, with no calibration.
// The error is an *Error.
func (a *Asker) Served(r *Request) (*serving.Model, error) { return timing.Served(a.env(), r) }

// Curve plays one replica of a sim request at many loads: what package scale plays days of fleets with. It is nil, with the
// answer that says why, where the plan does not fit. The error is an *Error.
func (a *Asker) Curve(ctx context.Context, r *Request) (*scale.Curve, *Answer, error) {
	c, out, err := simulate.Curve(ctx, a.env(), r)
	if err != nil {
		return nil, nil, api.AsError(err)
	}
	return c, out, nil
}

// Day plays a load request by request on replicas that come and go, as a replay of package scale had them. The error is an *Error.
func (a *Asker) Day(ctx context.Context, r *Request, l *scale.Load, lives []scale.Life) (*sim.Result, error) {
	return simulate.Day(ctx, a.env(), r, l, lives)
}

// FromCommand reads what people paste to run a model into a fit request: a command line ("vllm serve …", "docker run …
// llama-server …"), a compose file or Kubernetes manifest, a Modelfile, or a call of transformers in Python. What
// changes memory and no field holds, and what it does not know, comes back as it stands. Hardware is not in such a
// text: the caller adds it.
func FromCommand(text string) (*Request, []string, error) { return launch.FromCommand(text) }

// DevicesOfText settles the hardware of a request that FromCommand read and to which somebody added a machine: a text that gives its
// server two of eight devices means two of them. A note says what changed.
func DevicesOfText(r *Request) []Note { return launch.DevicesOfText(r) }

// DevicesOfRun does the same for a request that FromTraining read, where the number that is named counts.
func DevicesOfRun(r *Request) []Note { return launch.DevicesOfRun(r) }

// FromTraining reads the files and commands that a training run is configured by into a train request: those of torchtune, torchtitan,
// axolotl, LLaMA-Factory, TRL and Unsloth (YAML, arguments, Python, which is not run), DeepSpeed, accelerate, Megatron-LM, litgpt,
// ms-swift,
// verl, OpenRLHF and NeMo-RL. What no field holds comes back as it stands. Hardware is not in such files: the caller adds it. The error is
// an *Error.
func FromTraining(texts [][]byte) (*Request, []string, error) { return training.FromConfig(texts) }

// Decode reads a request in JSON. A field that does not exist, stands twice or has a wrong value is an
// *Error that names it.
func Decode(data []byte) (*Request, error) { return api.Decode(data) }

// CommandLine is the command of this program that asks a request.
func CommandLine(r *Request) string { return cause.CommandLine(r) }

// RecipeInName is the format that the name of a GGUF file ends in; "" when it does not.
func RecipeInName(file string) string { return cause.RecipeInName(file) }

// Change is the merge patch that makes one request of any, with all fields that it has.
func Change(to *Request) map[string]any { return planner.Change(to) }

// Engines lists the names of all engines.
func Engines() []string { return question.Engines() }

// Fields lists the fields of a Request in order.
func Fields() []Field { return api.Fields() }

// FieldByName finds a field by its JSON name; nil when there is none.
func FieldByName(name string) *Field { return api.FieldByName(name) }

// NeverNone: a field of which none is no plan, and 0 no way to ask for the default.
func NeverNone(field string) bool { return api.NeverNone(field) }

// LaunchForms are the files that a plan can be written as.
func LaunchForms() []string { return launch.LaunchForms() }

// UnsaidBy lists what the command line of an engine, at a version if one is named, has no word for.
func UnsaidBy(name string) (out []Unsaid) { return launch.UnsaidBy(name) }

// FieldCode tells a wrong field from one that asks for what is not described.
func FieldCode(f *family.FieldError) string { return api.FieldCode(f) }

// Phases of questions that take a while, and what is done in each, in the order in which they come.
func Phases() [][2]string { return api.Phases() }

// PerHour is what hardware rents for, in dollars: so many devices of a machine, as a request names both. Nil where nobody
// is known to rent it, or where there is no such hardware.
func PerHour(hardware string, devices int64) *float64 { return question.PerHour(hardware, devices) }

// Patch applies a JSON merge patch (RFC 7396) to a request.
func Patch(r *Request, patch map[string]any) (*Request, error) { return api.Patch(r, patch) }

// askText answers a request whose plan a text says: a command or a manifest of an engine, a configuration of a framework of training.
// Fields
// that are given count over it; what of it no field holds is a note.
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
