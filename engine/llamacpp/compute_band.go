package llamacpp

import (
	"errors"
	"math"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/llamacpp/ggml"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/unit"
)

// spread is the 90 % band of a compute buffer, relative to the replay.
type spread struct{ low, high float64 }

func (s spread) or(o spread) spread { return spread{min(s.low, o.low), max(s.high, o.high)} }

func (s spread) band(n unit.Bytes) (low, high unit.Bytes) {
	return unit.Bytes(math.Floor(float64(n) * s.low)), unit.Bytes(math.Ceil(float64(n) * s.high))
}

// exactly is the band of graphs and backends verified against llama.cpp's own figures, for which the replay is exact to
// the byte.
var exactly = spread{1, 1}

// What was not verified widens the band. unknownFamily and olderGraphs are measured; the others are assumed, and not
// fitted to any row: a log of such a run would replace each.
var (
	// Graph of a family that was never printed: the effect of ignoring family-specific rules on those that were
	// (TestUnknownFamilies).
	unknownFamily = spread{0.96, 1.06}
	olderGraphs   = spread{0.90, 1.07} // of builds before v0.1.0: buffers in logs over replays (TestBuildsOfUsers)
	otherBackends = spread{0.93, 1.10} // which reorder nodes, or keep scratch of their own
	// Layers, tensors or caches on the host, before v0.5.0, whose splits all runs on stub devices confirm: splits of 30
	// inputs are read, not run.
	partial      = spread{0.98, 1.02}
	freeSplit    = spread{0.95, 1.05} // a layer more or less
	rowSplit     = spread{0.80, 1.60}
	withAdapters = spread{1, 1.10} // two products more behind each adapted one
)

// graphsRead is the version whose graphs were read, along with similar ones.
var graphsRead = engine.V(0, 1, 0)

// spread returns the band of a plan's compute buffers.
func (s *sizer) spread() spread {
	out := exactly
	add := func(when bool, by spread) {
		if when {
			out = out.or(by)
		}
	}
	add(!ggml.Checked(s.job.Model.Family), unknownFamily)
	add(s.rules.version.Before(graphsRead), olderGraphs)
	add(s.rules.forked, forkGraph)
	for i := range s.devices {
		add(!s.devices[i].backend.compared, otherBackends)
	}
	add(!s.rules.crowds && len(s.devices) > 0 && (s.layout.head == host || s.layout.any(host) || !s.loader.m.none() || !s.set.offloadKV), partial)
	add(s.byFreeMemory(), freeSplit)
	add(len(s.job.Plan.Adapters) > 0 || isOn(s.job.Plan.ControlVector), withAdapters)
	add(s.rowSplit(), rowSplit)
	if s.shares != nil {
		out = out.or(tensorGraph(len(s.devices)))
	}
	return out
}

// item books the i-th compute buffer. A build without kernels for the cache is within the band.
func (g *graph) item(b *ledger.Book, i int, sh *shape, place ledger.Place) ledger.Item {
	it := ledger.Item{ID: "compute", Name: "compute buffer", Life: ledger.Ephemeral, Place: place}
	if own, ok := g.forkItem(b, i, sh, place); ok {
		return own
	}
	if errors.Is(g.err, ggml.ErrNoLayers) {
		it.Unknown, it.Basis, it.Source = true, ledger.Assumed, g.err.Error()
		return it
	}
	if g.err != nil {
		n := g.estimate(b, i, sh)
		low, high := noGraph.or(g.s.spread()).band(n.Bytes())
		return ledger.Known(it.ID, it.Name, n, ledger.Derived, it.Life, place, g.err.Error()).Band(low, high)
	}
	real, without := sh.compute.run[i], sh.compute.without[i]
	n := b.Size("peak", real, "allocations of the graph, replayed")
	by := g.s.spread()
	basis := ledger.Exact
	if by != exactly || real != without {
		basis = ledger.Derived
	}
	low, high := by.band(real)
	return ledger.Known(it.ID, it.Name, n, basis, it.Life, place, "docs/formulas.md#llama-compute").Band(min(low, without), max(high, without))
}
