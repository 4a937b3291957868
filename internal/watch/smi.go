package watch

import (
	"bufio"
	"context"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/memwall/memwall/internal/card"
	"github.com/memwall/memwall/internal/detect"
	"github.com/memwall/memwall/live"
	"github.com/memwall/memwall/unit"
)

// What is asked of nvidia-smi: of devices, and of the processes that compute on them. Its loop prints a line for each, once
// in an interval, from one process that stays: starting it anew every second would take a tenth of a processor.
const (
	askGPUs  = "--query-gpu=timestamp,index,uuid,name,memory.total,memory.used,memory.free,utilization.gpu"
	askApps  = "--query-compute-apps=timestamp,gpu_uuid,pid,used_memory,process_name"
	asCSV    = "--format=csv,noheader,nounits"
	maxLine  = 4 << 10
	maxLines = 4096 // of one time
	maxSmiID = 256  // devices
)

// smi is nvidia-smi, running.
type smi struct {
	ports    *Ports
	every    time.Duration
	ctx      context.Context
	devices  *loop
	apps     *loop
	present  bool
	reported map[string]string // catalog ids by the driver's names
}

func newSMI(ctx context.Context, p *Ports, every time.Duration, l *card.Local) *smi {
	s := &smi{ports: p, every: every, ctx: ctx, reported: map[string]string{}}
	for _, d := range l.Devices {
		s.reported[d.Name] = d.ID
	}
	s.present = p.Machine.HasNVIDIA()
	if s.present {
		s.devices, s.apps = s.loop(askGPUs, len(l.Devices)), s.loop(askApps, 1)
	}
	return s
}

func (s *smi) loop(ask string, least int) *loop {
	l := &loop{smi: s, ask: ask, least: least, ready: make(chan struct{})}
	if s.ports.Start != nil && s.every > 0 {
		go l.run()
	}
	return l
}

// loop is one run of nvidia-smi that prints again and again.
type loop struct {
	smi *smi
	ask string
	mu  sync.Mutex
	// batch has the lines of the newest time that is whole, next those of the time that is being printed.
	batch, next []string
	stamp       string
	at          time.Time // of the last line
	why         string
	once        sync.Once
	ready       chan struct{} // closed at the first batch, or the first end
	least       int           // lines of a batch that are known to come
}

// awake waits for the first line, as long as a driver that sleeps needs to wake up.
func (l *loop) awake(most time.Duration) {
	if l.smi.ports.Start == nil || l.smi.every == 0 {
		return
	}
	select {
	case <-l.ready:
	case <-time.After(most):
	case <-l.smi.ctx.Done():
	}
}

// awake waits for the devices, and for who holds them if it says so at once.
func (s *smi) awake() {
	const whole = 100 * time.Millisecond // between the first line of a batch and the last
	if !s.present {
		return
	}
	s.devices.awake(firstLine)
	s.apps.awake(s.every + firstWait)
	if s.ports.Start != nil && s.every > 0 {
		time.Sleep(whole)
	}
}

// Waits for the first line, and between runs that end by themselves.
const (
	firstLine = 3 * time.Second
	firstWait = time.Second
	lastWait  = time.Minute
)

// run starts nvidia-smi, and again when it ends.
func (l *loop) run() {
	wait := firstWait
	for l.smi.ctx.Err() == nil {
		ctx, stop := context.WithCancel(l.smi.ctx)
		out, err := l.smi.ports.Start(ctx, "nvidia-smi", l.ask, asCSV, "-lms", strconv.FormatInt(l.smi.every.Milliseconds(), 10))
		began := l.smi.ports.Now()
		if err == nil {
			l.follow(out)
			_ = out.Close() // it has ended, or is to end
		}
		stop()
		l.ended(err)
		if l.smi.ports.Now().Sub(began) > lastWait {
			wait = firstWait
		}
		select {
		case <-l.smi.ctx.Done():
		case <-time.After(wait):
		}
		wait = min(2*wait, lastWait)
	}
}

func (l *loop) ended(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.once.Do(func() { close(l.ready) })
	if l.why = "ended"; err != nil {
		l.why = "cannot be run: " + detect.Printable(err.Error())
	} else if len(l.next) > 0 && !strings.Contains(l.next[0], ",") {
		l.why = "ended, and said: " + detect.Printable(l.next[0])
	}
}

// follow reads lines until there are no more; a line that is too long ends it.
func (l *loop) follow(out io.Reader) {
	lines := bufio.NewScanner(out)
	lines.Buffer(make([]byte, 0, maxLine), maxLine)
	for lines.Scan() {
		l.line(lines.Text())
	}
}

