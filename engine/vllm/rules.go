package vllm

import (
	"strings"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// What changed between versions, as rows. Where a change is only dated, the release that followed it
// stands (0.8.0 2025-03, 0.9.0 2025-05, 0.9.2 2025-07, 0.11.0 2025-10, 0.12.0 2025-12, 0.16 2026-02,
// 0.19 2026-04, 0.21 2026-05, 0.23 2026-06, 0.25 2026-07, 0.27 2026-08, 0.29 2026-09-09).

// Latest is the newest version that rules were read from.
var Latest = engine.V(0, 29, 0)

var (
	v1Default      = engine.V(0, 8, 0)
	graphsInBudget = engine.V(0, 20, 0) // #38284; its log line says 0.21, and 0.20.0 prints it
)

// utilization is the default of gpu_memory_utilization.
var utilization = []engine.Since[float64]{
	{From: engine.V(0, 0, 0), Value: 0.90, Source: "vllm/config/cache.py"},
	{From: graphsInBudget, Value: 0.92, Source: "vllm/config/cache.py, 2026-04-21 (#38284)"},
}

// outside is what the budget loses to memory that torch does not allocate: on one device, on several
// (NCCL).
//
// Where ranks of tensor parallelism meet over NVSwitch, NCCL keeps buffers for the switch's own sums besides (NVLS, from compute
// capability 9.0; nvls.cc): ten logs of H100 have 2.1 GiB, and one of stages, which do not sum, 0.1. They come with the first sum, and
// so after the budget's measure of NCCL; without those logs they are what all of NCCL was in 0.9.2.
type outside struct{ one, many, nvls Constant }

var nvls = Constant{"outside_torch.v1.0.11.nvls", 0.9, 0.5, 2.5, 0}

var nonTorch = []engine.Since[outside]{
	{From: engine.V(0, 0, 0), Value: outside{one: Constant{"outside_torch.v0.one", 0.35, 0.2, 1.8, 0},
		many: Constant{"outside_torch.v0.many", 3, 1, 6, 0}}, Source: "V0 to 0.6.4: everything on the device that torch did not allocate"},
	{From: engine.V(0, 6, 5), Value: outside{one: Constant{"outside_torch.v0.6.5.one", 0.35, 0.2, 1.8, 0},
		many: Constant{"outside_torch.v0.6.5.many", 3, 1, 4, 0}}, Source: "V0 0.6.5: growth since before NCCL (#10511)"},
	{From: engine.V(0, 7, 0), Value: outside{one: Constant{"outside_torch.v0.7.one", 0.05, 0, 0.25, 0},
		many: Constant{"outside_torch.v0.7.many", 0.4, 0.2, 1.5, 0}}, Source: "V0 from 0.7: growth since before NCCL"},
	{From: engine.V(0, 8, 0), Value: outside{one: Constant{"outside_torch.v1.one", 0.6, 0.5, 0.7, 0},
		many: Constant{"outside_torch.v1.many", 1.2, 0.7, 2, 0}}, Source: "V1 to 0.9.1: total used less torch"},
	{From: engine.V(0, 9, 2), Value: outside{one: Constant{"outside_torch.v1.0.9.2.one", 0.06, 0, 0.14, 0},
		many: Constant{"outside_torch.v1.0.9.2.many", 0.9, 0.1, 2.5, 0}, nvls: nvls},
		Source: "V1 0.9.2 to 0.10.2: growth since before NCCL (#19312)"},
	{From: engine.V(0, 11, 0), Value: outside{one: Constant{"outside_torch.v1.0.11.one", 0.06, 0, 0.14, 0},
		many: Constant{"outside_torch.v1.0.11.many", 0.6, 0.2, 1.6, 0}, nvls: nvls},
		Source: "V1 from 0.11: growth since after NCCL (#25359)"},
}

// Outside torch on ROCm, whatever the version: hipBLASLt's workspace comes while weights load. Some builds keep up to 3 GiB more
// for scratch; no clean log of several devices says what NCCL's channels take once they are used, hence the wide bands.
var (
	rocmOutsideOne  = Constant{"outside_torch.rocm.one", 0.28, 0.1, 3, 0}
	rocmOutsideMany = Constant{"outside_torch.rocm.many", 0.17, 0, 2.5, 0}
	rocmLoading     = Constant{"loading.rocm", 0.07, 0.07, 0.65, 0}
)

// unifiedOutside is what a GB10 loses beyond what the system keeps of it: its free memory is the host's, so that what the engine's
// processes hold there counts too. Three logs of two machines have 1.5 to 2.3; one of them prints 5.72 with the system's part.
var unifiedOutside = Constant{"outside_torch.unified", 2, 1, 4, 0}

// OutsideName returns the name of the constant that outsideTorch uses.
func OutsideName(v engine.Version, d *hardware.Device, tp, pp int64) string {
	c, _ := outsideTorch(v, traitsOf(d), tp, pp)
	return c.Name
}

// outsideTorch returns the assumed constant for a device among tp ranks of a stage and pp stages.
func outsideTorch(v engine.Version, t traits, tp, pp int64) (Constant, string) {
	rule := engine.At(nonTorch, v)
	many := tp*pp > 1
	switch {
	case t.unified && !t.rocm:
		return unifiedOutside, "vllm/utils/mem_utils.py (MemorySnapshot): memory shared with the host"
	case t.rocm && many:
		return rocmOutsideMany, "ROCm: the driver's view"
	case t.rocm:
		return rocmOutsideOne, "ROCm: the driver's view"
	case tp > 1 && t.nvls && rule.Value.nvls.Name != "":
		return rule.Value.nvls, rule.Source
	case many:
		return rule.Value.many, rule.Source
	}
	return rule.Value.one, rule.Source
}

// graphPiece returns the memory of one captured graph piece: a layer for one batch size.
func graphPiece(t *traits) Constant {
	switch {
	case t.datacenter:
		return Constant{"graph_piece.datacenter", 0.0016, 0.0005, 0.002, 0}.or()
	case t.sm120:
		return Constant{"graph_piece.sm120", 0.0001, -0.0005, 0.0005, 0}.or()
	}
	return Constant{"graph_piece.consumer", 0.00035, -0.0002, 0.0008, 0}.or()
}

// wholeGraphs is what V0's graphs keep, one of the whole model for each batch size; rocmGraphs what graphs of
// ROCm do, whose logs show no growth with pieces.
var (
	wholeGraphs = Constant{"graphs.v0", 0.4, 0.1, 0.9, 0}
	rocmGraphs  = Constant{"graphs.rocm", 1, 0.2, 1.8, 0}
)

// allGraphs returns the constant of graphs that are not counted by pieces.
func allGraphs(v engine.Version, t *traits) (Constant, bool) {
	switch {
	case v.Before(v1Default):
		return wholeGraphs.or(), true
	case t.rocm:
		return rocmGraphs.or(), true
	}
	return Constant{}, false
}

// What vLLM estimates for CUDA graphs before it captures them, and from 0.20 sets aside inside the budget: of each mode two graphs are
// captured, and the second's memory counts once for every further size (gpu_model_runner.py, profile_cudagraph_memory, #30515).
// firstGraph is what the first takes, by logs with few sizes; the others are what a piece of a further size adds. A graph is the driver's
// record of the kernels in it, so that a piece counts for more where a layer launches more of them: latent attention (0.0007 to 0.0009 in
// logs of DeepSeek V2 Lite, Kimi-VL and GLM-5.2, and captured 0.00087 for DeepSeek R1), and NCCL's all-reduce in place of vLLM's own
// (0.00064 for 72B on four L40S, where 0.0004 is on two H100). Tensor parallelism by itself adds nothing: 0.00037 to 0.00044 for 70B and
// 72B on two and four H100.
var (
	firstGraph   = Constant{"graph_estimate.first", 0.1, 0, 0.5, 0}
	piecesOne    = Constant{"graph_estimate.one", 0.0004, 0.0001, 0.0008, 0}
	piecesLatent = Constant{"graph_estimate.latent", 0.0008, 0.0005, 0.0011, 0}
	piecesNCCL   = Constant{"graph_estimate.nccl", 0.00064, 0.0004, 0.0009, 0}
)

// graphsEstimated is the first version that prints the estimate (#30515, 2026-03-07).
var graphsEstimated = engine.V(0, 17, 0)

// estimatedPiece is what a further piece of a graph counts for in the estimate, as rules.go assumes it.
func estimatedPiece(m *hardware.Machine, tp int64, latent bool) Constant {
	switch {
	case latent:
		return piecesLatent
	case recordsNCCL(m, tp):
		return piecesNCCL
	}
	return piecesOne
}

// recordsNCCL: vLLM's own all-reduce steps aside for more than two devices that NVLink does not join, and graphs record NCCL's
// (vllm/distributed/device_communicators/custom_all_reduce.py).
func recordsNCCL(m *hardware.Machine, tp int64) bool {
	return tp > 2 && m != nil && m.Intra.Name == "PCIe"
}

// traits of a device that rules ask for.
type traits struct {
	total      unit.Bytes // as torch sees it
	hopper     bool
	nvls       bool // Hopper whose NVLinks meet in a switch
	rocm       bool
	unified    bool // memory that the host has too
	sm100      bool
	sm120      bool // GeForce and RTX PRO Blackwell
	datacenter bool // A100, H100, B200 and their kin
	large      bool // 70 GiB and more by NVML, and not an A100
	marlinFP8  bool // no fp8 products: Marlin multiplies with weights that it unpacks
}

func traitsOf(d *hardware.Device) traits {
	name := strings.ToLower(d.Name + " " + d.ID)
	total := d.Usable.Value
	return traits{total: total, hopper: d.Capability == "9.0", nvls: d.Capability == "9.0" && strings.HasPrefix(d.Form, "SXM"),
		rocm: d.Vendor == "AMD", unified: d.Unified != nil, sm100: strings.HasPrefix(d.Capability, "10."),
		sm120:      strings.HasPrefix(d.Capability, "12."),
		datacenter: d.Vendor == "NVIDIA" && (d.Capability == "8.0" || d.Capability == "9.0" || strings.HasPrefix(d.Capability, "10.")),
		large:      total >= 70*unit.GiB && !strings.Contains(name, "a100") && !(d.Vendor == "NVIDIA" && d.Unified != nil),
		marlinFP8:  d.Vendor == "NVIDIA" && d.Capability != "" && d.Capability < "8.9" && !strings.HasPrefix(d.Capability, "1")}
}

// steps gives the defaults of max_num_seqs and max_num_batched_tokens for a server: vllm/engine/arg_utils.py (get_batch_defaults). NVML
// tells no total of a memory that the system shares, and what it does not tell counts as small (#57378: 2,048 and 256 on GB10).
func steps(v engine.Version, t traits, length int64, chunked bool) (seqs, tokens int64) {
	switch {
	case v.Before(v1Default):
		return 256, v0Tokens(v, length)
	case v.Before(engine.V(0, 8, 4)):
		seqs = 1024
	default:
		seqs = 256
	}
	tokens = 2048
	if t.large {
		seqs, tokens = 1024, 8192
	}
	if !chunked {
		tokens = max(tokens, length)
	}
	return min(seqs, tokens), tokens
}

// v0Tokens returns V0's default token budget: prompts went whole through a step unless, from 0.5.4 (#6666), they could exceed 32k
// tokens.
func v0Tokens(v engine.Version, length int64) int64 {
	const chunkedFrom = 32768
	if length <= chunkedFrom || v.Before(engine.V(0, 5, 4)) {
		return max(length, 2048)
	}
	if v.Before(engine.V(0, 6, 5)) {
		return 512
	}
	return 2048
}

// blockTokens returns the default page: 16 tokens, or what the attention backend requires for latent caches.
func blockTokens(t traits, latent bool, dimK int64) int64 {
	switch {
	case latent && t.sm100:
		return 128 // CUTLASS MLA
	case latent && t.hopper:
		return 64 // FlashMLA
	case t.sm100 && dimK == 256:
		return 32 // FlashInfer
	}
	return 16
}

// largestGraph is the largest batch for which graphs are captured, as the plan says or the version has it; some families have a
// limit of their own.
func largestGraph(v engine.Version, family string, largest, seqs, tokens int64) int64 {
	top := min(2*seqs, 512)
	if family == "gpt-oss" { // vllm/model_executor/models/config.py
		top = 1024
	}
	if largest > 0 {
		top = largest
	}
	if v.AtLeast(graphsOfBudget) {
		return min(top, tokens)
	}
	return top
}

// graphsOfBudget is the first version that captures none beyond a step's tokens, and coarser sizes among the large ones.
var graphsOfBudget = engine.V(0, 11, 1)

// captureSizes returns the number of batch sizes for which graphs are captured, up to the largest one.
func captureSizes(v engine.Version, family string, largest, seqs, tokens int64) int64 {
	top := largestGraph(v, family, largest, seqs, tokens)
	if v.AtLeast(graphsOfBudget) {
		return sizesUpTo(top, 256, 16)
	}
	return sizesUpTo(top, 512, 8)
}

// GraphTokens returns the largest step that runs as piecewise graphs, with prompts or without (CUDAGraphMode.PIECEWISE,
// vllm/v1/cudagraph_dispatcher.py); 0 if V0 launches every kernel of a prompt, or the plan captures none.
func GraphTokens(v engine.Version, family string, p *plan.Plan) int64 {
	if v.Before(v1Default) || eager(p) {
		return 0
	}
	return largestGraph(v, family, int64(p.GraphBatch), int64(p.MaxSeqs), int64(p.MaxBatchedTokens))
}

// sizesUpTo counts 1, 2, 4, then steps of 8 below fine, then steps of coarse.
func sizesUpTo(top, fine, coarse int64) (n int64) {
	for _, s := range []int64{1, 2, 4} {
		if s <= top {
			n++
		}
	}
	for s := int64(8); s <= top; {
		n++
		if s < fine {
			s += 8
		} else {
			s += coarse
		}
	}
	return n
}

// eager reports whether no graphs are captured.
func eager(p *plan.Plan) bool { return p.EnforceEager != nil && *p.EnforceEager }
