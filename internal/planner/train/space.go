package train

import (
	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// space is what a search goes over: machines, and what all plans share.
type space struct {
	*task
	sites    sites
	base     api.Request // what is asked, with the batch and the length that all plans have
	notes    []api.Note  // defaults that were filled in
	offloads bool        // plans that keep states on the host
}

// newSpace finds the machines and fills in what all plans share. Groups that go with none of the machines are refused.
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

// withOffloads is the space of plans that keep states on the host.
func (s *space) withOffloads() *space {
	out := *s
	out.offloads = true
	return &out
}

// filledIn says that a field has its default.
func filledIn(field string, value any) api.Note {
	return note("default_used", "info", field, "%s = %v by default", field, value)
}

// Global batches in sequences, where nobody gives one: of whole models, and of adapters.
const (
	usualBatch = 1024
	tunedBatch = 64
)

// fillBatch fills in a batch, where none is given. It is the same for all plans, so that they do the same work: a multiple
// of what each has of devices.
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

// usualSequence is a length in tokens, where nobody gives one.
const usualSequence = 4096

// fillSequence fills in the length of sequences, at most the model's context, and that samples are packed where they can
// be: both are the same for all plans too.
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
