// Package question takes a fit request to ledgers and a verdict: it resolves model and machine, fills in defaults,
// rejects what the engine does not accept, sizes every rank, and finds the limits of what fits. Start at Env.Prepare
// and Question.Ledgers.
package question

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/memwall/memwall/api"
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

// Question is a fit request being answered.
type Question struct {
	Env      *Env
	Original api.Request // as received
	Request  api.Request // with defaults filled in
	asked    api.Request // with lengths and weights settled, before the engine's defaults
	Resolved *api.Resolved
	spec     *family.Spec
	Engine   engine.Engine
	cast     *dtype.Format // format the engine casts fp32 weights to, nil if it does not
	Job      *engine.Job
	Sizer    engine.Sizer
	Book     *ledger.Book
	Explain  *Explainer
	Brief    bool      // compute only times, without bands and reasons
	Prompter *Question // the prefill worker, if disaggregated
	weighed  *quality.Own
	mixture  *dtype.Recipe       // approximated mixture, if it varies by file; else nil
	limits   map[limitKey]*int64 // limits already searched for
}

// Ledgers returns the ledgers of the plan's own load.
func (q *Question) Ledgers() ([]engine.Rank, error) {
	ranks := q.Sizer.Size(q.Book, q.Job.Load())
	for i := range ranks {
		q.assume(&ranks[i])
		if err := countable(&ranks[i]); err != nil {
			return nil, err
		}
	}
	q.Job.Room = roomLeft(ranks)
	return ranks, nil
}

// roomLeft returns the memory left on the rank with the least.
func roomLeft(ranks []engine.Rank) (least unit.Bytes) {
	for i := range ranks {
		if left := Headroom(&ranks[i]); i == 0 || left < least {
			least = left
		}
	}
	return least
}

// assume marks the weights of a network that exists only in the question, or of a mixture represented by another.
func (q *Question) assume(r *engine.Rank) {
	for _, items := range [][]ledger.Item{r.Items, r.Beside, r.Host} {
		if len(q.Request.Override) > 0 {
			assumed(items, Overridden(q.Request.Override))
		}
		if m := q.mixture; m != nil && m.High > 0 {
			standing(items, m)
		}
		if q.Resolved.Derived != "" {
			usual(items, q.Resolved)
		}
	}
}

// Sizes returns the ledgers of a load, without formulas.
func (q *Question) Sizes(l engine.Load) []engine.Rank {
	ranks := q.Sizer.Size(nil, l)
	if q.mixture != nil || q.Resolved.Derived != "" {
		for i := range ranks {
			q.assume(&ranks[i])
		}
	}
	return ranks
}

// countable rejects needs beyond 2^58 bytes, sums of which could overflow.
func countable(r *engine.Rank) (err error) {
	check := func(it *ledger.Item) {
		if err == nil && (!(math.Abs(it.Why.V) <= 1<<58) || it.Bytes < 0 || it.High > 1<<58) {
			err = &api.Error{Code: api.Limit, Field: "context", Value: it.ID,
				Message: fmt.Sprintf("%s takes %.3g bytes, more than can be counted", it.Name, math.Max(it.Why.V, float64(it.High))),
				Hint:    "a shorter context, or fewer sequences"}
		}
	}
	for _, items := range [][]ledger.Item{r.Items, r.Beside, r.Host} {
		ledger.Leaves(items, check)
	}
	return err
}

// Open starts a question: it reads the plan and resolves the model.
func (a *Env) Open(r *api.Request) (*Question, error) {
	q := &Question{Env: a, Original: *r, Request: *r}
	if err := q.Request.Plan.Check(); err != nil {
		return nil, err
	}
	if err := checkMeasured(r.Measured); err != nil {
		return nil, err
	}
	var err error
	if q.Resolved, err = a.Resolve(r.Model); err != nil {
		if q.Resolved = servedModel(r, err); q.Resolved == nil {
			return nil, err
		}
	}
	q.Job = &engine.Job{Plan: &q.Request.Plan, Shared: a.shared(), Silent: a.Silent}
	if n := len(r.Measured); n > 0 {
		q.Job.Note("quality_measured", "info", "measured_errors",
			"what formats of weights cost is weighed by errors measured on these weights, in %d recipes, in place of published rows", n)
	}
	return q, nil
}

