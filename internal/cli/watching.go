package cli

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/record"
	"github.com/memwall/memwall/internal/render/tui"
	"github.com/memwall/memwall/internal/screen"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/internal/watch"
	"github.com/memwall/memwall/live"
)

// watching is a continuous watch, in which one goroutine reads and another draws.
type watching struct {
	a *app
	f *watchFlags
	w *watch.Watcher

	mu      sync.Mutex // guards the following
	s       live.Session
	file    *record.Recording
	at      float64 // of the last moment
	lost    error   // why recording ended
	help    bool
	explain bool
	spent   func() (share float64, ok bool)
}

// settling is how long a single picture waits for the prediction, which may resolve a remote model.
const settling = 20 * time.Second

// run runs until a key, an interrupt or --count ends it.
func (x *watching) run(ctx context.Context) (err error) {
	defer func() {
		if lost := x.end(); err == nil {
			err = lost
		}
	}()
	x.spent = watch.Spent()
	x.explain = x.f.explain != ""
	switch {
	case x.f.once:
		return x.once(ctx)
	case x.a.Terminal && x.a.Keyboard && !x.a.json && x.f.count == 0:
		return x.screen(ctx)
	}
	return x.lines(ctx)
}

// record begins a recording; "" begins none.
func (x *watching) record(name string) error {
	if name == "" {
		return nil
	}
	file, err := record.Create(name, float64(x.a.Now().UnixMilli())/1000)
	if err == nil {
		x.file = file
		x.s.Recording(name)
	}
	return err
}

// end closes the recording and returns why it ended early, if it did.
func (x *watching) end() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.file == nil {
		return x.lost
	}
	err := x.file.Say(x.at, x.w.Predictions())
	if closed := x.file.Close(); err == nil {
		err = closed
	}
	x.file = nil
	return err
}

// read takes one reading.
func (x *watching) read() {
	m := x.w.Moment()
	said := x.w.Predictions()
	x.mu.Lock()
	defer x.mu.Unlock()
	for pid, p := range said {
		x.s.Predict(pid, p)
	}
	x.s.Add(m)
	x.at = m.At
	if share, ok := x.spent(); ok {
		x.s.Costs(share)
	}
	x.keep(m, said)
}

// keep writes a moment; if the recording fails, it ends, but the watch does not.
func (x *watching) keep(m *live.Moment, said map[int]*live.Prediction) {
	if x.file == nil {
		return
	}
	if err := x.file.Add(m, said); err != nil {
		_ = x.file.Close() // the earlier error is reported
		x.file = nil
		x.lost = &memwall.Error{Code: memwall.BadFile, Field: "record", Value: x.f.record, Message: "the recording ended: " + err.Error(), Hint: "room on the disk, and no other program that writes to the file"}
		x.s.Recording("")
	}
}

// picture returns what is known now; nil before the first reading.
func (x *watching) picture() *live.Picture {
	x.mu.Lock()
	defer x.mu.Unlock()
	p := x.s.Picture()
	if p != nil && x.lost != nil {
		p.Notes = append([]memwall.Note{{Code: "watch_unrecorded", Severity: "warn", Field: "record", Text: x.lost.Error()}}, p.Notes...)
	}
	return p
}

// once draws a single picture when the prediction is available.
func (x *watching) once(ctx context.Context) error {
	x.read()
	x.settled(ctx)
	x.mu.Lock()
	for pid, p := range x.w.Predictions() {
		x.s.Predict(pid, p)
	}
	x.mu.Unlock()
	p := x.picture()
	return x.a.show(p, func(st term.Style) string { return tui.Watch(p, x.options(), st) })
}

func (x *watching) settled(ctx context.Context) {
	const look = 5 * time.Millisecond
	for end := time.After(settling); x.w.Asking(); {
		select {
		case <-time.After(look):
		case <-end:
			return
		case <-ctx.Done():
			return
		}
	}
}

