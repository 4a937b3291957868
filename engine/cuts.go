package engine

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/shard"
)

// Constraints that kernels for quantized matrices put on tensor parallelism: if a matrix is sharded along its inputs,
// each shard must hold whole scale blocks. Sharding along outputs is free (linear.py of vLLM,
// _maybe_allow_fp8_block_shape_mismatch), except for experts, whose gate and up are as wide as the input of down.
//
//   - FP8 with scales of 128 × 128: vllm/model_executor/layers/quantization/utils/fp8_utils.py, validate_fp8_block_shape, and
//     fp8.py, Fp8MoEMethod.create_weights ("The output_size of gate's and up's weight = … is not divisible by weight
//     quantization block_n"), 0.8 to 0.25; sglang/srt/layers/quantization/fp8.py says the same.
//   - GPTQ, AWQ and packed integers: utils/marlin_utils.py, verify_marlin_supports_shape; awq.py, "The input size is not aligned
//     with the quantized weight shape"; experts take groups down to 32 (moe_wna16.py).
//   - NVFP4: modelopt.py, "in features size is not multiple of 16". MXFP4 is padded.

// inputBlock returns the number of inputs that a shard of a matrix must be a multiple of; 1 if unconstrained.
func inputBlock(s *dtype.Scheme, expert bool) int64 {
	const least = 32
	way, _, _ := strings.Cut(s.Name, "-")
	for _, c := range s.With {
		switch {
		case c.Cols <= 1:
		case c.Rows > 1 || s == dtype.NVFP4Split:
			return c.Cols
		case way == "packed" && expert:
			return 1
		case way == "gptq" || way == "awq" || way == "packed":
			if expert {
				return min(least, c.Cols)
			}
			return c.Cols
		}
	}
	return 1
}

// brokenBlock is a matrix whose shards do not hold whole blocks.
type brokenBlock struct {
	role             dtype.Role
	inputs, part, of int64
}

// broken returns the first decoder matrix whose blocks the plan splits; nil if none.
func broken(j *Job, p shard.Parallel) *brokenBlock {
	if j.Weights == nil || p.TP <= 1 {
		return nil
	}
	part, w := j.Model.Decoder(), &j.Weights.Parts[0]
	for _, v := range w.Variants {
		i := 0
		for o := range part.Kinds[v.Kind].Ops {
			op := &part.Kinds[v.Kind].Ops[o]
			if op.Lent {
				continue
			}
			for _, t := range op.W {
				if b := brokenIn(t, v.Tensors[i].Scheme, &p); b != nil {
					return b
				}
				i++
			}
		}
	}
	return nil
}

func brokenIn(t *model.Tensor, s *dtype.Scheme, p *shard.Parallel) *brokenBlock {
	if s == nil || t.ColsBy == model.Whole || t.Bias {
		return nil
	}
	block := inputBlock(s, t.BatchBy == model.ByExpert)
	if s == dtype.FP8Block && strings.HasSuffix(string(t.Role), "_shexp") {
		return nil // some models replicate shared experts or keep them in 16 bits: Step-3.7-Flash-FP8 runs with 160 of 1,280 on a rank
	}
	mine := p.Piece(t, p.Coord(0)).Cols
	if mine == t.Cols || mine%block == 0 {
		return nil
	}
	// vendors pad a width that no two ranks could share: Qwen2.5-72B-Instruct-AWQ has 29,696 instead of 29,568
	if s.Elem.Bits() < 8 && t.Cols/block%2 == 1 {
		return nil
	}
	return &brokenBlock{t.Role, t.Cols, mine, block}
}

// KeepsBlocks returns a function that reports whether a tensor parallel size splits no scale block, the plan being
// otherwise unchanged.
func KeepsBlocks(j *Job) func(tp int64) bool {
	return func(tp int64) bool {
		p := Parallel(j.Plan)
		p.TP = tp
		return broken(j, p) == nil
	}
}

// CheckBlocks rejects tensor parallelism that splits a scale block of a quantized matrix; name is the engine's.
func CheckBlocks(j *Job, name, wholeExperts string) error {
	p := Parallel(j.Plan)
	b := broken(j, p)
	if b == nil {
		return nil
	}
	return &plan.Problem{Field: "tp", Value: fmt.Sprint(p.TP), Impossible: true,
		Message: fmt.Sprintf("%s refuses tp = %d: %s of %s has %d inputs, %d on each rank, and its scales in %s are of %d",
			name, p.TP, b.role, j.Model.ID, b.inputs, b.part, j.Plan.Weights, b.of),
		Fix: blockFix(j, p, wholeExperts)}
}

// blockFix returns alternatives that work: unsharded experts, and the largest tensor parallel size that splits no
// block.
func blockFix(j *Job, p shard.Parallel, wholeExperts string) string {
	var ways []string
	if whole := p; p.EP <= 1 && j.Model.Traits.Experts > 0 {
		if whole.EP = p.TP * p.DP; j.Model.Traits.Experts%whole.EP == 0 && broken(j, whole) == nil {
			ways = append(ways, fmt.Sprintf("%s (--ep %d)", wholeExperts, whole.EP))
		}
	}
	for less := p.TP - 1; less >= 1; less-- {
		fewer := p
		if fewer.TP = less; p.TP%less == 0 && divides(less, j.Model) && broken(j, fewer) == nil {
			ways = append(ways, fmt.Sprintf("--tp %d", less))
			break
		}
	}
	return strings.Join(ways, ", or ")
}