// Prepare takes a fit request up to its engine's sizer: model and machine resolved, defaults filled in, checks passed.
func (a *Env) Prepare(r *api.Request) (*Question, error) {
	q, err := a.Open(r)
	if err != nil {
		return nil, err
	}
	if err := q.Machine(); err != nil {
		return nil, err
	}
	if err := q.chooseEngine(); err != nil {
		return nil, err
	}
	q.chooseFormat()
	if err := q.model(); err != nil {
		return nil, err
	}
	if err := q.fillLengths(); err != nil {
		return nil, err
	}
	if err := checkEngineFields(&q.Request, q.Engine); err != nil {
		return nil, err
	}
	q.Engine = sizingByWeights(q.Engine, q.Resolved.UnknownArch, q.Job)
	if err := q.draft(); err != nil {
		return nil, err
	}
	q.asked = q.Request
	q.Engine.Defaults(q.Job)
	noteIdleDevices(q.Engine, q.Job)
	for _, check := range []func(engine.Engine, *engine.Job) error{engine.Engine.Check, checkExtras, checkCapability, checkOffload,
		checkContextParallel} {
		if err := check(q.Engine, q.Job); err != nil {
			return nil, err
		}
	}
	if q.Prompter, err = q.prompts(); err != nil {
		return nil, err
	}
	q.Sizer, err = q.Engine.Sizer(q.Job)
	return q, err
}

// noteIdleDevices notes devices that the plan does not use.
func noteIdleDevices(e engine.Engine, j *engine.Job) {
	if n, have := j.Plan.Ranks(), j.Devices(); j.Machine != nil && n < have && !engine.ReadsGGUF(e) {
		j.Note("idle_devices", "warn", "tp", "the plan runs on %d of the %d devices", n, have)
	}
}

// checkEngineFields rejects fields of other engines.
func checkEngineFields(r *api.Request, e engine.Engine) error {
	f := r.Foreign(e.Name())
	if f == nil {
		return nil
	}
	return &api.Error{Code: api.BadField, Field: f.Name, Value: f.Text(r),
		Message: fmt.Sprintf("%s is a setting of %s, but the engine is %s", f.Name, strings.Join(f.Engines, ", "), e.Name()),
		Hint:    "leave it out, or name the engine"}
}

func checkExtras(_ engine.Engine, j *engine.Job) error { return engine.CheckExtras(j) }

func checkCapability(e engine.Engine, j *engine.Job) error {
	return engine.CheckCapability(j, e.Name())
}

// checkOffload rejects offloading that no rule of the engine sizes.
func checkOffload(e engine.Engine, j *engine.Job) error {
	o := j.Plan.Offload
	if o == nil || e.Name() == "generic" || engine.ReadsGGUF(e) {
		return nil
	}
	for _, f := range []struct{ field, value string }{{"offload.weights", o.Weights}, {"offload.kv", o.KV},
		{"offload.experts", o.Experts}} {
		if f.value != "" && f.value != "none" {
			return &api.Error{Code: api.Unsupported, Field: f.field, Value: f.value,
				Message: fmt.Sprintf("%s = %s is not sized for %s", f.field, f.value, e.Name()), Hint: offloadHint(e)}
		}
	}
	return nil
}

// offloadHint says what the engine offers instead.
func offloadHint(e engine.Engine) string {
	if api.FieldByName("cpu_offload_bytes").OwnedBy(e.Name()) {
		return "--cpu-offload 8GiB for weights of layers, or --engine llama.cpp or generic"
	}
	return "--engine llama.cpp or generic"
}

// checkContextParallel allows context parallelism only for the generic engine, which shards a sequence's cache over
// ranks.
func checkContextParallel(e engine.Engine, j *engine.Job) error {
	if n := j.Plan.CP; n > 1 && e.Name() != "generic" {
		return &api.Error{Code: api.Unsupported, Field: "cp", Value: fmt.Sprint(n),
			Message: fmt.Sprintf("cp = %d: how %s shares one sequence's cache is not sized", n, e.Name()),
			Hint:    "--engine generic, or tp and pp"}
	}
	return nil
}

