package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/vllm"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/shard"
	"github.com/memwall/memwall/speed/coef"
	"github.com/memwall/memwall/speed/serving"
	"github.com/memwall/memwall/validation/fit/internal/study"
)

// plans builds what rows ask for; networks and capacities are built once.
type plans struct {
	networks *study.Networks
	capacity map[string]int64
	asker    memwall.Asker
}

func newPlans() *plans {
	return &plans{networks: study.NewNetworks(), capacity: map[string]int64{}}
}

// in is the plan of a request.
func (p *plans) in(ask *memwall.Request) (*serving.In, error) {
	m, weights, err := p.networks.Stored(ask.Model, ask.Weights)
	if err != nil {
		return nil, err
	}
	machine, _, err := hardware.Parse(ask.Hardware, 0)
	if err != nil {
		return nil, err
	}
	stages, err := stages(m, weights, shard.Parallel{TP: ask.TP, PP: ask.PP, EP: ask.EP})
	if err != nil {
		return nil, err
	}
	name, text, _ := strings.Cut(ask.Engine, "@")
	in := &serving.In{Model: m, Stages: stages, Device: &machine.Groups[0].Device, Link: machine.Intra, Engine: name,
		Replicas: max(1, ask.DP), MaxSequences: int64(ask.MaxSeqs), Exec: model.Exec{ActBytes: 2, KVBytes: 2, StateBytes: 4},
		StreamInterval: int64(ask.StreamInterval), AdmitEvery: int64(ask.RecvInterval), BatchWait: int64(ask.BatchWait),
		MoE: ask.MoEBackend}
	if ask.KV == "fp8" {
		in.Exec.KVBytes = 1
	}
	if text != "" {
		if in.Version, err = engine.ParseVersion(text); err != nil {
			return nil, err
		}
	}
	if name == "vllm" {
		in.GraphTokens = graphTokens(in.Version, m.Family, ask.Plan)
	}
	in.CacheTokens = p.tokens(ask)
	return in, nil
}

// graphTokens of a plan of vLLM that may leave the sizes of a step to it, and of a version that may be today's.
func graphTokens(v engine.Version, family string, p plan.Plan) int64 {
	if v == (engine.Version{}) {
		v = vllm.Latest
	}
	p.MaxSeqs, p.MaxBatchedTokens = cmp.Or(p.MaxSeqs, 256), cmp.Or(p.MaxBatchedTokens, serving.ChunkTokens)
	return vllm.GraphTokens(v, family, &p)
}

// stages are the slowest ranks of a pipeline: the first of each stage, which hold the larger shares.
func stages(m *model.Model, w *model.Weights, p shard.Parallel) ([]engine.Placed, error) {
	ranks, err := engine.Place(m.Decoder(), &w.Parts[0], p)
	if err != nil {
		return nil, err
	}
	var out []engine.Placed
	for _, r := range ranks {
		if r.Stage == len(out) {
			out = append(out, r)
		}
	}
	return out, nil
}

// tokens that the caches of a replica hold by our own account of memory; 0 where that refuses the plan.
func (p *plans) tokens(ask *memwall.Request) int64 {
	q := *ask
	q.Ask, q.Sequences = "fit", 1
	key := fmt.Sprintf("%s %s %s %s %s %d %d %d %d", q.Model, q.Hardware, q.Engine, q.Weights, q.KV, q.TP, q.EP, q.DP, q.Context)
	if n, ok := p.capacity[key]; ok {
		return n
	}
	n := int64(0)
	if a, err := p.asker.Size(&q); err == nil && a.KV != nil && a.KV.CapacityTokens != nil {
		n = *a.KV.CapacityTokens
	}
	p.capacity[key] = n
	return n
}

// empty is a table to compile plans with before any fit.
var empty = coef.NewTable()
