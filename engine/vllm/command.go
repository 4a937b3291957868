package vllm

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/argv"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// Command returns "vllm serve" with what differs from its defaults.
func (e Engine) Command(j *engine.Job) string {
	p := j.Plan
	args := append([]string{chunkSetting(j) + cacheSetting(j) + "vllm serve", argv.Quote(j.CheckpointName())},
		argv.StoredArgs(j.Plan.Weights, j.Checkpoint.Stored)...)
	if p.TP == 1 && j.Devices() > p.Ranks() {
		args = append(args, "--tensor-parallel-size 1") // said, because memwall would take all devices
	}
	for _, g := range []struct {
		flag string
		n    int64
	}{{"--tensor-parallel-size", p.TP}, {"--pipeline-parallel-size", p.PP}, {"--data-parallel-size", p.DP}} {
		if g.n > 1 {
			args = append(args, fmt.Sprint(g.flag, " ", g.n))
		}
	}
	if p.EP > 1 {
		args = append(args, "--enable-expert-parallel")
	}
	args = append(args, fmt.Sprintf("--max-model-len %d", p.Context))
	args = append(args, changed(j)...)
	args = append(args, switches(p)...)
	args = append(args, draftArguments(j)...)
	return strings.Join(append(args, engineArgs(j)...), " ")
}

// changed are the settings of memory and steps.
func changed(j *engine.Job) (args []string) {
	p := j.Plan
	seqs, tokens := steps(j.Version, deviceTraits(j), int64(p.Context), p.ChunkedPrefill == nil || *p.ChunkedPrefill)
	if u := p.GPUMemoryUtilization; u != nil && *u != engine.At(utilization, j.Version).Value {
		args = append(args, "--gpu-memory-utilization "+strconv.FormatFloat(*u, 'f', -1, 64))
	}
	if p.KVCacheMemory > 0 {
		args = append(args, fmt.Sprintf("--kv-cache-memory-bytes %d", p.KVCacheMemory))
	}
	if p.KVPoolTokens > 0 && p.BlockSize > 0 {
		args = append(args, fmt.Sprintf("--num-gpu-blocks-override %d", p.KVPoolTokens/p.BlockSize))
	}
	if p.CPUOffload > 0 {
		args = append(args, "--cpu-offload-gb "+strconv.FormatFloat(unit.Bytes(p.CPUOffload).GiB(), 'f', -1, 64))
	}
	switch {
	case p.KVHost > 0 && swaps(j.Version):
		args = append(args, "--swap-space "+strconv.FormatFloat(unit.Bytes(p.KVHost).GiB(), 'f', -1, 64))
	case byLMCache(j):
		args = append(args, "--kv-transfer-config "+argv.Quote(`{"kv_connector":"LMCacheConnectorV1","kv_role":"kv_both"}`))
	case p.KVHost > 0: // of all ranks together
		all := unit.Bytes(p.KVHost) * unit.Bytes(max(1, p.TP)*max(1, p.PP))
		args = append(args, "--kv-offloading-size "+strconv.FormatFloat(all.GiB(), 'f', -1, 64))
	}
	if p.KV != kvDefault(j) {
		args = append(args, "--kv-cache-dtype "+cacheName(p.KV)+map[bool]string{true: "_per_token_head"}[engine.On(p.KVScales, false)])
	}
	if int64(p.MaxBatchedTokens) != tokens {
		args = append(args, fmt.Sprintf("--max-num-batched-tokens %d", p.MaxBatchedTokens))
	}
	if int64(p.MaxSeqs) != min(seqs, int64(p.MaxBatchedTokens)) {
		args = append(args, fmt.Sprintf("--max-num-seqs %d", p.MaxSeqs))
	}
	if p.StreamInterval > 1 {
		args = append(args, fmt.Sprintf("--stream-interval %d", p.StreamInterval))
	}
	for _, f := range []struct {
		flag string
		n    int64
	}{{"--max-cudagraph-capture-size", int64(p.GraphBatch)}, {"--decode-context-parallel-size", p.DCP}} {
		if f.n > 0 {
			args = append(args, fmt.Sprint(f.flag, " ", f.n))
		}
	}
	if p.RedundantExperts > 0 {
		args = append(args, "--enable-eplb", fmt.Sprintf(`--eplb-config '{"num_redundant_experts":%d}'`, p.RedundantExperts))
	}
	args = append(args, dispatching(p)...)
	switch {
	case engine.On(p.TextOnly, false):
		args = append(args, "--language-model-only")
	case engine.On(p.NoVideo, false) && !slices.ContainsFunc(p.EngineArgs, limitsMedia):
		args = append(args, `--limit-mm-per-prompt '{"video":0}'`)
	}
	if engine.On(p.WholeTower, false) {
		args = append(args, "--mm-encoder-tp-mode data")
	}
	if p.StateFormat != "" {
		args = append(args, "--mamba-ssm-cache-dtype "+argv.TorchName(p.StateFormat))
	}
	if name := expertKernels.Name(p.MoEBackend); name != "" && j.Version.AtLeast(NamesKernels) {
		args = append(args, "--moe-backend "+name)
	}
	if p.LinearBackend == marlin && j.Version.AtLeast(NamesLinear) {
		args = append(args, "--linear-backend marlin")
	}
	if eager(p) {
		args = append(args, "--enforce-eager")
	}
	if int64(p.BlockSize) != blockTokens(deviceTraits(j), latent(j), headDim(j.Model)) || p.KVPoolTokens > 0 {
		args = append(args, fmt.Sprintf("--block-size %d", p.BlockSize))
	}
	return args
}