// Machine parses the hardware; without any, one unbounded device is used.
func (q *Question) Machine() error {
	devices := q.Request.Devices
	if devices < 0 || devices > hardware.MaxDevices {
		return &api.Error{Code: api.BadField, Field: "devices", Value: fmt.Sprint(devices),
			Message: fmt.Sprintf("devices = %d is out of bounds", devices), Hint: fmt.Sprintf("1 to %s", unit.Count(hardware.MaxDevices))}
	}
	if q.Request.Hardware == "" {
		if devices > 0 {
			q.Job.Note("devices_ignored", "warn", "devices",
				"devices = %d counts nothing without hardware: one device without bounds stands in", devices)
		}
		return nil
	}
	m, notes, err := q.Env.Find(q.Request.Hardware, int(devices))
	if err != nil {
		return err
	}
	if m.Local {
		return LocalHardwareError()
	}
	q.Job.Machine = &m
	q.Request.Devices = int64(m.Devices())
	for _, n := range notes {
		q.Job.Note(n.Code, "info", "hardware", "%s", n.Text)
	}
	return nil
}

// LocalHardwareError returns the error for a machine that only the command line can detect.
func LocalHardwareError() error {
	return &api.Error{Code: api.BadField, Field: "hardware", Value: "local",
		Message: "hardware = local is for the command line, which looks at the machine it runs on", Hint: "name a device"}
}

// model builds the network, with overrides, and determines how its weights are stored.
func (q *Question) model() error {
	r := q.Resolved
	q.spec, q.cast = r.Spec, q.castTo()
	recipe, err := q.recipe()
	if err != nil {
		return err
	}
	q.Job.Checkpoint = checkpointOf(q.Resolved, q.Request.Model, q.Request.Weights)
	q.Job.Checkpoint.Cache, q.Job.Checkpoint.Method = r.Cache, r.Method
	q.Job.Checkpoint.Assumed = r.Path == "" && r.Spec != nil && q.Request.Weights != "" && q.Request.Weights != storedFormat(r)
	if r.Spec == nil {
		q.Job.Model, q.Job.Weights = r.Model, r.Weights
		return nil
	}
	changed := len(q.Request.Override) > 0
	if changed {
		s := *r.Spec
		if err := Override(&s, q.Request.Override); err != nil {
			return err
		}
		q.spec = &s
		q.Job.Note("override", "info", "override", "what if %s: the network is %s's but for that, and its weights are assumed",
			Overridden(q.Request.Override), cmp.Or(r.Name, r.ID))
	}
	q.predictor(r.Model, r.Weights)
	if r.Weights != nil && !changed && recipe == nil && (r.Format == "gguf" || !engine.ReadsGGUF(q.Engine)) {
		q.Job.Model, q.Job.Weights = r.Model, r.Weights
		return nil
	}
	if recipe == nil {
		if recipe = ownRecipe(q.Resolved); recipe == nil {
			return &api.Error{Code: api.BadField, Field: "weights",
				Message: "the file alone tells how each of its tensors is stored, and this plan changes them",
				Hint:    "give weights too: --weights q4_k_m"}
		}
	}
	spec := q.spec
	if q.cast != nil {
		s := *spec
		s.Native = q.cast
		spec = &s
	}
	if engine.ReadsGGUF(q.Engine) {
		in := recipe.InGGUF()
		if in == nil && q.Original.Weights == "" {
			in = q.converted()
		}
		if in == nil {
			return &api.Error{Code: api.ImpossiblePlan, Field: "weights", Value: recipe.Name,
				Message: fmt.Sprintf("%s reads GGUF files, which have no %s", q.Engine.Name(), recipe.Name),
				Hint:    "q4_k_m, q8_0, f16, …, or another engine"}
		}
		recipe = in
	}
	if recipe.Store == dtype.GGUF {
		if q.Request.MMProj != "" || q.Request.Images > 0 {
			q.Job.Vision = spec.Model(r.ID).Part(family.PartVision)
		}
		if err := addProjector(q.Env, q.Engine, q.Job); err != nil {
			return err
		}
		if IsTrue(q.Request.MTP) {
			m := spec.Model(r.ID)
			q.predictor(m, m.Store(recipe))
		}
	}
	q.build(spec, recipe)
	return nil
}

// build builds the network, as the engine loads it, and its weights. With overrides it is not shared.
func (q *Question) build(spec *family.Spec, recipe *dtype.Recipe) {
	make := func() BuiltModel {
		if recipe.Store == dtype.GGUF {
			spec = spec.Converted()
		}
		m := spec.Model(q.Resolved.ID)
		return BuiltModel{m, m.Store(recipe)}
	}
	var b BuiltModel
	if len(q.Request.Override) > 0 {
		b = make()
	} else {
		b = q.Env.Build(BuiltKey{q.Resolved, q.Request.Weights, recipe.Store == dtype.GGUF, q.cast}, make)
	}
	q.Job.Model, q.Job.Weights = b.Model, b.Weights
}

