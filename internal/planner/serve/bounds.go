package serve

import (
	"fmt"

	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/internal/simulate"
)

// Default bounds of a goal, in milliseconds. TPOT is 200 ms at the 99th percentile, reading speed (mlcommons/inference:
// loadgen/mlperf.conf, llama2-70b.Server.tpot_latency; about 240 words per minute). TTFT is ten seconds, the limit of attention (J.
// Nielsen, Usability Engineering, 1993), and the same again for each usual context in the longest prompt.
const assumedTPOT, assumedTTFT = 200, 10_000

// assume fills in the bounds that a goal leaves open. A batch, whose requests all arrive at once, has none.
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
