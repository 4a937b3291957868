package train

import (
	"github.com/memwall/memwall/ledger"
)

// phases returns the phases of a step on a rank:
//
//	forward and loss    activations of every micro-batch in flight, and logits with their loss
//	backward, begins    the same without the loss, and the first block to compute gradients
//	backward, ends      all gradients, and the last block
//	optimizer step      all gradients, and temporary memory of the optimizer
//
// The peak is the largest phase, never the sum of all terms (docs/formulas.md#training-phases).
func (s *Sizer) phases(b *ledger.Book, h *share) []Phase {
	f := &filler{s: s, h: h, b: b}
	f.resident()
	engine := f.rollout()
	ph := append(f.learning(s.criticOn(b, h.pl.Stage)), loadingPhase(f)...)
	if engine.Bytes > 0 && on(s.j.Training.Rollout.Sleep) {
		if trainerAway(s.j.Training.Rollout) {
			f.base = nil
		}
		ph = append(ph, f.with("rollout", false, engine))
	}
	return ph
}

// learning returns the phases in which weights are updated: of the policy alone, or with its critic.
func (f *filler) learning(critic *filler) []Phase {
	if critic == nil {
		return f.four()
	}
	critic.resident()
	if f.s.j.Framework.WithCritic {
		return f.together(critic)
	}
	return f.inTurn(critic)
}

// four returns the phases of one model's step.
func (f *filler) four() []Phase {
	return append(make([]Phase, 0, 10), f.forward(), f.begins(), f.ends(), f.step())
}

// filler books the phases of one rank.
type filler struct {
	s *Sizer
	h *share
	b *ledger.Book
	// base is allocated throughout; grads are all gradients.
	base  []ledger.Item
	grads ledger.Item
	// role names an auxiliary model; "" for the trained one.
	role string
}

const (
	statesPage = "docs/formulas.md#training-states"
	phasesPage = "docs/formulas.md#training-phases"
	savedPage  = "docs/formulas.md#saved-activations"
)

// part books a count of values sharded over ranks, at the given bytes each.
func (f *filler) part(name string, count, bytes float64, ranks int64) ledger.Num {
	n := f.b.Mul(f.b.In(name, count, "sum over tensors, this rank"), f.b.In("bytes", bytes, "format"))
	if ranks > 1 {
		n = f.b.Div(n, f.b.Int("shards", ranks, "data-parallel ranks"))
	}
	return n
}

// both books dense and expert values at the given bytes each.
func (f *filler) both(name string, count func(*numbers) float64, bytes float64, ranks func(shards) int64) ledger.Num {
	n := f.part(name, count(&f.h.dense), bytes, ranks(f.s.every))
	if x := count(&f.h.expert); x > 0 {
		n = f.b.Add(n, f.part("expert_"+name, x, bytes, ranks(f.s.expert)))
	}
	return n
}

// trainedBytes books what is trained at the bytes of its storage: adapters and fully trained modules each at their own.
func (f *filler) trainedBytes(of func(*Storage) float64, ranks func(shards) int64) ledger.Num {
	return f.countedBytes(trained, of, ranks)
}

// countedBytes is trainedBytes for other counts.
func (f *filler) countedBytes(count func(*numbers) float64, of func(*Storage) float64, ranks func(shards) int64) ledger.Num {
	s := f.s
	if a, b := of(&s.copies), of(&s.store); a != b && full(&f.h.dense) > 0 {
		return f.b.Add(f.both("modules_to_save", full, a, ranks), f.both("adapter_parameters", lora, b, ranks))
	}
	return f.both("parameters", count, of(&s.store), ranks)
}

func grad(s *Storage) float64   { return s.Grad }
func weight(s *Storage) float64 { return s.Weight }
func master(s *Storage) float64 { return s.Master }
func moment(s *Storage) float64 { return s.Moment }

func trained(n *numbers) float64   { return n.trained }
func graded(n *numbers) float64    { return n.trained - n.fused }
func full(n *numbers) float64      { return n.trained - n.lora }
func lora(n *numbers) float64      { return n.lora }
func states(n *numbers) float64    { return n.states }
func stored(n *numbers) float64    { return n.stored }
func ofWeights(s shards) int64     { return s.weights }
func ofGrads(s shards) int64       { return s.grads }
func ofStates(s shards) int64      { return s.states }
func notShared(shards) int64       { return 1 }
func (f *filler) hasTrained() bool { return f.h.dense.trained+f.h.expert.trained > 0 }

func (f *filler) keep(id, name string, n ledger.Num, basis ledger.Basis, source string) {
	if n.V > 0 {
		f.base = append(f.base, f.called(ledger.Known(id, name, n, basis, ledger.Persistent, ledger.Device, source)))
	}
}

// untrained names the tensors that are not trained. If nothing is frozen, they are tables that nobody learns, such as
// rotary factors: PyTorch's buffers.
func untrained(j *Job) string {
	if j.adapts() == nil && len(j.Training.Frozen) == 0 && j.Training.Thawed == "" {
		return "buffers"
	}
	return "frozen weights"
}

