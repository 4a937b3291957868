package sglang

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/argv"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// Command is the launch of a server with what differs from its defaults.
func (Engine) Command(j *engine.Job) string {
	p := j.Plan
	args := append([]string{variables(p) + "python -m sglang.launch_server --model-path " + argv.Quote(j.CheckpointName())},
		argv.StoredArgs(p.Weights, j.Checkpoint.Stored)...)
	tp := p.TP
	if sharesExperts(p) {
		tp *= p.DP
	}
	for _, g := range []struct {
		flag string
		n    int64
	}{{"--tp-size", tp}, {"--pp-size", p.PP}, {"--dp-size", p.DP}, {"--ep-size", p.EP}} {
		if g.n > 1 {
			args = append(args, fmt.Sprint(g.flag, " ", g.n))
		}
	}
	if sharesExperts(p) {
		args = append(args, "--enable-dp-attention")
	}
	if p.DenseTP == 1 {
		args = append(args, "--moe-dense-tp-size 1")
	}
	args = append(args, fmt.Sprintf("--context-length %d", p.Context))
	args = append(args, changed(j)...)
	args = append(args, draftArguments(j)...)
	return strings.Join(append(args, p.EngineArgs...), " ")
}

var cacheNames = map[*dtype.Format]string{dtype.FP8E4M3: "fp8_e4m3", dtype.FP8E5M2: "fp8_e5m2", dtype.FP4E2M1: "fp4_e2m1"}

// tierArgs are when blocks are copied below the device, and where replicas share them.
func tierArgs(p *plan.Plan) (args []string) {
	if p.KVTierPolicy != "" {
		args = append(args, "--hicache-write-policy "+strings.ReplaceAll(p.KVTierPolicy, "-", "_"))
	}
	if stores[p.KVStore] == p.KVStore && p.KVStore != "" {
		args = append(args, "--hicache-storage-backend "+p.KVStore)
	}
	return args
}

func changed(j *engine.Job) (args []string) {
	p := j.Plan
	if f := p.MemFractionStatic; f != nil && j.Device(0) != nil && *f != fraction(setupOf(j)) {
		args = append(args, "--mem-fraction-static "+strconv.FormatFloat(*f, 'f', -1, 64))
	}
	if p.CPUOffload > 0 {
		args = append(args, fmt.Sprintf("--cpu-offload-gb %d", unit.Bytes(p.CPUOffload)/unit.GiB))
	}
	switch {
	case p.KVHost > 0:
		args = append(args, fmt.Sprintf("--enable-hierarchical-cache --hicache-size %d", int64(p.KVHost)/gb))
	case p.KVHostRatio != nil:
		args = append(args, "--enable-hierarchical-cache --hicache-ratio "+strconv.FormatFloat(*p.KVHostRatio, 'f', -1, 64))
	}
	if p.KVHost > 0 || p.KVHostRatio != nil {
		args = append(args, tierArgs(p)...)
	}
	if name, ok := cacheNames[dtype.FindFormat(p.KV)]; ok {
		args = append(args, "--kv-cache-dtype "+name)
	}
	switch {
	case !chunked(p):
		args = append(args, "--chunked-prefill-size -1")
		if p.MaxBatchedTokens != maxPrefillTokens {
			args = append(args, fmt.Sprintf("--max-prefill-tokens %d", p.MaxBatchedTokens))
		}
	case int64(p.MaxBatchedTokens) != chunkDefault(j):
		args = append(args, fmt.Sprintf("--chunked-prefill-size %d", p.MaxBatchedTokens))
	}
	if engine.On(p.MixedChunk, false) {
		args = append(args, "--enable-mixed-chunk")
	}
	if n := int64(p.MaxSeqs); n > 0 && n != runningDrafts(j) {
		args = append(args, fmt.Sprintf("--max-running-requests %d", n*attentionGroups(p)))
	}
	if p.KVPoolTokens > 0 {
		args = append(args, fmt.Sprintf("--max-total-tokens %d", p.KVPoolTokens))
	}
	if int64(p.BlockSize) != pageDefault(j) {
		args = append(args, fmt.Sprintf("--page-size %d", p.BlockSize))
	}
	if p.StreamInterval > 1 {
		args = append(args, fmt.Sprintf("--stream-interval %d", p.StreamInterval))
	}
	if p.RecvInterval > 1 {
		args = append(args, fmt.Sprintf("--scheduler-recv-interval %d", p.RecvInterval))
	}
	for _, f := range []struct {
		flag string
		n    int64
	}{{"--cuda-graph-max-bs", int64(p.GraphBatch)}, {"--ep-num-redundant-experts", int64(p.RedundantExperts)}} {
		if f.n > 0 {
			args = append(args, fmt.Sprint(f.flag, " ", f.n))
		}
	}
	args = append(args, dispatcher(j)...)
	if engine.On(p.WholeTower, false) {
		args = append(args, "--mm-enable-dp-encoder")
	}
	if p.StateFormat != "" {
		args = append(args, "--mamba-ssm-dtype "+argv.TorchName(p.StateFormat))
	}
	if name := expertKernels.Name(p.MoEBackend); name != "" {
		args = append(args, "--moe-runner-backend "+name)
	}
	if e := p.EnforceEager; e != nil && *e {
		args = append(args, "--disable-cuda-graph")
	}
	if c := p.PrefixCache; c != nil && !*c {
		args = append(args, "--disable-radix-cache")
	}
	return args
}

// algorithm of a model that drafts: heads that read states of the target are EAGLE's, others models of their own.
func algorithm(j *engine.Job) string {
	switch f := j.Draft.Model.Family; {
	case f == "eagle3":
		return heads
	case f == "dflash" && j.Version.AtLeast(blockDrafts):
		return blocks
	}
	return standalone
}

// expertKernels are the values of --moe-runner-backend (sglang/srt/server_args.py, MOE_RUNNER_BACKEND_CHOICES).
var expertKernels = argv.ExpertKernels{{"flashinfer_trtllm", "trtllm"}, {"flashinfer_cutlass", "cutlass"}, {"cutlass", "cutlass"},
	{"deep_gemm", "deepgemm"}, {"triton", "triton"}, {"triton_kernel", "triton"}, {"marlin", "marlin"}}

// draftArguments are of what drafts, and of the adapters.
func draftArguments(j *engine.Job) (args []string) {
	p := j.Plan
	switch {
	case j.Draft != nil:
		args = append(args, "--speculative-algorithm "+algorithm(j),
			"--speculative-draft-model-path "+argv.Quote(j.Draft.CheckpointName()))
	case p.DraftTokens == 0:
	case j.MTP != nil:
		args = append(args, "--speculative-algorithm "+ownLayers)
	default:
		args = append(args, "--speculative-algorithm "+repeats)
	}
	if p.DraftTokens > 0 && (j.Draft != nil && algorithm(j) != blocks || j.MTP != nil) {
		args = append(args, fmt.Sprintf("--speculative-num-steps %d --speculative-eagle-topk %d", cmp.Or(p.DraftSteps, p.DraftTokens),
			max(1, p.DraftBranches)))
	}
	if p.DraftTokens > 0 {
		args = append(args, fmt.Sprintf("--speculative-num-draft-tokens %d", p.DraftTokens+1))
	}
	if n := len(p.Adapters); n > 0 {
		rank := plan.Int(0)
		for _, a := range p.Adapters {
			rank = max(rank, a.Rank)
		}
		args = append(args, fmt.Sprintf("--enable-lora --max-loras-per-batch %d --max-lora-rank %d", n, rank))
	}
	return args
}
