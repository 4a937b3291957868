package torch

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/memwall/memwall/fault"
	"github.com/memwall/memwall/internal/stable"
)

// Trace is the summary of a profiler trace. Times are in seconds.
type Trace struct {
	// Device is the first that the trace names, of Devices; World is how many processes trained together, 0 when it is
	// not said.
	Device  string
	Devices int
	World   int64
	Events  int64
	// Busy devices, whose kernels are counted.
	Ran int
	// Steps that the program marked; Span is from the first one's begin to the last one's end. Decoding and Prompting
	// count the steps of a server by whether they computed prompts.
	Steps, Decoding, Prompting int64
	Span                       float64
	// Time and Count of kernels by class, all devices together. Worked is how long any device computed, and Known whether
	// that could be told.
	Time   [classes]float64
	Count  [classes]int64
	Worked float64
	Known  bool
	// Largest are names of kernels that no class knows.
	Largest []Unknown
	links   *links
	Memory  []Memory
	// Long events were passed over; Cut: the file ends before the trace does.
	Long int64
	Cut  bool
}

// Unknown is a kernel that no class knows.
type Unknown struct {
	Name string
	Time float64
}

// Memory is the caching allocator's memory on a device according to its events, in bytes.
type Memory struct {
	Device                    int64
	Allocated, Reserved, Last int64 // peaks, and what was allocated at the end
	events                    int64
}

const (
	maxDevices = 1024
	maxUnknown = 4096
)

// reader of a trace.
type reader struct {
	t       Trace
	s       *scanner
	begin   float64 // of the first step
	end     float64
	marked  map[string]bool // names of steps that were counted
	ran     map[string]*union
	unknown map[string]float64
	classes map[string]Class // of names that were seen
	memory  map[int64]*Memory
	links   *links
}

// ReadTrace reads the JSON that torch.profiler exports, of any length in bounded memory.
func ReadTrace(r io.Reader) (*Trace, error) {
	x := &reader{s: newScanner(r), begin: math.Inf(1), end: math.Inf(-1), marked: map[string]bool{}, ran: map[string]*union{},
		unknown: map[string]float64{}, classes: map[string]Class{}, memory: map[int64]*Memory{}, links: newLinks()}
	err := x.document()
	cut := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
	switch {
	case err != nil && !cut:
		return nil, err
	case x.t.Events == 0 && cut:
		return nil, broken(x.s.at, fixTrace, "the trace ends before its first event")
	case x.t.Events == 0:
		return nil, fault.New("the file has no event of a trace", fixTrace)
	}
	x.t.Cut = cut
	return x.close(), nil
}

// document reads the object around the events, or the events alone.
func (x *reader) document() error {
	first, err := x.s.next()
	if err != nil {
		return err
	}
	if first == '[' {
		return x.events()
	}
	if first != '{' {
		return broken(x.s.at-1, fixTrace, "%q where a trace begins with a brace", first)
	}
	for {
		key, done, err := x.key()
		if err != nil || done {
			return err
		}
		if key == "traceEvents" {
			if err = x.s.expect('['); err == nil {
				err = x.events()
			}
		} else {
			err = x.head(key)
		}
		if err != nil {
			return err
		}
	}
}

// key reads a field's name and the colon behind it; done at the end of the object.
func (x *reader) key() (key string, done bool, err error) {
	b, err := x.s.peek()
	if err == nil && b == ',' {
		_, _ = x.s.next()
		b, err = x.s.peek()
	}
	switch {
	case err != nil:
		return "", false, err
	case b == '}':
		return "", true, nil
	case b != '"':
		return "", false, broken(x.s.at, fixTrace, "%q where a field's name must stand", b)
	}
	if err := x.s.value(); err != nil {
		return "", false, err
	}
	key = string(unquoted(x.s.kept[:min(len(x.s.kept), maxKey)]))
	return key, false, x.s.expect(':')
}

