package watch

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/memwall/memwall/engine/argv"
	"github.com/memwall/memwall/internal/detect"
	"github.com/memwall/memwall/internal/stable"
	"github.com/memwall/memwall/live"
	"github.com/memwall/memwall/unit"
)

// engine is a server among the processes: the process that was started, and all that it started.
type engine struct {
	pid     int
	name    string
	program string
	command argv.Command
	text    string // for the reader of command lines; never shown
	shown   string // with what is secret redacted
	first   string // base name of what the process itself is
	folder  string // that it runs in
	members []int
	address string  // of its metrics
	loaded  *loaded // that its page says it has loaded (Ollama)
}

// programs that serve models, and what the engine is called.
var programs = map[string]string{
	"vllm": "vllm", "vllm.entrypoints.openai.api_server": "vllm", "vllm.entrypoints.api_server": "vllm",
	"sglang": "sglang", "sglang.launch_server": "sglang",
	"trtllm-serve": "tensorrt-llm", "tensorrt_llm.commands.serve": "tensorrt-llm",
	"llama-server": "llama-server", "llama-cli": "llama.cpp", "ollama": "ollama", "ollama_llama_server": "ollama",
	"text-generation-launcher": "tgi", "text-generation-server": "tgi", "text-generation-router": "tgi",
}

// Bounds of the table of processes.
const (
	maxProcesses   = 1 << 15
	maxCommand     = 16 << 10
	maxEnvironment = 256 << 10
	maxEngines     = 16
	// The whole table is gone through once in this time; between, only the engines' own processes are read.
	rescan = 10 * time.Second
)

// table is the machine's processes.
type table struct {
	machine detect.Machine
	list    func() ([]Process, error)
	pid     int
	at      time.Time
	parents map[int]int
	found   []*engine
	sizes   map[int]size // where the kernel has no files of processes
	why     string
}

// Process is one that a system lists.
type Process struct {
	PID, Parent int
	Args        []string // the program first
	Environment []string // NAME=VALUE, where the system tells it
	Folder      string   // that it runs in; "" where the system does not tell it
	// Resident and Own are what it holds of the host, all of it and what is its own alone.
	Resident, Own unit.Bytes
}

// size is what a process holds of the host.
type size struct{ resident, own unit.Bytes }

// scan puts the processes of engines, and others that hold devices, into a moment.
func (t *table) scan(m *live.Moment, now time.Time, held map[int]*live.Process) []*engine {
	if t.at.IsZero() || now.Sub(t.at) >= rescan || t.engineEnded() {
		t.read(now)
	}
	if t.why != "" {
		trouble(m, "processes", t.why)
	}
	of := map[int]int{}
	for _, e := range t.found {
		for _, pid := range e.members {
			of[pid] = e.pid
			if held[pid] == nil {
				held[pid] = &live.Process{PID: pid}
			}
		}
	}
	for pid, p := range held {
		if p.Engine = of[pid]; p.Engine == 0 {
			p.Engine = t.heir(pid)
		}
		t.fill(p)
		if p.Name != "" || p.Engine != 0 || len(p.Held) > 0 {
			m.Processes = append(m.Processes, *p)
		}
	}
	stable.Sort(m.Processes, func(a, b live.Process) int { return a.PID - b.PID })
	return t.found
}

// engineEnded reports whether an engine has ended.
func (t *table) engineEnded() bool {
	return t.machine.Has("proc") && slices.ContainsFunc(t.found,
		func(e *engine) bool { return !t.machine.Has("proc/" + strconv.Itoa(e.pid)) })
}

// heir is the engine that a process was started by since the table was read.
func (t *table) heir(pid int) int {
	for range 16 {
		if pid = parentOf(t.machine.ReadFile("proc/"+strconv.Itoa(pid)+"/stat", 4096)); pid <= 1 {
			return 0
		}
		for _, e := range t.found {
			if slices.Contains(e.members, pid) {
				return e.pid
			}
		}
	}
	return 0
}

