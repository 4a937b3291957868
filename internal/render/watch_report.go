package render

import (
	"fmt"
	"strconv"
	"time"

	"github.com/memwall/memwall/live"
	"github.com/memwall/memwall/unit"
)

// WatchReport draws what a recording sums up to.
func WatchReport(r *live.Report, name string, st Style) string {
	s := watchScreen{newPage(st), r.Picture, WatchOptions{Zone: time.UTC}}
	s.reportHead(r, name)
	s.reportTable(r)
	s.reportLoad(r)
	s.growth()
	s.reportProcesses(r)
	s.notes()
	return s.String()
}

func (s *watchScreen) reportHead(r *live.Report, name string) {
	const clock = "2006-01-02 15:04"
	at := func(t float64) string { return time.UnixMilli(int64(t * 1000)).In(s.o.Zone).Format(clock) }
	parts := []string{shorten(name, 30, s.ellipsis()), fmt.Sprintf("%s to %s UTC", at(r.From), at(r.To)[len("2006-01-02 "):]), plural(r.Moments, "reading", "readings")}
	s.dotted(join(say("memwall watch", bold), say("   ")), parts)
	s.headline()
}

// reportTable is what each device held, beside what was said.
func (s *watchScreen) reportTable(r *live.Report) {
	s.blank()
	tb := &table{sides: []side{left, decimal, decimal, decimal, decimal, decimal, decimal}}
	tb.row(say("GiB", dim), say("said", dim), say("peak", dim), say("off", dim), say("mean", dim), say("at last", dim), say("drift", dim))
	row := func(name string, x *live.Sum) {
		said, off := "—", "—"
		if x.Said != nil {
			said = gib(x.Said.Bytes, 2)
		}
		if x.Off != nil {
			off = signedGiB(x.Off.Bytes)
		}
		drift := "—"
		if x.Growth != nil {
			drift = signedGiB(x.Growth.Drift)
		}
		tb.row(say(name), say(said), say(gib(x.Peak, 2)), say(off), say(gib(x.Mean, 2)), say(gib(x.Last, 2)), say(drift))
	}
	for i := range r.Devices {
		row("GPU "+strconv.Itoa(r.Devices[i].Device), &r.Devices[i])
	}
	if r.Host != nil {
		row("host, all", r.Host)
	}
	s.add(tb)
	for i := range r.Devices {
		if o := r.Devices[i].Off; o != nil && !o.Within {
			s.para(pad(gap), join(say(fmt.Sprintf("GPU %d: ", r.Devices[i].Device), dim), say(o.Why)))
		}
	}
}

// reportLoad is what the engines did.
func (s *watchScreen) reportLoad(r *live.Report) {
	s.blank()
	for i := range r.Engines {
		e := &r.Engines[i]
		var parts []string
		add := func(name string, x *float64, as func(float64) string) {
			if x != nil {
				parts = append(parts, name+" "+as(*x))
			}
		}
		add("KV peak", e.KVPeak, percent)
		add("mean", e.KVMean, percent)
		add("running, peak", e.RunningPeak, count)
		add("mean", e.RunningMean, func(x float64) string { return significant(x, 2) })
		add("waiting, peak", e.WaitingPeak, count)
		add("tok/s out, mean", e.OutputMean, rate)
		if len(parts) > 0 {
			s.dotted(say("  "+engineName(&live.EngineView{Engine: live.Engine{Name: e.Name}})+"   ", dim), parts)
		}
	}
}

func count(x float64) string { return unit.Count(int64(x)) }

// reportProcesses are those that held most.
func (s *watchScreen) reportProcesses(r *live.Report) {
	const most = 8
	if len(r.Processes) == 0 {
		return
	}
	s.blank()
	tb := &table{sides: []side{right, left, decimal, decimal, decimal, left}, most: map[int]int{1: 24}}
	tb.row(say("pid", dim), say("process", dim), say("devices, peak GiB", dim), say("mean", dim), say("host, peak GiB", dim), nil)
	for i := range r.Processes {
		if i == most {
			break
		}
		p := &r.Processes[i]
		of := ""
		if p.Engine != 0 {
			of = "engine " + strconv.Itoa(p.Engine)
		}
		peak, mean, host := "—", "—", "—"
		if p.Peak > 0 {
			peak, mean = gib(p.Peak, 2), gib(p.Mean, 2)
		}
		if p.HostPeak != nil {
			host = gib(*p.HostPeak, 2)
		}
		tb.row(say(strconv.Itoa(p.PID)), say(p.Name), say(peak), say(mean), say(host), say(of, dim))
	}
	s.add(tb)
}