// resident books what is allocated throughout: parameters, masters and optimizer states.
func (f *filler) resident() {
	f.base = make([]ledger.Item, 0, 12)
	st, off := &f.s.store, f.s.j.offload()
	if !off.params {
		f.keep("weights", untrained(f.s.j), frozenWeights(f), ledger.Exact, statesPage)
		f.keep("weights", "weights", f.both("parameters", full, f.s.copies.Weight, ofWeights), ledger.Exact, statesPage)
		f.keep("lora", "adapters", f.both("adapter_parameters", lora, st.Weight, ofWeights), ledger.Exact, statesPage)
	}
	if !off.optimizer {
		f.keep("master_weights", "fp32 copies", f.trainedBytes(master, ofStates), ledger.Exact, statesPage)
		if !f.s.opt.Paged {
			f.keep("optimizer", "optimizer states", f.both("state_bytes", states, 1, ofStates), ledger.Exact, statesPage)
		}
	}
	f.bookFrozen()
	bookEncoders(f)
	if w := f.s.j.Framework.Workspace; w > 0 {
		f.keep("workspace", "workspaces of the framework", f.b.In("workspace", w, "measured"), ledger.Measured, phasesPage)
	}
	if st.Bucket > 0 && f.hasTrained() {
		n := f.b.Mul(f.b.In("bucket", min(st.Bucket, f.h.dense.trained+f.h.expert.trained), "reduce_bucket_size"), f.b.In("bytes", st.BucketBytes, "format"))
		f.keep("collectives", "bucket of gradients", n, ledger.Derived, statesPage)
	}
	if f.s.j.Training.Sharding == "ddp" && f.s.every.grads == 1 && f.s.j.Plan.DP > 1 && !st.GradsKept {
		f.keep("collectives", "buckets of gradients", f.countedBytes(graded, grad, notShared), ledger.Derived, "torch/nn/parallel/distributed.py: gradient_as_bucket_view is off")
	}
	if engine := f.rollout(); engine.Bytes > 0 && !on(f.s.j.Training.Rollout.Sleep) {
		f.base = append(f.base, engine)
	}
	f.gathered()
	f.gradients()
}

// bookFrozen books forward-only models, sharded like the trained parameters.
func (f *filler) bookFrozen() {
	for i := range f.s.frozen {
		m := &f.s.frozen[i]
		n := f.b.Size(m.name+"_bytes", m.byStage[f.h.pl.Stage], "sum over tensors, this rank")
		if shards := f.s.sharesOf(m); shards > 1 {
			n = f.b.Div(n, f.b.Int("shards", shards, "data-parallel ranks"))
		}
		f.keep(m.name+".weights", m.name+" model", n, ledger.Derived, phasesPage)
		if m.name == teacher && f.s.j.Training.TeacherShards == "zero3" && f.s.j.Plan.DP > 1 {
			two := f.b.Mul(f.b.Lit(2), f.b.Size("layer", m.layer, "the largest of the teacher"))
			f.keep(m.name+".workspace", "teacher's layers that are gathered", two, ledger.Derived, phasesPage)
		}
	}
}

func (f *filler) gradients() {
	st := &f.s.store
	n := f.countedBytes(graded, grad, ofGrads)
	if f.gradsWhole() {
		n = f.countedBytes(graded, grad, notShared)
	}
	if off := f.s.j.offload(); off.optimizer && f.s.j.Training.ZeROStage() > 1 || off.params {
		n = f.b.Lit(0) // offloaded as they are computed
	} else if on(f.s.j.Training.InBackward) {
		n = f.b.Mul(f.b.In("largest_block", f.largestTrained(), "model"), f.b.In("bytes", st.Grad, "format"))
	}
	f.grads = f.called(ledger.Known("gradients", "gradients", n, ledger.Exact, ledger.SemiPersistent, ledger.Device, statesPage))
	if st.GradsKept && f.grads.Bytes > 0 {
		f.base = append(f.base, f.grads)
		f.grads = ledger.Item{}
	}
}

// largestTrained returns how many gradients are alive at once if the optimizer steps on each when computed: those of a
// block, or of embedding or head.
func (f *filler) largestTrained() float64 {
	most := largestEnd(f)
	for i := range f.h.blocks {
		most = max(most, f.h.blocks[i].numbers)
	}
	return min(most, f.h.dense.trained+f.h.expert.trained)
}

// largestEnd returns the parameters of embedding or head, whichever is larger.
func largestEnd(f *filler) float64 {
	if f.s.j.Model.Tied && !f.s.j.Framework.Keep.OwnHead {
		return f.h.ends
	}
	return f.h.ends / 2
}

// gradsWhole reports whether gradients are unsharded: FSDP1 does not reduce in passes before the last of a step
// (torch/distributed/fsdp, no_sync), and FSDP2 with a pipeline gathers once for all micro-batches.
func (f *filler) gradsWhole() bool {
	j := f.s.j
	return j.Training.Sharding == "fsdp" && f.s.micro > 1 && j.Plan.PP == 1 || j.gathersStage()
}