// line takes a line. A new time begins a batch: the one before is whole.
func (l *loop) line(text string) {
	stamp, _, _ := strings.Cut(text, ",")
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.smi.ports.Now()
	if !sameTime(stamp, l.stamp) && len(l.next) > 0 {
		l.batch, l.next = l.next, nil
	}
	l.stamp = stamp
	if len(l.next) < maxLines {
		l.next = append(l.next, text)
	}
	l.at, l.why = now, ""
	if len(l.next) >= max(len(l.batch), l.least) {
		l.batch = l.next
		l.once.Do(func() { close(l.ready) })
	}
}

// sameTime: lines of one time may be some milliseconds apart. "2026/11/22 19:00:01.123".
func sameTime(a, b string) bool {
	const layout = "2006/01/02 15:04:05.000"
	x, err1 := time.Parse(layout, a)
	y, err2 := time.Parse(layout, b)
	return err1 == nil && err2 == nil && y.Sub(x).Abs() < 40*time.Millisecond
}

// lines are the newest, or why there are none.
func (l *loop) lines(now time.Time) (out []string, why string) {
	if l.smi.ports.Start == nil || l.smi.every == 0 {
		text, err := l.smi.ports.Machine.Ask(l.smi.ctx, "nvidia-smi", l.ask, asCSV)
		if err != nil {
			return nil, "failed: " + detect.Printable(err.Error())
		}
		return strings.Split(strings.TrimSpace(string(text)), "\n"), ""
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if stale := 3*l.smi.every + 2*time.Second; !l.at.IsZero() && now.Sub(l.at) > stale && l.why == "" {
		return nil, "has said nothing for " + now.Sub(l.at).Round(time.Second).String()
	}
	return l.batch, l.why
}

// gpu reads a line of devices.
func (s *smi) gpu(line string) (d live.Device, uuid string, ok bool) {
	f := strings.Split(line, ",")
	if len(f) != 8 {
		return d, "", false
	}
	for i := range f {
		f[i] = strings.TrimSpace(f[i])
	}
	index, err := strconv.Atoi(f[1])
	total, sized := mib(f[4])
	if err != nil || index < 0 || index >= maxSmiID || !sized {
		return d, "", false
	}
	d = live.Device{Index: index, Name: detect.Printable(f[3]), Total: total, ByProcess: true}
	d.ID = s.reported[d.Name]
	if used, ok := mib(f[5]); ok {
		d.Used = &used
	}
	if free, ok := mib(f[6]); ok {
		d.Free = &free
	}
	if busy, err := strconv.ParseFloat(f[7], 64); err == nil && busy >= 0 && busy <= 100 {
		busy /= 100
		d.Busy = &busy
	}
	return d, f[2], true
}

// app reads a line of processes; a name may hold commas.
func app(line string) (uuid string, p live.Process, b *unit.Bytes, ok bool) {
	f := strings.SplitN(line, ",", 5)
	if len(f) != 5 {
		return "", p, nil, false
	}
	pid, err := strconv.Atoi(strings.TrimSpace(f[2]))
	if err != nil || pid <= 0 {
		return "", p, nil, false
	}
	p = live.Process{PID: pid, Name: detect.ProgramOf(f[4])}
	if used, ok := mib(strings.TrimSpace(f[3])); ok {
		b = &used
	}
	return strings.TrimSpace(f[1]), p, b, true
}

// mib reads a number of MiB; "[N/A]" and the like are none.
func mib(s string) (unit.Bytes, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 || n > 1<<30 {
		return 0, false
	}
	return unit.Bytes(n) * unit.MiB, true
}

// read puts devices and the processes on them into a moment.
func (s *smi) read(m *live.Moment, held map[int]*live.Process, now time.Time) {
	lines, why := s.devices.lines(now)
	at := map[string]int{}
	broken := 0
	for _, line := range lines {
		d, uuid, ok := s.gpu(line)
		if !ok {
			broken++
			continue
		}
		if _, twice := at[uuid]; !twice {
			at[uuid] = len(m.Devices)
			m.Devices = append(m.Devices, d)
		}
	}
	switch {
	case why != "":
		trouble(m, "nvidia-smi", why)
	case broken > 0 && len(m.Devices) == 0:
		trouble(m, "nvidia-smi", "printed what cannot be read")
	}
	lines, why = s.apps.lines(now)
	if why != "" && len(m.Devices) > 0 && !strings.Contains(why, "nothing for") { // nobody computes: nothing is printed
		trouble(m, "nvidia-smi", "who holds what: "+why)
	}
	s.addProcesses(m, held, lines, at)
}

// addProcesses adds what processes hold of devices.
func (s *smi) addProcesses(m *live.Moment, held map[int]*live.Process, lines []string, at map[string]int) {
	for _, line := range lines {
		uuid, p, b, ok := app(line)
		i, known := at[uuid]
		if !ok || !known || len(held) > maxLines {
			continue
		}
		if held[p.PID] == nil {
			held[p.PID] = &p
		}
		if b == nil {
			m.Devices[i].ByProcess = false
		}
		held[p.PID].Held = append(held[p.PID].Held, live.Held{Device: m.Devices[i].Index, Bytes: b})
	}
}
