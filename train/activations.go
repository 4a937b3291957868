package train

import (
	"math"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/ledger"
)

// keptOf returns what one block keeps per token until its backward pass, if kept whole and if recomputed.
func (s *Sizer) keptOf(h *share, k *block) (whole, again float64) {
	if k.still {
		return 0, 0
	}
	whole, again = k.saved+k.scores*s.length, h.stream
	if recomputeOf(s.j).selective {
		again += k.products
	}
	return whole, min(again, max(whole, h.stream))
}

// again returns the recomputation of the layers of a class of ranks.
func (s *Sizer) again(h *share) recompute {
	return recomputeOf(s.j).in(h.layers, max(1, s.j.Training.VPP))
}

// kept books what all blocks keep of the micro-batches in flight.
func (f *filler) kept() ledger.Item {
	s, h := f.s, f.h
	r := s.again(h)
	n := keptIn(f, h.blocks, r, int64(h.pl.Stage))
	if len(h.facing) > 0 {
		n = f.b.Add(n, keptIn(f, h.facing, r, s.j.Plan.PP-1-int64(h.pl.Stage)))
	}
	place := ledger.Device
	id, name := "activations", "saved activations"
	if r.share == 1 {
		id, name = "checkpoints", "inputs of blocks"
		if s.j.offload().activations || s.j.Framework.Keep.Offloads && !r.selective {
			// the inputs of a few blocks are in transit
			n = f.b.Div(f.b.Mul(n, f.b.Lit(min(4, max(1, h.layers)))), f.b.In("blocks", max(1, h.layers), "model"))
		}
	}
	return ledger.Known(id, name, n, ledger.Derived, ledger.SemiPersistent, place, savedPage)
}

// keptIn books what the blocks of a stage keep of the micro-batches in flight there.
func keptIn(f *filler, blocks []block, r recompute, stage int64) ledger.Num {
	s, perToken := f.s, 0.0
	for i := range blocks {
		whole, again := s.keptOf(f.h, &blocks[i])
		perToken += blocks[i].count * (r.share*again/r.unit + (1-r.share)*whole)
	}
	n := f.b.Mul(f.tokens(), f.b.In("kept_per_token", perToken, "sum over operators of all blocks"))
	if p := s.j.Plan.PP; p > 1 {
		flight := inFlight(s.j.Training.Schedule, stage, p, max(1, s.j.Training.VPP), s.micro)
		n = f.b.Mul(n, f.b.In("in_flight", flight, "micro-batches of the schedule"))
	}
	return n
}

func (f *filler) tokens() ledger.Num {
	return f.b.In("tokens", f.s.tokens, "length × micro_batch of a rank")
}

// headKept books what the final norm and the head keep, on the last stage.
func (f *filler) headKept() ledger.Item {
	n := f.b.Mul(f.tokens(), f.b.In("head_per_token", f.h.head, "sum over operators of the head"))
	return ledger.Known("activations", "final norm and head", n, ledger.Derived, ledger.SemiPersistent, ledger.Device, savedPage)
}

// logits books the logits, their copies and gradients at the peak of the loss.
func (f *filler) logits() ledger.Item {
	c := f.s.loss
	if f.s.j.Teacher != nil && f.h.vocab > 0 && f.s.j.Training.Objective == "distill" {
		c += 4 // the teacher's, in fp32; scored answers need only one value per token
	}
	n := f.b.Mul(f.tokens(), f.b.In("vocabulary", f.h.vocab, "model, this rank"), f.b.In("loss_bytes", c, "framework"))
	if most := lossChunk(f); most < n.V {
		n = f.b.In("loss_chunk", most, "framework")
	}
	return ledger.Known("logits", "logits and loss", n, ledger.Derived, ledger.Ephemeral, ledger.Device, "docs/formulas.md#training-loss")
}

const headGradientsName = "gradients of the head"

// headGradients books the gradient of the head's matrix, which a chunked loss holds whole from its first chunk on.
func headGradients(f *filler) ledger.Item {
	j, n := f.s.j, f.b.Lit(0)
	heads := float64(engine.At(j.Framework.Loss, j.Version).Value.Heads)
	if heads > 0 && f.s.micro > 1 {
		heads-- // included in the gradients of earlier passes
	}
	if heads > 0 && on(j.Training.FusedLoss) && !j.Adapters() {
		n = f.b.Mul(f.b.In("vocabulary", f.h.vocab, "model, this rank"), f.b.In("width", float64(j.Model.Hidden), "model"), f.b.In("bytes", heads*f.s.store.Grad, "format"))
	}
	return ledger.Known("gradients", headGradientsName, n, ledger.Derived, ledger.Ephemeral, ledger.Device, "docs/formulas.md#training-loss")
}