// fill reads what a process holds of the host, and its name where the driver has none.
func (t *table) fill(p *live.Process) {
	if s, ok := t.sizes[p.PID]; ok {
		p.Resident, p.Own = &s.resident, &s.own
	}
	status := t.machine.ReadFile("proc/"+strconv.Itoa(p.PID)+"/status", 8<<10)
	if name := detect.Keyed(status, "Name"); name != "" && p.Name == "" {
		p.Name = detect.Printable(name)
	}
	resident, ok := detect.KiB(detect.Keyed(status, "VmRSS"))
	if !ok {
		return
	}
	own, split := detect.KiB(detect.Keyed(status, "RssAnon"))
	shared, _ := detect.KiB(detect.Keyed(status, "RssShmem"))
	if own += shared; !split {
		own = resident
	}
	p.Resident, p.Own = &resident, &own
}

// read goes through all processes.
func (t *table) read(now time.Time) {
	t.at, t.why = now, ""
	t.parents = map[int]int{}
	var all []*engine
	switch {
	case t.machine.Has("proc/self/stat", "proc/1"):
		all = t.fromFiles()
	case t.machine.OS == "darwin":
		all = t.fromList(t.ps)
	case t.list != nil:
		all = t.fromList(t.list)
	default:
		t.why = "the processes of this system are not read: --metrics names a page, and MODEL with flags a plan"
	}
	t.found = t.roots(all)
}

// fromFiles reads /proc.
func (t *table) fromFiles() (all []*engine) {
	for _, name := range t.machine.Names("proc", maxProcesses) {
		pid, err := strconv.Atoi(name)
		if err != nil || pid <= 0 {
			continue
		}
		folder := "proc/" + name
		t.parents[pid] = parentOf(t.machine.ReadFile(folder+"/stat", 4096))
		line := t.machine.ReadFile(folder+"/cmdline", maxCommand)
		if e := engineOf(pid, strings.Split(strings.TrimRight(line, "\x00"), "\x00"), pid == t.pid); e != nil {
			e.surroundings(strings.Split(t.machine.ReadFile(folder+"/environ", maxEnvironment), "\x00"), t.machine.Link(folder+"/cwd"))
			all = append(all, e)
		}
	}
	return all
}

// surroundings are the variables that a reader of command lines knows, and the folder: of others' processes nobody may
// read them.
func (e *engine) surroundings(environment []string, folder string) {
	var set []string
	for _, v := range environment {
		if name, value, ok := strings.Cut(v, "="); ok && wanted(name) && value != "" {
			set = append(set, argv.Assigned(name, value))
		}
	}
	slices.Sort(set)
	if len(set) > 0 {
		e.text = strings.Join(set, " ") + " " + e.text
	}
	e.folder = folder
}

// wanted are variables that change memory and hold no secret.
func wanted(name string) bool {
	switch name {
	case "CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "OLLAMA_CONTEXT_LENGTH", "OLLAMA_NUM_PARALLEL",
		"OLLAMA_KV_CACHE_TYPE",
		"OLLAMA_FLASH_ATTENTION", "OLLAMA_GPU_OVERHEAD", "OLLAMA_MAX_LOADED_MODELS", "OLLAMA_NEW_ENGINE", "OLLAMA_SCHED_SPREAD",
		"OLLAMA_HOST":
		return true
	}
	return strings.HasPrefix(name, "LLAMA_ARG_")
}

// fromList takes a list of the system's own, where the kernel has no files of processes.
func (t *table) fromList(list func() ([]Process, error)) (all []*engine) {
	found, err := list()
	if err != nil {
		t.why = "the processes cannot be listed: " + detect.Printable(err.Error())
	}
	t.sizes = map[int]size{}
	for _, p := range found[:min(len(found), maxProcesses)] {
		t.parents[p.PID] = p.Parent
		if p.Resident > 0 {
			t.sizes[p.PID] = size{p.Resident, p.Own}
		}
		if e := engineOf(p.PID, p.Args, p.PID == t.pid); e != nil {
			e.surroundings(p.Environment, p.Folder)
			all = append(all, e)
		}
	}
	return all
}