// predictor finds the prediction layers if the plan drafts with them.
func (q *Question) predictor(m *model.Model, w *model.Weights) {
	if m == nil || w == nil || !IsTrue(q.Request.MTP) {
		return
	}
	q.Job.MTP = engine.Predicts(m, w)
}

// IsTrue reports whether a setting is given and true.
func IsTrue(b *bool) bool { return b != nil && *b }

// converted returns the recipe of a GGUF conversion of a checkpoint whose quantization GGUF lacks
// (convert_hf_to_gguf.py dequantizes and writes bf16).
func (q *Question) converted() *dtype.Recipe {
	to := dtype.FindRecipe("bf16")
	q.Job.Note("default_used", "warn", "weights", "weights = bf16: a conversion to GGUF dequantises %s; q4_k_m is a quarter of it",
		q.Request.Weights)
	q.Request.Weights = to.Name
	return to.InGGUF()
}

// recipe returns the requested recipe, nil for the model's own storage.
func (q *Question) recipe() (*dtype.Recipe, error) {
	name := cmp.Or(q.Request.Weights, askedByName(q.Resolved, q.Engine))
	if name == "" && q.cast != nil && dtype.FindFormat(storedFormat(q.Resolved)) == q.Resolved.Spec.Native {
		name = q.cast.Name
	}
	if name == "" || name == storedFormat(q.Resolved) {
		if name == "" && q.Resolved.Weights == nil {
			q.Job.Default("weights", storedFormat(q.Resolved))
		}
		if q.Request.Weights = storedFormat(q.Resolved); q.Resolved.Weights == nil {
			own := ownRecipe(q.Resolved)
			q.stands(own)
			return own, nil
		}
		return nil, nil
	}
	found := recipeNamed(name, q.Engine, q.Job)
	if found == nil {
		return nil, &api.Error{Code: api.BadField, Field: "weights", Value: name,
			Message: fmt.Sprintf("weights = %q is not a known format or recipe", name),
			Hint:    "memwall formats lists them: bf16, fp8, awq, q4_k_m, …"}
	}
	q.Request.Weights = found.Name
	q.stands(found)
	if q.Resolved.Weights != nil && found.Name == q.Resolved.Recipe {
		return nil, nil
	}
	return found, nil
}

// stands notes that a recipe represents files that vary, and gives the weights their band.
func (q *Question) stands(r *dtype.Recipe) {
	if r != nil && r.StandsFor != "" {
		q.mixture = r
		q.Job.Note("mixture_assumed", "warn", "weights", "%s: %.2f to %.2f of it; the file itself is exact", r.StandsFor, r.Low, r.High)
	}
}

// recipeNamed returns the recipe of a name. A word such as "4bit" means what the engine reads, and a note says so.
func recipeNamed(name string, e engine.Engine, j *engine.Job) *dtype.Recipe {
	if l := dtype.FindLoose(name); l != nil {
		if r := l.For(engine.ReadsGGUF(e)); r != nil {
			if r.Name != name {
				j.Note("format_assumed", "info", "weights", "weights = %s: what %s means for %s", r.Name, name, e.Name())
			}
			return r
		}
	}
	return dtype.FindRecipe(name)
}

// askedByName returns the format that the model's name states, if the checkpoint is stored in another. Formats of
// Ollama's library only apply to programs that read GGUF files.
func askedByName(r *api.Resolved, e engine.Engine) string {
	if r.Engine != "" && !engine.ReadsGGUF(e) {
		return ""
	}
	return r.Asked
}

// caster is an engine that loads 32-bit checkpoints in 16 bits.
type caster interface {
	// Casts returns the format that fp32 weights are loaded in.
	Casts(v engine.Version, family string) string
}

// castTo returns the format that the engine loads unquantized weights in, nil if unchanged.
func (q *Question) castTo() *dtype.Format {
	if to := withoutBF16(q); to != nil {
		return to
	}
	c, ok := q.Engine.(caster)
	if !ok || q.Resolved.Spec == nil || q.Resolved.Spec.Native != dtype.F32 || q.Request.Weights == dtype.F32.Name {
		return nil
	}
	if f := dtype.FindFormat(q.Request.Weights); f == dtype.F16 || f == dtype.BF16 {
		return f
	}
	to := c.Casts(q.Job.Version, q.Resolved.Spec.Family)
	if other := engine.WithoutBF16(q.Engine.Name(), q.Resolved.Spec.Family, q.Job.Machine); to == dtype.BF16.Name && other != "" {
		to = other
	}
	if q.Request.Weights == "" {
		q.Job.Note("default_used", "info", "weights", "weights = %s: %s loads fp32 checkpoints in 16 bits", to, q.Engine.Name())
	}
	return dtype.FindFormat(to)
}

