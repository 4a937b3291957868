package engine

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// Parameters that engines which batch keep in host memory (--cpu-offload-gb): those of the layers, in the order in which
// these are built, each whole, until the budget of a rank is reached. Embedding, head and towers stay
// (vllm/model_executor/models/utils.py, maybe_offload_to_cpu; sglang/srt/utils/offloader.py, OffloaderV1).

// HostedParam is a layer parameter that can be offloaded to host memory.
type HostedParam struct {
	Counted unit.Bytes // counted against the offload budget
	Bytes   unit.Bytes // moved from device to host; 0 if copied back
	Pinned  unit.Bytes // page-locked memory that holds it
	Expert  bool
}

// Hosted is what a rank offloads to host memory.
type Hosted struct {
	Stage         int64
	Bytes, Pinned unit.Bytes
	Experts       unit.Bytes // part of Bytes in routed experts
	Window        unit.Bytes // the largest layer's share
	Movable       unit.Bytes // largest useful budget
	// Layers are offloaded entirely, and the first Rest parameters of the next one.
	Layers, Rest int
	// InPlace reports that kernels read host memory directly; otherwise a layer is copied before it runs.
	InPlace bool
}

// MoveLayers offloads layer parameters until the budget is reached.
func MoveLayers(budget unit.Bytes, layers int, params func(n int) []HostedParam) (h Hosted) {
	for n := range layers {
		var window unit.Bytes
		for _, p := range params(n) {
			full := h.Movable >= budget
			h.Movable += p.Counted
			if full {
				continue
			}
			h.Rest++
			h.Bytes, h.Pinned, window = h.Bytes+p.Bytes, h.Pinned+p.Pinned, window+p.Bytes
			if p.Expert {
				h.Experts += p.Bytes
			}
		}
		if h.Window = max(h.Window, window); h.Movable < budget {
			h.Layers, h.Rest = n+1, 0
		}
	}
	return h
}

// Of returns how many of the given number of parameters of the rank's n-th layer are offloaded.
func (h *Hosted) Of(n, params int) int {
	switch {
	case n < h.Layers:
		return params
	case n == h.Layers:
		return h.Rest
	}
	return 0
}

// PinnedBlock returns the page-locked memory that torch allocates for b bytes: the next power of two
// (aten/src/ATen/core/CachingHostAllocator.h).
func PinnedBlock(b unit.Bytes) unit.Bytes {
	if b <= 1 {
		return b
	}
	return 1 << bits.Len64(uint64(b-1))
}

// fused maps roles that vLLM and SGLang load into one parameter.
var fused = map[dtype.Role]dtype.Role{
	dtype.AttnK: dtype.AttnQ, dtype.AttnV: dtype.AttnQ,
	dtype.FFNUp: dtype.FFNGate, dtype.FFNUpExps: dtype.FFNGateExps, dtype.FFNUpSh: dtype.FFNGateSh,
	dtype.AttnVB: dtype.AttnKB, dtype.AttnKVA: dtype.AttnQA,
}

// Fused returns the role of the parameter that a tensor is loaded into.
func Fused(r dtype.Role) dtype.Role { return cmp.Or(fused[r], r) }

// LayerNorm reports whether the role is a norm that a layer's module creates after its submodules.
func LayerNorm(r dtype.Role) bool {
	return slices.Contains([]dtype.Role{dtype.AttnNorm, dtype.AttnNorm2, dtype.AttnPostNorm, dtype.FFNNorm, dtype.FFNPostNorm}, r)
}

// HostedParams returns the parameters of each of the rank's layers, as stored.
func (pl *Placed) HostedParams() func(n int) []HostedParam {
	of := map[int][]HostedParam{}
	groups := pl.WeightGroups()
	if pl.Pre {
		groups = groups[1:]
	}
	for i := range pl.Kinds {
		of[pl.Kinds[i].Variant] = hostedParams(groups[i].Tensors)
	}
	return func(n int) []HostedParam { return of[int(pl.Weights.Layers[pl.First+n])] }
}

func hostedParams(tensors []WeightTensor) []HostedParam {
	at := map[dtype.Role]int{}
	var first, norms []HostedParam
	for i := range tensors {
		t := &tensors[i]
		role := Fused(t.Role)
		if t.Bias {
			role += ".bias"
		}
		p := HostedParam{Counted: t.Local, Bytes: t.Local, Expert: t.Role.Expert()}
		n, seen := at[role]
		switch {
		case LayerNorm(t.Role):
			norms = append(norms, p)
		case seen:
			first[n].Counted, first[n].Bytes = first[n].Counted+p.Counted, first[n].Bytes+p.Bytes
		default:
			at[role] = len(first)
			first = append(first, p)
		}
	}
	out := append(first, norms...)
	for i := range out {
		out[i].Pinned = PinnedBlock(out[i].Bytes)
	}
	return out
}