// ps lists processes; its columns of arguments are parted by spaces alone.
func (t *table) ps() (out []Process, err error) {
	text, err := t.machine.Ask(context.Background(), "ps", "-axww", "-o", "pid=,ppid=,rss=,command=")
	if err != nil {
		return nil, fmt.Errorf("ps failed: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) < 4 {
			continue
		}
		pid, err1 := strconv.Atoi(f[0])
		parent, err2 := strconv.Atoi(f[1])
		if rss, ok := detect.KiB(f[2]); ok && err1 == nil && err2 == nil {
			out = append(out, Process{PID: pid, Parent: parent, Args: f[3:], Resident: rss, Own: rss})
		}
	}
	return out, nil
}

// parentOf reads the parent in /proc/PID/stat, "7 (a name) S 1 …": the name may hold anything.
func parentOf(stat string) int {
	i := strings.LastIndexByte(stat, ')')
	f := strings.Fields(stat[i+1:])
	if i < 0 || len(f) < 2 {
		return 0
	}
	parent, err := strconv.Atoi(f[1])
	if err != nil {
		return 0
	}
	return parent
}

// engineOf tells a server by its arguments; nil for other programs, unless it is the one that was asked for.
func engineOf(pid int, args []string, named bool) *engine {
	if len(args) == 0 || args[0] == "" || len(args) > 4096 {
		return nil
	}
	e := &engine{pid: pid, text: argv.Line(args), shown: argv.Shown(args), first: argv.BaseName(args[0])}
	cmds, err := argv.Parse(e.text)
	for i := range cmds {
		if name := programs[cmds[i].Program]; err == nil && name != "" && serves(&cmds[i]) {
			e.program, e.name, e.command = cmds[i].Program, name, cmds[i]
			return e
		}
	}
	if named {
		return e
	}
	return nil
}

// serves: programs such as "vllm bench" and "ollama list" do not.
func serves(c *argv.Command) bool {
	switch c.Program {
	case "vllm", "sglang", "ollama":
		return len(c.Args) > 0 && slices.Contains([]string{"serve", "run", "runner", "start"}, c.Args[0]) &&
			!(c.Program == "ollama" && c.Args[0] == "run")
	case "trtllm-serve":
		return len(c.Args) > 0
	}
	return true
}

// roots are the engines' first processes: wrappers (a shell, sudo, docker) give way to what they started, and what an
// engine started belongs to it.
func (t *table) roots(all []*engine) (out []*engine) {
	stable.Sort(all, func(a, b *engine) int { return a.pid - b.pid })
	if t.pid > 0 {
		all = slices.DeleteFunc(all, func(e *engine) bool { return e.pid != t.pid })
	}
	for _, e := range all {
		if e.wrapped() && slices.ContainsFunc(all, func(o *engine) bool { return o != e && t.under(o.pid, e.pid) }) {
			continue
		}
		if slices.ContainsFunc(all, func(o *engine) bool { return o != e && !o.wrapped() && t.under(e.pid, o.pid) }) {
			continue
		}
		if len(out) < maxEngines {
			out = append(out, e)
		}
	}
	for _, e := range out {
		e.members = []int{e.pid}
		for pid := range t.parents {
			if pid != e.pid && t.under(pid, e.pid) {
				e.members = append(e.members, pid)
			}
		}
		slices.Sort(e.members)
	}
	return out
}

// wrapped: the process itself is not the program that serves.
func (e *engine) wrapped() bool {
	switch e.first {
	case "sh", "bash", "dash", "zsh", "fish", "sudo", "docker", "podman", "nerdctl", "nohup", "timeout", "numactl", "env", "nice",
		"taskset", "setsid", "uv", "uvx", "cmd", "powershell", "pwsh":
		return true
	}
	return false
}

// under: a process was started by another, or by one that this started.
func (t *table) under(pid, of int) bool {
	for range 64 {
		if pid = t.parents[pid]; pid == of {
			return true
		} else if pid <= 1 {
			return false
		}
	}
	return false
}
