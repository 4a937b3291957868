package vllm

import (
	"fmt"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/plan"
)

// checkOver refuses decode context parallelism that a group of tensor parallel ranks has no room for: it takes ranks that would
// hold the same heads (vllm/config/parallel.py; vllm/config/model.py, verify_with_parallel_config).
func checkOver(j *engine.Job) error {
	p, kv := j.Plan, j.Model.Traits.KVHeads
	most := p.TP
	if !latent(j) && kv > 0 {
		most = max(1, p.TP/kv)
	}
	if p.DCP <= 1 || p.DCP <= most && p.TP%p.DCP == 0 {
		return nil
	}
	return &plan.Problem{Field: "dcp", Value: fmt.Sprint(p.DCP), Impossible: true,
		Message: fmt.Sprintf("dcp = %d: %d tensor parallel ranks hold the %d key-value heads of %s, so that a cache lies over %d of them at most",
			p.DCP, p.TP, kv, j.Model.ID, most),
		Fix: fmt.Sprintf("--dcp %d, or a larger tp", most)}
}