// head reads a field beside the events.
func (x *reader) head(key string) error {
	if err := x.s.value(); err != nil {
		return err
	}
	if x.s.long {
		return nil
	}
	switch key {
	case "deviceProperties":
		var all []struct{ Name string }
		if json.Unmarshal(x.s.kept, &all) == nil && len(all) > 0 {
			x.t.Device, x.t.Devices = plainName(all[0].Name), len(all)
		}
	case "distributedInfo":
		var d struct {
			World int64 `json:"world_size"`
		}
		if json.Unmarshal(x.s.kept, &d) == nil && d.World > 0 && d.World < 1<<20 {
			x.t.World = d.World
		}
	}
	return nil
}

// plainName keeps a name to printable letters.
func plainName(s string) string {
	const most = 160
	return strings.Map(func(r rune) rune {
		if strconv.IsPrint(r) {
			return r
		}
		return -1
	}, s[:min(len(s), most)])
}

// events reads those of the array up to its end.
func (x *reader) events() error {
	for {
		b, err := x.s.peek()
		switch {
		case err != nil:
			return err
		case b == ']':
			_, err = x.s.next()
			return err
		case b == ',':
			_, _ = x.s.next()
			continue
		case b != '{':
			return broken(x.s.at, fixTrace, "%q where an event must stand", b)
		}
		if err := x.s.value(); err != nil {
			return err
		}
		x.t.Events++
		if x.s.long {
			x.t.Long++
			continue
		}
		x.event(x.s.kept)
	}
}

// event as it stands in the file.
type event struct {
	cat, name, pid, args []byte
	ts, dur              float64
}

// idle events are most of a trace and tell nothing here: functions on the host, and arrows between events.
func (e *event) idle() bool {
	switch string(e.cat) {
	case "python_function", "ac2g", "fwdbwd":
		return true
	case "cuda_runtime", "cuda_driver":
		return e.name != nil
	case "cpu_op":
		return e.name != nil && !e.marks()
	}
	return false
}

// marks reports whether the event is a step's.
func (e *event) marks() bool {
	return bytes.HasPrefix(e.name, []byte("ProfilerStep#")) || bytes.HasPrefix(e.name, []byte("execute_context_"))
}

func (x *reader) event(text []byte) {
	var e event
	phase := byte(0)
	fields(text, func(key, v []byte) bool {
		switch string(key) {
		case "ph":
			if p := unquoted(v); len(p) == 1 {
				phase = p[0]
			}
		case "cat":
			e.cat = unquoted(v)
		case "name":
			e.name = unquoted(v)
		case "pid":
			e.pid = v
		case "args":
			e.args = v
		case "ts":
			e.ts = number(v)
		case "dur":
			e.dur = number(v)
		}
		return !e.idle()
	})
	if e.idle() {
		x.onHost(&e, text)
		return
	}
	switch {
	case (phase == 'i' || phase == 'I') && string(e.name) == "[memory]":
		x.allocation(e.args)
	case phase != 'X' || !(e.dur >= 0) || math.IsInf(e.dur, 0) || math.IsNaN(e.ts) || math.IsInf(e.ts, 0):
	case equalFold(e.cat, "kernel"):
		x.kernel(&e, x.class(e.name))
	case equalFold(e.cat, "gpu_memcpy") || equalFold(e.cat, "memcpy"):
		x.kernel(&e, copyClass(e.name))
	case equalFold(e.cat, "gpu_memset") || equalFold(e.cat, "memset"):
		x.kernel(&e, Elementwise)
	case !equalFold(e.cat, "gpu_user_annotation"):
		x.step(&e)
	}
}

// onHost looks at an event of the host for what it says of kernels.
func (x *reader) onHost(e *event, text []byte) {
	switch {
	case string(e.cat) == "cpu_op":
		x.operator(e.name, text)
	case bytes.HasSuffix(e.name, []byte("GraphLaunch")):
		x.links.graphs++
	}
}

func equalFold(a []byte, b string) bool { return strings.EqualFold(string(a), b) }

// number reads a JSON number, or one in quotes; NaN when it is none.
func number(v []byte) float64 {
	if in := unquoted(v); in != nil {
		v = in
	}
	f, err := strconv.ParseFloat(string(v), 64)
	if err != nil {
		return math.NaN()
	}
	return f
}

