package llamacpp

import (
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/model"
)

// settings of a plan whose defaults are filled in.
func (e Engine) settings(j *engine.Job, r *rules) settings {
	p := j.Plan
	s := settings{
		flash: e.flash(j, r), unified: !r.streams && r.version.Before(build(5913)) || p.KVUnified != nil && *p.KVUnified, fullSWA: p.SWAFull != nil && *p.SWAFull,
		offloadKV: on(p.KVOffload), mmap: on(p.Mmap), dry: p.DryRun != nil && *p.DryRun, batch: int64(p.BatchTokens), ubatch: int64(p.UBatch),
		server: e.server(j) && r.slotRows, spare: e.Program == Server && r.spare, embeds: e.Program == Ollama && !e.server(j),
		total: int64(p.ContextTotal), planned: j.Load(),
	}
	if p.DraftModel != "" || isOn(p.MTP) {
		s.drafted = int64(p.DraftTokens)
	}
	if isOn(p.MTP) {
		s.rollback = int64(p.DraftTokens)
	}
	s.shared = s.total > 0 && s.unified
	if p.LogitRows > 0 {
		sh := s.shape(r, j.Load())
		if int64(p.LogitRows) != sh.outputs {
			s.rows = int64(p.LogitRows)
		}
	}
	return s
}

// flash reports whether attention is fused: as asked; when nobody says, by version and by what the device
// can do. Quantised values need it.
func (e Engine) flash(j *engine.Job, r *rules) bool {
	if j.Model.Family == "grok" {
		return false // whatever is asked (src/llama-context.cpp, llama_init_from_model)
	}
	switch j.Plan.Attention {
	case "flash":
		return true
	case "eager":
		return false
	}
	if r.flash == flashOff || r.forked {
		return r.forked // ik_llama.cpp has kernels for all heads (its parameters.md: on)
	}
	if v := dtype.FindFormat(j.Plan.KVV); v != nil && v.BlockElems > 1 {
		return true
	}
	return flashRuns(j, r)
}

// flashRuns reports whether the devices have kernels for the model's heads and the cache's formats; else
// the automatic choice turns flash attention off (src/llama-context.cpp, resolve_fused_ops).
func flashRuns(j *engine.Job, r *rules) bool {
	for i := range min(used(j), maxDevices) {
		if b := backendAt(j, i); b != nil && b.narrowFA && !flashOn(j, r) {
			return false
		}
	}
	return true
}

// flashOn reports whether CUDA's kernels take every layer with the cache's formats.
func flashOn(j *engine.Job, r *rules) bool {
	if j.Plan.KV != j.Plan.KVV {
		return false // unless built with GGML_CUDA_FA_ALL_QUANTS
	}
	return flashTakes(j.Model, r)
}

// flashTakes reports whether CUDA's kernels take the heads of every layer.
func flashTakes(m *model.Model, r *rules) bool {
	ok := true
	m.Decoder().Each(func(k *model.Kind, _ int64) {
		for i := range k.Ops {
			a := k.Ops[i].Attn
			if a == nil || a.Bidirectional {
				continue
			}
			dimK, dimV, group := a.DimK, a.DimV, a.Heads/max(1, a.KVHeads)
			if a.Latent != nil && r.latent != latentExpanded {
				dimK, dimV, group = a.Latent.Width(), a.Latent.Rank, a.Heads
			}
			ok = ok && flashHeads(dimK, dimV, group)
		}
	})
	return ok
}
