package cause

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/diagnose"
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine/llamacpp"
	"github.com/memwall/memwall/engine/sglang"
	"github.com/memwall/memwall/engine/startup"
	"github.com/memwall/memwall/engine/vllm"
	"github.com/memwall/memwall/internal/compare"
	"github.com/memwall/memwall/internal/launch"
	"github.com/memwall/memwall/internal/planner"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/internal/training"
	"github.com/memwall/memwall/ledger"
)

// heard are the engines' startup log readers, which receive the text as it is searched.
type heard struct{ readers []startup.Reader }

func newHeard() *heard {
	return &heard{[]startup.Reader{&vllm.Reader{}, &sglang.Reader{}, &llamacpp.LogReader{}}}
}

func (h *heard) listeners() (out []diagnose.Listener) {
	for _, r := range h.readers {
		out = append(out, r)
	}
	return out
}

// log returns the log of the reader that recognizes the most lines; nil if none recognizes any.
func (h *heard) log() (best *startup.Log) {
	for _, r := range h.readers {
		if l := r.Log(); l.Signs > 0 && (best == nil || l.Signs > best.Signs) {
			best = l
		}
	}
	return best
}

// rebuild finds the failed plan and sizes it. It returns errors of overrides; inconsistencies within the text become notes.
func rebuild(env *question.Env, t *reading) (*failed, error) {
	p := &failed{reading: t}
	if k := t.first.Kind; k.Weight() == diagnose.NotMemory && k != diagnose.ContextLength {
		return p, nil
	}
	c, source := compare.Rebuild(env, t.log(), t.overrides)
	p.readAs = compare.ReadAs(&c.Request)
	if c.Request.Model == "" {
		if planned(t.first) {
			p.note("no_model", "info", "model", "the text does not name a model that the catalog has: give model, and the failure is "+
				"matched against its ledger")
		}
		return p, nil
	}
	env = &question.Env{Models: source, Data: env.Data}
	if t.trains() {
		err := p.asTraining(env, &c.Request)
		return p, err
	}
	c.Request.Text = ""
	if c.Request.Hardware == "" {
		c.Request.Hardware = p.bySize()
	}
	err := p.asFit(env, c)
	return p, err
}

// planned reports whether a plan of model and device adds to such a failure.
func planned(f *diagnose.Finding) bool {
	switch f.Kind {
	case diagnose.DeviceMemory, diagnose.AllocationLimit, diagnose.KVCacheTooSmall, diagnose.KVCacheFull, diagnose.LibraryStart,
		diagnose.Collectives:
		return true
	}
	return false
}

// log returns what the readers found, else what a command in the text says, else only settings.
func (t *reading) log() *startup.Log {
	l := &startup.Log{Engine: "vllm"}
	if own := t.heard.log(); own != nil && !t.trains() {
		l = own
	}
	for _, r := range t.heard.readers {
		for _, device := range r.Log().Devices {
			l.Seen(device)
		}
	}
	for _, command := range t.report.Commands {
		r, _, err := launch.FromCommand(command)
		if err != nil {
			continue
		}
		l.Named(r.Model)
		if len(l.Figures) == 0 && l.Metadata == nil { // the startup lines do not say it better
			version := l.Version
			l.Plan, l.Engine = r.Plan, r.Plan.Engine
			if l.Plan.Weights == "" {
				l.Plan.Weights = RecipeInName(r.Model)
			}
			l.Plan.Engine = ""
			l.Engine, l.Version, _ = strings.Cut(l.Engine, "@")
			l.Version = cmp.Or(l.Version, version)
		}
	}
	for _, s := range t.report.Settings {
		if s.Field == "model" {
			l.Named(s.Value)
		}
	}
	return l
}

// RecipeInName returns the format at the end of a GGUF file's name; "" if there is none.
func RecipeInName(file string) string {
	name, ok := strings.CutSuffix(file, ".gguf")
	if r := dtype.FindRecipe(name[strings.LastIndexAny(name, "-./")+1:]); ok && r != nil {
		return r.Name
	}
	return ""
}