// NamesKernels is the first version in which --moe-backend selects expert kernels (#33807, February 2026).
var NamesKernels = engine.V(0, 17, 0)

// NamesLinear is the first version in which --linear-backend selects kernels of linear layers (#39538, April 2026).
var NamesLinear = engine.V(0, 20, 0)

// marlin is the one of --linear-backend (vllm/config/kernel.py) whose products take activations in 16 bits on any device. Others
// are those that vLLM tries by itself, where they serve a format.
const marlin = "marlin"

func argLinear(l *launch, v string) {
	switch strings.ToLower(v) {
	case marlin:
		l.Plan.LinearBackend = marlin
	case "auto":
	default:
		l.Beside = append(l.Beside, "--linear-backend "+argv.Quote(argv.Blotted(v)))
	}
}

// expertKernels are the values of --moe-backend (vllm/config/kernel.py): FlashInfer has those of TensorRT-LLM.
var expertKernels = argv.ExpertKernels{{"flashinfer_trtllm", "trtllm"}, {"flashinfer_cutlass", "cutlass"}, {"cutlass", "cutlass"},
	{"deep_gemm", "deepgemm"}, {"triton", "triton"}, {"marlin", "marlin"}}

// cacheName is what --kv-cache-dtype calls a format (vllm/config/cache.py).
func cacheName(kv string) string {
	switch kv {
	case "bf16":
		return "bfloat16"
	case "f16":
		return "float16"
	}
	return kv
}

// checkpointNote remarks that the command names a checkpoint which is not stored as the plan says.
func checkpointNote(j *engine.Job) {
	w, c := j.Plan.Weights, &j.Checkpoint
	if c.Assumed && c.Cache == "" && strings.HasPrefix(c.Name, "nvidia/") && j.Plan.KV == kvDefault(j) {
		j.Note("kv_of_checkpoint", "warn", "kv",
			"most of nvidia's checkpoints state fp8 for the cache, which vLLM follows: kv = fp8 where hf_quant_config.json says kv_cache_quant_algo FP8")
	}
	if c.Name == "" || argv.OnLoad(w, c.Stored) {
		return
	}
	j.Note("other_checkpoint", "info", "weights", "%s is stored in %s: put the name of its %s checkpoint into the command", c.Name,
		c.Stored, w)
}

// draftArguments are of what drafts, and of the adapters.
func draftArguments(j *engine.Job) (args []string) {
	if c := speculation(j); c != nil {
		text, _ := json.Marshal(c) // of words and numbers
		args = append(args, "--speculative-config "+argv.Quote(string(text)))
	}
	if n := len(j.Plan.Adapters); n > 0 {
		rank := plan.Int(0)
		for _, a := range j.Plan.Adapters {
			rank = max(rank, a.Rank)
		}
		args = append(args, fmt.Sprintf("--enable-lora --max-loras %d --max-lora-rank %d", n, rank))
	}
	return args
}

// drafting is the value of --speculative-config (vllm/config/speculative.py).
type drafting struct {
	Method string   `json:"method,omitempty"`
	Model  string   `json:"model,omitempty"`
	Tokens plan.Int `json:"num_speculative_tokens"`
	Depth  plan.Int `json:"suffix_decoding_max_tree_depth,omitempty"`
	Tree   string   `json:"speculative_token_tree,omitempty"` // from 0.10.1 to 2026-05 (#20401, #42121), as Python writes it
}

// speculation is by a draft model; without one by the model's own prediction layers, or by what the text repeats.
func speculation(j *engine.Job) *drafting {
	d := drafting{Tokens: j.Plan.DraftTokens}
	switch {
	case j.Draft != nil:
		d.Model = j.Draft.CheckpointName()
		if f := j.Draft.Model.Family; f == "eagle3" || f == "dflash" {
			d.Method = f
		}
	case j.Plan.DraftTokens == 0:
		return nil
	case j.MTP != nil:
		d.Method = "mtp"
	default:
		d.Method = cmp.Or(j.Plan.DraftMethod, plan.DraftNGram)
	}
	return &d
}

// switches are the flags that vLLM turns around with --no-.
func switches(p *plan.Plan) (args []string) {
	for _, s := range []struct {
		value *bool
		flag  string
	}{{p.PrefixCache, "enable-prefix-caching"}, {p.ChunkedPrefill, "enable-chunked-prefill"}} {
		switch {
		case s.value == nil:
		case *s.value:
			args = append(args, "--"+s.flag)
		default:
			args = append(args, "--no-"+s.flag)
		}
	}
	return args
}
