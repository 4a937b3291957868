package vllm

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/plan"
)

// Command is "vllm serve" with what differs from its defaults.
func (e Engine) Command(j *engine.Job) string {
	p := j.Plan
	args := []string{"vllm serve", j.Model.ID}
	add := func(flag string, value any) { args = append(args, fmt.Sprint(flag, " ", value)) }
	if p.TP > 1 {
		add("--tensor-parallel-size", p.TP)
	}
	if p.PP > 1 {
		add("--pipeline-parallel-size", p.PP)
	}
	if p.DP > 1 {
		add("--data-parallel-size", p.DP)
	}
	if p.EP > 1 {
		args = append(args, "--enable-expert-parallel")
	}
	add("--max-model-len", int64(p.Context))
	args = append(args, e.changed(j)...)
	return strings.Join(append(args, p.EngineArgs...), " ")
}

func (Engine) changed(j *engine.Job) (args []string) {
	p := j.Plan
	seqs, tokens := steps(j.Version, deviceTraits(j), int64(p.Context), p.ChunkedPrefill == nil || *p.ChunkedPrefill)
	if u := p.GPUMemoryUtilization; u != nil && *u != engine.At(utilization, j.Version).Value {
		args = append(args, "--gpu-memory-utilization "+strconv.FormatFloat(*u, 'f', -1, 64))
	}
	if p.KVCacheMemory > 0 {
		args = append(args, fmt.Sprintf("--kv-cache-memory-bytes %d", p.KVCacheMemory))
	}
	if strings.HasPrefix(p.KV, "fp8") {
		args = append(args, "--kv-cache-dtype "+p.KV)
	}
	if int64(p.MaxBatchedTokens) != tokens {
		args = append(args, fmt.Sprintf("--max-num-batched-tokens %d", p.MaxBatchedTokens))
	}
	if int64(p.MaxSeqs) != min(seqs, int64(p.MaxBatchedTokens)) {
		args = append(args, fmt.Sprintf("--max-num-seqs %d", p.MaxSeqs))
	}
	if eager(p) {
		args = append(args, "--enforce-eager")
	}
	if int64(p.BlockSize) != blockTokens(deviceTraits(j), latent(j.Model), headDim(j.Model)) {
		args = append(args, fmt.Sprintf("--block-size %d", p.BlockSize))
	}
	return append(args, switches(p)...)
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
