package live

import (
	"cmp"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/stable"
	"github.com/memwall/memwall/unit"
)

// Report summarizes a recording, as written by memwall watch --report --json.
type Report struct {
	Schema  string  `json:"schema"`
	Version string  `json:"version"`
	Ask     string  `json:"ask"`
	From    float64 `json:"from_s"` // seconds since 1970
	To      float64 `json:"to_s"`
	Moments int64   `json:"moments"`
	// Picture is the last moment, with drift and growth over the whole recording.
	Picture   *Picture `json:"picture"`
	Devices   []Sum    `json:"devices"`
	Host      *Sum     `json:"host"`
	Processes []Sum    `json:"processes"`
	Engines   []Load   `json:"engines"`
}

// Sum summarizes what was held over a recording.
type Sum struct {
	Device int        `json:"device,omitempty"`
	PID    int        `json:"pid,omitempty"`
	Engine int        `json:"engine,omitempty"` // PID of the process's engine
	Name   string     `json:"name"`
	Peak   unit.Bytes `json:"peak_bytes"`
	Mean   unit.Bytes `json:"mean_bytes"`
	Last   unit.Bytes `json:"last_bytes"`
	Said   *Said      `json:"said,omitempty"`
	// Off is the peak minus the prediction.
	Off    *Off    `json:"peak_off,omitempty"`
	Growth *Growth `json:"growth"`
	// HostPeak is the most host memory of its own that a process held.
	HostPeak *unit.Bytes `json:"host_peak_bytes,omitempty"`
}

// Load summarizes an engine's load over a recording; nil fields were not reported.
type Load struct {
	PID         int      `json:"pid"`
	Name        string   `json:"name"`
	Model       string   `json:"model,omitempty"`
	KVPeak      *float64 `json:"kv_usage_peak"`
	KVMean      *float64 `json:"kv_usage_mean"`
	RunningPeak *float64 `json:"running_peak"`
	RunningMean *float64 `json:"running_mean"`
	WaitingPeak *float64 `json:"waiting_peak"`
	OutputMean  *float64 `json:"output_tokens_per_s_mean"`
}

// Report summarizes the session; nil before the first moment.
func (s *Session) Report() *Report {
	if s.now == nil {
		return nil
	}
	r := &Report{Schema: memwall.Schema, Version: memwall.Version, Ask: "watch", From: s.first.At, To: s.now.At, Moments: s.moments,
		Picture: s.Picture(), Devices: []Sum{}, Processes: []Sum{}, Engines: []Load{}}
	for i := range s.now.Devices {
		d := &s.now.Devices[i]
		what := "engines"
		if s.points(what, d.Index) == nil {
			what = "used"
		}
		if sum := s.sum(what, d.Index, d.Free); sum != nil {
			sum.Device, sum.Name = d.Index, d.Name
			sum.compareWith(s.saidOf(d.Index))
			r.Devices = append(r.Devices, *sum)
		}
	}
	if sum := s.sum("host", 0, s.hostFree()); sum != nil {
		sum.Name = "host"
		r.Host = sum
	}
	s.reportProcesses(r)
	for i := range s.now.Engines {
		r.Engines = append(r.Engines, s.load(&s.now.Engines[i]))
	}
	return r
}

// sum returns the extremes of a series; nil if there is none.
func (s *Session) sum(what string, of int, free *unit.Bytes) *Sum {
	k := s.series[key(what, of)]
	if k == nil {
		return nil
	}
	return &Sum{Peak: unit.Bytes(k.peak), Mean: unit.Bytes(k.mean()), Last: unit.Bytes(k.latest), Growth: s.growth(what, of, free)}
}

func (k *kept) mean() float64 { return k.sum / float64(k.n) }

// compareWith compares the peak with the prediction.
func (s *Sum) compareWith(said *Said) {
	if s.Said = said; said != nil {
		s.Off = said.against(s.Peak)
	}
}

func (s *Session) reportProcesses(r *Report) {
	for i := range s.now.Processes {
		p := &s.now.Processes[i]
		sum, own := s.sum("process", p.PID, nil), s.sum("own", p.PID, nil)
		if sum == nil && own == nil {
			continue
		}
		if sum == nil {
			sum = &Sum{Growth: own.Growth}
		}
		if own != nil {
			sum.HostPeak = &own.Peak
		}
		sum.PID, sum.Name, sum.Engine = p.PID, p.Name, p.Engine
		r.Processes = append(r.Processes, *sum)
	}
	stable.Sort(r.Processes, func(a, b Sum) int { return cmp.Or(cmp.Compare(b.Peak, a.Peak), cmp.Compare(b.host(), a.host())) })
}

func (s *Sum) host() unit.Bytes {
	if s.HostPeak == nil {
		return 0
	}
	return *s.HostPeak
}

// load returns the load of an engine.
func (s *Session) load(e *Engine) Load {
	l := Load{PID: e.PID, Name: e.Name, Model: e.Model}
	get := func(what string) (peak, mean *float64) {
		k := s.series[key(what, e.PID)]
		if k == nil {
			return nil, nil
		}
		m := k.mean()
		return &k.peak, &m
	}
	l.KVPeak, l.KVMean = get("kv")
	l.RunningPeak, l.RunningMean = get("running")
	l.WaitingPeak, _ = get("waiting")
	_, l.OutputMean = get("output")
	return l
}
