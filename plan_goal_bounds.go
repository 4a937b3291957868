package memwall

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"
)

// Bounds of a goal about which nothing is said. Tokens come as fast as people read: 200 ms at the 99th percentile (mlcommons/inference:
// loadgen/mlperf.conf, llama2-70b.Server.tpot_latency; some 240 words a minute). To the first one ten seconds keep somebody's
// attention (J. Nielsen, Usability Engineering, 1993), and as much again for each usual context of the longest prompt.
const assumedTPOT, assumedTTFT = 200, 10_000

// assume fills in the bounds that a goal leaves open. Who asks all at once waits for no single answer, and has none.
func (g *goalSearch) assume() {
	if g.spec.Arrivals == "burst" {
		return
	}
	contexts := max(1, (g.longestPrompt+defaultContext-1)/defaultContext)
	for _, b := range []struct {
		field string
		by    *map[string]float64
		usual int64
	}{{"goal.ttft_ms", &g.goal.TTFT, assumedTTFT * contexts}, {"goal.tpot_ms", &g.goal.TPOT, assumedTPOT}} {
		if len(*b.by) == 0 {
			*b.by = map[string]float64{"p99": float64(b.usual)}
			g.defaults = append(g.defaults, usedDefault{b.field, fmt.Sprintf("p99:%d", b.usual)})
		}
	}
}

// ForRequest are the bounds in milliseconds that a single request is judged by, which goal_share counts: those of the highest
// percentile of each time; 0 where there is none.
func (g *Goal) ForRequest() (ttft, tpot float64) { return highest(g.TTFT), highest(g.TPOT) }

// highest is the bound of the highest percentile.
func highest(by map[string]float64) (bound float64) {
	most := 0.0
	for _, name := range slices.Sorted(maps.Keys(by)) {
		if p, err := percentile(name); err == nil && p > most {
			most, bound = p, by[name]
		}
	}
	return bound
}

// requestBound is the same as a time.
func requestBound(by map[string]float64) time.Duration {
	return time.Duration(math.Round(1e6 * highest(by)))
}

// little reports whether the devices of a server hold less than half of the weights. Where there is other hardware to choose from,
// nobody serves from such.
func little(q *question) bool {
	m := q.job.Machine
	return m != nil && !m.CPUOnly && 2*m.Memory() < q.job.Weights.Bytes()
}
