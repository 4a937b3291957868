// Package training answers whether a training plan fits, where its peak is, how long a step and a run take, and which
// framework configuration runs it.
package training

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/cost"
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/internal/planner/change"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/internal/timing"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/model/family"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/train"
	"github.com/memwall/memwall/train/step"
	"github.com/memwall/memwall/unit"
)

// Training is a train request on its way to an answer.
type Training struct {
	Question *question.Question
	Job      *train.Job
	Sizer    *train.Sizer
	came     *api.Request // the request before a way to share was taken; nil where none was
}

// asCame is the request that changes are said of.
func (t *Training) asCame() *api.Request {
	if t.came != nil {
		return t.came
	}
	return &t.Question.Original
}

// Train answers whether a training plan fits, where the peak falls and how long a step and a run take.
func Train(a *question.Env, r *api.Request) (*api.Answer, error) {
	t, err := Trained(a, r)
	if err != nil {
		return nil, err
	}
	t = t.orSharded()
	t.Question.Book = &ledger.Book{}
	out := t.Answer()
	out.Suggestions = t.suggest(out)
	out.Reasons = t.reasons(out)
	out.Config = t.Config()
	out.Notes = append(out.Notes, t.Notes()...)
	if r.Explain {
		t.Question.Explain.Rest(out)
		out.Explain = t.Question.Explain.Out
	}
	return out, nil
}

// orSharded is the plan with FSDP where nobody said how ranks share the work and copies of all states do not fit: what
// frameworks do by default (DDP) is then what nobody would run.
func (t *Training) orSharded() *Training {
	r := t.Question.Original
	if r.Framework != "" || r.Sharding != "" || t.Job.Training.Sharding != "ddp" || !t.tooLarge() {
		return t
	}
	r.Sharding = "fsdp"
	other, err := Trained(change.SameModelEnv(t.Question), &r)
	if err != nil {
		return t
	}
	other.came = &t.Question.Original
	other.Question.Job.Note("sharding_assumed", "info", "sharding", "fsdp by default, as no device holds all states (ddp); --sharding overrides it")
	return other
}

// tooLarge reports whether the plan does not fit.
func (t *Training) tooLarge() bool {
	return t.Question.Verdict(t.EngineRanks(t.Sizer.Size(nil))) == api.DoesNotFit
}

// Trained prepares a training plan: model, machine, defaults, checks.
func Trained(a *question.Env, r *api.Request) (*Training, error) {
	q, err := a.Open(r)
	if err != nil {
		return nil, err
	}
	t := &Training{Question: q, Job: &train.Job{Plan: &q.Request.Plan, Training: &q.Request.Training}}
	if err := t.CheckLayers(); err != nil {
		return nil, err
	}
	if err := q.Machine(); err != nil {
		return nil, err
	}
	if m := q.Job.Machine; m != nil && m.CPUOnly {
		return nil, NoAcceleratorError(r.Hardware)
	}
	t.Job.Machine = q.Job.Machine
	t.storedFormat()
	if err := t.Models(); err != nil {
		return nil, err
	}
	if err := t.lengths(); err != nil {
		return nil, err
	}
	if err := train.Defaults(t.Job); err != nil {
		return nil, err
	}
	if err := train.Check(t.Job); err != nil {
		return nil, err
	}
	t.storeBase()
	t.Sizer, err = train.Compile(t.Job)
	return t, err
}

// storedFormat is how the base lies where nobody says it: as the repository that was named stores it, in formats that adapters train
// beside. Of others transformers trains none (src/transformers/quantizers, 4.57: is_trainable), and who trains such a model loads it in
// 16 bits.
func (t *Training) storedFormat() {
	q := t.Question
	r := q.Resolved
	recipe := dtype.FindRecipe(cmp.Or(r.Asked, r.Recipe))
	if q.Request.Weights != "" || !r.Stated || recipe == nil || !train.Packed(recipe) {
		return
	}
	if train.Trainable(recipe) {
		q.Request.Weights = recipe.Name
		return
	}
	q.Job.Note("weights_widened", "info", "weights", "no framework trains beside %s: counted as loaded in 16 bits", recipe.Name)
}

