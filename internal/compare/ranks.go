package compare

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/ledger"
)

// rank returns the class of ranks that a log's device belongs to: "TP1", "PP1 TP0", "rank 3".
func (s *sized) rank(device string) *engine.Rank {
	p := &s.q.Request.Plan
	index := int64(0)
	for _, w := range strings.Fields(device) {
		var n int64
		if _, err := fmt.Sscanf(w, "TP%d", &n); err == nil {
			index += n
		}
		if _, err := fmt.Sscanf(w, "PP%d", &n); err == nil {
			index += n * max(1, p.TP)
		}
	}
	for i := range s.ranks {
		if r := &s.ranks[i]; r.Index <= index && index < r.Index+max(1, r.Count) {
			return r
		}
	}
	return &s.ranks[0]
}

func sumOf(items []ledger.Item, ids ...string) ledger.Total {
	var some []ledger.Item
	for _, it := range items {
		for _, id := range ids {
			if it.ID == id && it.Place == ledger.Device {
				some = append(some, it)
			}
		}
	}
	return ledger.Sum(some)
}

func (s *sized) weights(r *engine.Rank) estimate {
	if s.noWeights != "" {
		return unknown("%s", s.noWeights)
	}
	return total(sumOf(r.Items, "weights", "draft.weights"))
}

func (s *sized) graphs(r *engine.Rank) estimate {
	t := sumOf(append(append([]ledger.Item(nil), r.Items...), r.Beside...), "graphs")
	if t.Bytes == 0 {
		return unknown("memwall books no graphs for this plan")
	}
	return total(t).times(1 / gib)
}

// deviceTotal estimates the memory that torch sees, from the catalog.
func deviceTotal(j *engine.Job) estimate {
	d := j.Device(0)
	if d == nil {
		return unknown(needsRoom)
	}
	e := exactly(float64(d.Usable.Value))
	e.basis = d.Usable.Basis
	return e
}

// pool estimates what remains for pages, with the bands of all that precedes it.
func (s *sized) pool(r *engine.Rank) estimate {
	if s.noWeights != "" {
		return unknown("%s", s.noWeights)
	}
	var fixed []ledger.Item
	for _, it := range r.Items {
		if it.ID != "kv_cache" && it.ID != "state" {
			fixed = append(fixed, it)
		}
	}
	t, usable := ledger.Sum(fixed), r.Usable.Bytes()
	e := estimate{value: float64(usable - t.Bytes), low: float64(usable - t.High), high: float64(usable - t.Low), basis: t.Basis,
		known: !t.Unknown}
	if s.q.Request.KVCacheMemory > 0 {
		return exactly(float64(s.q.Request.KVCacheMemory))
	}
	return e
}
