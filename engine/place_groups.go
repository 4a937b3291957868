package engine

import (
	"fmt"

	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/shard"
)

// PlaceDecoder returns the share of the job's decoder of each class of ranks. Identical ranks on different devices are
// separate classes.
func (j *Job) PlaceDecoder(p shard.Parallel) ([]Placed, error) {
	p = p.Normal()
	placed, err := j.placeShared(j.Model.Decoder(), &j.Weights.Parts[0], p)
	if err != nil || j.Machine == nil || len(j.Machine.Groups) < 2 {
		return placed, err
	}
	var out []Placed
	for i := range placed {
		out = append(out, j.byGroup(&placed[i])...)
	}
	return out, nil
}

// shareKey identifies the sharding of a part; stages are their layer counts, formatted.
type shareKey struct {
	part       *model.Part
	weights    *model.PartWeights
	tp, pp, ep int64
	dp, cp     int64
	etp        int64
	copies     int64 // of experts
	dense      int64
	shared     int64
	stages     string
}

// placeShared is Place, computed once for the jobs of a search.
func (j *Job) placeShared(part *model.Part, w *model.PartWeights, p shard.Parallel) ([]Placed, error) {
	type result struct {
		placed []Placed
		err    error
	}
	key := shareKey{part, w, p.TP, p.PP, p.EP, p.DP, p.CP, p.ETP, p.Redundant, p.DenseTP, p.SharedTP, ""}
	if p.Stages != nil {
		key.stages = fmt.Sprint(p.Stages)
	}
	got := Once(j, key, func() (r result) {
		r.placed, r.err = Place(part, w, p)
		return r
	})
	return got.placed, got.err
}

// byGroup splits a class by the device group of its ranks. Devices are assigned to tensor parallel ranks first, then
// stages, then replicas, as torch.distributed launchers do.
func (j *Job) byGroup(pl *Placed) []Placed {
	p := &pl.Parallel
	replicas := p.DP * p.CP
	each := pl.Count / replicas
	out := make([]Placed, len(j.Machine.Groups))
	for r := range replicas {
		for t := range each {
			at := r*p.TP*p.PP + pl.Index + t
			g := &out[j.group(at)]
			if g.Count == 0 {
				*g = *pl
				g.Index, g.Count = at, 0
			}
			g.Count++
		}
	}
	n := 0
	for i := range out {
		if out[i].Count > 0 {
			out[n] = out[i]
			n++
		}
	}
	return out[:n]
}

// group returns the index of the device group that a rank runs on.
func (j *Job) group(rank int64) int {
	for i := range j.Machine.Groups {
		n := int64(j.Machine.Groups[i].Count)
		if rank < n {
			return i
		}
		rank -= n
	}
	return len(j.Machine.Groups) - 1
}