// NoAcceleratorError is the error of training without an accelerator.
func NoAcceleratorError(name string) error {
	return &api.Error{Code: api.Unsupported, Field: "hardware", Value: api.Shorten(name),
		Message: "training on processors alone is not described", Hint: "--on rtx-4090, 8xh100, …"}
}

// CheckLayers refuses models whose layers nobody knows.
func (t *Training) CheckLayers() error {
	if t.Question.Resolved.Spec == nil {
		return &api.Error{Code: api.Unsupported, Field: "model", Value: t.Question.Request.Model,
			Message: "training needs the layers of a model, and this file alone does not tell them",
			Hint:    "a catalog id, a config.json or a folder with one"}
	}
	return nil
}

// Models builds the network that trains and those beside it.
func (t *Training) Models() error {
	q := t.Question
	spec := *q.Resolved.Spec
	if len(q.Request.Override) > 0 {
		if err := question.Override(&spec, q.Request.Override); err != nil {
			return err
		}
		q.Job.Note("override", "info", "override", "what if %s: the network itself changes", question.Overridden(q.Request.Override))
	}
	if len(q.Request.Override) > 0 {
		t.Job.Model = spec.Model(q.Resolved.ID)
	} else {
		t.Job.Model = q.Env.Build(question.BuiltKey{Resolved: q.Resolved, Weights: "network"},
			func() question.BuiltModel { return question.BuiltModel{Model: spec.Model(q.Resolved.ID)} }).Model
	}
	q.Job.Model = t.Job.Model
	if err := t.critic(&spec); err != nil {
		return err
	}
	for _, m := range []struct {
		field, name string
		scores      bool
		to          **train.Frozen
	}{{"reference_model", q.Request.ReferenceModel, false, &t.Job.Reference}, {"reward_model", q.Request.RewardModel, true, &t.Job.Reward},
		{"teacher_model", q.Request.TeacherModel, false, &t.Job.Teacher}} {
		if m.name == "" || m.name == "none" {
			continue
		}
		f, err := frozen(q.Env, m.name, m.scores)
		if err != nil {
			return inField(err, m.field)
		}
		*m.to = f
	}
	return nil
}

// inField is an error of a model that a field names.
func inField(err error, field string) error {
	e := *api.AsError(err)
	e.Field = field
	return &e
}

// critic is the model that learns what answers are worth: the one that is named, else the policy's network.
func (t *Training) critic(policy *family.Spec) error {
	q := t.Question
	name := q.Request.CriticModel
	if q.Request.Objective != "ppo" || name == "none" {
		return nil
	}
	r := q.Resolved
	if name != "" {
		var err error
		if r, err = resolveLayers(q.Env, name); err != nil {
			return inField(err, "critic_model")
		}
	} else if len(q.Request.Override) > 0 {
		t.Job.Critic = scoring(policy).Model(r.ID)
		return nil
	}
	t.Job.Critic = q.Env.Build(question.BuiltKey{Resolved: r, Weights: "network that scores"},
		func() question.BuiltModel { return question.BuiltModel{Model: scoring(r.Spec).Model(r.ID)} }).Model
	return nil
}

// scoring is a network that ends in one number in place of a vocabulary (transformers, AutoModelForSequenceClassification
// with num_labels = 1).
func scoring(s *family.Spec) *family.Spec {
	x := *s
	x.Score, x.HeadBias, x.NoHead = 1, false, false
	return &x
}