// withoutBF16 returns the format that replaces bf16 on devices without it, unless another is requested; else nil.
func withoutBF16(q *Question) *dtype.Format {
	r := q.Resolved
	said := q.Request.Weights != "" || r.Asked != ""
	if said || r.Spec == nil || r.Spec.Native != dtype.BF16 || dtype.FindFormat(storedFormat(r)) != dtype.BF16 {
		return nil
	}
	to := engine.WithoutBF16(q.Engine.Name(), r.Spec.Family, q.Job.Machine)
	if to == "" {
		return nil
	}
	q.Job.Note("without_bf16", "info", "weights", "weights = %s: %s has no arithmetic in bf16, and %s loads in %s instead", to,
		q.Job.Machine.Groups[0].Device.Name, q.Engine.Name(), to)
	return dtype.FindFormat(to)
}

// ownRecipe returns the recipe that the checkpoint or file was made with; nil if unknown.
func ownRecipe(r *api.Resolved) *dtype.Recipe {
	if r.Scheme != nil {
		return r.Scheme
	}
	return dtype.FindRecipe(storedFormat(r))
}

// storedFormat returns the format of the checkpoint or file.
func storedFormat(r *api.Resolved) string {
	switch {
	case r.Recipe != "":
		return r.Recipe
	case r.Weights != nil:
		return r.Weights.Name
	case r.Spec != nil && r.Spec.Native != nil:
		return r.Spec.Native.Name
	}
	return "bf16"
}

// DefaultContext applies if the model was trained on that much.
const DefaultContext = api.DefaultContext

// usualContext returns the default context; for a denoiser, its default output plus the text.
func usualContext(j *engine.Job, trained int64) plan.Int {
	if m := j.Model; m.Part(model.PartDenoiser) != nil {
		made := m.Usual()
		j.Note("denoiser_tokens", "info", "context", "%d tokens are %s, and %d of text; --ctx overrides them",
			made.Tokens+model.TextTokens, made.Words, model.TextTokens)
		return plan.Int(made.Tokens + model.TextTokens)
	}
	if trained > 0 {
		return plan.Int(min(trained, DefaultContext))
	}
	return DefaultContext
}

// fillLengths fills in context, sequences, prompt and output.
func (q *Question) fillLengths() error {
	p := &q.Request.Plan
	trained := q.Job.Model.Context
	if p.Context == 0 && p.ContextTotal == 0 && p.Fit != "on" { // --fit chooses the context
		p.Context = usualContext(q.Job, trained)
		q.Job.Default("context", int64(p.Context))
	}
	if p.Sequences == 0 {
		p.Sequences = 1
		q.Job.Default("sequences", 1)
	}
	if p.Context > 0 && trained > 0 && int64(p.Context) > trained {
		q.Job.Note("beyond_trained_context", "warn", "context", "context %d is beyond the %d tokens that the model was trained on",
			p.Context, trained)
	}
	if p.PromptTokens+p.OutputTokens > p.Context && p.Context > 0 {
		return &api.Error{Code: api.BadField, Field: "prompt_tokens", Value: fmt.Sprint(p.PromptTokens),
			Message: fmt.Sprintf("prompt and output of %d tokens do not fit in a context of %d", p.PromptTokens+p.OutputTokens, p.Context),
			Hint:    "raise context"}
	}
	if p.PromptTokens == 0 {
		p.PromptTokens = max(0, min(p.Context*3/4, p.Context-p.OutputTokens))
	}
	if p.OutputTokens == 0 {
		p.OutputTokens = max(0, p.Context-p.PromptTokens)
	}
	return nil
}

// BeforeDefaults returns the request before the engine's defaults, which depend on the device.
func (q *Question) BeforeDefaults() api.Request { return q.asked }

// SizedRanks returns the ledgers of a plan.
func (a *Env) SizedRanks(r *api.Request) (*Question, []engine.Rank, error) {
	q, err := a.Prepare(r)
	if err != nil {
		return nil, nil, err
	}
	ranks, err := q.Ledgers()
	return q, ranks, err
}