// gathersStage reports whether a stage's parameters stay gathered across micro-batches, as in torchtitan.
func (j *Job) gathersStage() bool { return j.Training.Sharding == "fsdp2" && j.Plan.PP > 1 }

// gathered books parameters that stay gathered: those of a pipeline stage, and of FSDP units that mix frozen and
// trained tensors (litgpt).
func (f *filler) gathered() {
	j := f.s.j
	switch {
	case j.gathersStage():
		f.keep("workspace", "parameters of the stage, gathered", f.both("parameters", trained, f.s.store.Gathered, notShared), ledger.Derived, phasesPage)
	case j.gathersMixed():
		f.keep("workspace", "parameters of units that train in part, gathered", f.both("frozen_bytes", stored, 1, notShared), ledger.Measured, phasesPage)
	}
}

// gathersMixed reports whether units with both frozen and trained tensors stay gathered (FSDP with use_orig_params
// under litgpt; measured).
func (j *Job) gathersMixed() bool {
	return j.Framework.Name == "litgpt" && sharded(j.Training.Sharding) && j.Adapters()
}

// with returns a phase with the base, all gradients if alive, and its own items.
func (f *filler) with(name string, grads bool, own ...ledger.Item) Phase {
	p := Phase{Name: name, Items: make([]ledger.Item, 0, len(f.base)+len(own)+1)}
	p.Items = append(p.Items, f.base...)
	if grads {
		p.add(f.grads)
	}
	for i := range own {
		p.add(f.called(own[i]))
	}
	return p
}

func (f *filler) forward() Phase {
	return f.with("forward and loss", f.s.micro > 1, f.kept(), f.headKept(), f.logits(), headGradients(f), f.cast(), castHead(f), f.unit("forward"), f.dequantised("forward"), f.remade())
}

func (f *filler) begins() Phase {
	return f.with("backward, begins", f.s.micro > 1, f.kept(), f.working(), f.cast(), f.unit("begins"), f.dequantised("backward"), f.remade(), passedOn(f))
}

func (f *filler) ends() Phase {
	own := []ledger.Item{f.lastBlock(), f.leaked(), f.working(), f.unit("ends"), f.dequantised("backward"), passedOn(f)}
	if on(f.s.j.Training.InBackward) {
		own = append(own, f.stepping())
	}
	return f.with("backward, ends", true, own...)
}

func (f *filler) step() Phase {
	return f.with("optimizer step", true, f.stepping())
}

// stepping books the optimizer's temporary memory: for torch's foreach implementation a copy of all second moments, for
// an 8-bit Adam that widens them both moments of a tensor.
func (f *filler) stepping() ledger.Item {
	s := f.s
	n := f.b.Mul(f.b.In("step_copies", s.opt.Step, "optimizer"), f.countedBytes(graded, moment, ofStates))
	if s.store.Stepping > 0 {
		n = f.b.Add(n, f.both("parameters", trained, s.store.Stepping, ofStates))
	}
	if s.opt.By == factored || s.opt.By == orthogonal || s.opt.Widest > 0 {
		n = f.b.Mul(f.b.In("largest_matrix", f.h.largest, "model"), f.b.Lit(3*4))
	}
	if s.j.offload().optimizer || on(s.j.Training.InBackward) {
		n = f.b.Lit(0) // one tensor at a time
	}
	if s.opt.Fixed == eightBit && s.j.Framework.Keep.WidensMoments {
		n = f.b.Mul(f.b.In("largest_tensor", max(f.h.largest, largestEnd(f)), "model"), f.b.Lit(2*4))
	}
	return ledger.Known("workspace", "copies of the optimizer step", n, ledger.Derived, ledger.Ephemeral, ledger.Device, "torch/optim/adamw.py: _foreach_sqrt")
}

// castHead books the 16-bit copy of a head that the base keeps in fp32.
func castHead(f *filler) ledger.Item {
	n := f.b.Lit(0)
	if endsWide(f.s.j) && f.h.vocab > 0 {
		n = f.b.Mul(f.b.In("vocabulary", f.h.vocab, "model, this rank"), f.b.In("width", float64(f.s.j.Model.Hidden), "model"), f.b.Lit(2))
	}
	return ledger.Known("workspace", "16-bit copy of the head", n, ledger.Derived, ledger.SemiPersistent, ledger.Device, "torch/amp/autocast_mode.py")
}

// cast books the 16-bit copies of fp32 weights that autocast keeps during the forward pass.
func (f *filler) cast() ledger.Item {
	n := f.both("parameters", full, f.s.store.Cast, ofWeights)
	return ledger.Known("workspace", "16-bit copies of autocast", n, ledger.Derived, ledger.SemiPersistent, ledger.Device, "torch/amp/autocast_mode.py")
}
