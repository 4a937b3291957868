package train

import "math"

// Storage is how a trained parameter is kept, in bytes: the compute weight, an fp32 master copy, the gradient, and each
// optimizer moment.
type Storage struct {
	Weight, Master, Grad, Moment float64
	// Gathered is the bytes per weight of a shard while gathered; Cast is what autocast keeps per weight during forward.
	Gathered, Cast float64
	// Stepping is the additional bytes per gradient if the optimizer steps on fp32 copies.
	Stepping float64
	// GradsKept keeps gradients from step to step, in dedicated buffers.
	GradsKept bool
	// Bucket is the maximum number of gradients copied for reduction; 0 for none.
	Bucket, BucketBytes float64
}

// storage returns how trained parameters are kept. Sources: ZeRO (arXiv:1910.02054); megatron/core/optimizer (bf16
// weights, fp32 gradients, masters and moments); torch FSDP2 (fp32 shards, gathered in 16 bits); accelerate, which
// makes shards fp32 under mixed precision; measured runs where code says little (docs/formulas.md#training-states).
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
	case t.ZeROStage() > 0: // its partitions are fp32 copies whatever the weights' format (deepspeed/runtime/zero)
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
	return Storage{Weight: 2, Grad: 2, Moment: 2, Gathered: 2} // autocast over weights loaded in 16 bits
}

// megatronStorage returns Megatron's storage. Gradients accumulate in fp32 unless weights are fp16 or the run says
// bf16; the optimizer then steps on fp32 copies (megatron/core/optimizer/distrib_optimizer.py:
// _copy_model_grads_to_main_grads). The precision-aware optimizer keeps moments in the requested format, steps on
// gradients as they are, and of masters keeps the 16 bits that bf16 weights lack (optimizer_config.py:
// store_param_remainders), unless an fp8 recipe is named, as megatron-bridge always does (mixed_precision.py).
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

// adapterStorage returns the storage of adapters: fp32 in peft (autocast_adapter_dtype), the model's format in others.
func (j *Job) adapterStorage() Storage {
	if j.adapters16() {
		return Storage{Weight: 2, Grad: 2, Moment: 2, Gathered: 2}
	}
	return Storage{Weight: 4, Grad: 4, Moment: 4, Gathered: 4}
}

// copies returns the storage of modules fully trained alongside adapters: peft leaves them in the model's format when
// it makes adapters fp32 (peft/utils/other.py, ModulesToSaveWrapper).
func (j *Job) copies() Storage {
	s := j.storage()
	if j.Adapters() && s.Master == 0 && s.Weight == 4 && !j.wide() {
		return Storage{Weight: 2, Grad: 2, Moment: 2, Gathered: 2}
	}
	return s
}

// sharded reports whether the parameters themselves are sharded over data-parallel ranks.
func sharded(sharding string) bool {
	switch sharding {
	case "zero3", "fsdp", "fsdp2", "hsdp":
		return true
	}
	return false
}

// shards is the number of ranks that weights, gradients and optimizer states are sharded over.
type shards struct{ weights, grads, states int64 }

// shards returns the sharding over a group of n data-parallel ranks.
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

// optimizer is what an optimizer keeps per parameter, and its temporary memory during a step.
type optimizer struct {
	// Moments in the storage's format, and Fixed bytes whatever the format.
	Moments, Fixed float64
	// Step is a temporary copy during the step, in the moments' format (torch's foreach implementation).
	Step float64
	// Paged states are in memory that the driver may move to the host.
	Paged bool
	// By says which states depend on a matrix's shape.
	By byShape
	// Block is the block size along a side that square matrices are kept for; sides longer than Widest have none. 0
	// means unbounded.
	Block, Widest float64
}

type byShape uint8

const (
	everyNumber    byShape = iota
	factored               // adafactor: an fp32 row and column instead of a matrix (arXiv:1804.04235)
	orthogonal             // muon: one moment for matrices of blocks, two otherwise (Jordan et al. 2024)
	projected              // galore: low-rank moments and a projection (arXiv:2403.03507)
	preconditioned         // shampoo, soap: square matrices for a matrix's sides
	byRow                  // row-wise adagrad: one fp32 value per row, updated with its gradient
)

// eightBit is two one-byte codes, with an fp32 scale per 256 (arXiv:2110.02861).
const eightBit = 2 * (1 + 4.0/256)

// fourBit is two half-byte codes, with an fp32 scale per 128 (torchao/optim/subclass_4bit.py, adam.py: block_size).
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
	// a moment, the grafted method's, and a factor with its inverse root per side of a block (arXiv:1802.09568;
	// facebookresearch/optimizers: DistributedShampoo, max_preconditioner_dim)
	"shampoo": {Moments: 2, Step: 1, By: preconditioned, Block: 1024},
	// a factor and its eigenvectors per side (arXiv:2409.11321; nikhilvyas/SOAP: soap.py, max_precond_dim)
	"soap": {Moments: 2, By: preconditioned, Widest: 10000},
	// the base point replaces the first moment (arXiv:2405.15682; facebookresearch/schedule_free: adamw_schedulefree.py)
	"schedule-free-adamw": {Moments: 2, Step: 1},
	// initial weights and a sum of steps in addition to two moments (arXiv:2306.06101; konstmish/prodigy)
	"prodigy": {Moments: 4},
}

// squares returns the elements of the square matrices kept for a matrix: two per side of each block.
func (o *optimizer) squares(rows, cols float64) float64 {
	return 2 * (o.side(rows, cols) + o.side(cols, rows))
}

// side returns the elements of one square matrix per side for each block of the other side.
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

// galoreRank is GaLore's default rank (its published recipes).
const galoreRank = 128
