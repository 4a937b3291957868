package sglang

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/plan"
)

// mostDispatched is the variable that bounds what a rank sends with DeepEP's low-latency kernels, usualDispatched what it is
// where nobody says (srt/layers/moe/token_dispatcher/deepep.py).
const (
	mostDispatched  = "SGLANG_DEEPEP_NUM_MAX_DISPATCH_TOKENS_PER_RANK"
	usualDispatched = 128
)

// namesDispatcher is the version from which on --moe-a2a-backend names DeepEP, which --enable-deepep-moe did before (#8658, of
// August 2025).
var namesDispatcher = engine.V(0, 5, 0)

func dispatched(p *plan.Plan) int64 {
	if p.DispatchTokens > 0 {
		return int64(p.DispatchTokens)
	}
	return usualDispatched
}

// variables in front of the command.
func variables(p *plan.Plan) string {
	if p.DispatchTokens == 0 || p.DispatchTokens == usualDispatched {
		return ""
	}
	return fmt.Sprintf("%s=%d ", mostDispatched, p.DispatchTokens)
}

// dispatcher are the arguments of what brings tokens to their experts.
func dispatcher(j *engine.Job) (args []string) {
	p := j.Plan
	if p.All2All == "" {
		return nil
	}
	flag := "--moe-a2a-backend deepep"
	if j.Version.Before(namesDispatcher) {
		flag = "--enable-deepep-moe"
	}
	if args = append(args, flag); p.All2All != plan.DeepEP {
		args = append(args, "--deepep-mode "+strings.ReplaceAll(strings.TrimPrefix(p.All2All, plan.DeepEP+"-"), "-", "_"))
	}
	if engine.On(p.TwoBatches, false) {
		args = append(args, "--enable-two-batch-overlap")
	}
	return args
}

// dispatchItem are DeepEP's buffers, which are allocated by the first step that needs them: beside what mem_fraction_static
// gives to weights and pools.
func (s *sizer) dispatchItem(b *ledger.Book) ledger.Item {
	d := engine.DeepEPOf(s.job, dispatched(s.job.Plan))
	return d.Item(b)
}
