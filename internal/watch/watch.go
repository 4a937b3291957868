// Package watch repeatedly reads a machine and the engines running on it: devices through their drivers, processes and
// command lines from the kernel, engines through their metrics, and memwall's predictions for the same command lines.
// It passes each moment to package live, which does all arithmetic.
//
// Every source is limited in size and time, and none waits for another: what cannot be read is recorded as a trouble of
// the moment. Keys and tokens are redacted from command lines as soon as they are read.
//
// See watch.go for the order of a moment, process.go for finding engines among processes, predict.go for turning a
// command line into a prediction, smi.go for NVIDIA devices, page.go for metrics.
package watch

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/card"
	"github.com/memwall/memwall/internal/detect"
	"github.com/memwall/memwall/live"
)

// Ports are what reaches outside.
type Ports struct {
	// Machine has the files and the short-lived programs.
	Machine detect.Machine
	// Processes lists those of a system that has no files of them; nil: there is no such list.
	Processes func() ([]Process, error)
	// Start runs a program that goes on, and gives what it prints; it ends with ctx. nil: programs are run anew each time.
	Start func(ctx context.Context, name string, args ...string) (io.ReadCloser, error)
	// Page fetches a page of at most so many bytes; nil: no page is read.
	Page func(ctx context.Context, address string, most int64) ([]byte, error)
	// Read reads a command line into a request; Ask answers it.
	Read func(text string) (*memwall.Request, []string, error)
	Ask  func(*memwall.Request) (*memwall.Answer, error)
	Now  func() time.Time
}

// Options are what the user said.
type Options struct {
	Interval time.Duration
	// PID is the engine's process; 0: engines are looked for.
	PID int
	// Pages are addresses of metrics; none: those of the engines found, on this machine.
	Pages []string
	// Settle puts what the user said onto the request of a command line, or makes one of nothing; nil where there is
	// neither.
	Settle func(read *memwall.Request) *memwall.Request
}

// Watcher reads moments.
type Watcher struct {
	Ports
	Options
	local *card.Local
	smi   *smi
	table table
	pages map[string]*page
	wake  sync.Once
	asks  sync.Mutex // held while a question is answered
	mu    sync.Mutex // guards what predictions in flight write
	said  map[int]*asked
	stop  context.CancelFunc
	ctx   context.Context
	until <-chan time.Time // end of the wait for pages, of one moment
	clock clock
}

// New makes a watcher; Close ends what it started.
func New(ctx context.Context, p Ports, o Options) *Watcher {
	if p.Now == nil {
		p.Now = time.Now
	}
	ctx, stop := context.WithCancel(ctx)
	w := &Watcher{Ports: p, Options: o, ctx: ctx, stop: stop, said: map[int]*asked{}, pages: map[string]*page{}}
	w.local = p.Machine.Look()
	w.table = table{machine: p.Machine, list: p.Processes, pid: o.PID}
	w.smi = newSMI(ctx, &w.Ports, o.Interval, w.local)
	return w
}

// Close ends all that the watcher started.
func (w *Watcher) Close() { w.stop() }

// Moment reads all sources once.
func (w *Watcher) Moment() *live.Moment {
	now := w.Now()
	m := &live.Moment{At: w.clock.at(now)}
	w.host(m)
	w.wake.Do(func() { w.smi.awake() })
	held := w.devices(m, now)
	engines := w.table.scan(m, now, held)
	w.engines(m, engines)
	return m
}

func trouble(m *live.Moment, source, why string) {
	for _, t := range m.Troubles {
		if t.Source == source {
			return
		}
	}
	m.Troubles = append(m.Troubles, live.Trouble{Source: source, Why: why})
}

// devices reads the accelerators, and gives the processes that hold memory of them.
func (w *Watcher) devices(m *live.Moment, now time.Time) map[int]*live.Process {
	held := map[int]*live.Process{}
	if w.smi.present {
		w.smi.read(m, held, now)
	}
	for _, g := range w.Machine.Gauges() {
		d := live.Device{Index: len(m.Devices), Name: g.Name, Total: g.Total, Used: &g.Used, ByProcess: len(g.Users) > 0}
		free := max(0, g.Total-g.Used)
		d.Free = &free
		for _, u := range g.Users {
			if held[u.PID] == nil {
				held[u.PID] = &live.Process{PID: u.PID, Name: u.Name}
			}
			held[u.PID].Held = append(held[u.PID].Held, live.Held{Device: d.Index, Bytes: &u.Bytes})
		}
		m.Devices = append(m.Devices, d)
	}
	w.named(m)
	return held
}

// named gives devices the names that the look at the start found, where files have none.
func (w *Watcher) named(m *live.Moment) {
	if len(w.local.Devices) != len(m.Devices) {
		return
	}
	for i := range m.Devices {
		d, l := &m.Devices[i], &w.local.Devices[i]
		if d.Name == "" {
			d.Name = l.Name
		}
		if d.ID == "" {
			d.ID = l.ID
		}
	}
}

// host reads what the machine's memory, or that of a control group, has free.
func (w *Watcher) host(m *live.Moment) {
	h := w.Machine.Memory()
	if h == nil {
		return
	}
	m.Host = &live.Host{Total: h.Total, Free: h.Free}
	if h.Limit > 0 {
		m.Host.Total = h.Limit
	}
}

// engines are those found, and pages that nobody found a process for.
func (w *Watcher) engines(m *live.Moment, found []*engine) {
	left := w.Pages
	for _, e := range found {
		if e.address = e.page(); len(left) > 0 {
			e.address, left = left[0], left[1:]
		}
	}
	for _, address := range left {
		found = append(found, &engine{address: address})
	}
	if len(found) == 0 && w.Settle != nil && w.Settle(nil) != nil {
		found = append(found, &engine{})
	}
	for _, e := range found {
		w.begin(e.address)
	}
	w.until = time.After(pageTime)
	for _, e := range found {
		w.add(m, e)
	}
	w.ask(m, found)
}

// add reads an engine's page and puts it into the moment.
func (w *Watcher) add(m *live.Moment, e *engine) {
	out := live.Engine{PID: e.pid, Name: e.name, Command: e.shown, Page: shown(e.address)}
	if r, why := w.metrics(e, e.address); r != nil {
		out.Reading = &r.Reading
		if out.Name == "" {
			out.Name = r.engine
		}
		out.Model, e.loaded = r.model, r.loaded
	} else if why != "" {
		trouble(m, shown(e.address), why)
	}
	m.Engines = append(m.Engines, out)
}
