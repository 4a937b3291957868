// Package pack places several models on the devices of a pool: each by its whole ledger, on a device shared with the
// ledgers of others, on a device of its own, or on a partition of one (MIG).
//
// See pack.go for how placements are found, mig.go for how partitions are arranged on a device.
package pack

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/internal/stable"
	"github.com/memwall/memwall/unit"
)

// Bounds of what is packed.
const mostModels, mostDevices = 64, 256

// Packing is the placement of models.
type Packing struct {
	Schema   string `json:"schema"`
	Hardware string `json:"hardware"`
	Device   string `json:"device"`
	Devices  int    `json:"devices"` // of the pool
	Used     int    `json:"used_devices"`
	// Least is how many devices the sums of what models need take at the least, whatever the order.
	Least    int        `json:"least_devices"`
	MIG      bool       `json:"mig"`
	Bins     []Bin      `json:"bins"`
	Unplaced []Unplaced `json:"unplaced,omitempty"`
}

// Bin is a device, or several that one model takes together, and what lies there.
type Bin struct {
	First int     `json:"first_device"`
	Count int     `json:"devices"`
	Lies  []Place `json:"models"`
	// Needed and Usable are of each device, with all that lies there; of parts, of the device's slices of memory in eighths.
	Needed  unit.Bytes `json:"needed_bytes"`
	Usable  unit.Bytes `json:"usable_bytes"`
	Left    unit.Bytes `json:"left_bytes"`
	Tight   bool       `json:"tight,omitempty"`
	slots   []bool     // slices of memory that are taken, of a device in parts
	compute int        // slices of its processors
	all     []*memwall.Request
}

// Place is the placement of one model.
type Place struct {
	Plan   string     `json:"plan"`
	Model  string     `json:"model"`
	Part   string     `json:"part,omitempty"` // profile of MIG
	Slot   int        `json:"slot,omitempty"` // where it begins, in slices of memory
	Needed unit.Bytes `json:"needed_bytes"`
}

// Unplaced is a model that found no place, and why.
type Unplaced struct {
	Plan string `json:"plan"`
	Why  string `json:"why"`
}

// Plan is a model with its flags, as they were written.
type Plan struct {
	Text    string
	Request *memwall.Request
}

// item is a plan with what it takes alone.
type item struct {
	Plan
	answer  *memwall.Answer
	devices int
	needed  unit.Bytes // on its worst device
	usable  unit.Bytes
	refused bool
}

// Ask answers a fit request.
type Ask func(context.Context, *memwall.Request) (*memwall.Answer, error)

type packer struct {
	ask   Ask
	kind  string // one device, in words of --on
	out   *Packing
	parts []hardware.Profile
}

// Pack places plans on a pool, largest first, each where it leaves the least free.
func Pack(ctx context.Context, ask Ask, pool string, mig bool, plans []Plan) (*Packing, error) {
	n, kind, err := counted(pool)
	if err != nil {
		return nil, err
	}
	if len(plans) == 0 || len(plans) > mostModels {
		return nil, fault("plans", fmt.Sprint(len(plans)), fmt.Sprintf("%d models are not from 1 to %d", len(plans), mostModels),
			`memwall pack --on 2xh100 "qwen3-8b --ctx 8k" "llama-3.1-8b --ctx 16k"`)
	}
	p := &packer{ask: ask, kind: kind, out: &Packing{Schema: memwall.Schema, Hardware: pool, Devices: n, MIG: mig}}
	if mig {
		if p.parts, err = hardware.Profiles(kind); err != nil {
			return nil, memwall.AsError(err)
		}
	}
	items, err := p.alone(ctx, plans)
	if err != nil {
		return nil, err
	}
	for i := range items {
		if err := p.place(ctx, &items[i]); err != nil {
			return nil, err
		}
	}
	p.finish(items)
	return p.out, nil
}

func fault(field, value, message, hint string) error {
	return &memwall.Error{Code: memwall.BadField, Field: field, Value: value, Message: message, Hint: hint}
}

// counted is a pool as a number of devices and one of them.
func counted(pool string) (int, string, error) {
	m, _, err := hardware.Parse(pool, 0)
	if err != nil {
		return 0, "", memwall.AsError(err)
	}
	if len(m.Groups) != 1 || m.CPUOnly || m.Local {
		return 0, "", fault("on", pool, "--on: a pool has devices of one kind", "--on 8xh100")
	}
	if n := m.Groups[0].Count; n < 1 || n > mostDevices {
		return 0, "", fault("on", pool, fmt.Sprintf("--on: %d devices are not from 1 to %d", n, mostDevices), "--on 8xh100")
	}
	device, keys, _ := strings.Cut(pool, ",")
	if _, kind, ok := hardware.CountOf(device); ok {
		device = kind
	}
	if m.Node != "" {
		device = m.Groups[0].Device.ID
	}
	return m.Groups[0].Count, strings.TrimSuffix(device+","+keys, ","), nil
}

