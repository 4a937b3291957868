package sglang

import (
	"fmt"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// --cpu-offload-gb (srt/utils.py, later srt/utils/offloader.py, OffloaderV1): a layer with parameters in host memory
// copies them to the device each time it is computed.

// cpuOffload is the first version that has it (#2253, 2024-11-29).
var cpuOffload = engine.V(0, 4, 0)

// hostAll moves parameters of every class of ranks.
func (s *sizer) hostAll() {
	budget := unit.Bytes(s.job.Plan.CPUOffload)
	if budget == 0 {
		return
	}
	for i := range s.ranks {
		p := &s.ranks[i]
		p.hosted = engine.MoveLayers(budget, p.pl.Last-p.pl.First, p.pl.HostedParams())
		p.hosted.Stage = int64(p.pl.Stage)
	}
}

// Hosted is what each class of ranks keeps in host memory.
func (s *sizer) Hosted() (out []engine.Hosted) {
	for i := range s.ranks {
		out = append(out, s.ranks[i].hosted)
	}
	return out
}

// weights are the tensors as stored, less those in host memory.
func (s *sizer) weights(b *ledger.Book, p *prepared) ledger.Item {
	it := engine.BookWeights(b, p.weights, "file tensors as stored")
	if p.hosted.Bytes == 0 {
		return it
	}
	n := b.Sub(it.Why, b.Size("on_host", p.hosted.Bytes, "parameters of layers, docs/formulas.md#cpu-offload"))
	return ledger.Known(it.ID, it.Name, n, ledger.Derived, it.Life, it.Place, it.Source)
}

// tiered is the first version with --enable-hierarchical-cache (from memory: 2025-02).
var tiered = engine.V(0, 4, 3)

const gb = 1_000_000_000 // of --hicache-size (sglang/srt/mem_cache/memory_pool_host.py, HostKVCache)

// checkEvicted refuses sizes that the flags cannot say.
func (s *sizer) checkEvicted() error {
	p := s.job.Plan
	if err := engine.CheckSegment(p); err != nil {
		return err
	}
	n := int64(p.KVHost)
	refuse := func(message, fix string) error {
		return &plan.Problem{Field: "kv_host_bytes", Value: fmt.Sprint(n), Impossible: true, Message: message, Fix: fix}
	}
	switch {
	case n == 0 && p.KVHostRatio == nil && p.KVStore != "":
		return &plan.Problem{Field: "kv_store", Value: p.KVStore, Impossible: true,
			Message: "kv_store = " + p.KVStore + ": SGLang reads its storage through the tier in host memory, and there is none",
			Fix:     "--kv-host-ratio 2 beside it"}
	case n == 0 && p.KVHostRatio == nil:
	case s.job.Version.Before(tiered):
		return refuse(fmt.Sprintf("SGLang %s keeps no evicted caches in host memory", s.job.Version), "sglang@"+tiered.String()+" or newer")
	case n > 0 && p.KVHostRatio != nil:
		return refuse("kv_host_bytes and kv_host_ratio say the same size", "one of both")
	case n%gb != 0:
		return refuse(fmt.Sprintf("kv_host_bytes = %d: --hicache-size of SGLang takes whole GB", n), fmt.Sprintf("%d", unit.PadUp(n, gb)))
	}
	return nil
}

// checkOffload refuses what SGLang does not move, and remarks on what it has failed to run.
func (s *sizer) checkOffload() error {
	n := unit.Bytes(s.job.Plan.CPUOffload)
	refuse := func(fix, format string, args ...any) error {
		return &plan.Problem{Field: "cpu_offload_bytes", Value: fmt.Sprint(int64(n)), Impossible: true,
			Message: fmt.Sprintf(format, args...), Fix: fix}
	}
	switch {
	case n == 0:
		return nil
	case s.job.Version.Before(cpuOffload):
		return refuse("sglang@"+cpuOffload.String()+" or newer", "SGLang %s keeps no weights in host memory", s.job.Version)
	case n%unit.GiB != 0:
		return refuse(unit.Bytes(unit.PadUp(int64(n), int64(unit.GiB))).String(),
			"cpu_offload_bytes = %d: --cpu-offload-gb of SGLang takes whole GiB", int64(n))
	}
	if s.job.Model.Recurrent() {
		s.job.Note("offload_unproven", "warn", "cpu_offload_bytes",
			"requests to models with recurrent layers have failed in SGLang with --cpu-offload-gb (#23150)")
	}
	return engine.CheckHosted(s.job, s.Hosted())
}