// lengths reads the samples that the plan names: a batch that is padded is as long as the longest of it.
func (t *Training) lengths() error {
	name := t.Question.Request.Data
	if name == "" {
		return nil
	}
	if t.Question.Env.Data == nil {
		return &api.Error{Code: api.Unsupported, Field: "data", Value: api.Shorten(name), Message: "data: no files are read here",
			Hint: "sequence_length says how long sequences are"}
	}
	all, err := lengths(t.Question.Env, name)
	if err != nil {
		return &api.Error{Code: api.BadFile, Field: "data", Value: api.Shorten(name), Message: err.Error(),
			Hint: "a text file with the tokens of one sample on each line"}
	}
	sum := int64(0)
	for _, n := range all {
		t.Job.Longest = max(t.Job.Longest, n)
		sum += n
	}
	t.Question.Job.Note("data", "info", "data", "%s samples of %s tokens on average, the longest of %s", unit.Count(int64(len(all))),
		unit.Count(sum/int64(max(1, len(all)))), unit.Count(t.Job.Longest))
	return nil
}

// lengths of a file, read once for the questions of a search.
func lengths(a *question.Env, name string) ([]int64, error) {
	if a.Memo == nil {
		return a.Data.Lengths(name)
	}
	if l, ok := a.Memo.Lengths[name]; ok {
		return l, nil
	}
	l, err := a.Data.Lengths(name)
	if err == nil {
		a.Memo.Lengths[name] = l
	}
	return l, err
}

// resolveLayers finds a model whose layers are known.
func resolveLayers(a *question.Env, name string) (*api.Resolved, error) {
	r, err := a.Resolve(name)
	if err != nil {
		return nil, err
	}
	if r.Spec == nil {
		return nil, &api.Error{Code: api.Unsupported, Value: name, Message: "the layers of " + name + " are not known",
			Hint: "a catalog id"}
	}
	return r, nil
}

// frozen is a model that only runs forward, in 16 bits; one that scores ends in one number.
func frozen(a *question.Env, name string, scores bool) (*train.Frozen, error) {
	r, err := resolveLayers(a, name)
	if err != nil {
		return nil, err
	}
	spec, use := r.Spec, dtype.BF16.Name
	if scores {
		spec, use = scoring(spec), use+" scores"
	}
	b := a.Build(question.BuiltKey{Resolved: r, Weights: use}, func() question.BuiltModel {
		m := spec.Model(r.ID)
		return question.BuiltModel{Model: m, Weights: m.Store(dtype.FindRecipe(dtype.BF16.Name))}
	})
	return &train.Frozen{Model: b.Model, Weights: b.Weights}, nil
}

// storeBase is how the base is kept, worked out once for the questions of a search.
func (t *Training) storeBase() {
	recipe := train.Recipe(t.Job, t.Question.Request.Weights)
	if recipe == nil {
		return // Compile says so
	}
	b := t.Question.Env.Build(question.BuiltKey{Resolved: t.Question.Resolved, Weights: "training " + recipe.Name + recipe.Note},
		func() question.BuiltModel {
			return question.BuiltModel{Model: t.Job.Model, Weights: t.Job.Model.Store(recipe)}
		})
	if len(t.Question.Request.Override) > 0 {
		b = question.BuiltModel{Model: t.Job.Model, Weights: t.Job.Model.Store(recipe)}
	}
	t.Job.Model, t.Job.Weights = b.Model, b.Weights
	t.Question.Job.Model, t.Question.Job.Weights = b.Model, b.Weights
}

// Answer is ledgers, verdict and times.
func (t *Training) Answer() *api.Answer {
	q := t.Question
	ranks := t.Sizer.Size(q.Book)
	a := &api.Answer{Model: question.ModelInfo(q.Resolved, q.Job), Plan: q.Plan()}
	if q.Request.Explain {
		q.Explain = &question.Explainer{Book: q.Book, Out: map[string]api.Explain{}}
	}
	same := t.EngineRanks(ranks)
	for i := range ranks {
		a.Devices = append(a.Devices, t.device(i, &ranks[i], &same[i]))
	}
	a.Verdict = q.Verdict(same)
	a.Host = q.Host(q.Explain, same)
	a.Disk = t.disk(ranks)
	a.PerDevice = perDevice(&ranks[0], a.Devices[0].Needed)
	a.PerDevice.Monitor = monitors[cmp.Or(q.Job.Machine.Vendor(), "NVIDIA")]
	t.timed(a)
	return a
}

