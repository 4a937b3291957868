package torch

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/memwall/memwall/engine/startup"
	"github.com/memwall/memwall/fault"
)

// The JSON of torch.cuda.memory_stats(): "allocated_bytes.all.peak": 123, or nested as memory_stats_as_nested_dict() has it.

const maxStats = 1 << 20

const fixStats = "write it with json.dump(torch.cuda.memory_stats(), file)"

// ReadStats reads one.
func ReadStats(r io.Reader) (*startup.Log, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxStats+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxStats {
		return nil, broken(maxStats, fixStats, "the statistics of one device are shorter")
	}
	var all map[string]any
	if err := json.Unmarshal(text, &all); err != nil {
		at := int64(0)
		if e, ok := errors.AsType[*json.SyntaxError](err); ok {
			at = e.Offset
		}
		return nil, broken(at, fixStats, "the statistics are not JSON")
	}
	l := &startup.Log{Engine: "torch", Teller: "memory_stats", Servers: 1, Signs: 1}
	for _, m := range []struct{ key, id, name string }{
		{"allocated_bytes", "allocated", "Allocated memory"}, {"active_bytes", "active", "Active memory"},
		{"requested_bytes", "requested", "Requested memory"},
		{"reserved_bytes", "reserved", "GPU reserved memory"}, {"inactive_split_bytes", "inactive_split", "Non-releasable memory"},
	} {
		for _, w := range []struct{ key, when string }{{"current", "now"}, {"peak", "peak"}} {
			if x, ok := stat(all, m.key, w.key); ok {
				l.Figures = append(l.Figures, startup.Figure{ID: "memory_" + m.id + "_" + w.when, Name: m.name + ", " + w.when, Unit: "MiB",
					Text: fmt.Sprint(int64(x)), Value: x / (1 << 20), Digits: 2})
			}
		}
	}
	if len(l.Figures) == 0 {
		return nil, fault.New("the statistics have none of the allocator's counters", fixStats)
	}
	for key, text := range map[string]string{"num_ooms": "it ran out of memory %d times before this was written",
		"num_alloc_retries": "the allocator freed all that it kept and asked again %d times"} {
		if n, ok := all[key].(float64); ok && n > 0 && n < 1<<53 {
			l.Note(key, text, int64(n))
		}
	}
	return l, nil
}

func stat(all map[string]any, metric, when string) (float64, bool) {
	x, ok := all[metric+".all."+when].(float64)
	if !ok {
		pools, _ := all[metric].(map[string]any)
		one, _ := pools["all"].(map[string]any)
		x, ok = one[when].(float64)
	}
	return x, ok && x >= 0 && x < 1<<53
}
