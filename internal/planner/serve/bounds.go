package serve

import (
	"fmt"

	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/internal/simulate"
)

// Bounds of a goal about which nothing is said. Tokens come as fast as people read: 200 ms at the 99th percentile (mlcommons/inference:
// loadgen/mlperf.conf, llama2-70b.Server.tpot_latency; some 240 words a minute). To the first one ten seconds keep somebody's
// attention (J. Nielsen, Usability Engineering, 1993), and as much again for each usual context of the longest prompt.
const assumedTPOT, assumedTTFT = 200, 10_000

// assume fills in the bounds that a goal leaves open. Who asks all at once waits for no single answer, and has none.
func (t *task) assume() {
	if t.spec.Arrivals == "burst" {
		return
	}
	contexts := max(1, (t.longestPrompt+question.DefaultContext-1)/question.DefaultContext)
	for _, b := range []struct {
		field string
		by    *map[string]float64
		usual int64
	}{{"goal.ttft_ms", &t.goal.TTFT, assumedTTFT * contexts}, {"goal.tpot_ms", &t.goal.TPOT, assumedTPOT}} {
		if len(*b.by) == 0 {
			*b.by = map[string]float64{"p99": float64(b.usual)}
			t.defaults = append(t.defaults, simulate.UsedDefault{Field: b.field, Value: fmt.Sprintf("p99:%d", b.usual)})
		}
	}
}
