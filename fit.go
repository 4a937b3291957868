package memwall

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/model/family"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/quality"
	"github.com/memwall/memwall/unit"
)

// question is a fit request on its way to an answer.
type question struct {
	asker    *Asker
	original Request // as it came
	request  Request // with defaults filled in
	asked    Request // as lengths and weights were settled, before the engine's defaults
	resolved *Resolved
	spec     *family.Spec
	engine   engine.Engine
	cast     *dtype.Format // what the engine casts fp32 weights to, nil when it does not
	job      *engine.Job
	sizer    engine.Sizer
	book     *ledger.Book
	explain  *explainer
	brief    bool      // of speed only the times of an answer are wanted, without bands and reasons
	prompter *question // a worker that computes prompts, where those that generate are others
	weighed  *quality.Own
	mixture  *dtype.Recipe       // that stands for one which differs from file to file; nil for others
	limits   map[limitKey]*int64 // that were searched for
}

// fit answers whether a model fits: resolve, fill in defaults, check, size, judge.
func (a *Asker) fit(r *Request) (*Answer, error) {
	q, err := a.prepare(r)
	if err != nil {
		return nil, err
	}
	q.book = &ledger.Book{}
	ranks, err := q.booked()
	if err != nil {
		return nil, err
	}
	return q.answer(ranks)
}

// booked are the ledgers of the plan's own load.
func (q *question) booked() ([]engine.Rank, error) {
	ranks := q.sizer.Size(q.book, q.job.Load())
	for i := range ranks {
		q.assume(&ranks[i])
		if err := countable(&ranks[i]); err != nil {
			return nil, err
		}
	}
	return ranks, nil
}

// assume marks the weights of a network that exists only in the question, and of a mixture that another stands for.
func (q *question) assume(r *engine.Rank) {
	for _, items := range [][]ledger.Item{r.Items, r.Beside, r.Host} {
		if len(q.request.Override) > 0 {
			assumed(items, overridden(q.request.Override))
		}
		if m := q.mixture; m != nil && m.High > 0 {
			standing(items, m)
		}
	}
}

// countable refuses needs beyond 2^58 bytes: sums of them would not fit in 63 bits.
func countable(r *engine.Rank) (err error) {
	check := func(it *ledger.Item) {
		if err == nil && (!(math.Abs(it.Why.V) <= 1<<58) || it.Bytes < 0 || it.High > 1<<58) {
			err = &Error{Code: Limit, Field: "context", Value: it.ID, Message: fmt.Sprintf("%s takes %.3g bytes, more than can be counted", it.Name, math.Max(it.Why.V, float64(it.High))), Hint: "a shorter context, or fewer sequences"}
		}
	}
	for _, items := range [][]ledger.Item{r.Items, r.Beside, r.Host} {
		ledger.Leaves(items, check)
	}
	return err
}

// open a question: its plan is read and its model found.
func (a *Asker) open(r *Request) (*question, error) {
	q := &question{asker: a, original: *r, request: *r}
	if err := q.request.Plan.Check(); err != nil {
		return nil, err
	}
	if err := checkMeasured(r.Measured); err != nil {
		return nil, err
	}
	var err error
	if q.resolved, err = a.resolve(r.Model); err != nil {
		return nil, err
	}
	q.job = &engine.Job{Plan: &q.request.Plan, Shared: a.shared()}
	if n := len(r.Measured); n > 0 {
		q.job.Note("quality_measured", "info", "measured_errors", "what formats of weights cost is weighed by errors measured on these weights, in %d recipes, in place of published rows", n)
	}
	return q, nil
}

func (a *Asker) prepare(r *Request) (*question, error) {
	q, err := a.open(r)
	if err != nil {
		return nil, err
	}
	if err := q.machine(); err != nil {
		return nil, err
	}
	if err := q.chooseEngine(); err != nil {
		return nil, err
	}
	q.chooseFormat()
	if err := q.model(); err != nil {
		return nil, err
	}
	if err := q.lengths(); err != nil {
		return nil, err
	}
	if err := q.owned(); err != nil {
		return nil, err
	}
	q.unknown()
	if err := q.draft(); err != nil {
		return nil, err
	}
	q.asked = q.request
	q.engine.Defaults(q.job)
	q.idle()
	for _, check := range []func(*engine.Job) error{q.engine.Check, engine.CheckExtras, q.checkCapability, q.checkOffload, q.checkContextParallel} {
		if err := check(q.job); err != nil {
			return nil, err
		}
	}
	if q.prompter, err = q.prompts(); err != nil {
		return nil, err
	}
	q.sizer, err = q.engine.Sizer(q.job)
	return q, err
}