// lossChunk returns the most that a chunked loss takes, in bytes.
func lossChunk(f *filler) float64 {
	l := engine.At(f.s.j.Framework.Loss, f.s.j.Version).Value
	if l.Most == 0 {
		return math.Inf(1)
	}
	free := math.Inf(1)
	if m := f.s.j.Machine; m != nil && len(m.Groups) > 0 {
		free = float64(m.Groups[0].Device.Usable.Value)
		for i := range f.base {
			free -= float64(f.base[i].Bytes)
		}
	}
	return max(0.5*gib, min(l.Most, free/2))
}

// working books the block with the largest backward pass, recomputed if it was not kept.
func (f *filler) working() ledger.Item {
	r := f.s.again(f.h)
	worst := 0.0
	for i := range f.h.blocks {
		k := &f.h.blocks[i]
		n := k.work
		if r.share > 0 {
			whole, _ := f.s.keptOf(f.h, k)
			n += r.unit * whole
			if k.saved > 0 {
				n -= f.entry(k)
			}
		}
		worst = max(worst, n)
	}
	n := f.b.Mul(f.tokens(), f.b.In("block_per_token", worst, "sum over operators of one block"))
	return ledger.Known("activations", "the block that is computed", n, ledger.Derived, ledger.Ephemeral, ledger.Device, savedPage)
}

// entry returns the stream entering a block if the block's own operators keep it too; it counts as a checkpoint.
func (f *filler) entry(k *block) float64 {
	if k.entry {
		return f.h.stream
	}
	return 0
}

// lastBlock books the stream entering the block whose backward pass is last, and if blocks are kept, all that the block
// keeps.
func (f *filler) lastBlock() ledger.Item {
	r := f.s.again(f.h)
	worst := 0.0
	for i := range f.h.blocks {
		if f.s.j.leaks() {
			break // included in what is not freed
		}
		whole, again := f.s.keptOf(f.h, &f.h.blocks[i])
		if r.share < 1 {
			again = whole
		}
		worst = max(worst, again)
	}
	n := f.b.Mul(f.tokens(), f.b.In("entry_per_token", worst, "width of the stream"))
	return ledger.Known("checkpoints", "input of the last block", n, ledger.Derived, ledger.SemiPersistent, ledger.Device, savedPage)
}

// leaked books what FSDP1 units without trained parameters fail to free: no hook frees the inputs of their blocks and
// the gradients between them before the pass ends (measured; the hook only reshards).
func (f *filler) leaked() ledger.Item {
	j := f.s.j
	n := f.b.Lit(0)
	if j.leaks() {
		n = f.b.Mul(f.tokens(), f.b.In("stream_per_token", f.h.stream, "width of the stream"), f.b.Sub(f.b.Mul(f.b.Lit(2), f.b.In("blocks", f.h.layers, "model")), f.b.Lit(2)))
	}
	return ledger.Known("checkpoints", "inputs and gradients of frozen units", n, ledger.Measured, ledger.SemiPersistent, ledger.Device, phasesPage)
}

// remade books weights computed in a pass and needed in its backward pass: in quantization-aware training, a
// dequantized copy per matmul for the gradient of its input, and a mask of one byte per weight for the weight's own
// (torchao/quantization/qat); and the matrices that adapters compute from their factors.
func (f *filler) remade() ledger.Item {
	j := f.s.j
	name, bytes, of := "weights that adapters make", float64(j.width()), func(k *block) float64 { return k.delta }
	if j.Training.Objective == "qat" {
		name, bytes, of = "weights of quantised values", 1+bytes, func(k *block) float64 { return k.numbers }
	}
	n := f.b.Lit(0)
	if sum := overBlocks(f.h.blocks, recomputeOf(j).share, of); sum > 0 && (j.Training.Objective == "qat" || j.Adapters()) {
		n = f.b.Mul(f.b.In("numbers", sum, "sum over blocks that are kept"), f.b.Lit(bytes))
	}
	return ledger.Known("workspace", name, n, ledger.Derived, ledger.SemiPersistent, ledger.Device, phasesPage)
}

// overBlocks sums over kept blocks, plus one recomputed block.
func overBlocks(blocks []block, again float64, of func(*block) float64) (sum float64) {
	for i := range blocks {
		sum += of(&blocks[i]) * (blocks[i].count*(1-again) + again)
	}
	return sum
}

// leaks reports whether inputs of frozen units stay until the pass ends.
func (j *Job) leaks() bool {
	return j.Training.Sharding == "fsdp" && j.Adapters() && recomputeOf(j).share == 1 && !j.gathersMixed()
}

// dequantised books the dequantized copy of a matmul's weights; if units are gathered, also that of the next.
func (f *filler) dequantised(phase string) ledger.Item {
	n := f.b.Lit(0)
	if f.s.j.quantised() {
		copies := 1.0
		if phase != "forward" && sharded(f.s.j.Training.Sharding) && loads(f.s.j) != stayWhole {
			copies = 2
		}
		n = f.b.Mul(f.b.In("largest_matrix", f.h.largest, "model"), f.b.Lit(copies*float64(f.s.j.width())))
	}
	if stack := stackBytes(f.s.j, f.h); stack > 0 {
		n = f.b.In("experts_of_a_block", stack, "model")
	}
	return ledger.Known("workspace", "dequantised weights", n, ledger.Derived, ledger.Ephemeral, ledger.Device, phasesPage)
}

