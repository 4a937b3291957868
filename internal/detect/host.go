package detect

import (
	"context"
	"path"
	"strconv"
	"strings"

	"github.com/memwall/memwall/internal/card"
	"github.com/memwall/memwall/unit"
)

// host inspects the processor and its memory, within the control group's limit.
func (m Machine) host(context.Context) seen {
	s := m.memory()
	s.cpu = m.processor()
	return s
}

func (m Machine) memory() (s seen) {
	total, free, ok := amounts(m.read("proc/meminfo"))
	if !ok && m.RAM != nil {
		total, free, ok = m.RAM()
	}
	if !ok || total <= 0 {
		s.note("how much memory the host has is not known: /proc/meminfo says nothing")
		return s
	}
	free = max(0, min(free, total))
	h := &card.LocalHost{Total: total, Used: total - free, Free: free}
	if g := m.tightest(); g.limit > 0 && g.limit < total {
		h.Limit, h.LimitBy = g.limit, g.file
		h.Free = min(h.Free, max(0, g.limit-g.used))
		h.Used = h.Limit - h.Free
	}
	s.host = h
	return s
}

// amounts parses MemTotal and MemAvailable of /proc/meminfo, in kB meaning KiB; kernels before 3.14 have only MemFree.
func amounts(text string) (total, free unit.Bytes, ok bool) {
	total, ok = kib(keyed(text, "MemTotal"))
	free, known := kib(keyed(text, "MemAvailable"))
	if !known {
		free, known = kib(keyed(text, "MemFree"))
		caches, _ := kib(keyed(text, "Cached"))
		free += caches
	}
	if !known {
		free = total
	}
	return total, free, ok
}

func kib(s string) (unit.Bytes, bool) {
	n, err := strconv.ParseInt(strings.TrimSuffix(s, " kB"), 10, 64)
	if err != nil || n < 0 || n > maxSize>>10 {
		return 0, false
	}
	return unit.Bytes(n) * unit.KiB, true
}

// group is a control group with a memory limit, and its members' usage.
type group struct {
	limit, used unit.Bytes
	file        string
}

// tightest returns the control group of this process or above it that leaves the least.
func (m Machine) tightest() (best group) {
	for _, folder := range groupFolders(m.read("proc/self/cgroup")) {
		for _, files := range groupFiles {
			g := m.groupOf(folder, files)
			if g.limit > 0 && (best.limit == 0 || g.limit-g.used < best.limit-best.used) {
				best = g
			}
		}
	}
	return best
}

// groupFiles are the files of the limit, the usage, and the reclaimable caches included in it, for versions 2 and 1.
var groupFiles = [...]struct{ limit, used, cache string }{
	{"memory.max", "memory.current", "inactive_file"},
	{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"},
}

func (m Machine) groupOf(folder string, f struct{ limit, used, cache string }) group {
	g := group{limit: m.size(path.Join(folder, f.limit)), file: "/" + path.Join(folder, f.limit)}
	if g.limit == 0 {
		return group{} // "max", or no such file
	}
	used := m.size(path.Join(folder, f.used))
	cache, _ := strconv.ParseInt(spaced(m.read(path.Join(folder, "memory.stat")), f.cache), 10, 64)
	g.used = max(0, used-unit.Bytes(max(0, cache)))
	return g
}

// groupFolders returns the folders of the groups named in /proc/self/cgroup and of their parents, in both versions. In a container
// the path is often the host's and does not exist: the top folder is then the container's own.
func groupFolders(text string) (out []string) {
	add := func(root, below string) {
		for p := path.Clean("/" + below); ; p = path.Dir(p) {
			out = append(out, path.Join(root, p))
			if p == "/" || len(out) > 64 {
				return
			}
		}
	}
	for line := range strings.SplitSeq(text, "\n") {
		parts := strings.SplitN(line, ":", 3)
		switch {
		case len(parts) < 3:
		case parts[1] == "":
			add("sys/fs/cgroup", parts[2])
		case parts[1] == "memory":
			add("sys/fs/cgroup/memory", parts[2])
		}
	}
	return out
}

// spaced returns the value of "key value" in a text of such lines.
func spaced(text, key string) string {
	for line := range strings.SplitSeq(text, "\n") {
		if k, v, ok := strings.Cut(line, " "); ok && k == key {
			return strings.TrimSpace(v)
		}
	}
	return ""
}
