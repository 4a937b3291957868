package memwall

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/memwall/memwall/cost"
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/model/family"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/train"
	"github.com/memwall/memwall/train/step"
	"github.com/memwall/memwall/unit"
)

const askTrain = "train"

// training is a train request on its way to an answer.
type training struct {
	q     *question
	job   *train.Job
	sizer *train.Sizer
}

// train answers whether a training plan fits, where the peak falls and how long a step and a run take.
func (a *Asker) train(r *Request) (*Answer, error) {
	t, err := a.trained(r)
	if err != nil {
		return nil, err
	}
	t.q.book = &ledger.Book{}
	out := t.answer()
	out.Suggestions = t.suggest(out)
	out.Reasons = t.reasons(out)
	out.Config = t.config()
	out.Notes = append(out.Notes, t.notes()...)
	if r.Explain {
		t.q.explain.rest(out)
		out.Explain = t.q.explain.out
	}
	return out, nil
}

// trained prepares a training plan: model, machine, defaults, checks.
func (a *Asker) trained(r *Request) (*training, error) {
	q, err := a.open(r)
	if err != nil {
		return nil, err
	}
	t := &training{q: q, job: &train.Job{Plan: &q.request.Plan, Training: &q.request.Training}}
	if err := t.layered(); err != nil {
		return nil, err
	}
	if err := q.machine(); err != nil {
		return nil, err
	}
	if m := q.job.Machine; m != nil && m.CPUOnly {
		return nil, onProcessors(r.Hardware)
	}
	t.job.Machine = q.job.Machine
	if err := t.models(); err != nil {
		return nil, err
	}
	if err := t.lengths(); err != nil {
		return nil, err
	}
	if err := train.Defaults(t.job); err != nil {
		return nil, err
	}
	if err := train.Check(t.job); err != nil {
		return nil, err
	}
	t.stored()
	t.sizer, err = train.Compile(t.job)
	return t, err
}

// onProcessors is the error of training without an accelerator.
func onProcessors(name string) error {
	return &Error{Code: Unsupported, Field: "hardware", Value: shorten(name), Message: "training on processors alone is not described", Hint: "--on rtx-4090, 8xh100, …"}
}

// layered refuses models whose layers nobody knows.
func (t *training) layered() error {
	if t.q.resolved.Spec == nil {
		return &Error{Code: Unsupported, Field: "model", Value: t.q.request.Model, Message: "training needs the layers of a model, and this file alone does not tell them", Hint: "a catalog id, a config.json or a folder with one"}
	}
	return nil
}

// models builds the network that trains and those beside it.
func (t *training) models() error {
	q := t.q
	spec := *q.resolved.Spec
	if len(q.request.Override) > 0 {
		if err := override(&spec, q.request.Override); err != nil {
			return err
		}
		q.job.Note("override", "info", "override", "what if %s: the network is another one", overridden(q.request.Override))
	}
	if len(q.request.Override) > 0 {
		t.job.Model = spec.Model(q.resolved.ID)
	} else {
		t.job.Model = q.asker.build(builtKey{resolved: q.resolved, weights: "network"}, func() builtModel { return builtModel{model: spec.Model(q.resolved.ID)} }).model
	}
	q.job.Model = t.job.Model
	if err := t.critic(&spec); err != nil {
		return err
	}
	for _, m := range []struct {
		field, name string
		scores      bool
		to          **train.Frozen
	}{{"reference_model", q.request.ReferenceModel, false, &t.job.Reference}, {"reward_model", q.request.RewardModel, true, &t.job.Reward}, {"teacher_model", q.request.TeacherModel, false, &t.job.Teacher}} {
		if m.name == "" || m.name == "none" {
			continue
		}
		f, err := q.asker.frozen(m.name, m.scores)
		if err != nil {
			return inField(err, m.field)
		}
		*m.to = f
	}
	return nil
}

// inField is an error of a model that a field names.
func inField(err error, field string) error {
	e := *asError(err)
	e.Field = field
	return &e
}

