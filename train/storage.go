package train

import "math"

// Storage is what a trained parameter is kept in, in bytes: the weight that is computed with, a master copy in fp32, the
// gradient, and each moment of an optimizer.
type Storage struct {
	Weight, Master, Grad, Moment float64
	// Gathered is what a shard's weight is in while it is used, and Cast what autocast keeps of a weight during forward.
	Gathered, Cast float64
	// Stepping is what gradients take more while the optimizer steps on copies of them in fp32.
	Stepping float64
	// GradsKept: gradients live from step to step, in buffers of their own.
	GradsKept bool
	// Bucket counts gradients that are copied to be reduced, at most; 0 for none.
	Bucket, BucketBytes float64
}

// storage of the parameters that train. Sources: ZeRO (arXiv:1910.02054); megatron/core/optimizer (bf16 weights, fp32
// gradients, masters and moments); torch FSDP2 (fp32 shards, gathered in 16 bits); accelerate, which makes shards fp32
// under mixed precision; measured runs where code says little (docs/formulas.md#training-states).
func (j *Job) storage() Storage {
	t := j.Training
	ownBuffers := j.megatron() || j.Framework.Name == "megatron-deepspeed"
	if j.wide() && (ownBuffers || t.ZeROStage() == 0) {
		return Storage{Weight: 4, Grad: 4, Moment: 4, Gathered: 4, GradsKept: ownBuffers}
	}
	switch {
	case j.megatron():
		return megatronStorage(j)
	case j.Framework.Name == "megatron-deepspeed":
		return Storage{Weight: 2, Master: 8, Grad: 2, Moment: 4, Gathered: 2, GradsKept: true, Bucket: 5e8, BucketBytes: 4}
	}
	switch {
	case t.ZeROStage() > 0: // its partitions are copies in fp32 whatever the weights are in (deepspeed/runtime/zero)
		w := float64(j.width())
		return Storage{Weight: w, Master: 4, Grad: w, Moment: 4, Gathered: w, Stepping: 4 - w, GradsKept: true, Bucket: 5e8, BucketBytes: w}
	case j.Adapters():
		return j.adapterStorage()
	case t.Precision == "bf16" || t.Sharding == "fsdp2" && j.Framework.Keep.Shards16:
		return Storage{Weight: 2, Grad: 2, Moment: 2, Gathered: 2}
	case sharded(t.Sharding):
		return Storage{Weight: 4, Grad: 4, Moment: 4, Gathered: 2}
	case t.Precision == "fp16-mixed" || j.Plan.Weights == "f32":
		return Storage{Weight: 4, Grad: 4, Moment: 4, Gathered: 4, Cast: 2}
	}
	return Storage{Weight: 2, Grad: 2, Moment: 2, Gathered: 2} // autocast over weights that were loaded in 16 bits
}

// megatronStorage: gradients add up in fp32 unless weights are fp16 or the run says bf16; then the optimizer steps on copies in
// fp32 (megatron/core/optimizer/distrib_optimizer.py: _copy_model_grads_to_main_grads). The precision-aware optimizer keeps moments
// in what it is told, steps on gradients as they are, and of masters keeps the 16 bits that bf16 weights lack
// (optimizer_config.py: store_param_remainders), unless a recipe of fp8 is named, as megatron-bridge always does (mixed_precision.py).
func megatronStorage(j *Job) Storage {
	t := j.Training
	s := Storage{Weight: 2, Master: 4, Grad: 4, Moment: 4, Gathered: 2, GradsKept: true}
	if t.GradDtype == "bf16" || t.Precision == "fp16-mixed" {
		s.Grad, s.Stepping = 2, 4
	}
	switch t.MomentDtype {
	case "bf16":
		s.Moment = 2
	case "fp8":
		s.Moment = 1
	}
	if s.Moment < 4 && t.Precision == "bf16-mixed" && j.Framework.Name != "megatron-bridge" {
		s.Master, s.Stepping = 2, 0
	}
	return s
}

// adapterStorage: peft keeps adapters in fp32 (autocast_adapter_dtype), others in the model's format.
func (j *Job) adapterStorage() Storage {
	if j.adapters16() {
		return Storage{Weight: 2, Grad: 2, Moment: 2, Gathered: 2}
	}
	return Storage{Weight: 4, Grad: 4, Moment: 4, Gathered: 4}
}

// copies is what modules are kept in that train in full beside adapters: peft leaves them in the model's format when it
// makes adapters fp32 (peft/utils/other.py, ModulesToSaveWrapper).
func (j *Job) copies() Storage {
	s := j.storage()
	if j.Adapters() && s.Master == 0 && s.Weight == 4 && !j.wide() {
		return Storage{Weight: 2, Grad: 2, Moment: 2, Gathered: 2}
	}
	return s
}