// alone asks what each plan takes by itself, and sorts the largest first.
func (p *packer) alone(ctx context.Context, plans []Plan) (items []item, err error) {
	for _, x := range plans {
		r := *x.Request
		r.Ask = "fit"
		it := item{Plan: x, devices: max(1, int(r.Devices))}
		if it.devices == 1 {
			it.devices = int(max(1, r.TP) * max(1, r.PP) * max(1, r.DP))
		}
		r.Hardware, r.Devices = p.kind, int64(it.devices)
		if it.answer, err = p.ask(ctx, &r); err != nil {
			return nil, err
		}
		worst := worstOf(it.answer)
		it.needed, it.usable, it.Request = worst.NeededHigh, worst.Usable, &r
		p.out.Device = worst.Name
		items = append(items, it)
	}
	stable.Sort(items, func(a, b item) int {
		return cmp.Or(cmp.Compare(b.devices, a.devices), cmp.Compare(b.needed, a.needed))
	})
	return items, nil
}

func worstOf(a *memwall.Answer) *memwall.Device {
	return slices.MaxFunc(pointers(a.Devices), func(x, y *memwall.Device) int { return cmp.Compare(x.Needed, y.Needed) })
}

func pointers(all []memwall.Device) (out []*memwall.Device) {
	for i := range all {
		out = append(out, &all[i])
	}
	return out
}

// place an item: in a part, beside others, or on devices of its own.
func (p *packer) place(ctx context.Context, it *item) error {
	fits := it.answer.Verdict == memwall.Fits || it.answer.Verdict == memwall.Tight
	done, err := false, error(nil)
	switch {
	case it.devices > 1:
	case p.out.MIG:
		done, err = p.part(ctx, it)
	case fits:
		done, err = p.shared(ctx, it)
	}
	if done || err != nil {
		return err
	}
	switch {
	case !fits:
		short := max(0, worstOf(it.answer).Needed-it.usable)
		p.refuse(it, fmt.Sprintf("does not fit %d × %s: %s short", it.devices, p.out.Device, short))
	case p.out.Used+it.devices > p.out.Devices:
		p.refuse(it, fmt.Sprintf("takes %d more, and %d of %d are left", it.devices, p.out.Devices-p.out.Used, p.out.Devices))
	default:
		bin := p.open(it.devices)
		bin.all, bin.Needed, bin.Usable = []*memwall.Request{it.Request}, it.needed, it.usable
		bin.Tight = it.answer.Verdict == memwall.Tight
		bin.Lies = []Place{{Plan: it.Text, Model: it.answer.Model.Name, Needed: it.needed}}
	}
	return nil
}

func (p *packer) refuse(it *item, why string) {
	it.refused = true
	p.out.Unplaced = append(p.out.Unplaced, Unplaced{it.Text, why})
}

func (p *packer) open(devices int) *Bin {
	p.out.Bins = append(p.out.Bins, Bin{First: p.out.Used, Count: devices})
	p.out.Used += devices
	return &p.out.Bins[len(p.out.Bins)-1]
}

// shared with others that lie on a device: that on which least is left, whose ledgers together still fit.
func (p *packer) shared(ctx context.Context, it *item) (bool, error) {
	var order []*Bin
	for i := range p.out.Bins {
		if b := &p.out.Bins[i]; b.Count == 1 && b.slots == nil && b.Needed+it.needed <= worstOf(it.answer).Capacity {
			order = append(order, b)
		}
	}
	stable.Sort(order, func(a, b *Bin) int { return cmp.Compare(a.Usable-a.Needed, b.Usable-b.Needed) })
	for _, b := range order {
		r := *b.all[0]
		r.Also = nil
		for _, other := range append(slices.Clone(b.all[1:]), it.Request) {
			o := *other
			o.Hardware, o.Devices, o.Also = "", 0, nil
			r.Also = append(r.Also, o)
		}
		a, err := p.ask(ctx, &r)
		if err != nil {
			if memwall.AsError(err).Code == memwall.Internal {
				return false, err
			}
			continue // engines that do not go together on a device
		}
		if a.Verdict != memwall.Fits && a.Verdict != memwall.Tight {
			continue
		}
		b.all = append(b.all, it.Request)
		// What each engine leaves to the others changes with them: what is left is what the one that starts last may still use.
		last := worstOf(a)
		b.Needed, b.Tight = b.Needed+it.needed, a.Verdict == memwall.Tight
		b.Usable = b.Needed + max(0, last.Usable-last.NeededHigh)
		b.Lies = append(b.Lies, Place{Plan: it.Text, Model: it.answer.Model.Name, Needed: it.needed})
		return true, nil
	}
	return false, nil
}

// finish counts what is the least, by the sums alone.
func (p *packer) finish(items []item) {
	for i := range p.out.Bins {
		b := &p.out.Bins[i]
		b.Left = max(0, b.Usable-b.Needed)
	}
	whole, sum, each := 0, unit.Bytes(0), unit.Bytes(1)
	for i := range items {
		switch it := &items[i]; {
		case it.refused:
		case it.devices > 1:
			whole += it.devices
		default:
			sum, each = sum+worstOf(it.answer).Needed, max(each, it.usable)
		}
	}
	p.out.Least = whole + int((sum+each-1)/each)
}