// critic is the model that learns what answers are worth: the one that is named, else the policy's network.
func (t *training) critic(policy *family.Spec) error {
	q := t.q
	name := q.request.CriticModel
	if q.request.Objective != "ppo" || name == "none" {
		return nil
	}
	r := q.resolved
	if name != "" {
		var err error
		if r, err = q.asker.withLayers(name); err != nil {
			return inField(err, "critic_model")
		}
	} else if len(q.request.Override) > 0 {
		t.job.Critic = scoring(policy).Model(r.ID)
		return nil
	}
	t.job.Critic = q.asker.build(builtKey{resolved: r, weights: "network that scores"}, func() builtModel { return builtModel{model: scoring(r.Spec).Model(r.ID)} }).model
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
func (t *training) lengths() error {
	name := t.q.request.Data
	if name == "" {
		return nil
	}
	if t.q.asker.Data == nil {
		return &Error{Code: Unsupported, Field: "data", Value: shorten(name), Message: "data: no files are read here", Hint: "sequence_length says how long sequences are"}
	}
	all, err := t.q.asker.lengths(name)
	if err != nil {
		return &Error{Code: BadFile, Field: "data", Value: shorten(name), Message: err.Error(), Hint: "a text file with the tokens of one sample on each line"}
	}
	sum := int64(0)
	for _, n := range all {
		t.job.Longest = max(t.job.Longest, n)
		sum += n
	}
	t.q.job.Note("data", "info", "data", "%s samples of %s tokens in the mean, the longest of %s", unit.Count(int64(len(all))), unit.Count(sum/int64(max(1, len(all)))), unit.Count(t.job.Longest))
	return nil
}

// lengths of a file, read once for the questions of a search.
func (a *Asker) lengths(name string) ([]int64, error) {
	if a.memo == nil {
		return a.Data.Lengths(name)
	}
	if l, ok := a.memo.lengths[name]; ok {
		return l, nil
	}
	l, err := a.Data.Lengths(name)
	if err == nil {
		a.memo.lengths[name] = l
	}
	return l, err
}

// withLayers finds a model whose layers are known.
func (a *Asker) withLayers(name string) (*Resolved, error) {
	r, err := a.resolve(name)
	if err != nil {
		return nil, err
	}
	if r.Spec == nil {
		return nil, &Error{Code: Unsupported, Value: name, Message: "the layers of " + name + " are not known", Hint: "a catalog id"}
	}
	return r, nil
}

// frozen is a model that only runs forward, in 16 bits; one that scores ends in one number.
func (a *Asker) frozen(name string, scores bool) (*train.Frozen, error) {
	r, err := a.withLayers(name)
	if err != nil {
		return nil, err
	}
	spec, use := r.Spec, dtype.BF16.Name
	if scores {
		spec, use = scoring(spec), use+" scores"
	}
	b := a.build(builtKey{resolved: r, weights: use}, func() builtModel {
		m := spec.Model(r.ID)
		return builtModel{m, m.Store(dtype.FindRecipe(dtype.BF16.Name))}
	})
	return &train.Frozen{Model: b.model, Weights: b.weights}, nil
}

// stored is how the base is kept, worked out once for the questions of a search.
func (t *training) stored() {
	recipe := dtype.FindRecipe(t.q.request.Weights)
	if recipe == nil {
		return // Compile says so
	}
	b := t.q.asker.build(builtKey{resolved: t.q.resolved, weights: "training " + recipe.Name}, func() builtModel { return builtModel{t.job.Model, t.job.Model.Store(recipe)} })
	if len(t.q.request.Override) > 0 {
		b = builtModel{t.job.Model, t.job.Model.Store(recipe)}
	}
	t.job.Model, t.job.Weights = b.model, b.weights
	t.q.job.Model, t.q.job.Weights = b.model, b.weights
}

// answer is ledgers, verdict and times.
func (t *training) answer() *Answer {
	q := t.q
	ranks := t.sizer.Size(q.book)
	a := &Answer{Model: q.modelInfo(), Plan: q.plan()}
	if q.request.Explain {
		q.explain = &explainer{book: q.book, out: map[string]Explain{}}
	}
	same := t.same(ranks)
	for i := range ranks {
		a.Devices = append(a.Devices, t.device(i, &ranks[i], &same[i]))
	}
	a.Verdict = q.verdict(same)
	a.Host = q.host(q.explain, same)
	a.Disk = t.disk(ranks)
	a.PerDevice = perDevice(&ranks[0], a.Devices[0].Needed)
	t.timed(a)
	return a
}

// rank is a class of ranks as verdicts and ledgers know it: what its peak needs.
func (t *training) rank(r *train.Rank) engine.Rank {
	return engine.Rank{Name: r.Name, Index: r.Index, Count: r.Count, Capacity: r.Capacity, Usable: r.Usable, Unlimited: r.Unlimited, Items: r.Needed, Host: r.Host}
}

func (t *training) device(i int, r *train.Rank, same *engine.Rank) Device {
	d := t.q.device(t.q.explain, i, same)
	if n := t.job.Devices(); r.Count == n && n > 1 {
		d.Ranks = fmt.Sprintf("0-%d", n-1) // all hold the same
	}
	for j := range r.Phases {
		p := &r.Phases[j]
		at := "/devices/" + strconv.Itoa(i) + "/phases/" + strconv.Itoa(j) + "/ledger"
		d.Phases = append(d.Phases, PhaseBytes{p.Name, p.Total().Bytes, t.q.items(t.q.explain, at, onDevice(p.Items))})
	}
	return d
}

// disk is what all ranks write at a checkpoint, and what they swap.
func (t *training) disk(ranks []train.Rank) *Memory {
	var items []ledger.Item
	for i := range ranks {
		for _, it := range ranks[i].Disk {
			items = t.merged(items, t.q.times(it, ranks[i].Count, "that write"))
		}
	}
	n := ledger.Sum(items)
	m := &Memory{Needed: n.Bytes, NeededLow: n.Low, NeededHigh: n.High, Ledger: t.q.items(t.q.explain, "/disk/ledger", items)}
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
func (t *training) merged(items []ledger.Item, it ledger.Item) []ledger.Item {
	for i := range items {
		if x := &items[i]; x.ID == it.ID {
			x.Bytes, x.Low, x.High = x.Bytes+it.Bytes, x.Low+it.Low, x.High+it.High
			x.Why = t.q.book.Add(x.Why, it.Why)
			return items
		}
	}
	return append(items, it)
}

func perDevice(r *train.Rank, needed unit.Bytes) *PerDevice {
	b := func(x float64) unit.Bytes { return unit.Bytes(math.Round(x)) }
	return &PerDevice{Peak: needed, PeakPhase: r.Phases[r.Peak].Name, Allocated: b(r.Allocated.Mid), AllocatedLow: b(r.Allocated.Low), AllocatedHigh: b(r.Allocated.High),
		Reserved: b(r.Reserved.Mid), ReservedLow: b(r.Reserved.Low), ReservedHigh: b(r.Reserved.High), SMI: b(r.SMI.Mid), SMILow: b(r.SMI.Low), SMIHigh: b(r.SMI.High)}
}

// timed adds how long a step and the run take; a note says why where that is not known.
func (t *training) timed(a *Answer) {
	q := t.q
	if t.job.Machine == nil {
		return
	}
	m, s, err := t.step()
	if err != nil {
		q.job.Note("speed_unknown", "info", "", "no time of a step: %s", err)
		return
	}
	if rate, assumed := m.HostRate(); assumed {
		q.job.Note("host_rate", "warn", "hardware", "the host's memory, in which the optimizer steps, is assumed to be read at %s; host=512GiB@400GB/s says it", rate)
	}
	tokens := m.Tokens()
	a.Step = trainingStep(&s, tokens)
	if n := int64(q.request.Tokens); n > 0 {
		a.Run = t.run(&s, tokens, n)
	}
}

func trainingStep(s *step.Step, tokens float64) *TrainingStep {
	out := &TrainingStep{Seconds: *rounded(s.Seconds.Mid), SecondsLow: *rounded(s.Seconds.Low), SecondsHigh: *rounded(s.Seconds.High), Tokens: tokens,
		PerDevice: *rounded(s.TokensPerDevice.Mid), Low: *rounded(s.TokensPerDevice.Low), High: *rounded(s.TokensPerDevice.High),
		TFLOPs: *rounded(s.TFLOPsPerDevice), MFU: *rounded(s.MFU), HFU: *rounded(s.HFU), Bound: s.Bound}
	for _, p := range s.Parts {
		out.Parts = append(out.Parts, StepPart{Name: identifier(p.Name), Seconds: *rounded(p.Seconds), Low: *rounded(p.Low), High: *rounded(p.High), Bound: p.Bound})
	}
	return out
}

func (t *training) step() (m *step.Model, s step.Step, err error) {
	p, err := t.paced(t.job.Training)
	if err != nil {
		return nil, s, err
	}
	return p.Model, p.Predict(), nil
}

// paced is a step of the plan, with settings of its own, and its coefficients.
func (t *training) paced(with *plan.Training) (*step.Predictor, error) {
	m, err := step.Compile(step.Input{Model: t.job.Model, Weights: t.job.Weights, Machine: t.job.Machine, Plan: t.job.Plan, Training: with})
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

// run is so many tokens at the pace of a step.
func (t *training) run(s *step.Step, perStep float64, tokens int64) *TrainingRun {
	steps := math.Ceil(float64(tokens) / perStep)
	days := s.Seconds.Times(steps / secondsPerDay)
	r := &TrainingRun{Tokens: tokens, Steps: steps, Seconds: *rounded(s.Seconds.Mid * steps), Days: *rounded(days.Mid), DaysLow: *rounded(days.Low), DaysHigh: *rounded(days.High)}
	m := t.job.Machine
	if len(m.Groups) != 1 {
		return r
	}
	d, n := &m.Groups[0].Device, m.Devices()
	if w := cost.Watts(d, cost.Load{Compute: s.HFU}); w.Known() {
		r.KWh = rounded(w.Mid * float64(n) * days.Mid * 24 / 1000)
	}
	if rent := t.q.asker.rentOf(m, n); rent.PerHour.Known() {
		r.USD = rounded(rent.PerHour.Mid * days.Mid * 24)
		r.Price = fmt.Sprintf("%s on demand: $%.2f an hour for %d, the middle of %d rows; %s", rent.Price.Provider, rent.PerHour.Mid, n, rent.Rows, rent.Date)
	}
	return r
}

// notes of the plan and of what trains.
func (t *training) notes() (out []Note) {
	out = t.q.notes()
	for _, n := range t.job.Notes {
		out = append(out, Note{Code: n.Code, Severity: n.Severity, Field: n.Field, Text: n.Text})
	}
	return out
}
