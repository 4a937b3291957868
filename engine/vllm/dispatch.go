package vllm

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/argv"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// DeepEP in vLLM (vllm/distributed/device_communicators/all2all.py): one kind of kernels for all steps, and a gibibyte each of
// NVLink and of RDMA for the normal ones, whatever the hint says.

// wholeSteps is the first version whose ranks send a whole step of max_num_batched_tokens at a time; before it they sent
// VLLM_MOE_DP_CHUNK_SIZE tokens (model_executor/layers/fused_moe/layer.py of 0.11 and of 0.20).
var wholeSteps = engine.V(0, 20, 0)

const (
	chunkVariable = "VLLM_MOE_DP_CHUNK_SIZE"
	usualChunk    = 256
	nodeBuffer    = unit.GiB // VLLM_DEEPEP_BUFFER_SIZE_MB
)

// backends are the values of --all2all-backend (vllm/config/parallel.py).
var backends = map[string]string{"deepep_high_throughput": plan.DeepEPNormal, "deepep_low_latency": plan.DeepEPLowLatency}

// dispatcher parses a backend; one that is not described is listed as unread.
func dispatcher(l *launch, v string) error {
	if l.Plan.All2All = backends[strings.ToLower(v)]; l.Plan.All2All == "" && v != "allgather_reducescatter" {
		l.Unknown = append(l.Unknown, "--all2all-backend "+argv.Quote(argv.Blotted(v)))
	}
	return nil
}

func dispatching(p *plan.Plan) (args []string) {
	for flag, name := range backends {
		if name == p.Worker().All2All {
			args = append(args, "--all2all-backend "+flag)
		}
	}
	if engine.On(p.TwoBatches, false) {
		args = append(args, "--enable-dbo")
	}
	return args
}

// chunkSetting is the variable in front of the command.
func chunkSetting(j *engine.Job) string {
	if n := j.Plan.DispatchTokens; n > 0 && n != usualChunk && j.Version.Before(wholeSteps) {
		return fmt.Sprintf("%s=%d ", chunkVariable, n)
	}
	return ""
}

// sent returns the most tokens that a rank sends at a time.
func sent(j *engine.Job) int64 {
	switch {
	case !j.Version.Before(wholeSteps):
		return int64(j.Plan.MaxBatchedTokens)
	case j.Plan.DispatchTokens > 0:
		return int64(j.Plan.DispatchTokens)
	}
	return usualChunk
}

// checkDispatch refuses kernels of both kinds on one worker, a bound that the version does not have, and steps beyond what the
// low-latency kernels send.
func checkDispatch(j *engine.Job) error {
	p := j.Plan
	switch {
	case p.NormalKernels() && p.LowLatency():
		return &plan.Problem{Field: "all2all", Value: p.All2All, Impossible: true,
			Message: "all2all = deepep: vLLM takes one kind of DeepEP's kernels for all steps of a server",
			Fix:     "--all2all deepep-low-latency or deepep-normal, or workers of two kinds"}
	case p.DispatchTokens > 0 && !j.Version.Before(wholeSteps):
		return &plan.Problem{Field: "dispatch_tokens", Value: fmt.Sprint(p.DispatchTokens), Impossible: true,
			Message: fmt.Sprintf("dispatch_tokens: ranks of vLLM %s send a whole step, as long as max_num_batched_tokens lets it be",
				j.Version),
			Fix: fmt.Sprintf("--max-num-batched-tokens %d", p.DispatchTokens)}
	}
	return nil
}

// dispatchItem returns the buffers, which are allocated before the profile run.
func dispatchItem(b *ledger.Book, j *engine.Job) ledger.Item {
	d := engine.DeepEPOf(j, sent(j))
	if d.LowLatency {
		it := d.Item(b)
		n := b.Add(it.Why, b.Size("nvlink_buffer", nodeBuffer, "VLLM_DEEPEP_BUFFER_SIZE_MB"))
		more := ledger.Known(it.ID, it.Name, n, it.Basis, it.Life, it.Place, it.Source)
		return more.Band(it.Low, it.High+nodeBuffer)
	}
	n, why := b.Size("nvlink_buffer", nodeBuffer, "VLLM_DEEPEP_BUFFER_SIZE_MB"), "vllm/distributed/device_communicators/all2all.py"
	if d.Ranks > j.PerNode() {
		n = b.Add(n, b.Size("rdma_buffer", nodeBuffer, "VLLM_DEEPEP_BUFFER_SIZE_MB"))
	}
	it := ledger.Known("collectives", fmt.Sprintf("DeepEP, %d ranks", d.Ranks), n, ledger.Derived, ledger.Persistent, ledger.Device, why)
	return it.Band(it.Bytes, it.Bytes+unit.GiB/2)
}