func (x *watching) options() tui.WatchOptions {
	return tui.WatchOptions{Explain: x.explain, Notes: x.f.notes, Asking: x.w != nil && x.w.Asking(), Every: x.f.interval}
}

// lines prints a line or a document per reading, for pipes and files.
func (x *watching) lines(ctx context.Context) error {
	tick := time.NewTicker(x.f.interval)
	defer tick.Stop()
	for n := 1; ; n++ {
		x.read()
		if n == 1 {
			x.settled(ctx)
		}
		if err := x.a.watchLine(x.picture(), x.options()); err != nil || n == x.f.count {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func (a *app) watchLine(p *live.Picture, o tui.WatchOptions) error {
	if a.json {
		return writeJSON(a.Stdout, p, false)
	}
	return a.print(tui.WatchLine(p, o, a.style()))
}

// keys are the keys of the screen.
const keys = "q quit   e explain   r record   ? help"

// screenEnv returns the terminal environment for a live screen.
func (a *app) screenEnv() (env []string) {
	for _, name := range []string{"TERM", "COLORTERM", "NO_COLOR", "WT_SESSION", "LANG"} {
		if v := a.Env(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// screen redraws pictures in place until a key ends it.
func (x *watching) screen(ctx context.Context) error {
	return screen.Run(ctx, x.a.Stdin, x.a.Stdout, x.a.screenEnv(), screen.Show{Every: x.f.interval, Tick: x.read, Key: x.key, Draw: x.draw})
}

func (x *watching) draw(columns, rows int) string {
	st := x.a.style()
	if x.a.Env("COLUMNS") == "" {
		st.Width = columns
	}
	p := x.picture()
	if p == nil {
		return "reading this machine …\n"
	}
	o := x.options()
	o.Keys, o.Rows, o.Help = keys, rows, x.help
	return tui.Watch(p, o, st)
}

func (x *watching) key(key string) (quit bool) {
	switch key {
	case "q", "esc":
		return true
	case "e":
		x.explain = !x.explain
	case "?", "h":
		x.help = !x.help
	case "r":
		x.toggle()
	}
	return false
}

// toggle begins a recording in the working directory, or ends the current one.
func (x *watching) toggle() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.file != nil {
		x.lost = x.file.Close()
		x.file = nil
		x.s.Recording("")
		return
	}
	if x.f.record == "" {
		x.f.record = "memwall-" + x.a.Now().Format("20060102-150405") + ".jsonl"
	}
	x.lost = x.record(x.f.record)
}

// replayed plays a recording into a session, calling each, if not nil, after every moment.
func (a *app) replayed(name string, s *live.Session, each func() error) error {
	err := record.Replay(name, s.Predict, func(m *live.Moment) error {
		s.Add(m)
		if each == nil {
			return nil
		}
		return each()
	})
	if err == nil && s.Picture() == nil {
		return &memwall.Error{Code: memwall.BadFile, Field: "replay", Value: name, Message: fmt.Sprintf("%s holds no reading", name), Hint: "memwall watch --record " + name}
	}
	return err
}

func (a *app) watchReport(f *watchFlags) error {
	var s live.Session
	if err := a.replayed(f.report, &s, nil); err != nil {
		return err
	}
	r := s.Report()
	return a.show(r, func(st term.Style) string { return tui.WatchReport(r, f.report, st) })
}

// watchReplay shows the last moment of a recording, or a line per moment.
func (a *app) watchReplay(f *watchFlags) error {
	var s live.Session
	o := tui.WatchOptions{Explain: f.explain != "", Notes: f.notes, Zone: time.UTC}
	if !f.once {
		return a.replayed(f.replay, &s, func() error { return a.watchLine(s.Picture(), o) })
	}
	if err := a.replayed(f.replay, &s, nil); err != nil {
		return err
	}
	p := s.Picture()
	return a.show(p, func(st term.Style) string { return tui.Watch(p, o, st) })
}