// idle remarks on devices that the plan does not use.
func (q *question) idle() {
	if n, have := q.request.Ranks(), q.job.Devices(); q.job.Machine != nil && n < have && !engine.ReadsGGUF(q.engine) {
		q.job.Note("idle_devices", "warn", "tp", "the plan runs on %d of the %d devices", n, have)
	}
}

// owned refuses fields that another engine owns.
func (q *question) owned() error {
	for _, f := range Fields() {
		if f.Engines != nil && !f.Value(&q.request).IsZero() && !f.OwnedBy(q.engine.Name()) {
			return &Error{Code: BadField, Field: f.Name, Value: f.text(&q.request),
				Message: fmt.Sprintf("%s is a setting of %s, and the engine is %s", f.Name, strings.Join(f.Engines, ", "), q.engine.Name()), Hint: "leave it out, or name the engine"}
		}
	}
	return nil
}

func (q *question) checkCapability(j *engine.Job) error {
	return engine.CheckCapability(j, q.engine.Name())
}

// checkOffload refuses what no rule of the engine sizes.
func (q *question) checkOffload(j *engine.Job) error {
	o := j.Plan.Offload
	if o == nil || q.engine.Name() == "generic" || engine.ReadsGGUF(q.engine) {
		return nil
	}
	for _, f := range []struct{ field, value string }{{"offload.weights", o.Weights}, {"offload.kv", o.KV}, {"offload.experts", o.Experts}} {
		if f.value != "" && f.value != "none" {
			return &Error{Code: Unsupported, Field: f.field, Value: f.value, Message: fmt.Sprintf("%s = %s is not sized for %s", f.field, f.value, q.engine.Name()), Hint: q.offloadHint()}
		}
	}
	return nil
}

// offloadHint names what moves weights to the host instead.
func (q *question) offloadHint() string {
	if FieldByName("cpu_offload_bytes").OwnedBy(q.engine.Name()) {
		return "--cpu-offload 8GiB for weights of layers, or --engine llama.cpp or generic"
	}
	return "--engine llama.cpp or generic"
}

// checkContextParallel: only the engine without overhead shares one sequence's cache among ranks.
func (q *question) checkContextParallel(j *engine.Job) error {
	if n := j.Plan.CP; n > 1 && q.engine.Name() != "generic" {
		return &Error{Code: Unsupported, Field: "cp", Value: fmt.Sprint(n), Message: fmt.Sprintf("cp = %d: how %s shares one sequence's cache is not sized", n, q.engine.Name()), Hint: "--engine generic, or tp and pp"}
	}
	return nil
}

// machine reads the hardware; without any, one device without bounds stands in.
func (q *question) machine() error {
	devices := q.request.Devices
	if devices < 0 || devices > hardware.MaxDevices {
		return &Error{Code: BadField, Field: "devices", Value: fmt.Sprint(devices), Message: fmt.Sprintf("devices = %d is out of bounds", devices), Hint: fmt.Sprintf("1 to %s", unit.Count(hardware.MaxDevices))}
	}
	if q.request.Hardware == "" {
		if devices > 0 {
			q.job.Note("devices_ignored", "warn", "devices", "devices = %d counts nothing without hardware: one device without bounds stands in", devices)
		}
		return nil
	}
	m, notes, err := q.asker.find(q.request.Hardware, int(devices))
	if err != nil {
		return err
	}
	if m.Local {
		return unseen()
	}
	q.job.Machine = &m
	q.request.Devices = int64(m.Devices())
	for _, n := range notes {
		q.job.Note(n.Code, "info", "hardware", "%s", n.Text)
	}
	return nil
}

// unseen is the error of a machine that only the command line can look at.
func unseen() error {
	return &Error{Code: BadField, Field: "hardware", Value: "local", Message: "hardware = local is for the command line, which looks at the machine it runs on", Hint: "name a device"}
}

