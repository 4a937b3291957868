package planner

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/internal/planner/change"
	"github.com/memwall/memwall/unit"
)

// priceOfGrant is the price of a single command, which loses nothing.
const priceOfGrant = change.PriceNearlyFree / 2

// granted returns the change to a larger share of unified memory: the system gives the device part of it by default,
// and the machine's owner may raise it. It is empty if the device has it already.
func granted(p *Planner) []change.Setting { return grantedOn(p.Question.Job.Machine, p.Asked.Hardware) }

// grantedOn is granted for a machine by its name.
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

// narrowedToo is the price of a KV cache format in addition to a placement: two flags of one command.
const narrowedToo = 2.5

// narrowed returns a narrower KV cache with what the devices then lack offloaded to the host, fewer layers than
// without. It searches only below the given price.
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

// worthNarrowing is the fraction of the shortage, as 1/n, below which narrowing the cache in addition to a placement is
// not worthwhile.
const worthNarrowing = 10

// savesShare reports whether a plan needs less by at least that fraction of the requested plan's shortage.
func savesShare(p *Planner, r *api.Request, of unit.Bytes) bool {
	_, ranks, err := p.env.SizedRanks(r)
	return err == nil && (p.base.Devices[0].Needed-ranks[0].Needed().Bytes)*of >= -p.base.Devices[0].Headroom
}

// spillsSlowly reports whether the engine itself left weights on the host, and output is slower than reading speed.
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
