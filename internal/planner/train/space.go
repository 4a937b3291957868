package train

import (
	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// space is what a search covers: machines, and what all plans share.
type space struct {
	*task
	sites    sites
	base     api.Request // the request, with the batch and sequence length common to all plans
	notes    []api.Note  // about defaults filled in
	fused    bool        // plans compute head and loss in chunks
	offloads bool        // plans keep states on the host
	settles  bool        // tight plans are kept too
}

// newSpace finds the machines and fills in what all plans share. It rejects groups that fit none of the machines.
func newSpace(t *task) (*space, error) {
	all, err := t.findSites()
	if err != nil {
		return nil, err
	}
	s := &space{task: t, sites: all, base: t.asked}
	if t.anyHardware() && t.original.MaxDevices == 0 {
		s.notes = append(s.notes, filledIn("max_devices", mostOffered))
	}
	s.notes = append(append(s.notes, fillBatch(&s.base, all)...), fillSequence(&s.base, t.network.context)...)
	if err := checkPins(&s.base, all); err != nil {
		return nil, err
	}
	return s, nil
}

// stages returns the spaces to search, each only if nothing in the ones before fits: what the devices hold alone, then with
// logits computed in chunks, which costs neither accuracy nor time, then with states on the host too.
func (s *space) stages() []*space {
	fused := *s
	fused.fused = s.base.FusedLoss == nil
	hosted := fused
	hosted.offloads = true
	if !fused.fused {
		return []*space{s, &hosted}
	}
	return []*space{s, &fused, &hosted}
}

// filledIn notes that a field has its default.
func filledIn(field string, value any) api.Note {
	return note("default_used", "info", field, "%s = %v by default", field, value)
}

// Default global batch sizes in sequences, for full training and for adapters.
const (
	usualBatch = 1024
	tunedBatch = 64
)

// fillBatch sets a default batch. It is the same for all plans, so that they do the same work, and a multiple of each one's number
// of devices.
func fillBatch(r *api.Request, all sites) []api.Note {
	if r.GlobalBatch > 0 || r.Accumulation > 0 {
		return nil
	}
	n, most := int64(1), int64(16*usualBatch)
	for i := range all {
		most = max(most, all[i].devices)
		if lcm := n / gcd(n, all[i].devices) * all[i].devices; lcm <= most {
			n = lcm
		}
	}
	usual := int64(usualBatch)
	if m := r.Method; m != "" && m != "full" {
		usual = tunedBatch
	}
	r.GlobalBatch = plan.Int(unit.CeilDiv(usual, n) * n)
	return []api.Note{filledIn("global_batch", int64(r.GlobalBatch))}
}

// usualSequence is the default sequence length in tokens.
const usualSequence = 4096

// fillSequence sets a default sequence length, at most the model's context, and packs samples if possible. Both are the same for
// all plans.
func fillSequence(r *api.Request, context int64) (out []api.Note) {
	if r.SequenceLength == 0 {
		r.SequenceLength = usualSequence
		if context > 0 {
			r.SequenceLength = plan.Int(min(usualSequence, context))
		}
		out = append(out, filledIn("sequence_length", int64(r.SequenceLength)))
	}
	if r.Packing == nil && r.Data == "" && (r.Objective == "" || r.Objective == "pretrain" || r.Objective == "sft") {
		yes := true
		r.Packing = &yes
		out = append(out, filledIn("packing", true))
	}
	return out
}

func gcd(a, b int64) int64 {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}
