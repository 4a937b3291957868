package planner

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/internal/planner/change"
	"github.com/memwall/memwall/unit"
)

// priceOfGrant is the price of a line at a prompt, which loses nothing.
const priceOfGrant = change.PriceNearlyFree / 2

// granted is a larger part of a memory that device and system share: the system grants the device a part of it by default, and whoever
// owns the machine may grant more. None where the device has it already.
func granted(p *Planner) []change.Setting { return grantedOn(p.Question.Job.Machine, p.Asked.Hardware) }

// grantedOn is that of a machine by its name.
func grantedOn(m *hardware.Machine, name string) []change.Setting {
	if m == nil || len(m.Groups) != 1 || m.Groups[0].Count != 1 || strings.Contains(name, "usable=") {
		return nil
	}
	d := &m.Groups[0].Device
	n, how := d.Grantable()
	if n <= d.Usable.Value {
		return nil
	}
	to := fmt.Sprintf("%s,usable=%dGiB", name, n/unit.GiB)
	return []change.Setting{{Words: how, Short: fmt.Sprintf("%d of %d GiB for the GPU", n/unit.GiB, d.Memory.Value/unit.GiB),
		Set: func(r *api.Request) { r.Hardware = to }, Price: priceOfGrant}}
}

// narrowedToo is the price of saying a format of the KV cache beside a placement: two flags of one command.
const narrowedToo = 2.5

// narrowed is a narrower KV cache, and on the host what the devices then have no room for: fewer layers than without. What cannot
// be had for less than a price is not looked for.
func narrowed(p *Planner, below float64) (out []change.Setting) {
	price := spillPrice(p)
	if !p.gguf() || !p.Spillable(p.Question) {
		return nil
	}
	for _, c := range p.CacheAxis(p.Question).Settings[1:] {
		r := p.Asked
		c.Set(&r)
		if price+c.Price+narrowedToo >= below || (joint{p}).holds(&c) || !savesShare(p, &r, worthNarrowing) {
			continue
		}
		if to := p.Placed(&r); to != nil {
			out = append(out, change.Setting{Words: c.Short + ", " + placedWords(p.Question, to),
				Set: func(r *api.Request) { *r = *to }, Price: price + c.Price + narrowedToo})
		}
	}
	return out
}

// worthNarrowing is the part of what lacks below which nobody narrows a cache beside a placement.
const worthNarrowing = 10

// savesShare: a plan needs less by at least one part in so many of what the plan that was asked for lacks.
func savesShare(p *Planner, r *api.Request, of unit.Bytes) bool {
	_, ranks, err := p.env.SizedRanks(r)
	return err == nil && (p.base.Devices[0].Needed-ranks[0].Needed().Bytes)*of >= -p.base.Devices[0].Headroom
}

// spillsSlowly: the engine itself left weights on the host, and people wait for words.
func spillsSlowly(p *Planner, a *api.Answer) bool {
	if a.Host == nil || a.Speed == nil || a.Speed.Decode == nil || *a.Speed.Decode >= readAlong || !p.gguf() || p.PlacedByHand() {
		return false
	}
	for i := range a.Host.Ledger {
		if it := &a.Host.Ledger[i]; it.ID == "weights" {
			return it.Bytes >= unit.GiB
		}
	}
	return false
}
