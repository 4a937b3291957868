package vllm

import (
	"fmt"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// offloading describes how a version keeps parameters in host memory.
type offloading struct {
	absent   string // why there is none
	inPlace  bool   // kernels read them there (UVA); else each layer is copied before it is computed
	returns  bool   // what kernels want laid out anew comes back to the device
	oneGroup bool   // refused where caches form several groups
}

var offload = []engine.Since[offloading]{
	{From: engine.V(0, 0, 0), Value: offloading{absent: "has no --cpu-offload-gb"}, Source: "vllm/engine/arg_utils.py, 0.5.2"},
	{From: engine.V(0, 5, 3), Value: offloading{}, Source: "vllm/model_executor/models/utils.py, maybe_offload_to_cpu (#6496, 2024-07-17)"},
	{From: engine.V(0, 8, 0), Value: offloading{absent: "goes back to its earlier engine for --cpu-offload-gb, and the rules here are those of the later one"}, Source: "vllm/engine/arg_utils.py, _is_v1_supported_oracle"},
	{From: engine.V(0, 8, 3), Value: offloading{inPlace: true, returns: true}, Source: "UVA (#15354, 2025-03)"},
	{From: engine.V(0, 9, 2), Value: offloading{inPlace: true, returns: true, oneGroup: true},
		Source: "may_reinitialize_input_batch (#18654, 2025-06)"},
	{From: engine.V(0, 16, 0), Value: offloading{inPlace: true, oneGroup: true},
		Source: "vllm/model_executor/model_loader/utils.py, device_loading_context (#32993, 2026-01)"},
	{From: engine.V(0, 19, 0), Value: offloading{inPlace: true}, Source: "may_reinitialize_input_batch (#36461, 2026-03)"},
}

// runnerMended is the first version whose second runner does not ignore --cpu-offload-gb (#51413, 2026-08).
var runnerMended = engine.V(0, 28, 0)

func (s *sizer) offloading() *offloading {
	o := engine.At(offload, s.job.Version).Value
	return &o
}

// returns reports whether a parameter that was moved lies on the device in the end: its new layout is made there.
func (s *sizer) returns(p *param) bool { return p.how != asLoaded && s.offloading().returns }

// host offloads parameters of a rank's layers.
func (s *sizer) host(pl *engine.Placed, sets *paramSets) engine.Hosted {
	budget := unit.Bytes(s.job.Plan.CPUOffload)
	if budget == 0 {
		return engine.Hosted{}
	}
	of := map[int][]engine.HostedParam{}
	for variant, set := range sets.layers {
		for i := range set {
			of[variant] = append(of[variant], s.hosted(&set[i]))
		}
	}
	h := engine.MoveLayers(budget, pl.Last-pl.First, func(n int) []engine.HostedParam { return of[int(pl.Weights.Layers[pl.First+n])] })
	h.Stage, h.InPlace = int64(pl.Stage), s.offloading().inPlace
	return h
}

// hosted is a parameter as the budget counts it when its layer is built, and as it lies in the end.
func (s *sizer) hosted(p *param) engine.HostedParam {
	h := engine.HostedParam{Counted: p.main + p.scales, Expert: p.role.Expert()}
	if !s.returns(p) {
		h.Bytes = rounded(p.main) + rounded(p.kept)
		h.Pinned = max(h.Bytes, engine.PinnedBlock(p.main)+engine.PinnedBlock(p.kept))
	}
	return h
}

// Hosted returns what each class of ranks offloads to host memory.
func (s *sizer) Hosted() (out []engine.Hosted) {
	for i := range s.ranks {
		out = append(out, s.ranks[i].hosted)
	}
	return out
}

// evicts is the first version that has --kv-offloading-size (vllm/config/cache.py; which it was is from memory).
var evicts = engine.V(0, 12, 0)

// caches is the first version with LMCacheConnectorV1 (#16625, 2025-04-26); the LMCacheConnector of 0.8.0 to 0.10.0 (#12953) is the
// earlier engine's.
var caches = engine.V(0, 8, 5)

// swaps: V0 has --swap-space for what it evicts.
func swaps(v engine.Version) bool { return v.Before(v1Default) }

// byLMCache reports a version in which only LMCache keeps evicted caches in host memory.
func byLMCache(j *engine.Job) bool {
	return j.Plan.KVHost > 0 && !j.Version.Before(caches) && j.Version.Before(evicts)
}

// checkOffload refuses what vLLM does not move, and remarks on what it moves in vain.
func (s *sizer) checkOffload() error {
	if n, v := s.job.Plan.KVHost, s.job.Version; n > 0 && !swaps(v) && v.Before(caches) {
		return &plan.Problem{Field: "kv_host_bytes", Value: fmt.Sprint(int64(n)), Impossible: true,
			Fix:     "vllm@" + caches.String() + " or newer",
			Message: fmt.Sprintf("vLLM %s has neither --kv-offloading-size nor LMCacheConnectorV1", v)}
	} else if byLMCache(s.job) {
		s.job.Note("lmcache", "info", "kv_host_bytes",
			"vLLM %s has no --kv-offloading-size: LMCache keeps evicted caches in host memory and must be installed beside it", v)
	}
	if err := engine.CheckSegment(s.job.Plan); err != nil {
		return err
	}
	n, o := s.job.Plan.CPUOffload, s.offloading()
	if n == 0 {
		return nil
	}
	refuse := func(why, fix string) error {
		return &plan.Problem{Field: "cpu_offload_bytes", Value: fmt.Sprint(int64(n)), Impossible: true,
			Message: fmt.Sprintf("vLLM %s %s", s.job.Version, why), Fix: fix}
	}
	switch {
	case o.absent != "":
		return refuse(o.absent, "vllm@0.8.3 or newer")
	case o.oneGroup && s.ranks[0].g.total() > 1:
		return refuse("does not keep weights in host memory for a model whose caches form several groups", "vllm@0.19 or newer")
	}
	if err := engine.CheckHosted(s.job, s.Hosted()); err != nil {
		return err
	}
	s.offloadNotes()
	return nil
}

func (s *sizer) offloadNotes() {
	j, h := s.job, &s.ranks[0].hosted
	if v := j.Version; second(v, j.Model) && v.Before(runnerMended) {
		j.Note("offload_ignored", "warn", "cpu_offload_bytes", "vLLM %s ignores --cpu-offload-gb with the runner that this model has by default: set VLLM_USE_V2_MODEL_RUNNER=0", v)
	}
	if counted := unit.Bytes(j.Plan.CPUOffload); h.Bytes < counted/2 {
		j.Note("offload_returns", "warn", "cpu_offload_bytes", "of %s that vLLM %s moves %s stay in host memory: kernels want the rest laid out anew, which brings it back; from 0.16 it stays", counted, j.Version, h.Bytes)
	}
}
