package serve

import (
	"fmt"
	"maps"
	"net/http"
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const metricsType = "text/plain; version=0.0.4; charset=utf-8"

// counters holds the server's metrics.
type counters struct {
	inFlight, hits atomic.Int64
	mu             sync.Mutex
	by             map[answered]*times
}

// answered is the key of request counts: the matched pattern, of which there are few, and the status.
type answered struct {
	route  string
	status int
}

// times is a latency histogram: counts below each bound, and the sum.
type times struct {
	below [len(bounds)]int64
	count int64
	sum   float64
}

// bounds of the histogram, in seconds.
var bounds = [...]float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5, 10, 60}

// begin counts a request and returns a function to call at its end.
func (c *counters) begin() func(pattern string, status int, took time.Duration) {
	c.inFlight.Add(1)
	return func(pattern string, status int, took time.Duration) {
		c.inFlight.Add(-1)
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.by == nil {
			c.by = map[answered]*times{}
		}
		key := answered{pattern, status}
		if c.by[key] == nil {
			c.by[key] = &times{}
		}
		c.by[key].add(took.Seconds())
	}
}

func (t *times) add(seconds float64) {
	t.count++
	t.sum += seconds
	for i, b := range bounds {
		if seconds <= b {
			t.below[i]++
		}
	}
}

// text returns the metrics in Prometheus exposition format, in a fixed order.
func (c *counters) text() string {
	var b strings.Builder
	b.WriteString("# HELP memwall_request_seconds Time from the request's header to the end of the answer.\n# TYPE memwall_request_seconds histogram\n")
	c.mu.Lock()
	keys := slices.SortedFunc(maps.Keys(c.by), func(a, b answered) int {
		return strings.Compare(fmt.Sprint(a.route, a.status), fmt.Sprint(b.route, b.status))
	})
	for _, k := range keys {
		c.by[k].write(&b, fmt.Sprintf("route=%q,status=\"%d\"", k.route, k.status))
	}
	c.mu.Unlock()
	for _, g := range []struct {
		name, kind, help string
		value            uint64
	}{
		{"memwall_requests_in_flight", "gauge", "Requests being answered.", uint64(c.inFlight.Load())},
		{"memwall_answers_remembered_total", "counter", "Answers given again, without asking.", uint64(c.hits.Load())},
		{"memwall_goroutines", "gauge", "Goroutines.", uint64(runtime.NumGoroutine())},
		{"memwall_heap_bytes", "gauge", "Bytes of live and dead objects.", sampled("/memory/classes/heap/objects:bytes")},
		{"memwall_heap_live_bytes", "gauge", "Bytes of the objects that the last collection of garbage left.",
			sampled("/gc/heap/live:bytes")},
	} {
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s %s\n%s %d\n", g.name, g.help, g.name, g.kind, g.name, g.value)
	}
	return b.String()
}

func (t *times) write(b *strings.Builder, labels string) {
	for i, bound := range bounds {
		fmt.Fprintf(b, "memwall_request_seconds_bucket{%s,le=\"%g\"} %d\n", labels, bound, t.below[i])
	}
	fmt.Fprintf(b, "memwall_request_seconds_bucket{%s,le=\"+Inf\"} %d\nmemwall_request_seconds_sum{%s} %g\nmemwall_request_seconds_count{%s} %d\n", labels, t.count, labels, t.sum, labels, t.count)
}

// sampled returns a metric of the Go runtime.
func sampled(name string) uint64 {
	sample := []metrics.Sample{{Name: name}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// writeMetrics handles requests for the metrics.
func (s *Server) writeMetrics(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", metricsType)
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write([]byte(s.metrics.text())) // the client may have disconnected
}
