package engine

import (
	"github.com/memwall/memwall/shard"
)

// PlaceDecoder gives each class of ranks its share of the job's decoder. Ranks that are alike but run on
// different devices are classes of their own.
func (j *Job) PlaceDecoder(p shard.Parallel) ([]Placed, error) {
	p = p.Normal()
	placed, err := Place(j.Model.Decoder(), &j.Weights.Parts[0], p)
	if err != nil || j.Machine == nil || len(j.Machine.Groups) < 2 {
		return placed, err
	}
	var out []Placed
	for i := range placed {
		out = append(out, j.byGroup(&placed[i])...)
	}
	return out, nil
}

// byGroup splits a class by the group of devices that its ranks lie in. Devices are counted through tensor
// parallel ranks, then stages, then replicas, as torch.distributed launchers do.
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

// group is the number of the group of devices that a rank runs on.
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