// trains reports whether what failed was training.
func (t *reading) trains() bool {
	if slices.Contains([]string{"vllm", "sglang", "tensorrt-llm", "tgi", "llama.cpp", "ollama"}, t.first.Engine) {
		return false
	}
	switch t.first.Place {
	case diagnose.Backward, diagnose.Optimizer, diagnose.Loss:
		return true
	}
	if slices.ContainsFunc(t.report.Settings, func(s diagnose.Setting) bool {
		return s.Field == "micro_batch" ||
			s.Field == "accumulation"
	}) {
		return true
	}
	for i := range api.Fields() {
		f := &api.Fields()[i]
		if slices.Equal(f.Asks, []string{api.AskTrain}) && !f.Value(t.overrides).IsZero() {
			return true
		}
	}
	return false
}

// bySize describes the device by the capacity in the message if nothing names it.
func (p *failed) bySize() string {
	if !p.first.Capacity.Known || p.first.Capacity.Bytes <= 0 || p.first.Kind == diagnose.HostKilled {
		return ""
	}
	b := p.first.Capacity.Bytes
	p.described = true
	p.note("device_by_size", "info", "hardware", "the text does not name the device: a device of the printed %s is assumed; "+
		"--on names the real one", b)
	return fmt.Sprintf("name=device of %s,memory=%d", b, int64(b))
}

// asFit sizes a serving plan. If it is refused, only the message remains.
func (p *failed) asFit(a *question.Env, c *compare.Rebuilt) error {
	r := &c.Request
	for _, n := range c.Notes {
		if n.Code != "not_in_log" || n.Severity != "info" {
			p.notes = append(p.notes, n)
		}
	}
	q, err := a.Prepare(r)
	if err != nil {
		return p.refused(err, r)
	}
	q.Book = &ledger.Book{}
	ranks, err := q.Ledgers()
	if err != nil {
		return p.refused(err, r)
	}
	out, err := planner.Answer(q, ranks)
	if err != nil {
		return p.refused(err, r)
	}
	p.plan, p.fit, p.base = r, q, out
	return nil
}

// asTraining sizes a training step.
func (p *failed) asTraining(a *question.Env, found *api.Request) error {
	r := &api.Request{Ask: api.AskTrain, Model: found.Model, Hardware: found.Hardware}
	for _, s := range p.report.Settings {
		if s.Field == "model" || api.FieldByName(s.Field) == nil || !api.FieldByName(s.Field).OfAsk(api.AskTrain) {
			continue
		}
		if err := r.Set(s.Field, s.Value); err != nil {
			p.note("not_read", "warn", s.Field, "%s", err)
		}
	}
	p.ofTraining(r)
	if r.Hardware == "" {
		r.Hardware, r.Devices = p.bySize(), 0
	}
	t, err := training.Trained(a, r)
	if err != nil {
		return p.refused(err, r)
	}
	t.Question.Book = &ledger.Book{}
	p.plan, p.train, p.base = r, t, t.Answer()
	p.readAs = p.trainedAs()
	return nil
}

// ofTraining applies the overrides that training has.
func (p *failed) ofTraining(r *api.Request) {
	for i := range api.Fields() {
		f := &api.Fields()[i]
		if v := f.Value(p.overrides); !v.IsZero() && f.OfAsk(api.AskTrain) && f.Name != "ask" && f.Name != "text" {
			f.Value(r).Set(reflect.ValueOf(v.Interface()))
		}
	}
	if p.first.Engine == "deepspeed" && r.Framework == "" {
		r.Framework = "deepspeed"
	}
}

// trainedAs describes in a line how the text was interpreted.
func (p *failed) trainedAs() string {
	r := p.base.Plan
	parts := []string{"read as: " + r.Model, r.Method, fmt.Sprintf("%d × %d tokens", r.MicroBatch, r.SequenceLength), r.Framework}
	if r.Hardware != "" && !strings.Contains(r.Hardware, "=") {
		parts = append(parts, r.Hardware)
	}
	return strings.Join(parts, ", ")
}

// refused returns errors of overrides, which the user can fix; a plan described only by the text is dropped.
func (p *failed) refused(err error, r *api.Request) error {
	e := api.AsError(err)
	if f := api.FieldByName(e.Field); f != nil && !f.Value(p.overrides).IsZero() {
		return e
	}
	p.plan = r
	p.note("not_sized", "warn", e.Field, "the plan could not be sized: %s", strings.TrimSpace(e.Message+". "+e.Hint))
	return nil
}

func (p *failed) note(code, severity, field, format string, args ...any) {
	p.notes = append(p.notes, api.Note{Code: code, Severity: severity, Field: field, Text: fmt.Sprintf(format, args...)})
}