// class of a kernel; the same few hundred names come millions of times.
func (x *reader) class(name []byte) Class {
	c, have := x.classes[string(name)]
	if !have {
		if c = classOf(name); len(x.classes) < maxUnknown {
			x.classes[string(name)] = c
		}
	}
	return c
}

// kernel counts what ran on a device; a trace's times are micro-seconds.
func (x *reader) kernel(e *event, c Class) {
	const micro = 1e-6
	seconds := e.dur * micro
	x.t.Time[c] += seconds
	x.t.Count[c]++
	x.links.kernel(c, seconds, e.args)
	u := x.ran[string(e.pid)]
	if u == nil {
		if len(x.ran) == maxDevices {
			return
		}
		u = &union{}
		x.ran[string(bytes.Clone(e.pid))] = u
	}
	if c != Collectives { // they wait for other devices
		u.add(e.ts*micro, seconds)
	}
	if c == Other {
		name := string(e.name[:min(len(e.name), maxKey)])
		if _, have := x.unknown[name]; have || len(x.unknown) < maxUnknown {
			x.unknown[name] += seconds
		}
	}
}

// step counts the marks of the profiler ("ProfilerStep#12") and of vLLM ("execute_context_2(512)_generation_8(8)").
func (x *reader) step(e *event) {
	const micro = 1e-6
	if !e.marks() {
		return
	}
	server := bytes.HasPrefix(e.name, []byte("execute"))
	if !server {
		name := string(e.name[:min(len(e.name), maxKey)])
		if x.marked[name] || len(x.marked) == maxUnknown {
			return
		}
		x.marked[name] = true
	}
	x.t.Steps++
	x.begin, x.end = math.Min(x.begin, e.ts*micro), math.Max(x.end, (e.ts+e.dur)*micro)
	switch {
	case !server:
	case bytes.HasPrefix(e.name, []byte("execute_context_0(")):
		x.t.Decoding++
	default:
		x.t.Prompting++
	}
}

// allocation is an event of the caching allocator; those of the host are left out.
func (x *reader) allocation(args []byte) {
	device, kind, allocated, reserved := int64(-1), int64(0), int64(0), int64(0)
	fields(args, func(key, v []byte) bool {
		switch string(key) {
		case "Device Id":
			device = integer(v)
		case "Device Type":
			kind = integer(v)
		case "Total Allocated":
			allocated = integer(v)
		case "Total Reserved":
			reserved = integer(v)
		}
		return true
	})
	if kind == 0 || device < 0 {
		return
	}
	m := x.memory[device]
	if m == nil {
		if len(x.memory) == maxDevices {
			return
		}
		m = &Memory{Device: device}
		x.memory[device] = m
	}
	m.events++
	m.Last, m.Allocated, m.Reserved = allocated, max(m.Allocated, allocated), max(m.Reserved, reserved)
}

// integer reads a whole number of at most 2^53; 0 when it is none.
func integer(v []byte) int64 {
	f := number(v)
	if math.IsNaN(f) || math.Abs(f) > 1<<53 {
		return 0
	}
	return int64(f)
}

// close sums up.
func (x *reader) close() *Trace {
	t := &x.t
	t.links = x.links
	if t.Steps > 0 {
		t.Span = x.end - x.begin
	}
	t.Ran, t.Known = len(x.ran), len(x.ran) > 0
	for _, u := range x.ran {
		worked, known := u.close()
		t.Worked, t.Known = t.Worked+worked, t.Known && known
	}
	for name, seconds := range x.unknown {
		t.Largest = append(t.Largest, Unknown{plainName(name), seconds})
	}
	stable.Sort(t.Largest, func(a, b Unknown) int {
		if a.Time != b.Time {
			return int(math.Copysign(1, b.Time-a.Time))
		}
		return strings.Compare(a.Name, b.Name)
	})
	t.Largest = t.Largest[:min(len(t.Largest), 3)]
	for _, m := range x.memory {
		t.Memory = append(t.Memory, *m)
	}
	stable.Sort(t.Memory, func(a, b Memory) int { return int(a.Device - b.Device) })
	return t
}
