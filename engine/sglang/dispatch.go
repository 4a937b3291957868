package sglang

import (
	"fmt"
	"slices"
	"strings"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
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
func variables(p *plan.Plan) (out string) {
	if n := p.DispatchTokens; n > 0 && n != usualDispatched {
		out = fmt.Sprintf("%s=%d ", mostDispatched, n)
	}
	if p.KVStoreSegment > 0 && !slices.ContainsFunc(p.EngineArgs, setsStore) {
		out += fmt.Sprintf("MOONCAKE_GLOBAL_SEGMENT_SIZE=%d ", int64(p.KVStoreSegment)*max(1, p.TP))
	}
	return out
}

// setsStore reports an argument that says Mooncake's settings itself.
func setsStore(arg string) bool {
	return strings.HasPrefix(arg, "--hicache-storage-backend-extra-config")
}

// dispatcher are the arguments of what brings tokens to their experts.
func dispatcher(j *engine.Job) (args []string) {
	p := j.Plan
	kernels := p.Worker().All2All
	if kernels == "" {
		return nil
	}
	flag := "--moe-a2a-backend deepep"
	if j.Version.Before(namesDispatcher) {
		flag = "--enable-deepep-moe"
	}
	if args = append(args, flag); kernels != plan.DeepEP {
		args = append(args, "--deepep-mode "+strings.ReplaceAll(strings.TrimPrefix(kernels, plan.DeepEP+"-"), "-", "_"))
	}
	if engine.On(p.TwoBatches, false) {
		args = append(args, "--enable-two-batch-overlap")
	}
	return args
}

// dispatchNote warns where a rank decodes more sequences at a time than it may send: DeepEP stops at that.
func (s *sizer) dispatchNote() {
	p := s.job.Plan
	each := unit.CeilDiv(max(1, int64(p.Sequences)), max(1, p.DP)*p.Workers())
	if engine.On(p.TwoBatches, false) {
		each = unit.CeilDiv(each, 2)
	}
	if most := dispatched(p); p.LowLatency() && each > most {
		s.job.Note("dispatch_tokens", "warn", "dispatch_tokens",
			"a rank decodes %s sequences at a time and sends %s tokens at most, at which DeepEP stops: --dispatch-tokens %d",
			unit.Count(each),
			unit.Count(most), each)
	}
}

// dispatchItem are DeepEP's buffers, which are allocated by the first step that needs them: beside what mem_fraction_static
// gives to weights and pools.
func (s *sizer) dispatchItem(b *ledger.Book) ledger.Item {
	d := engine.DeepEPOf(s.job, dispatched(s.job.Plan))
	return d.Item(b)
}
