package engine

import (
	"fmt"

	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// Buffers of DeepEP, through which tokens go to experts of other ranks and back. The size hints of its first API are those
// that vLLM and SGLang ask for: deepseek-ai/DeepEP, csrc/config.hpp (LowLatencyLayout, get_nvl_buffer_size_hint,
// get_rdma_buffer_size_hint) and deep_ep/buffer.py (get_dispatch_config, get_combine_config).

// DeepEP holds the parameters that its buffer sizes depend on.
type DeepEP struct {
	Normal, LowLatency bool
	Ranks              int64 // ranks that share experts
	Slots              int64 // experts per layer, replicas included
	Hidden             int64 // hidden size
	Tokens             int64 // maximum that a rank sends with the low-latency kernels
}

// DeepEPOf returns the parameters for a plan whose low-latency kernels send up to the given number of tokens.
func DeepEPOf(j *Job, tokens int64) DeepEP {
	return DeepEP{Normal: j.Plan.NormalKernels(), LowLatency: j.Plan.LowLatency(), Ranks: max(1, j.Plan.EP), Slots: Slots(j),
		Hidden: j.Model.Hidden, Tokens: tokens}
}

const (
	nodePeers      = 8       // NUM_MAX_NVL_PEERS
	usualSMs       = 20      // Buffer.num_sms
	mostChoices    = 128     // kNumMaxTopK
	mostScales     = 128     // kNumMaxScales
	sourceMeta     = 8       // bytes of internode::SourceMeta
	spareRDMA      = 1 << 20 // "a large number to be safe"
	heapGranule    = 1 << 29 // NVSHMEM_CUMEM_GRANULARITY: the symmetric heap grows in such steps
	alignment      = 128     // NUM_BUFFER_ALIGNMENT_BYTES
	scaleGroup     = 128     // elements that share a scale of FP8
	mostDispatched = 1024    // FINISHED_SUM_TAG
)

// received is the number of tokens per chunk that a receiver has room for, over NVLink by the number of ranks, and over
// RDMA.
var received = []struct{ ranks, nvlink, rdma int64 }{
	{8, 256, 0}, {16, 288, 140}, {24, 288, 140}, {32, 288, 140}, {64, 288, 140}, {128, 560, 132}, {160, 720, 132},
}

// Item books the buffers.
func (d *DeepEP) Item(b *ledger.Book) ledger.Item {
	var n ledger.Num
	var hint unit.Bytes
	if d.Normal {
		n = d.nvlink(b)
		hint = n.Bytes()
	}
	if rdma, ok := d.heap(b); ok {
		hint += rdma.Bytes()
		rdma = b.PadUp(rdma, b.Size("heap_granule", heapGranule, "NVSHMEM_CUMEM_GRANULARITY"))
		if n.V > 0 {
			rdma = b.Add(n, rdma)
		}
		n = rdma
	}
	it := ledger.Known("collectives", d.name(), n, ledger.Derived, ledger.Persistent, ledger.Device, "docs/formulas.md#deepep-buffers")
	return it.Band(hint, it.Bytes+heapGranule)
}

// heap returns the RDMA buffer, shared by both kinds of kernels; false if none is needed.
func (d *DeepEP) heap(b *ledger.Book) (n ledger.Num, ok bool) {
	between := d.Normal && d.Ranks > nodePeers
	switch {
	case between && d.LowLatency:
		return b.Max(d.rdma(b), d.lowLatency(b)), true
	case between:
		return d.rdma(b), true
	case d.LowLatency:
		return d.lowLatency(b), true
	}
	return n, false
}

func (d *DeepEP) name() string {
	if d.LowLatency {
		return fmt.Sprintf("DeepEP, %s tokens to %d experts", unit.Count(d.Tokens), d.Slots)
	}
	return fmt.Sprintf("DeepEP, %d ranks", d.Ranks)
}

// lowLatency returns the double-buffered space for tokens sent and for those received by each expert from each rank.
func (d *DeepEP) lowLatency(b *ledger.Book) ledger.Num {
	slots, tokens := b.Int("experts", d.Slots, "of a layer, copies included"), b.Int("tokens", d.Tokens, "that a rank sends at most")
	hidden := b.Int("hidden", d.Hidden, "model")
	back := b.Name("bytes_back", b.Add(b.Mul(b.Lit(2), hidden), b.Size("extremes", unit.Bytes(d.Hidden/scaleGroup*4),
		"of each 128 elements")))
	out := b.Add(b.Mul(b.Lit(2), hidden), b.Size("header", 16, "of a message"))
	each := b.Mul(slots, tokens, b.Max(back, out))
	counts := b.PadUp(b.Mul(slots, b.Lit(4)), b.Lit(alignment))
	return b.Mul(b.Lit(2), b.Add(b.Mul(b.Lit(2), each), counts))
}

// nvlink returns the space for chunks between the ranks of a node.
func (d *DeepEP) nvlink(b *ledger.Book) ledger.Num {
	peers, chunk := min(d.Ranks, nodePeers), d.chunk().nvlink
	token := 2*d.Hidden + sourceMeta + mostChoices*8 + mostChoices*4 + mostScales*4
	counts := b.Size("counts", unit.Bytes(4*(2*max(1, d.Ranks/nodePeers)+3)), "of chunks that came")
	messages := b.Mul(b.Int("chunk", chunk, "tokens, buffer.py"), b.Size("message", unit.Bytes(token),
		"a token of 16 bits, its choices and scales"))
	return b.PadUp(b.Mul(b.Int("channels", usualSMs/2, "half of 20 multiprocessors"), b.Int("peers", peers, "ranks of a node"),
		b.Add(counts, messages)), b.Lit(alignment))
}

// rdma returns the space for chunks between nodes, in both directions.
func (d *DeepEP) rdma(b *ledger.Book) ledger.Num {
	token := 2*d.Hidden + sourceMeta + mostChoices*8 + mostChoices*4 + mostScales*4 + 16
	chunks := b.Mul(b.Lit(2), b.Int("rdma_channels", usualSMs/2, "half of 20 multiprocessors"),
		b.Int("nodes", d.Ranks/nodePeers, "of 8 ranks"),
		b.Int("rdma_chunk", d.chunk().rdma, "tokens, buffer.py"), b.Size("rdma_message", unit.Bytes(token),
			"a token, its choices and scales"))
	counts := usualSMs / 2 * d.Ranks / nodePeers * (2*nodePeers + 2) * 2 * 4
	return b.PadUp(b.Add(chunks, b.Size("spare", unit.Bytes(spareRDMA+counts), "counts of chunks, and 1 MiB")), b.Lit(alignment))
}

func (d *DeepEP) chunk() (c struct{ ranks, nvlink, rdma int64 }) {
	for _, c = range received {
		if d.Ranks <= c.ranks {
			return c
		}
	}
	return c
}

// CheckDispatch rejects DeepEP without expert parallelism, more tokens than its messages can count, and two-batch
// overlap without DeepEP (vllm/config/vllm.py; sglang/srt/server_args.py).
func CheckDispatch(j *Job) error {
	p := j.Plan
	switch kernels := p.All2All; {
	case kernels != "" && (p.EP <= 1 || j.Model.Traits.Experts == 0):
		return &plan.Problem{Field: "all2all", Value: kernels, Impossible: true,
			Message: "all2all: DeepEP brings tokens to experts of other ranks, and no ranks share experts here",
			Fix:     "--dp 8 --ep 8, or leave all2all out"}
	case kernels != "" && Slots(j)%p.EP != 0:
		return &plan.Problem{Field: "all2all", Value: kernels, Impossible: true,
			Message: fmt.Sprintf("all2all: DeepEP takes as many experts on each rank, and %d do not go evenly over %d", Slots(j), p.EP),
			Fix:     fmt.Sprintf("--redundant-experts %d", wholeSlots(j.Model.Traits.Experts, p.EP, 0))}
	case int64(p.DispatchTokens) > mostDispatched:
		return &plan.Problem{Field: "dispatch_tokens", Value: fmt.Sprint(p.DispatchTokens), Impossible: true,
			Message: fmt.Sprintf("dispatch_tokens = %d: DeepEP's low-latency kernels count up to %d", p.DispatchTokens, mostDispatched),
			Fix:     "1024 or fewer"}
	case p.DispatchTokens > 0 && !p.LowLatency():
		return &plan.Problem{Field: "dispatch_tokens", Value: fmt.Sprint(p.DispatchTokens), Impossible: true,
			Message: "dispatch_tokens bounds DeepEP's low-latency kernels, and the plan has none", Fix: "--all2all deepep-low-latency"}
	case On(p.TwoBatches, false) && kernels == "":
		return &plan.Problem{Field: "two_batch_overlap", Value: "true", Impossible: true,
			Message: "two_batch_overlap computes one half of a batch while DeepEP moves the other, and the plan has no DeepEP",
			Fix:     "--all2all deepep"}
	}
	return nil
}
