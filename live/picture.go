package live

import (
	"math"
	"slices"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/trend"
	"github.com/memwall/memwall/unit"
)

// OnHost stands for the host in place of a device index.
const OnHost = -1

// Picture is the state of a watch at its last moment, as written by memwall watch --once --json.
type Picture struct {
	Schema  string `json:"schema"`
	Version string `json:"version"`
	Ask     string `json:"ask"`
	// At is the time of the last moment, in seconds since 1970; Seconds is the time since the first of Moments.
	At      float64        `json:"at_s"`
	Seconds float64        `json:"seconds"`
	Moments int64          `json:"moments"`
	Finding Finding        `json:"finding"`
	Engines []EngineView   `json:"engines"`
	Devices []DeviceView   `json:"devices"`
	Host    *HostView      `json:"host"`
	Others  []Process      `json:"others"`
	Notes   []memwall.Note `json:"notes"`
	// Cost is the share of one processor used by watching; nil in the first seconds.
	Cost      *float64 `json:"cost"`
	Recording string   `json:"recording,omitempty"`
}

// EngineView is an engine with its prediction.
type EngineView struct {
	Engine
	Verdict memwall.Verdict `json:"verdict,omitempty"`
	// Plan is the request that the command line corresponds to, with all defaults.
	Plan       *memwall.Request   `json:"plan,omitempty"`
	ModelInfo  *memwall.ModelInfo `json:"model_info,omitempty"`
	Unsaid     string             `json:"unsaid,omitempty"` // why there is no prediction
	SaidTokens *int64             `json:"said_kv_tokens,omitempty"`
	KV         []float64          `json:"kv_usage_before,omitempty"` // history, evenly spaced
	KVFull     *Forecast          `json:"kv_full,omitempty"`
	Growth     *Growth            `json:"host_growth,omitempty"` // of the host memory of its own
	Processes  []Process          `json:"processes"`
}

// Range is a figure with its band.
type Range struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// DeviceView is a device: what engines hold of it, the prediction, and its activity.
type DeviceView struct {
	Device
	// Engines is what the engines hold, as determined by Measured: "process", "engine" or "device"; nil if unknown.
	Engines  *unit.Bytes `json:"engines_bytes"`
	Measured string      `json:"measured_by,omitempty"`
	Said     *Said       `json:"said"`
	Off      *Off        `json:"off"`
	Growth   *Growth     `json:"growth"`
	Bar      []Stretch   `json:"bar"`
}

// HostView is the host's memory.
type HostView struct {
	Host
	Engines *unit.Bytes `json:"engines_bytes"`
	Said    *Said       `json:"said"`
	Off     *Off        `json:"off"`
	Growth  *Growth     `json:"growth"`
	Bar     []Stretch   `json:"bar"`
}

// Growth is the trend of a memory figure.
type Growth struct {
	Finding trend.Finding `json:"finding"`
	// WithLoad reports that it grew along with the load, unlike a leak.
	WithLoad bool       `json:"with_load"`
	Seconds  float64    `json:"seconds"`
	Drift    unit.Bytes `json:"drift_bytes"`
	Noise    unit.Bytes `json:"noise_bytes"`
	// Slope in bytes per hour with its band; nil while unknown.
	Slope *Range `json:"bytes_per_hour"`
	// Out is when memory runs out at this rate; nil unless it grows steadily.
	Out *Forecast `json:"out_of_memory"`
}

// Forecast is a time from now in seconds; High is nil if it may never come.
type Forecast struct {
	Seconds float64  `json:"seconds"`
	Low     float64  `json:"low_seconds"`
	High    *float64 `json:"high_seconds"`
}

// floor is the growth over the time judged that is ignored, being within the rounding of drivers.
const floor = float64(8 * unit.MiB)

// Picture returns the current picture; nil before the first moment.
func (s *Session) Picture() *Picture {
	if s.now == nil {
		return nil
	}
	m := s.now
	p := &Picture{Schema: memwall.Schema, Version: memwall.Version, Ask: "watch", At: m.At, Seconds: m.At - s.first.At, Moments: s.moments,
		Cost: s.cost, Recording: s.recording,
		Engines: []EngineView{}, Devices: []DeviceView{}, Others: append([]Process{}, m.others()...), Notes: []memwall.Note{}}
	for i := range m.Engines {
		p.Engines = append(p.Engines, s.engine(&m.Engines[i]))
	}
	for i := range m.Devices {
		p.Devices = append(p.Devices, s.device(&m.Devices[i]))
	}
	if m.Host != nil {
		p.Host = s.host(m.Host)
	}
	s.notes(p)
	p.Finding = p.finding()
	return p
}

