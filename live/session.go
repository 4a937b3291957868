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

// Session is a watch: moments as they come, in bounded room.
type Session struct {
	first, now *Moment
	moments    int64
	said       map[int]*Prediction // by the engine's PID
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

// Predict takes what memwall says of an engine.
func (s *Session) Predict(pid int, p *Prediction) {
	if s.said == nil {
		s.said = map[int]*Prediction{}
	}
	s.said[pid] = p
}

// Costs takes what watching itself takes of a processor, as a part of one.
func (s *Session) Costs(share float64) { s.cost = &share }

// Recording names the file that moments go to.
func (s *Session) Recording(name string) { s.recording = name }

// maxSeries bounds the series of a session: processes come and go.
const maxSeries = 2048

// Add takes a moment, no older than the one before.
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

// key of a series.
func key(what string, of int) string { return what + " " + strconv.Itoa(of) }

// points of a series; nil where there is none.
func (s *Session) points(what string, of int) []trend.Point {
	if k := s.series[key(what, of)]; k != nil {
		return k.Points()
	}
	return nil
}

// onDevices is what a process holds on all devices.
func (p *Process) onDevices() (b unit.Bytes) {
	for _, h := range p.Held {
		if h.Bytes != nil {
			b += *h.Bytes
		}
	}
	return b
}

// compareHeld holds first: on devices, then of the host.
func compareHeld(a, b Process) int {
	if c := cmp.Compare(b.onDevices(), a.onDevices()); c != 0 || a.Own == nil || b.Own == nil {
		return c
	}
	return cmp.Compare(*b.Own, *a.Own)
}

// resident is what an engine's processes hold of the host that is their own.
func (m *Moment) resident(pid int) (b unit.Bytes, ok bool) {
	for i := range m.Processes {
		if p := &m.Processes[i]; pid != 0 && p.Engine == pid && p.Own != nil {
			b, ok = b+*p.Own, true
		}
	}
	return b, ok
}

// mapped is resident with the pages of mapped files, such as a model's.
func (m *Moment) mapped() (b unit.Bytes, ok bool) {
	for i := range m.Processes {
		if p := &m.Processes[i]; p.Engine != 0 && p.Resident != nil {
			b, ok = b+*p.Resident, true
		}
	}
	return b, ok
}

// engineOn is what the engines hold of a device, and by which measure: "process" where the driver says it of each,
// "engine" where the engine says it itself, "device" where all that is held there counts, less what others are known to
// hold.
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

// runsOn: an engine is said to use the device.
func (s *Session) runsOn(index int) bool {
	for i := range s.now.Engines {
		if p := s.said[s.now.Engines[i].PID]; p != nil && slices.Contains(p.On, index) {
			return true
		}
	}
	return false
}

// saidOf is what is said of a device by all engines that run.
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

// others are processes that belong to no engine, those that hold most first.
func (m *Moment) others() (out []Process) {
	for i := range m.Processes {
		if m.Processes[i].Engine == 0 {
			out = append(out, m.Processes[i])
		}
	}
	stable.Sort(out, compareHeld)
	return out
}

// processesOf are the processes of an engine, those that hold most first.
func (m *Moment) processesOf(pid int) (out []Process) {
	for i := range m.Processes {
		if pid != 0 && m.Processes[i].Engine == pid {
			out = append(out, m.Processes[i])
		}
	}
	stable.Sort(out, compareHeld)
	return out
}

// answered is the answer about an engine; nil without one.
func (p *Prediction) answered() *memwall.Answer {
	if p == nil {
		return nil
	}
	return p.Answer
}