// sharded reports whether parameters themselves are shared by data-parallel ranks.
func sharded(sharding string) bool {
	switch sharding {
	case "zero3", "fsdp", "fsdp2", "hsdp":
		return true
	}
	return false
}

// shards are how many ranks share weights, gradients and states of optimizer.
type shards struct{ weights, grads, states int64 }

// shards of a group of n data-parallel ranks.
func (j *Job) shards(n int64) shards {
	switch s := j.Training.Sharding; {
	case s == "hsdp":
		n = min(n, max(1, j.PerNode()/max(1, j.Plan.TP*j.Plan.PP)))
		return shards{n, n, n}
	case sharded(s):
		return shards{n, n, n}
	case s == "zero2":
		return shards{1, n, n}
	case s == "zero1":
		return shards{1, 1, n}
	}
	return shards{1, 1, 1}
}

// optimizer is what an optimizer keeps for a parameter and what its step takes for a while.
type optimizer struct {
	// Moments of the storage's format; Fixed bytes besides, whatever the format.
	Moments, Fixed float64
	// Step is a copy that lives while it steps, in the moments' format (torch's foreach implementation).
	Step float64
	// Paged: states lie in memory that the driver may move to the host.
	Paged bool
	// By says what depends on the shape of a matrix.
	By byShape
	// Block cuts a side that square matrices are kept for, and a side of more than Widest has none; 0 for no such bound.
	Block, Widest float64
}

type byShape uint8

const (
	everyNumber    byShape = iota
	factored               // adafactor: a row and a column of fp32 in place of a matrix (arXiv:1804.04235)
	orthogonal             // muon: one moment for matrices of blocks, two for all else (Jordan et al. 2024)
	projected              // galore: moments of a low rank, and the projection (arXiv:2403.03507)
	preconditioned         // shampoo, soap: square matrices for the sides of a matrix
	byRow                  // row-wise adagrad: one number in fp32 for a row of a table, updated as its gradient comes
)

// eightBit: two codes of a byte and an fp32 scale for 256 numbers each (arXiv:2110.02861).
const eightBit = 2 * (1 + 4.0/256)

// fourBit: two codes of half a byte and an fp32 scale for 128 numbers each (torchao/optim/subclass_4bit.py, adam.py: block_size).
const fourBit = 2 * (0.5 + 4.0/128)

var optimizers = map[string]optimizer{
	"adamw":            {Moments: 2, Step: 1},
	"adamw-fused":      {Moments: 2},
	"adamw-8bit":       {Fixed: eightBit},
	"adamw-4bit":       {Fixed: fourBit},
	"paged-adamw-8bit": {Fixed: eightBit, Paged: true},
	"paged-adamw":      {Fixed: 8, Paged: true},
	"adafactor":        {By: factored},
	"muon":             {By: orthogonal},
	"lion":             {Moments: 1},
	"sgd":              {},
	"galore":           {By: projected},
	"adagrad":          {Moments: 1, Step: 1},
	"rowwise-adagrad":  {Moments: 1, Step: 1, By: byRow},
	// a moment, the grafted method's, and a factor with its inverse root for each side of a block (arXiv:1802.09568;
	// facebookresearch/optimizers: DistributedShampoo, max_preconditioner_dim)
	"shampoo": {Moments: 2, Step: 1, By: preconditioned, Block: 1024},
	// a factor and its eigenvectors for each side (arXiv:2409.11321; nikhilvyas/SOAP: soap.py, max_precond_dim)
	"soap": {Moments: 2, By: preconditioned, Widest: 10000},
	// the base point in place of the first moment (arXiv:2405.15682; facebookresearch/schedule_free: adamw_schedulefree.py)
	"schedule-free-adamw": {Moments: 2, Step: 1},
	// where training began and a sum of steps beside two moments (arXiv:2306.06101; konstmish/prodigy)
	"prodigy": {Moments: 4},
}

// squares are the numbers of the square matrices that are kept for a matrix: two for each side of each of its blocks.
func (o *optimizer) squares(rows, cols float64) float64 {
	return 2 * (o.side(rows, cols) + o.side(cols, rows))
}

// side is the numbers of one square matrix of a side for each block of the other one.
func (o *optimizer) side(n, other float64) float64 {
	b, blocks := n, 1.0
	switch {
	case o.Widest > 0 && n > o.Widest:
		return 0
	case o.Block > 0:
		b, blocks = min(n, o.Block), math.Ceil(other/o.Block)
	}
	whole := math.Floor(n / b)
	rest := n - whole*b
	return blocks * (whole*b*b + rest*rest)
}

// galoreRank is what GaLore projects to when nothing is said (its published recipes).
const galoreRank = 128
