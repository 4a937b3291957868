package live

import (
	"cmp"

	"github.com/memwall/memwall/trend"
	"github.com/memwall/memwall/unit"
)

// Stretch is a part of a device's memory, in the order of a bar: lines of the ledger by their ids as far as what is
// measured goes, then what is over or missing, what others hold, and what is free.
type Stretch struct {
	ID    string     `json:"id"`
	Bytes unit.Bytes `json:"bytes"`
}

// Stretches that are no lines of a ledger.
const (
	Unsaid  = "held"    // by engines of which nothing was said
	Over    = "over"    // held beyond what was said
	Missing = "missing" // said and not held
	Others  = "others"  // held by others
	Free    = "free"
)

// stretches of a device: engines hold measured of it, nil where nobody says; taken is how much of the cache's pool is. What
// is held beyond what was said, and within its band, belongs to the line that it likely is.
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

// pooled are the lines of a ledger with the cache as it is taken now, where its engine says that.
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

// Finding is what a picture says first.
type Finding struct {
	Code string `json:"code"`
	// Device that it is about, OnHost for the host; null where it is about an engine or all.
	Device *int `json:"device"`
	PID    int  `json:"pid,omitempty"`
}

// Codes of findings, the most urgent first.
const (
	Leaks        = "leak"           // grows steadily, load or no load
	KVFull       = "kv_full"        // requests wait for room in the cache
	KVFullSoon   = "kv_full_soon"   // the cache fills as in the last minutes
	MoreThanSaid = "more_than_said" // beyond the band
	LessThanSaid = "less_than_said"
	GrowsLoaded  = "grows_with_load"
	NothingRead  = "nothing_read" // no driver, no process
	NoEngine     = "no_engine"
	NothingSaid  = "nothing_said" // an engine runs, and memwall cannot say what it should hold
	NotMeasured  = "not_measured" // something was said, and nobody says what is held
	AsSaid       = "as_said"
)

// finding is the most urgent of what a picture shows.
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

// fills: caches that are full, or soon.
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

// differs: held is not what was said.
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

// lacks: something is not known.
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