func (s *Session) engine(e *Engine) EngineView {
	v := EngineView{Engine: *e, Processes: s.now.processesOf(e.PID)}
	if v.Processes == nil {
		v.Processes = []Process{}
	}
	v.Growth = s.growth("resident", e.PID, s.hostFree())
	v.KV, v.KVFull = s.cache(e.PID)
	p := s.said[e.PID]
	a := p.answered()
	switch {
	case p == nil:
		v.Unsaid = "its plan is unknown"
	case a == nil:
		v.Unsaid = p.Why
	default:
		v.Verdict, v.Plan, v.ModelInfo = a.Verdict, a.Plan, a.Model
		if a.KV != nil {
			v.SaidTokens = a.KV.CapacityTokens
		}
	}
	return v
}

// maxCurve is the maximum number of points of a curve.
const maxCurve = 60

// cache returns the use of the cache over time, and when it will be full at the rate of the last minutes.
func (s *Session) cache(pid int) (curve []float64, full *Forecast) {
	const lately = 120 // seconds
	points := s.points("kv", pid)
	for i := range min(len(points), maxCurve) {
		n := min(len(points), maxCurve)
		curve = append(curve, points[i*len(points)/n].Value)
	}
	t, rising := trend.Lately(points, lately)
	if !rising {
		return curve, nil
	}
	u, ok := t.Until(points[len(points)-1].Value, 1)
	if !ok {
		return curve, nil
	}
	return curve, forecast(u)
}

func forecast(u trend.Until) *Forecast {
	f := &Forecast{Seconds: u.Seconds, Low: u.Low}
	if !math.IsInf(u.High, 1) {
		f.High = &u.High
	}
	return f
}

func (s *Session) device(d *Device) DeviceView {
	v := DeviceView{Device: *d, Said: s.saidOf(d.Index)}
	if b, by, ok := s.engineOn(d); ok {
		v.Engines, v.Measured = &b, by
	}
	if v.Said != nil && v.Engines != nil {
		v.Off = v.Said.against(*v.Engines)
	}
	what := "engines"
	if v.Engines == nil {
		what = "used"
	}
	v.Growth = s.growth(what, d.Index, d.Free)
	v.Bar = stretches(v.Said, v.Off, v.Engines, d.Used, d.Total, s.taken())
	return v
}

func (s *Session) host(h *Host) *HostView {
	v := &HostView{Host: *h, Said: s.saidOf(OnHost)}
	if b, ok := s.now.mapped(); ok {
		v.Engines = &b
	}
	if v.Said != nil && v.Engines != nil {
		v.Off = v.Said.against(*v.Engines)
	}
	v.Growth = s.growth("host", 0, s.hostFree())
	used := h.Total - h.Free
	v.Bar = stretches(v.Said, v.Off, v.Engines, &used, h.Total, s.taken())
	return v
}

// taken returns the used share of the cache, if a single engine runs and reports it.
func (s *Session) taken() *float64 {
	if e := s.now.Engines; len(e) == 1 && e[0].Reading != nil {
		return e[0].KVUsage
	}
	return nil
}

func (s *Session) hostFree() *unit.Bytes {
	if s.now.Host == nil {
		return nil
	}
	return &s.now.Host.Free
}

// growth returns the trend of a series of bytes; free is the memory left for it to grow into.
func (s *Session) growth(what string, of int, free *unit.Bytes) *Growth {
	points := s.points(what, of)
	if len(points) == 0 {
		return nil
	}
	t := trend.Of(points, floor)
	g := &Growth{Finding: t.Finding, Seconds: t.Seconds, Drift: unit.Bytes(t.Drift), Noise: unit.Bytes(t.Noise)}
	if t.Finding == trend.Unknown {
		return g
	}
	const hour = 3600
	g.Slope = &Range{t.Slope * hour, t.Low * hour, t.High * hour}
	if t.Finding != trend.Growing {
		return g
	}
	g.WithLoad = s.loadGrew()
	if free != nil {
		if u, ok := t.Until(0, float64(*free)); ok {
			g.Out = forecast(u)
		}
	}
	return g
}

// loadGrew reports whether running requests, or their cache, grew by a fifth or more over the same time.
func (s *Session) loadGrew() bool {
	for i := range s.now.Engines {
		for _, what := range []string{"running", "kv"} {
			points := s.points(what, s.now.Engines[i].PID)
			if t := trend.Of(points, 0); t.Finding != trend.Unknown && t.Slope > 0 && t.Low > 0 &&
				t.Drift > 0.2*math.Max(1e-9, points[len(points)-1].Value) {
				return true
			}
		}
	}
	return false
}

// notes adds notes on what could not be read, and on what predictions are based on.
func (s *Session) notes(p *Picture) {
	for _, t := range s.now.Troubles {
		p.Notes = append(p.Notes, memwall.Note{Code: "watch_unread", Severity: "warn", Field: t.Source, Text: t.Source + ": " + t.Why})
	}
	for i := range s.now.Engines {
		said := s.said[s.now.Engines[i].PID]
		if said == nil {
			continue
		}
		for _, n := range said.Notes {
			if !slices.Contains(p.Notes, n) {
				p.Notes = append(p.Notes, n)
			}
		}
		if said.Hint != "" {
			p.Notes = append(p.Notes, memwall.Note{Code: "watch_unsaid", Severity: "info", Field: "model", Text: said.Hint})
		}
	}
}
