package pack

import (
	"context"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/hardware"
)

// part of a device: the smallest profile in which the model fits, on the first device where it finds room, or on a new one.
func (p *packer) part(ctx context.Context, it *item) (bool, error) {
	for i := range p.parts {
		x := &p.parts[i]
		r := *it.Request
		r.Hardware, r.Devices = p.kind+" "+x.Name, 0
		a, err := p.ask(ctx, &r)
		if err != nil {
			return false, err
		}
		if a.Verdict == memwall.Fits || a.Verdict == memwall.Tight {
			return p.inPart(it, x, a), nil
		}
	}
	return false, nil
}

// inPart puts a model in a part of a device; false where none has room.
func (p *packer) inPart(it *item, x *hardware.Profile, a *memwall.Answer) bool {
	b, at := (*Bin)(nil), -1
	for i := range p.out.Bins {
		if p.out.Bins[i].slots != nil && at < 0 {
			b = &p.out.Bins[i]
			at = b.room(x)
		}
	}
	if at < 0 && p.out.Used == p.out.Devices {
		return false
	}
	if at < 0 {
		b, at = p.open(1), 0
		b.slots, b.Usable = make([]bool, x.MemoryAll), it.usable
	}
	for i := range x.Memory {
		b.slots[at+i] = true
	}
	worst := worstOf(a)
	b.compute += x.Compute
	b.Needed += worst.NeededHigh
	b.Tight = b.Tight || a.Verdict == memwall.Tight
	b.Lies = append(b.Lies, Place{Plan: it.Text, Model: a.Model.Name, Part: x.Name, Slot: at, Needed: worst.NeededHigh})
	return true
}

// room for a profile: the first place that is free, −1 for none. Parts begin at multiples of their slices of memory, their processors lie
// from there on, and all of these are no more than the device has (NVIDIA, MIG User Guide: the placements of nvidia-smi mig -lgipp).
func (b *Bin) room(x *hardware.Profile) int {
	if b.compute+x.Compute > x.ComputeAll {
		return -1
	}
	for at := 0; at+x.Memory <= len(b.slots) && at+x.Compute <= x.ComputeAll; at += x.Memory {
		free := true
		for i := range x.Memory {
			free = free && !b.slots[at+i]
		}
		if free {
			return at
		}
	}
	return -1
}
