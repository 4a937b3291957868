package tui

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/memwall/memwall/internal/render"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/live"
	"github.com/memwall/memwall/trend"
	"github.com/memwall/memwall/unit"
)

// found says a finding in words.
func (s *watchScreen) found(f live.Finding) string {
	e, d := s.engine(f.PID), s.watchedPlace(f.Device)
	switch f.Code {
	case live.Leaks:
		if f.Device == nil {
			return fmt.Sprintf("the host's memory of %s grows %s as a leak does%s", engineName(e), perHour(e.Growth), ends(e.Growth))
		}
		return fmt.Sprintf("%s grows %s as a leak does%s", d.name, perHour(d.growth), ends(d.growth))
	case live.GrowsLoaded:
		return fmt.Sprintf("%s grows %s, and its load does too", d.name, perHour(d.growth))
	case live.KVFull:
		return fmt.Sprintf("the KV cache is full: %s wait, none fail", term.Plural(int64(*e.Waiting), "request", "requests"))
	case live.KVFullSoon:
		return "KV full in " + inTime(e.KVFull) + " if it goes on: then requests wait, none fail"
	case live.MoreThanSaid:
		return fmt.Sprintf("%s holds %s GiB more than was said: %s", d.name, term.GiB(d.off.Bytes, 2), d.off.Why)
	case live.LessThanSaid:
		return fmt.Sprintf("%s holds %s GiB less than was said: %s", d.name, strings.TrimPrefix(term.GiB(d.off.Bytes, 2), "−"), d.off.Why)
	case live.NoEngine:
		return "no engine found: --pid N names its process, MODEL and flags its plan"
	case live.NothingRead:
		return "nothing can be read of this machine"
	case live.NothingSaid:
		if s.o.Asking {
			return "asking what should be held"
		}
		return "no prediction for " + engineName(e) + ": " + e.Unsaid
	case live.NotMeasured:
		return "what engines hold is unknown: no driver reports it"
	}
	return s.asSaid()
}

// asSaid sets what is held beside what was said, of the place that is furthest off.
func (s *watchScreen) asSaid() string {
	for i := range s.v.Devices {
		if d := &s.v.Devices[i]; d.Off != nil {
			return fmt.Sprintf("as said: GPU %d holds %s GiB, and %s was said", d.Index, term.GiB(*d.Engines, 2), bandWords(d.Said))
		}
	}
	if h := s.v.Host; h != nil && h.Off != nil {
		return fmt.Sprintf("as said: the engine holds %s GiB of the host, and %s was said", term.GiB(*h.Engines, 2), bandWords(h.Said))
	}
	return "as said"
}

// bandWords is "72.8 ±1.5".
func bandWords(s *live.Said) string {
	b := term.Banded{Mid: s.Bytes, Low: s.Low, High: s.High}
	return term.GiB(s.Bytes, b.Decimals()) + b.Band()
}

func engineName(e *live.EngineView) string {
	if e == nil || e.Name == "" {
		return "the engine"
	}
	if t := render.EngineTitles[e.Name]; t != "" {
		return t
	}
	return e.Name
}

func (s *watchScreen) engine(pid int) *live.EngineView {
	for i := range s.v.Engines {
		if s.v.Engines[i].PID == pid {
			return &s.v.Engines[i]
		}
	}
	return nil
}

// watchedPlace is a device or the host, by name.
type watchedPlace struct {
	name   string
	off    *live.Off
	growth *live.Growth
}

func (s *watchScreen) watchedPlace(device *int) watchedPlace {
	if device == nil {
		return watchedPlace{}
	}
	for i := range s.v.Devices {
		if d := &s.v.Devices[i]; d.Index == *device {
			return watchedPlace{"GPU " + strconv.Itoa(d.Index), d.Off, d.Growth}
		}
	}
	if s.v.Host != nil {
		return watchedPlace{"the host", s.v.Host.Off, s.v.Host.Growth}
	}
	return watchedPlace{}
}

// perHour is a growth with its band: "1.2 GiB an hour (1.1–1.3)".
func perHour(g *live.Growth) string {
	if g == nil || g.Slope == nil {
		return ""
	}
	low, high := unit.Bytes(g.Slope.Low).String(), unit.Bytes(g.Slope.High).String()
	return fmt.Sprintf("by %s an hour (%s–%s),", unit.Bytes(g.Slope.Value), strings.TrimSuffix(low, high[strings.IndexByte(high, ' '):]),
		high)
}

// ends says when memory ends.
func ends(g *live.Growth) string {
	if g == nil || g.Out == nil {
		return ""
	}
	return "; memory ends in " + inTime(g.Out)
}

// inTime is "3.1 min (2.0 min–6.2 min)".
func inTime(f *live.Forecast) string {
	high := "no end"
	if f.High != nil {
		high = unit.Seconds(*f.High).String()
	}
	low := unit.Seconds(f.Low).String()
	if i := strings.IndexByte(high, ' '); i >= 0 {
		low = strings.TrimSuffix(low, high[i:])
	}
	return fmt.Sprintf("about %s (%s–%s)", unit.Seconds(f.Seconds), low, high)
}

// driftWords say what a series does.
func driftWords(g *live.Growth) string {
	over := " in " + unit.Seconds(g.Seconds).String()
	drift := signedSize(g.Drift)
	switch g.Finding {
	case trend.Unknown:
		return drift + over + "; ten minutes tell whether it grows"
	case trend.Level:
		return drift + over + ", within noise: no sign of a leak"
	case trend.Settling:
		return drift + over + ", and slowing: it warms up"
	case trend.Stepped:
		return drift + over + ", in steps: no sign of a leak"
	case trend.Growing:
		if g.WithLoad {
			return drift + over + ", steadily, and the load grew too"
		}
		return drift + over + ", steadily: as a leak does" + ends(g)
	}
	return drift + over + ", up and down: no sign of a leak"
}

func signedSize(b unit.Bytes) string {
	if b > 0 {
		return "+" + b.String()
	}
	return strings.Replace(b.String(), "-", "−", 1)
}