// unit books what FSDP and ZeRO-3 gather: embedding and head throughout, and the active blocks plus the next.
func (f *filler) unit(phase string) ledger.Item {
	j, n := f.s.j, f.b.Lit(0)
	switch {
	case reducesWithin(j) && phase != "forward":
		return reducing(f)
	case !sharded(j.Training.Sharding):
	case j.Training.Sharding == "zero3" && !j.megatron():
		all := f.h.dense.trained - f.h.dense.lora + f.h.expert.trained + (f.h.dense.stored+f.h.expert.stored)/2
		live := f.b.Min(f.b.In("live", 1e9, "stage3_max_live_parameters"), f.b.In("parameters", all, "model"))
		n = f.b.Mul(live, f.b.In("bytes", f.s.store.Gathered, "format"))
	default:
		u := unitsAlive(j, phase)
		root, one := f.unitBytes()
		n = f.b.Add(f.b.Mul(f.b.Lit(u.roots+u.rootBuffers), f.b.In("root_unit", root, "embedding and head")),
			f.b.Mul(f.b.Lit(u.blocks+u.blockBuffers), f.b.In("block_unit", one, "largest block")))
	}
	return ledger.Known("workspace", "gathered parameters", n, ledger.Derived, ledger.Ephemeral, ledger.Device, "torch/distributed/fsdp; deepspeed/runtime/zero")
}

// reducing books the gradients of a block being computed, unsharded, and those of the previous one being reduced to
// shards (megatron_fsdp/param_and_grad_buffer.py: GradReducePipeline).
func reducing(f *filler) ledger.Item {
	most := largestEnd(f)
	for i := range f.h.blocks {
		most = max(most, f.h.blocks[i].numbers)
	}
	n := f.b.Mul(f.b.In("units", 2, "framework"), f.b.In("largest_block", most, "model"), f.b.In("bytes", f.s.store.Grad, "format"))
	return ledger.Known("workspace", "gradients that are reduced", n, ledger.Derived, ledger.Ephemeral, ledger.Device, phasesPage)
}

// units counts unsharded copies of embedding and head, and of the largest block, in units of their gathered size: as
// computed tensors, and as buffers they are gathered into.
type units struct{ roots, blocks, rootBuffers, blockBuffers float64 }

// unitsAlive returns the units alive in a phase. FSDP1 has those it computes with and the gradients of trained ones.
// FSDP2 copies each unit out of the buffer it was gathered into, gathers the next during compute, and holds a unit's
// reduce-scatter input, in the reduction format, until the next unit has its gradients. Embedding and head are units of
// their own, or belong to the root, which stays gathered with its gradients, those of the head being first. A stage
// that stays gathered also holds what its last pass reduces (torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py,
// _fsdp_param_group.py).
func unitsAlive(j *Job, phase string) units {
	second, apart, reduced := j.Training.Sharding == "fsdp2", j.Framework.Keep.EndsApart, 1.0
	if j.Framework.Keep.Reduces32 {
		reduced = 2
	}
	of := map[string]units{"forward": {1, 0, 0, 0}, "begins": {1, 2, 0, 0}, "ends": {2, 1, 0, 0}}
	switch {
	case j.gathersStage():
		of = map[string]units{"begins": {0, reduced, 0, 0}, "ends": {0, reduced, 0, 0}}
	case second && j.Adapters():
		of = map[string]units{"forward": {1, 0, 0, 1}, "begins": {1, 1, 0, 1}, "ends": {1, 1, 0, 1}}
	case j.Adapters():
		of = map[string]units{"forward": {1, 1, 0, 0}, "begins": {1, 1, 0, 0}, "ends": {1, 1, 0, 0}}
	case second && apart:
		of = map[string]units{"forward": {0.5, 0, 0.5, 0}, "begins": {0, 2 + reduced, 0, 1}, "ends": {1 + reduced/2, 0, 0.5, 0}}
	case second:
		of = map[string]units{"forward": {1, 0, 0, 1}, "begins": {1.5, 2 + reduced, 0, 1}, "ends": {2 + reduced, 0, 0, 0}}
	}
	return of[phase]
}

// unitBytes returns the gathered size of embedding and head together, and of the largest block.
func (f *filler) unitBytes() (root, one float64) {
	bytes := f.s.store.Gathered
	if f.s.j.Adapters() {
		root = f.h.endsStored
		for i := range f.h.blocks {
			one = max(one, f.h.blocks[i].stored)
		}
		if loads(f.s.j) == stayWhole {
			one = 0
		}
		return root, one
	}
	for i := range f.h.blocks {
		one = max(one, bytes*f.h.blocks[i].numbers)
	}
	return bytes * f.h.ends, one
}
