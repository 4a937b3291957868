package train

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/shard"
	"github.com/memwall/memwall/unit"
)

// Sizer sizes a job. It can be used repeatedly.
type Sizer struct {
	j      *Job
	store  Storage
	copies Storage // of modules fully trained alongside adapters
	opt    optimizer
	every  shards // over all data-parallel ranks
	expert shards // of experts, over fewer ranks
	tokens float64
	length float64
	// longest is the maximum length of a sequence if the length is assumed, else the length.
	longest float64
	micro   int64
	loss    float64
	ranks   []share
	frozen  []frozen
	critic  *Sizer // nil if none
}

// Compile computes what each class of ranks holds. Call Defaults and Check first.
func Compile(j *Job) (*Sizer, error) {
	if j.Weights == nil {
		w, err := j.base()
		if err != nil {
			return nil, err
		}
		j.Weights = w
	}
	p, t := j.Plan, j.Training
	groups := shard.Parallel{TP: p.TP, PP: p.PP, EP: p.EP, DP: p.DP, CP: p.CP, ETP: t.ETP, Stages: stagesOf(j)}.Normal()
	placed, err := engine.Place(j.Model.Decoder(), &j.Weights.Parts[0], groups)
	if err != nil {
		return nil, &plan.Problem{Field: "pp", Value: fmt.Sprint(p.PP), Message: err.Error(), Fix: "a pp that divides the layers"}
	}
	s := &Sizer{j: j, store: j.storage(), copies: j.copies(), opt: optimizers[t.Optimizer], loss: j.loss(), micro: max(1, int64(t.Accumulation)), length: float64(j.Sequence()), longest: float64(j.longest())}
	if tuners[t.Method].virtual {
		s.length, s.longest = s.length+float64(t.LoRARank), s.longest+float64(t.LoRARank)
	}
	s.every = j.shards(groups.DP * groups.CP)
	s.expert = j.shards(max(1, groups.DP*groups.CP*groups.TP/(groups.EP*max(1, j.expertTP()))))
	s.tokens = s.length * float64(max(1, t.MicroBatch)) * j.pairs() / float64(groups.CP)
	c := newCounter(j)
	s.ranks = make([]share, len(placed))
	for i := range placed {
		if vShaped(t.Schedule) {
			placed[i].Post = placed[i].Pre
		}
		s.ranks[i] = c.share(placed[i])
	}
	if p.PP > 1 && t.Schedule == "dualpipe" {
		s.ranks = facing(s.ranks)
	}
	if err = s.besides(groups); err != nil {
		return nil, err
	}
	err = s.addCritic()
	return s, err
}

// frozen is an auxiliary model: what a rank of each stage holds of it.
type frozen struct {
	name    string
	byStage []unit.Bytes
	layer   unit.Bytes // largest layer: ranks that shard the model gather one and the next
}

const teacher = "teacher"

// sharesOf returns the number of ranks that shard an auxiliary model: those that shard the trained one, or all or none
// as the teacher is configured.
func (s *Sizer) sharesOf(m *frozen) int64 {
	t := s.j.Training
	switch own := t.TeacherShards; {
	case m.name == teacher && own == "zero3":
		return s.j.Plan.DP
	case m.name == teacher && own == "none" || !sharded(t.Sharding):
		return 1
	}
	return s.every.weights
}

// besides places forward-only models like the trained one.
func (s *Sizer) besides(groups shard.Parallel) error {
	j := s.j
	for _, m := range []struct {
		name string
		of   *Frozen
	}{{"reference", j.Reference}, {"reward", j.Reward}, {teacher, j.Teacher}} {
		if m.of == nil {
			continue
		}
		w := m.of.Weights
		if w == nil {
			w = m.of.Model.Store(dtype.FindRecipe("bf16"))
		}
		placed, err := engine.Place(m.of.Model.Decoder(), &w.Parts[0], groups)
		if err != nil {
			return &plan.Problem{Field: m.name + "_model", Value: m.of.Model.ID, Message: err.Error(), Fix: "a model that the same groups can hold"}
		}
		f := frozen{name: m.name, byStage: make([]unit.Bytes, groups.PP)}
		for i := range placed {
			var n unit.Bytes
			for _, x := range placed[i].WeightSums() {
				n += x.Bytes * unit.Bytes(x.Count)
				f.layer = max(f.layer, x.Bytes)
			}
			f.byStage[placed[i].Stage] = max(f.byStage[placed[i].Stage], n)
		}
		s.frozen = append(s.frozen, f)
	}
	return nil
}

