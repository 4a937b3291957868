package tui

import (
	"fmt"
	"strconv"
	"time"

	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/live"
	"github.com/memwall/memwall/unit"
)

// WatchReport draws what a recording sums up to.
func WatchReport(r *live.Report, name string, st term.Style) string {
	s := watchScreen{term.NewPage(st), r.Picture, WatchOptions{Zone: time.UTC}}
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
	parts := []string{term.Shorten(name, 30, s.Ellipsis()), fmt.Sprintf("%s to %s UTC", at(r.From), at(r.To)[len("2006-01-02 "):]),
		term.Plural(r.Moments, "reading", "readings")}
	s.Dotted(term.Join(term.Say("memwall watch", term.Bold), term.Say("   ")), parts)
	s.headline()
}

// reportTable is what each device held, beside what was said.
func (s *watchScreen) reportTable(r *live.Report) {
	s.Blank()
	tb := &term.Table{Sides: []term.Side{term.Left, term.Decimal, term.Decimal, term.Decimal, term.Decimal, term.Decimal, term.Decimal}}
	tb.Row(term.Say("GiB", term.Dim), term.Say("said", term.Dim), term.Say("peak", term.Dim), term.Say("off", term.Dim),
		term.Say("mean", term.Dim), term.Say("at last", term.Dim), term.Say("drift", term.Dim))
	row := func(name string, x *live.Sum) {
		said, off := "—", "—"
		if x.Said != nil {
			said = term.GiB(x.Said.Bytes, 2)
		}
		if x.Off != nil {
			off = signedGiB(x.Off.Bytes)
		}
		drift := "—"
		if x.Growth != nil {
			drift = signedGiB(x.Growth.Drift)
		}
		tb.Row(term.Say(name), term.Say(said), term.Say(term.GiB(x.Peak, 2)), term.Say(off), term.Say(term.GiB(x.Mean, 2)),
			term.Say(term.GiB(x.Last, 2)), term.Say(drift))
	}
	for i := range r.Devices {
		row("GPU "+strconv.Itoa(r.Devices[i].Device), &r.Devices[i])
	}
	if r.Host != nil {
		row("host, all", r.Host)
	}
	s.Add(tb)
	for i := range r.Devices {
		if o := r.Devices[i].Off; o != nil && !o.Within {
			s.Para(term.Pad(term.Gap), term.Join(term.Say(fmt.Sprintf("GPU %d: ", r.Devices[i].Device), term.Dim), term.Say(o.Why)))
		}
	}
}

// reportLoad is what the engines did.
func (s *watchScreen) reportLoad(r *live.Report) {
	s.Blank()
	for i := range r.Engines {
		e := &r.Engines[i]
		var parts []string
		add := func(name string, x *float64, as func(float64) string) {
			if x != nil {
				parts = append(parts, name+" "+as(*x))
			}
		}
		add("KV peak", e.KVPeak, term.Percent)
		add("mean", e.KVMean, term.Percent)
		add("running, peak", e.RunningPeak, count)
		add("mean", e.RunningMean, func(x float64) string { return term.Significant(x, 2) })
		add("waiting, peak", e.WaitingPeak, count)
		add("tok/s out, mean", e.OutputMean, rate)
		if len(parts) > 0 {
			s.Dotted(term.Say("  "+engineName(&live.EngineView{Engine: live.Engine{Name: e.Name}})+"   ", term.Dim), parts)
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
	s.Blank()
	tb := &term.Table{Sides: []term.Side{term.Right, term.Left, term.Decimal, term.Decimal, term.Decimal, term.Left},
		Most: map[int]int{1: 24}}
	tb.Row(term.Say("pid", term.Dim), term.Say("process", term.Dim), term.Say("devices, peak GiB", term.Dim), term.Say("mean", term.Dim),
		term.Say("host, peak GiB", term.Dim), nil)
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
			peak, mean = term.GiB(p.Peak, 2), term.GiB(p.Mean, 2)
		}
		if p.HostPeak != nil {
			host = term.GiB(*p.HostPeak, 2)
		}
		tb.Row(term.Say(strconv.Itoa(p.PID)), term.Say(p.Name), term.Say(peak), term.Say(mean), term.Say(host), term.Say(of, term.Dim))
	}
	s.Add(tb)
}