// model builds the network, with overrides, and says how its weights are stored.
func (q *question) model() error {
	r := q.resolved
	q.spec, q.cast = r.Spec, q.castTo()
	recipe, err := q.recipe()
	if err != nil {
		return err
	}
	q.job.Checkpoint = q.checkpoint()
	if r.Spec == nil {
		q.job.Model, q.job.Weights = r.Model, r.Weights
		return nil
	}
	changed := len(q.request.Override) > 0
	if changed {
		s := *r.Spec
		if err := override(&s, q.request.Override); err != nil {
			return err
		}
		q.spec = &s
		q.job.Note("override", "info", "override", "what if %s: the network is %s's but for that, and its weights are assumed", overridden(q.request.Override), cmp.Or(r.Name, r.ID))
	}
	q.predictor(r.Model, r.Weights)
	if r.Weights != nil && !changed && recipe == nil && (r.Format == "gguf" || !engine.ReadsGGUF(q.engine)) {
		q.job.Model, q.job.Weights = r.Model, r.Weights
		return nil
	}
	if recipe == nil {
		if recipe = q.own(); recipe == nil {
			return &Error{Code: BadField, Field: "weights", Message: "the file alone tells how each of its tensors is stored, and this plan changes them", Hint: "give weights too: --weights q4_k_m"}
		}
	}
	spec := q.spec
	if q.cast != nil {
		s := *spec
		s.Native = q.cast
		spec = &s
	}
	if engine.ReadsGGUF(q.engine) {
		in := recipe.InGGUF()
		if in == nil && q.original.Weights == "" {
			in = q.converted()
		}
		if in == nil {
			return &Error{Code: ImpossiblePlan, Field: "weights", Value: recipe.Name, Message: fmt.Sprintf("%s reads GGUF files, which have no %s", q.engine.Name(), recipe.Name), Hint: "q4_k_m, q8_0, f16, …, or another engine"}
		}
		recipe = in
	}
	if recipe.Store == dtype.GGUF {
		if err := q.projector(); err != nil {
			return err
		}
		if q.request.MMProj != "" || q.request.Images > 0 {
			q.job.Vision = spec.Model(r.ID).Part(family.PartVision)
		}
		if isTrue(q.request.MTP) {
			m := spec.Model(r.ID)
			q.predictor(m, m.Store(recipe))
		}
	}
	q.build(spec, recipe)
	return nil
}

// build makes the network, as what loads it has it, and its weights. One with overrides is the question's own.
func (q *question) build(spec *family.Spec, recipe *dtype.Recipe) {
	make := func() builtModel {
		if recipe.Store == dtype.GGUF {
			spec = spec.Converted()
		}
		m := spec.Model(q.resolved.ID)
		return builtModel{m, m.Store(recipe)}
	}
	var b builtModel
	if len(q.request.Override) > 0 {
		b = make()
	} else {
		b = q.asker.build(builtKey{q.resolved, q.request.Weights, recipe.Store == dtype.GGUF, q.cast}, make)
	}
	q.job.Model, q.job.Weights = b.model, b.weights
}

// predictor finds the prediction layers, where the plan has them draft.
func (q *question) predictor(m *model.Model, w *model.Weights) {
	if m == nil || w == nil || !isTrue(q.request.MTP) {
		return
	}
	for i := range m.Parts {
		if m.Parts[i].Name == model.PartMTP {
			q.job.MTP = &engine.Predictor{Part: &m.Parts[i], Bytes: w.Parts[i].Bytes()}
		}
	}
}

func isTrue(b *bool) bool { return b != nil && *b }

// converted is what a conversion to GGUF makes of a checkpoint whose quantisation GGUF does not have
// (convert_hf_to_gguf.py dequantises, and writes bf16).
func (q *question) converted() *dtype.Recipe {
	to := dtype.FindRecipe("bf16")
	q.job.Note("default_used", "warn", "weights", "weights = bf16: a conversion to GGUF dequantises %s; q4_k_m is a quarter of it", q.request.Weights)
	q.request.Weights = to.Name
	return to.InGGUF()
}

// recipe is the one asked for, nil when the model's own storage is meant.
func (q *question) recipe() (*dtype.Recipe, error) {
	name := cmp.Or(q.request.Weights, q.askedByName())
	if name == "" && q.cast != nil && dtype.FindFormat(q.stored()) == dtype.F32 {
		name = q.cast.Name
	}
	if name == "" || name == q.stored() {
		if name == "" && q.resolved.Weights == nil {
			q.job.Default("weights", q.stored())
		}
		if q.request.Weights = q.stored(); q.resolved.Weights == nil {
			own := q.own()
			q.stands(own)
			return own, nil
		}
		return nil, nil
	}
	found := q.find(name)
	if found == nil {
		return nil, &Error{Code: BadField, Field: "weights", Value: name, Message: fmt.Sprintf("weights = %q is no known format or recipe", name), Hint: "memwall formats lists them: bf16, fp8, awq, q4_k_m, …"}
	}
	q.request.Weights = found.Name
	q.stands(found)
	if q.resolved.Weights != nil && found.Name == q.resolved.Recipe {
		return nil, nil
	}
	return found, nil
}