// expertTP returns the number of ranks that one expert is sharded over.
func (j *Job) expertTP() int64 {
	switch {
	case j.Training.ETP > 0:
		return j.Training.ETP
	case j.Plan.EP <= 1:
		return j.Plan.TP
	}
	return max(1, j.Plan.TP/j.Plan.EP)
}

// pairs returns the sequences per sample: a preference is a chosen and a rejected answer, run together; KTO learns from
// single answers.
func (j *Job) pairs() float64 {
	if j.Training.Objective == "dpo" && !j.Single && !on(j.Training.Packing) {
		return 2
	}
	return 1
}

// base returns how the base is stored: by the plan's recipe, else in 16 bits.
func (j *Job) base() (*model.Weights, error) {
	name := cmp.Or(j.Plan.Weights, "bf16")
	r := Recipe(j, name)
	if r == nil {
		return nil, &plan.Problem{Field: "weights", Value: name, Message: fmt.Sprintf("weights = %s is not a known format", name), Fix: "bf16, f32, nf4, bnb-int8 or gptq"}
	}
	return j.Model.Store(r), nil
}

// Size returns the ledger of each class of ranks, the largest first. A nil Book computes the same numbers without
// formulas.
func (s *Sizer) Size(b *ledger.Book) []Rank {
	out := make([]Rank, len(s.ranks))
	worst := 0
	for i := range s.ranks {
		out[i] = s.rank(b, &s.ranks[i])
		if out[i].Allocated.Mid > out[worst].Allocated.Mid {
			worst = i
		}
	}
	out[0], out[worst] = out[worst], out[0]
	return out
}

// Deciding returns the ledgers that verdicts need, the largest first, without formulas. Of stages that hold the same,
// only the first is included, which has the most micro-batches in flight.
func (s *Sizer) Deciding() []Rank {
	out, of := make([]Rank, 0, 4), make([]*share, 0, 4)
	worst := 0
	for i := range s.ranks {
		h := &s.ranks[i]
		if j := slices.IndexFunc(of, h.holds); j >= 0 && len(s.frozen) == 0 {
			out[j].Count += h.pl.Count
			continue
		}
		out, of = append(out, s.rank(nil, h)), append(of, h)
		if last := len(out) - 1; out[last].Allocated.Mid > out[worst].Allocated.Mid {
			worst = last
		}
	}
	out[0], out[worst] = out[worst], out[0]
	return out
}

func (s *Sizer) rank(b *ledger.Book, h *share) Rank {
	r := Rank{Index: h.pl.Index, Count: h.pl.Count, Stage: h.pl.Stage}
	s.device(b, &r)
	r.Phases = s.phases(b, h)
	top := r.top()
	s.figures(b, &r, h, top)
	if s.longest > s.length {
		s.reach(&r, h, top)
	}
	r.Host, r.Disk = s.offDevice(b, h)
	return r
}

// device sets the limiting device: the one with least memory, since all ranks of a class hold the same.
func (s *Sizer) device(b *ledger.Book, r *Rank) {
	m := s.j.Machine
	if m == nil || len(m.Groups) == 0 {
		r.Name, r.Unlimited = "a device without bounds", true
		return
	}
	d := &m.Groups[0].Device
	for i := range m.Groups {
		if x := &m.Groups[i].Device; x.Usable.Value < d.Usable.Value {
			d = x
		}
	}
	r.Name = d.Name
	capacity := d.Reported
	if !capacity.Known {
		capacity = d.Usable
	}
	r.Capacity, r.Usable = b.Size("capacity", capacity.Value, "driver"), b.Size("device_total", d.Usable.Value, d.Usable.Source)
	r.Usable = engine.Unreserved(b, s.j.Plan, r.Usable)
}

// top sets and returns the phase that holds most.
func (r *Rank) top() (top ledger.Total) {
	for i := range r.Phases {
		if t := r.Phases[i].Total(); i == 0 || t.Bytes > top.Bytes {
			r.Peak, top = i, t
		}
	}
	return top
}

// stretched returns a sizer for sequences of maximum length.
func (s *Sizer) stretched() *Sizer {
	full := *s
	full.tokens, full.length = s.tokens*s.longest/s.length, s.longest
	if s.critic != nil {
		full.critic = s.critic.stretched()
	}
	return &full
}

// reach widens a rank's bands to sequences of maximum length if the length is assumed.
func (s *Sizer) reach(r *Rank, h *share, top ledger.Total) {
	at := Rank{Phases: s.stretched().phases(nil, h)}
	more := at.top().Bytes - top.Bytes
	for _, e := range []*Estimate{&r.Allocated, &r.Reserved, &r.SMI} {
		e.High += float64(more)
	}
	last := &r.Needed[len(r.Needed)-1]
	*last = last.Band(last.Low, last.High+more)
}