// EngineRank is a class of ranks as verdicts and ledgers know it: what its peak needs.
func (t *Training) EngineRank(r *train.Rank) engine.Rank {
	return engine.Rank{Name: r.Name, Index: r.Index, Count: r.Count, Capacity: r.Capacity, Usable: r.Usable, Unlimited: r.Unlimited,
		Items: r.Needed, Host: r.Host}
}

func (t *Training) device(i int, r *train.Rank, same *engine.Rank) api.Device {
	d := t.Question.Device(t.Question.Explain, i, same)
	if n := t.Job.Devices(); r.Count == n && n > 1 {
		d.Ranks = fmt.Sprintf("0-%d", n-1) // all hold the same
	}
	for j := range r.Phases {
		p := &r.Phases[j]
		at := "/devices/" + strconv.Itoa(i) + "/phases/" + strconv.Itoa(j) + "/ledger"
		d.Phases = append(d.Phases, api.PhaseBytes{Name: p.Name, Bytes: p.Total().Bytes,
			Ledger: question.Items(t.Question.Book, t.Question.Explain, at, question.OnDevice(p.Items))})
	}
	return d
}

// disk is what all ranks write at a checkpoint, and what they swap.
func (t *Training) disk(ranks []train.Rank) *api.Memory {
	var items []ledger.Item
	for i := range ranks {
		for _, it := range ranks[i].Disk {
			items = t.merged(items, question.Repeated(t.Question.Book, it, ranks[i].Count, "that write"))
		}
	}
	n := ledger.Sum(items)
	m := api.MemoryOf(n, question.Items(t.Question.Book, t.Question.Explain, "/disk/ledger", items))
	for i := range items {
		switch it := &items[i]; strings.TrimPrefix(it.ID, "critic.") {
		case "checkpoints":
			m.Checkpoint += it.Bytes
		case "optimizer":
			m.OptimizerCheckpoint += it.Bytes
		default:
			m.Swap += it.Bytes
		}
	}
	return m
}

// merged adds an item to the one of its id, where there is one.
func (t *Training) merged(items []ledger.Item, it ledger.Item) []ledger.Item {
	for i := range items {
		if x := &items[i]; x.ID == it.ID {
			x.Bytes, x.Low, x.High = x.Bytes+it.Bytes, x.Low+it.Low, x.High+it.High
			x.Why = t.Question.Book.Add(x.Why, it.Why)
			return items
		}
	}
	return append(items, it)
}

// monitors are the programs that show how much of a device is in use, by vendor. Macs have none that shows what its GPU holds.
var monitors = map[string]string{"NVIDIA": "nvidia-smi", "AMD": "rocm-smi", "Intel": "xpu-smi", "Huawei": "npu-smi"}

func perDevice(r *train.Rank, needed unit.Bytes) *api.PerDevice {
	b := func(x float64) unit.Bytes { return unit.Bytes(math.Round(x)) }
	return &api.PerDevice{Peak: needed, PeakPhase: r.Phases[r.Peak].Name, Allocated: b(r.Allocated.Mid), AllocatedLow: b(r.Allocated.Low),
		AllocatedHigh: b(r.Allocated.High),
		Reserved:      b(r.Reserved.Mid), ReservedLow: b(r.Reserved.Low), ReservedHigh: b(r.Reserved.High), SMI: b(r.SMI.Mid),
		SMILow: b(r.SMI.Low), SMIHigh: b(r.SMI.High)}
}

// timed adds how long a step and the run take; a note says why where that is not known.
func (t *Training) timed(a *api.Answer) {
	q := t.Question
	if t.Job.Machine == nil {
		return
	}
	m, s, err := t.Step()
	if err != nil {
		q.Job.Note("speed_unknown", "info", "", "no time of a step: %s", err)
		return
	}
	if rate, assumed := m.HostRate(); assumed {
		q.Job.Note("host_rate", "warn", "hardware", "the host's memory, in which the optimizer steps, is assumed to be read at %s; host=512GiB@400GB/s sets it", rate)
	}
	tokens := m.Tokens()
	a.Step = TrainingStep(&s, tokens)
	t.explainStep(a.Step)
	if n := int64(q.Request.Tokens); n > 0 {
		a.Run = t.Run(&s, tokens, n)
	}
}