// CheckHosted rejects offloading without a device, with memory shared by host and device, and beyond the layers of the
// largest rank.
func CheckHosted(j *Job, ranks []Hosted) error {
	n := unit.Bytes(j.Plan.CPUOffload)
	if n == 0 {
		return nil
	}
	refuse := func(fix, format string, args ...any) error {
		return &plan.Problem{Field: "cpu_offload_bytes", Value: fmt.Sprint(int64(n)), Impossible: true,
			Message: fmt.Sprintf(format, args...), Fix: fix}
	}
	if d := j.Device(0); j.Machine != nil && d == nil {
		return refuse("leave cpu_offload_bytes out", "without a device all weights lie in host memory")
	} else if d != nil && d.Unified != nil {
		return refuse("leave cpu_offload_bytes out", "%s shares its memory with the host: weights that move there free nothing", d.Name)
	}
	most := unit.Bytes(0)
	for i := range ranks {
		most = max(most, ranks[i].Movable)
	}
	if n > most {
		return refuse(fmt.Sprintf("at most %d", int64(most)), "cpu_offload_bytes = %d: the layers of a rank hold %s (%d bytes), and nothing else can be moved", int64(n), most, int64(most))
	}
	return nil
}

// HostedItems returns the items that a rank offloads to host memory.
func HostedItems(b *ledger.Book, h *Hosted) []ledger.Item {
	if h.Bytes == 0 {
		return nil
	}
	const source = "docs/formulas.md#cpu-offload"
	n := b.Size("parameters", h.Bytes, hostedOrigin(h))
	rest := b.Sub(b.Size("blocks", h.Pinned, "each parameter in a power of two"), n)
	return []ledger.Item{
		ledger.Known("weights", "weights in page-locked memory", n, ledger.Derived, ledger.Persistent, ledger.Pinned, source),
		ledger.Known("fragmentation", "rests of page-locked blocks", rest, ledger.Derived, ledger.Persistent, ledger.Pinned, source),
	}
}

func hostedOrigin(h *Hosted) string {
	if h.Rest == 0 {
		return fmt.Sprintf("all of %d layers, this rank", h.Layers)
	}
	return fmt.Sprintf("all of %d layers and %d of the next, this rank", h.Layers, h.Rest)
}

// HostedWindow returns the device copy of the layer being computed.
func HostedWindow(b *ledger.Book, h *Hosted) ledger.Item {
	n := b.Size("largest_layer", h.Window, "of what lies in host memory")
	return ledger.Known("workspace", "copy of one layer's weights", n, ledger.Derived, ledger.Ephemeral, ledger.Device,
		"docs/formulas.md#cpu-offload")
}

// EvictedItems returns the host-memory caches that hold what the device evicts: of the size the plan states, or a
// multiple of the device's pool. Both engines allocate them fully and page-locked at start (vllm/v1/kv_offload,
// OffloadingConnector; sglang/srt/mem_cache/memory_pool_host.py).
func EvictedItems(b *ledger.Book, p *plan.Plan, pool unit.Bytes) []ledger.Item {
	var n ledger.Num
	segment := segmentItems(b, p)
	switch {
	case p.KVHost > 0:
		n = b.Size("kv_host_bytes", unit.Bytes(p.KVHost), "plan")
	case p.KVHostRatio != nil:
		n = b.Floor(b.Mul(b.In("kv_host_ratio", *p.KVHostRatio, "plan"), b.Size("pool", pool, "caches on the device")))
	default:
		return segment
	}
	return append([]ledger.Item{ledger.Known("evicted_caches", "KV offload buffer", n, ledger.Derived, ledger.Persistent, ledger.Pinned,
		"docs/formulas.md#cpu-offload")}, segment...)
}

// CheckSegment rejects a share of Mooncake's store without the store.
func CheckSegment(p *plan.Plan) error {
	if p.KVStoreSegment == 0 || p.KVStore == "mooncake" {
		return nil
	}
	return &plan.Problem{Field: "kv_store_segment_bytes", Value: fmt.Sprint(int64(p.KVStoreSegment)), Impossible: true,
		Message: "kv_store_segment_bytes: a share of Mooncake's store, and kv_store is not mooncake", Fix: "--kv-store mooncake"}
}

// segmentItems are what a rank contributes to Mooncake's store: allocated and registered with its transport at start, by a client
// in the process of each rank (sglang/srt/mem_cache/storage/mooncake_store/mooncake_store.py, per_tp_global_segment_size;
// vllm/distributed/kv_transfer/kv_connector/v1/mooncake/store/worker.py, embedded mode).
func segmentItems(b *ledger.Book, p *plan.Plan) []ledger.Item {
	if p.KVStoreSegment == 0 {
		return nil
	}
	n := b.Size("kv_store_segment_bytes", unit.Bytes(p.KVStoreSegment), "plan")
	return []ledger.Item{ledger.Known("kv_store_segment", "segment of the shared KV store", n, ledger.Derived, ledger.Persistent, ledger.Pinned,
		"docs/formulas.md#cpu-offload")}
}
