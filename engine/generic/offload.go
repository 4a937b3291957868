package generic

import (
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// Offload: what a plan keeps in host memory or on NVMe, and the buffer through which a layer comes back.

func (s *sizer) offload() plan.Offload {
	if s.job.Plan.Offload == nil {
		return plan.Offload{}
	}
	return *s.job.Plan.Offload
}

func place(where string) ledger.Place {
	switch where {
	case "host":
		return ledger.Pinned
	case "nvme":
		return ledger.Disk
	case "pool":
		return ledger.Pool
	}
	return ledger.Device
}

// weights lie together, unless only the experts are elsewhere.
func (s *sizer) weights(b *ledger.Book, p *prepared) []ledger.Item {
	const source = "file tensors as stored"
	o := s.offload()
	all := engine.BookWeights(b, p.weights, source)
	experts := place(o.Experts)
	switch at := place(o.Weights); {
	case at != ledger.Device:
		all.Place = at
		return []ledger.Item{all, s.window(b, p.weights)}
	case experts == ledger.Device || len(p.experts) == 0:
		return []ledger.Item{all}
	default:
		moved := engine.BookWeights(b, p.experts, source)
		rest := ledger.Known("weights", "weights but experts", b.Sub(all.Why, moved.Why), ledger.Exact, ledger.Persistent, ledger.Device,
			source)
		moved.Name, moved.Place = "experts", experts
		return []ledger.Item{rest, moved, s.window(b, p.experts)}
	}
}

// window is the largest layer that is elsewhere: it comes to the device to be used.
func (s *sizer) window(b *ledger.Book, sums []engine.WeightSum) ledger.Item {
	largest := unit.Bytes(0)
	for _, w := range sums {
		largest = max(largest, w.Bytes)
	}
	n := b.Size("largest_layer", largest, "of what lies elsewhere")
	return ledger.Known("workspace", "window for one layer", n, ledger.Derived, ledger.Ephemeral, ledger.Device, "one layer at a time")
}
