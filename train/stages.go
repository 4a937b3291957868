package train

import (
	"fmt"
	"slices"

	"github.com/memwall/memwall/shard"
)

// stagesOf returns the layers of each stage if the first or last has a number of its own, the others dividing the rest
// evenly (megatron/training/arguments.py: --decoder-first-pipeline-num-layers); nil if even.
func stagesOf(j *Job) []int {
	first, last, n := int(j.Training.FirstStage), int(j.Training.LastStage), int(j.Plan.PP)
	if n <= 1 || first == 0 && last == 0 {
		return nil
	}
	rest, between := len(j.Model.Decoder().Layers)-first-last, n
	var head, tail []int
	if first > 0 {
		head, between = []int{first}, between-1
	}
	if last > 0 {
		tail, between = []int{last}, between-1
	}
	return slices.Concat(head, shard.Even(max(0, rest), max(0, between)), tail)
}

// stageDefaults gives Megatron's first and last stages one layer less if layers divide only when embedding and head
// count as one each (--account-for-embedding-in-pipeline-split, --account-for-loss-in-pipeline-split; as in Llama 3's
// training, arXiv:2407.21783).
func stageDefaults(j *Job) {
	l, n := int64(len(j.Model.Decoder().Layers)), j.Plan.PP
	if each := (l + 2) / max(1, n); j.megatron() && n > 1 && stagesOf(j) == nil && l%n != 0 && (l+2)%n == 0 && each > 1 {
		j.Training.FirstStage, j.Training.LastStage = each-1, each-1
		j.Default("first_stage_layers", each-1)
		j.Default("last_stage_layers", each-1)
	}
}

// checkStages rejects stages that leave no layers for the others, or exceed the model's.
func checkStages(j *Job) error {
	t := j.Training
	for _, c := range []struct {
		field string
		value int64
	}{{"first_stage_layers", t.FirstStage}, {"last_stage_layers", t.LastStage}} {
		l := int64(len(j.Model.Decoder().Layers))
		if c.value < 0 || c.value > 0 && (j.Plan.PP <= 1 || c.value >= l) {
			return impossible(c.field, c.value, fmt.Sprintf("--pp 2 or more, and fewer than the %d layers", l), "%s = %d: it is of a pipeline's stages, and %s has %d layers over pp = %d", c.field, c.value, j.Model.ID, l, j.Plan.PP)
		}
	}
	if s := stagesOf(j); s != nil {
		sum := 0
		for _, n := range s {
			sum += n
		}
		if sum != len(j.Model.Decoder().Layers) || slices.Min(s) == 0 {
			return impossible("first_stage_layers", t.FirstStage, "fewer layers, so that each stage between has one", "the first and the last stage take %d of %d layers, which leaves none to some of %d stages", t.FirstStage+t.LastStage, len(j.Model.Decoder().Layers), j.Plan.PP)
		}
	}
	return nil
}

// vShaped reports whether a schedule puts the first and last part of the model on the first rank (arXiv:2401.10241,
// section 6).
func vShaped(schedule string) bool { return schedule == "zbv" || schedule == "dualpipe-v" }

// facing adds to each pipeline rank the stage at the opposite end, as DualPipe does, which feeds micro-batches from
// both ends (arXiv:2412.19437). Ranks are in stage order, with equally many classes per stage.
func facing(ranks []share) []share {
	out := slices.Clone(ranks)
	for i := range ranks {
		o := &ranks[opposite(ranks, i)]
		s := &out[i]
		s.dense.add(&o.dense, 1)
		s.expert.add(&o.expert, 1)
		s.ends, s.endsStored, s.layers = s.ends+o.ends, s.endsStored+o.endsStored, s.layers+o.layers
		s.vocab, s.head = max(s.vocab, o.vocab), max(s.head, o.head)
		s.largest, s.experts = max(s.largest, o.largest), max(s.experts, o.experts)
		s.rows, s.cols, s.facing = max(s.rows, o.rows), max(s.cols, o.cols), o.blocks
	}
	return out
}

// opposite returns the index of the corresponding class in the opposite stage.
func opposite(ranks []share, i int) int {
	stage := ranks[len(ranks)-1].pl.Stage - ranks[i].pl.Stage
	first := slices.IndexFunc(ranks, func(s share) bool { return s.pl.Stage == stage })
	own := slices.IndexFunc(ranks, func(s share) bool { return s.pl.Stage == ranks[i].pl.Stage })
	return min(first+i-own, len(ranks)-1)
}