// TrainingStep is a step as an answer has it.
func TrainingStep(s *step.Step, tokens float64) *api.TrainingStep {
	out := &api.TrainingStep{Seconds: *question.Rounded(s.Seconds.Mid), SecondsLow: *question.Rounded(s.Seconds.Low),
		SecondsHigh: *question.Rounded(s.Seconds.High), Tokens: tokens,
		PerDevice: *question.Rounded(s.TokensPerDevice.Mid), Low: *question.Rounded(s.TokensPerDevice.Low),
		High:   *question.Rounded(s.TokensPerDevice.High),
		TFLOPs: *question.Rounded(s.TFLOPsPerDevice), MFU: *question.Rounded(s.MFU), HFU: *question.Rounded(s.HFU), Bound: s.Bound}
	for _, p := range s.Parts {
		out.Parts = append(out.Parts, api.StepPart{Name: timing.Identifier(p.Name), Seconds: *question.Rounded(p.Seconds),
			Low: *question.Rounded(p.Low), High: *question.Rounded(p.High), Bound: p.Bound})
	}
	return out
}

// Step times a step of the plan.
func (t *Training) Step() (m *step.Model, s step.Step, err error) {
	p, err := t.StepPredictor(t.Job.Training)
	if err != nil {
		return nil, s, err
	}
	return p.Model, withGeneration(t, p.Predict(), p.Tokens()), nil
}

// StepPredictor is a step of the plan, with settings of its own, and its coefficients.
func (t *Training) StepPredictor(with *plan.Training) (*step.Predictor, error) {
	m, err := step.Compile(step.Input{Model: t.Job.Model, Weights: t.Job.Weights, Machine: t.Job.Machine, Plan: t.Job.Plan, Training: with})
	if err != nil {
		return nil, err
	}
	table, err := step.Fitted()
	if err != nil {
		return nil, err
	}
	return m.With(table), nil
}

const secondsPerDay = 86400

// Run is so many tokens at the pace of a step.
func (t *Training) Run(s *step.Step, perStep float64, tokens int64) *api.TrainingRun {
	steps := math.Ceil(float64(tokens) / perStep)
	days := s.Seconds.Times(steps / secondsPerDay)
	r := &api.TrainingRun{Tokens: tokens, Steps: steps, Seconds: *question.Rounded(s.Seconds.Mid * steps),
		Days: *question.Rounded(days.Mid), DaysLow: *question.Rounded(days.Low), DaysHigh: *question.Rounded(days.High)}
	m := t.Job.Machine
	if len(m.Groups) != 1 {
		return r
	}
	d, n := &m.Groups[0].Device, m.Devices()
	if w := cost.Watts(d, cost.Load{Compute: s.HFU}); w.Known() {
		r.KWh = question.Rounded(w.Mid * float64(n) * days.Mid * 24 / 1000)
	}
	if rent := t.Question.Env.RentOf(m, n); rent.PerHour.Known() {
		r.USD = question.Rounded(rent.PerHour.Mid * days.Mid * 24)
		r.Price = fmt.Sprintf("%s on demand: $%.2f an hour for %d, the middle of %d rows; %s", rent.Price.Provider, rent.PerHour.Mid, n,
			rent.Rows, rent.Date)
	}
	return r
}

// Notes of the plan and of what trains.
func (t *Training) Notes() (out []api.Note) {
	out = t.Question.Notes()
	for _, n := range t.Job.Notes {
		out = append(out, api.Note{Code: n.Code, Severity: n.Severity, Field: n.Field, Text: n.Text})
	}
	return out
}

// EngineRanks are the ranks as verdicts know them.
func (t *Training) EngineRanks(ranks []train.Rank) (out []engine.Rank) {
	for i := range ranks {
		out = append(out, t.EngineRank(&ranks[i]))
	}
	return out
}
