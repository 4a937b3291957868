package live

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/stable"
	"github.com/memwall/memwall/trend"
	"github.com/memwall/memwall/unit"
)

// Session is a watch: a sequence of moments in bounded memory.
type Session struct {
	first, now *Moment
	moments    int64
	said       map[int]*Prediction // by PID of the engine
	series     map[string]*kept
	cost       *float64
	recording  string
}

// kept is a series with its extremes and mean.
type kept struct {
	trend.Series
	latest, peak, sum float64
	n                 int64
}

func (k *kept) add(at, v float64) {
	k.Add(trend.Point{At: at, Value: v})
	k.latest, k.peak, k.sum, k.n = v, max(k.peak, v), k.sum+v, k.n+1
}

// Predict sets the prediction for an engine.
func (s *Session) Predict(pid int, p *Prediction) {
	if s.said == nil {
		s.said = map[int]*Prediction{}
	}
	s.said[pid] = p
}

// Costs sets the share of one processor used by watching.
func (s *Session) Costs(share float64) { s.cost = &share }

// Recording sets the name of the file that moments are written to.
func (s *Session) Recording(name string) { s.recording = name }

// maxSeries limits the series of a session, since processes come and go.
const maxSeries = 2048

// Add adds a moment, which must not be older than the previous one.
func (s *Session) Add(m *Moment) {
	if s.now != nil && m.At < s.now.At {
		return // the clock was set back
	}
	if s.first == nil {
		s.first = m
	}
	s.now = m
	s.moments++
	for i := range m.Devices {
		d := &m.Devices[i]
		if d.Used != nil {
			s.add(m.At, float64(*d.Used), "used", d.Index)
		}
		if b, _, ok := s.engineOn(d); ok {
			s.add(m.At, float64(b), "engines", d.Index)
		}
	}
	if m.Host != nil {
		s.add(m.At, float64(m.Host.Total-m.Host.Free), "host", 0)
	}
	s.addEngines(m)
	for i := range m.Processes {
		p := &m.Processes[i]
		if b := p.onDevices(); b > 0 {
			s.add(m.At, float64(b), "process", p.PID)
		}
		if p.Own != nil {
			s.add(m.At, float64(*p.Own), "own", p.PID)
		}
	}
}

func (s *Session) addEngines(m *Moment) {
	for i := range m.Engines {
		e := &m.Engines[i]
		if b, ok := m.resident(e.PID); ok {
			s.add(m.At, float64(b), "resident", e.PID)
		}
		if e.Reading == nil {
			continue
		}
		for what, v := range map[string]*float64{"kv": e.KVUsage, "running": e.Running, "output": e.OutputRate, "waiting": e.Waiting} {
			if v != nil {
				s.add(m.At, *v, what, e.PID)
			}
		}
	}
}

func (s *Session) add(at, v float64, what string, of int) {
	if s.series == nil {
		s.series = map[string]*kept{}
	}
	name := key(what, of)
	k := s.series[name]
	if k == nil {
		if len(s.series) >= maxSeries {
			return
		}
		k = &kept{peak: math.Inf(-1)}
		s.series[name] = k
	}
	k.add(at, v)
}

// key identifies a series.
func key(what string, of int) string { return what + " " + strconv.Itoa(of) }

// points returns the points of a series; nil if there is none.
func (s *Session) points(what string, of int) []trend.Point {
	if k := s.series[key(what, of)]; k != nil {
		return k.Points()
	}
	return nil
}

// onDevices returns what a process holds on all devices.
func (p *Process) onDevices() (b unit.Bytes) {
	for _, h := range p.Held {
		if h.Bytes != nil {
			b += *h.Bytes
		}
	}
	return b
}

// compareHeld orders by memory held, first on devices, then on the host.
func compareHeld(a, b Process) int {
	if c := cmp.Compare(b.onDevices(), a.onDevices()); c != 0 || a.Own == nil || b.Own == nil {
		return c
	}
	return cmp.Compare(*b.Own, *a.Own)
}

// resident returns the host memory of their own that an engine's processes hold.
func (m *Moment) resident(pid int) (b unit.Bytes, ok bool) {
	for i := range m.Processes {
		if p := &m.Processes[i]; pid != 0 && p.Engine == pid && p.Own != nil {
			b, ok = b+*p.Own, true
		}
	}
	return b, ok
}

// mapped is resident including pages of mapped files, such as a model's.
func (m *Moment) mapped() (b unit.Bytes, ok bool) {
	for i := range m.Processes {
		if p := &m.Processes[i]; p.Engine != 0 && p.Resident != nil {
			b, ok = b+*p.Resident, true
		}
	}
	return b, ok
}

// engineOn returns what the engines hold of a device, and how that was determined: "process" if the driver lists it,
// "engine" if the engine reports it, "device" if it is everything held there minus what others are known to hold.
func (s *Session) engineOn(d *Device) (b unit.Bytes, by string, ok bool) {
	m := s.now
	var others unit.Bytes
	known, unsized := false, false
	for i := range m.Processes {
		p := &m.Processes[i]
		for _, h := range p.Held {
			switch {
			case h.Device != d.Index:
			case h.Bytes == nil:
				unsized = unsized || p.Engine != 0
			case p.Engine != 0:
				b, known = b+*h.Bytes, true
			default:
				others += *h.Bytes
			}
		}
	}
	switch {
	case known && !unsized:
		return b, "process", true
	case len(m.Engines) == 0 || !s.runsOn(d.Index):
		return 0, "", false
	case len(m.Devices) == 1 && len(m.Engines) == 1 && m.Engines[0].Reading != nil && m.Engines[0].OnDevice != nil:
		return *m.Engines[0].OnDevice, "engine", true
	case d.Used != nil:
		return max(0, *d.Used-others), "device", true
	}
	return 0, "", false
}

// runsOn reports whether an engine is predicted to use the device.
func (s *Session) runsOn(index int) bool {
	for i := range s.now.Engines {
		if p := s.said[s.now.Engines[i].PID]; p != nil && slices.Contains(p.On, index) {
			return true
		}
	}
	return false
}

// saidOf returns the prediction for a device over all running engines.
func (s *Session) saidOf(index int) (out *Said) {
	for i := range s.now.Engines {
		p := s.said[s.now.Engines[i].PID]
		if p == nil || p.Answer == nil {
			continue
		}
		all := byRank(p.Answer)
		for rank, on := range p.On {
			if on == index && rank < len(all) && all[rank] != nil {
				out = out.plus(all[rank])
			}
		}
	}
	return out
}

// others returns processes that belong to no engine, largest first.
func (m *Moment) others() (out []Process) {
	for i := range m.Processes {
		if m.Processes[i].Engine == 0 {
			out = append(out, m.Processes[i])
		}
	}
	stable.Sort(out, compareHeld)
	return out
}

// processesOf returns the processes of an engine, largest first.
func (m *Moment) processesOf(pid int) (out []Process) {
	for i := range m.Processes {
		if pid != 0 && m.Processes[i].Engine == pid {
			out = append(out, m.Processes[i])
		}
	}
	stable.Sort(out, compareHeld)
	return out
}

// answered returns the answer about an engine, or nil.
func (p *Prediction) answered() *memwall.Answer {
	if p == nil {
		return nil
	}
	return p.Answer
}
