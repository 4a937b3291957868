package live

import (
	"cmp"

	"github.com/memwall/memwall/trend"
	"github.com/memwall/memwall/unit"
)

// Stretch is a part of a device's memory, in the order of a bar: ledger lines by id up to what is measured, then excess
// or missing memory, what others hold, and what is free.
type Stretch struct {
	ID    string     `json:"id"`
	Bytes unit.Bytes `json:"bytes"`
}

// Stretches other than ledger lines.
const (
	Unsaid  = "held"    // by engines without a prediction
	Over    = "over"    // held beyond the prediction
	Missing = "missing" // predicted but not held
	Others  = "others"  // held by other processes
	Free    = "free"
)

// stretches divides a device: measured is what engines hold of it, nil if unknown; taken is the used share of the
// cache's pool. An excess within its band is added to the line it probably belongs to.
func stretches(s *Said, off *Off, measured, used *unit.Bytes, total unit.Bytes, taken *float64) (out []Stretch) {
	var sum unit.Bytes
	add := func(id string, b unit.Bytes) {
		if b > 0 {
			out = append(out, Stretch{id, b})
			sum += b
		}
	}
	switch {
	case measured == nil:
	case s == nil:
		add(Unsaid, *measured)
	default:
		left := *measured
		for _, p := range pooled(s, taken) {
			n := min(left, p.Bytes)
			add(p.ID, n)
			left -= n
		}
		over := Over
		if off != nil && off.Within {
			over = cmp.Or(off.Line, "other")
		}
		add(over, left)
		add(Missing, s.Bytes-*measured)
	}
	if used != nil {
		held := unit.Bytes(0)
		if measured != nil {
			held = *measured
		}
		add(Others, *used-held)
	}
	add(Free, total-sum)
	return out
}

// pooled returns the ledger lines with the cache's current use, if its engine reports it.
func pooled(s *Said, taken *float64) (out []Stretch) {
	var pool unit.Bytes
	for i := range s.Ledger {
		it := &s.Ledger[i]
		if it.ID == "kv_cache" || it.ID == "pool_unused" {
			pool += it.Bytes
			if taken != nil {
				continue
			}
		}
		out = append(out, Stretch{it.ID, it.Bytes})
	}
	if taken != nil {
		n := unit.Bytes(*taken * float64(pool))
		out = append(out, Stretch{"kv_cache", n}, Stretch{"pool_unused", pool - n})
	}
	return out
}

// Finding is the most important observation of a picture.
type Finding struct {
	Code string `json:"code"`
	// Device is the device concerned, OnHost for the host; nil if about an engine or everything.
	Device *int `json:"device"`
	PID    int  `json:"pid,omitempty"`
}

// Codes of findings, most urgent first.
const (
	Leaks        = "leak"           // grows steadily, whatever the load
	KVFull       = "kv_full"        // requests wait for space in the cache
	KVFullSoon   = "kv_full_soon"   // the cache will be full soon at the current rate
	MoreThanSaid = "more_than_said" // beyond the band
	LessThanSaid = "less_than_said"
	GrowsLoaded  = "grows_with_load"
	NothingRead  = "nothing_read" // no driver, no process
	NoEngine     = "no_engine"
	NothingSaid  = "nothing_said" // an engine runs that memwall cannot predict
	NotMeasured  = "not_measured" // there is a prediction but no measurement
	AsSaid       = "as_said"
)

// finding returns the most urgent observation.
func (p *Picture) finding() Finding {
	for _, find := range []func(*Picture) (Finding, bool){(*Picture).leaks, (*Picture).fills, (*Picture).differs, (*Picture).lacks} {
		if f, ok := find(p); ok {
			return f
		}
	}
	return Finding{Code: AsSaid}
}

// on is a device or the host.
type on struct {
	index  int
	growth *Growth
	off    *Off
}

func (p *Picture) all() (out []on) {
	for i := range p.Devices {
		out = append(out, on{p.Devices[i].Index, p.Devices[i].Growth, p.Devices[i].Off})
	}
	if p.Host != nil {
		out = append(out, on{OnHost, p.Host.Growth, p.Host.Off})
	}
	return out
}

func (p *Picture) leaks() (f Finding, ok bool) {
	for i := range p.Engines {
		if e := &p.Engines[i]; e.Growth.leaks() {
			return Finding{Code: Leaks, PID: e.PID}, true
		}
	}
	for _, d := range p.all() {
		if d.index != OnHost && d.growth.leaks() {
			return Finding{Code: Leaks, Device: &d.index}, true
		}
	}
	return f, false
}

func (g *Growth) leaks() bool {
	return g != nil && g.Slope != nil && g.Finding == trend.Growing && !g.WithLoad
}

// fills reports caches that are full, or soon will be.
func (p *Picture) fills() (f Finding, ok bool) {
	const full, soon = 0.97, 900 // seconds
	for i := range p.Engines {
		e := &p.Engines[i]
		if e.Reading != nil && e.KVUsage != nil && *e.KVUsage >= full && e.Waiting != nil && *e.Waiting > 0 {
			return Finding{Code: KVFull, PID: e.PID}, true
		}
	}
	for i := range p.Engines {
		if e := &p.Engines[i]; e.KVFull != nil && e.KVFull.Seconds < soon {
			return Finding{Code: KVFullSoon, PID: e.PID}, true
		}
	}
	return f, false
}

// differs reports a difference between measurement and prediction.
func (p *Picture) differs() (f Finding, ok bool) {
	for _, d := range p.all() {
		if d.off == nil || d.off.Within || magnitude(d.off.Bytes) <= trifle {
			continue
		}
		if d.off.Bytes > 0 {
			return Finding{Code: MoreThanSaid, Device: &d.index}, true
		}
		return Finding{Code: LessThanSaid, Device: &d.index}, true
	}
	for _, d := range p.all() {
		if d.growth != nil && d.growth.WithLoad {
			return Finding{Code: GrowsLoaded, Device: &d.index}, true
		}
	}
	return f, false
}

// lacks reports missing information.
func (p *Picture) lacks() (f Finding, ok bool) {
	measured := false
	for _, d := range p.all() {
		measured = measured || d.off != nil
	}
	switch {
	case len(p.Engines) == 0 && len(p.Devices) == 0 && p.Host == nil:
		return Finding{Code: NothingRead}, true
	case len(p.Engines) == 0:
		return Finding{Code: NoEngine}, true
	}
	for i := range p.Engines {
		if e := &p.Engines[i]; e.Plan == nil {
			return Finding{Code: NothingSaid, PID: e.PID}, true
		}
	}
	return Finding{Code: NotMeasured}, !measured
}
