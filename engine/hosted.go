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

// HostedParam is a parameter of a layer that could lie in host memory.
type HostedParam struct {
	Counted unit.Bytes // that the budget counts when it is moved
	Bytes   unit.Bytes // that the device has less and the host more; 0 for one that comes back
	Pinned  unit.Bytes // of page-locked memory that hold them
	Expert  bool
}

// Hosted is what a rank of a stage keeps in host memory.
type Hosted struct {
	Stage         int64
	Bytes, Pinned unit.Bytes
	Experts       unit.Bytes // of Bytes, those of routed experts
	Window        unit.Bytes // the most of one layer
	Movable       unit.Bytes // what the budget could be at most
	// Layers are moved whole, and of the next one the first Rest parameters.
	Layers, Rest int
	// InPlace: kernels read the host's memory; else a layer is copied before it is computed.
	InPlace bool
}

// MoveLayers moves parameters of layers until the budget is reached.
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

// Of is how many parameters of the n-th layer of the rank lie in host memory, of as many as it has.
func (h *Hosted) Of(n, params int) int {
	switch {
	case n < h.Layers:
		return params
	case n == h.Layers:
		return h.Rest
	}
	return 0
}

// PinnedBlock is the page-locked memory that torch takes for so many bytes: the next power of two
// (aten/src/ATen/core/CachingHostAllocator.h).
func PinnedBlock(b unit.Bytes) unit.Bytes {
	if b <= 1 {
		return b
	}
	return 1 << bits.Len64(uint64(b-1))
}

// fused are roles that vLLM and SGLang load into one parameter.
var fused = map[dtype.Role]dtype.Role{
	dtype.AttnK: dtype.AttnQ, dtype.AttnV: dtype.AttnQ,
	dtype.FFNUp: dtype.FFNGate, dtype.FFNUpExps: dtype.FFNGateExps, dtype.FFNUpSh: dtype.FFNGateSh,
	dtype.AttnVB: dtype.AttnKB, dtype.AttnKVA: dtype.AttnQA,
}

// Fused is the role of the parameter that a tensor is loaded into.
func Fused(r dtype.Role) dtype.Role { return cmp.Or(fused[r], r) }

// LayerNorm reports the norms that modules of layers create after what they join.
func LayerNorm(r dtype.Role) bool {
	return slices.Contains([]dtype.Role{dtype.AttnNorm, dtype.AttnNorm2, dtype.AttnPostNorm, dtype.FFNNorm, dtype.FFNPostNorm}, r)
}

// HostedParams are the parameters of each of a rank's layers, as stored.
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

// CheckHosted refuses to move weights where there is no device, or where host and device are one, and more than the
// layers of the largest rank hold.
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

// HostedItems are what a rank keeps in host memory.
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

// HostedWindow is the copy of the layer that is computed.
func HostedWindow(b *ledger.Book, h *Hosted) ledger.Item {
	n := b.Size("largest_layer", h.Window, "of what lies in host memory")
	return ledger.Known("workspace", "copy of one layer's weights", n, ledger.Derived, ledger.Ephemeral, ledger.Device,
		"docs/formulas.md#cpu-offload")
}

// EvictedItems are the caches that a rank keeps in host memory when the device evicts them: as many bytes as the plan says, or as many
// times the device's pool. Both engines allocate the whole, page-locked, at start (vllm/v1/kv_offload, OffloadingConnector;
// sglang/srt/mem_cache/memory_pool_host.py).
func EvictedItems(b *ledger.Book, p *plan.Plan, pool unit.Bytes) []ledger.Item {
	var n ledger.Num
	switch {
	case p.KVHost > 0:
		n = b.Size("kv_host_bytes", unit.Bytes(p.KVHost), "plan")
	case p.KVHostRatio != nil:
		n = b.Floor(b.Mul(b.In("kv_host_ratio", *p.KVHostRatio, "plan"), b.Size("pool", pool, "caches on the device")))
	default:
		return nil
	}
	return []ledger.Item{ledger.Known("evicted_caches", "KV offload buffer", n, ledger.Derived, ledger.Persistent, ledger.Pinned,
		"docs/formulas.md#cpu-offload")}
}