// stands says that a recipe stands for files that differ, whose band the weights then have.
func (q *question) stands(r *dtype.Recipe) {
	if r != nil && r.StandsFor != "" {
		q.mixture = r
		q.job.Note("mixture_assumed", "warn", "weights", "%s: %.2f to %.2f of it; the file itself is exact", r.StandsFor, r.Low, r.High)
	}
}

// sizes are the ledgers of a load, without formulas.
func (q *question) sizes(l engine.Load) []engine.Rank {
	ranks := q.sizer.Size(nil, l)
	if q.mixture != nil {
		for i := range ranks {
			q.assume(&ranks[i])
		}
	}
	return ranks
}

// find is the recipe of a name. A word such as "4bit" means what the engine reads, and a note says what that is.
func (q *question) find(name string) *dtype.Recipe {
	if l := dtype.FindLoose(name); l != nil {
		if r := l.For(engine.ReadsGGUF(q.engine)); r != nil {
			if r.Name != name {
				q.job.Note("format_assumed", "info", "weights", "weights = %s: what %s means for %s", r.Name, name, q.engine.Name())
			}
			return r
		}
	}
	return dtype.FindRecipe(name)
}

// askedByName is the format that the model's name states of a checkpoint that is stored otherwise. What Ollama's library
// has is for programs that read GGUF files.
func (q *question) askedByName() string {
	if q.resolved.Engine != "" && !engine.ReadsGGUF(q.engine) {
		return ""
	}
	return q.resolved.Asked
}

// caster is an engine that loads checkpoints of 32 bits in 16.
type caster interface {
	// Casts names the format that fp32 weights are loaded in.
	Casts(v engine.Version, family string) string
}

// castTo is the format that the engine loads what is not quantised in, nil when it is the one that it is
// stored in. Weights of 16 bits say it themselves.
func (q *question) castTo() *dtype.Format {
	c, ok := q.engine.(caster)
	if !ok || q.resolved.Spec == nil || q.resolved.Spec.Native != dtype.F32 || q.request.Weights == dtype.F32.Name {
		return nil
	}
	if f := dtype.FindFormat(q.request.Weights); f == dtype.F16 || f == dtype.BF16 {
		return f
	}
	to := c.Casts(q.job.Version, q.resolved.Spec.Family)
	if q.request.Weights == "" {
		q.job.Note("default_used", "info", "weights", "weights = %s: %s loads fp32 checkpoints in 16 bits", to, q.engine.Name())
	}
	return dtype.FindFormat(to)
}

// own is the recipe that the checkpoint or file was made by; nil when no recipe is known.
func (q *question) own() *dtype.Recipe {
	if q.resolved.Scheme != nil {
		return q.resolved.Scheme
	}
	return dtype.FindRecipe(q.stored())
}

// stored is what the checkpoint or file is in.
func (q *question) stored() string {
	switch r := q.resolved; {
	case r.Recipe != "":
		return r.Recipe
	case r.Weights != nil:
		return r.Weights.Name
	case r.Spec != nil && r.Spec.Native != nil:
		return r.Spec.Native.Name
	}
	return "bf16"
}

// defaultContext where nobody says, and the model was trained on as much.
const defaultContext = 8192

// lengths fills in context, sequences, prompt and output.
func (q *question) lengths() error {
	p := &q.request.Plan
	trained := q.job.Model.Context
	if p.Context == 0 && p.ContextTotal == 0 && p.Fit != "on" { // --fit chooses the context itself
		p.Context = defaultContext
		if trained > 0 {
			p.Context = plan.Int(min(trained, defaultContext))
		}
		q.job.Default("context", int64(p.Context))
	}
	if p.Sequences == 0 {
		p.Sequences = 1
		q.job.Default("sequences", 1)
	}
	if p.Context > 0 && trained > 0 && int64(p.Context) > trained {
		q.job.Note("beyond_trained_context", "warn", "context", "context %d is beyond the %d tokens that the model was trained on", p.Context, trained)
	}
	if p.PromptTokens+p.OutputTokens > p.Context && p.Context > 0 {
		return &Error{Code: BadField, Field: "prompt_tokens", Value: fmt.Sprint(p.PromptTokens), Message: fmt.Sprintf("prompt and output of %d tokens do not fit in a context of %d", p.PromptTokens+p.OutputTokens, p.Context), Hint: "raise context"}
	}
	if p.PromptTokens == 0 {
		p.PromptTokens = max(0, min(p.Context*3/4, p.Context-p.OutputTokens))
	}
	if p.OutputTokens == 0 {
		p.OutputTokens = max(0, p.Context-p.PromptTokens)
	}
	return nil
}

// given is the request before the engine's defaults, which depend on the device.
func (q *question) given() Request { return q.asked }
