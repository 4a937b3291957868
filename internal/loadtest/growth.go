package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// moments at which a server is looked at.
const moments = 60

// moment is what a server takes at a time, of its heap what the last collection of garbage left; -1 is not known, as open files are
// where there is no /proc.
type moment struct{ heap, goroutines, resident, files, threads int64 }

// look at a server.
func look(c *http.Client, url string, process int) moment {
	proc := filepath.Join("/proc", strconv.Itoa(process))
	m := moment{gauge(c, url, "memwall_heap_live_bytes"), gauge(c, url, "memwall_goroutines"), -1, -1, -1}
	if files, err := os.ReadDir(filepath.Join(proc, "fd")); err == nil {
		m.files = int64(len(files))
	}
	status, err := os.ReadFile(filepath.Join(proc, "status"))
	if err != nil {
		return m
	}
	m.resident, m.threads = inStatus(status, "VmRSS")<<10, inStatus(status, "Threads")
	return m
}

// inStatus is a number of /proc/PID/status (proc_pid_status(5)).
func inStatus(status []byte, name string) int64 {
	found := regexp.MustCompile(`(?m)^` + name + `:\s+(\d+)`).FindSubmatch(status)
	if found == nil {
		return -1
	}
	n, _ := strconv.ParseInt(string(found[1]), 10, 64) // digits
	return n
}

// follow looks at a server again and again; what it gives ends that, and says what was seen and what has grown.
func follow(c *http.Client, url string, process int, every time.Duration) func() string {
	var seen []moment
	over := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-over:
				return
			case <-tick.C:
				m := look(c, url, process)
				fmt.Printf("heap %5.1f MiB  resident %5.1f MiB  files %d  threads %d  goroutines %d\n",
					mib(m.heap), mib(m.resident), m.files, m.threads, m.goroutines)
				seen = append(seen, m)
			}
		}
	})
	return func() string {
		close(over)
		wg.Wait()
		return grown(seen)
	}
}

func mib(bytes int64) float64 { return float64(bytes) / (1 << 20) }

// grown compares the least of the first half with that of the second: what comes and goes is in neither.
func grown(seen []moment) string {
	if len(seen) < 4 {
		return ""
	}
	var out strings.Builder
	for _, what := range []struct {
		name string
		of   func(*moment) int64
	}{
		{"heap", func(m *moment) int64 { return m.heap }}, {"resident", func(m *moment) int64 { return m.resident }},
		{"files", func(m *moment) int64 { return m.files }}, {"threads", func(m *moment) int64 { return m.threads }},
		{"goroutines", func(m *moment) int64 { return m.goroutines }},
	} {
		least := func(of []moment) int64 {
			n := what.of(&of[0])
			for i := range of {
				n = min(n, what.of(&of[i]))
			}
			return n
		}
		fmt.Fprintf(&out, "%s, at the least: %d in the first half, %d in the second\n",
			what.name, least(seen[:len(seen)/2]), least(seen[len(seen)/2:]))
	}
	return out.String()
}
