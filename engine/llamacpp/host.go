package llamacpp

import (
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/unit"
)

// hostItems is what lies in host memory beside the devices.
func (s *sizer) hostItems(b *ledger.Book, sh *shape) (out []ledger.Item) {
	out = s.hostWeights(b, out)
	s.addCaches(b, &out, &s.host, sh, ledger.Host, ledger.Exact)
	out = s.addMTP(b, s.addAdapters(b, out, host, ledger.Host), host, ledger.Host, sh)
	out = append(out, s.output(b, sh, s.logitsPlace()), s.hostCompute(b, sh, s.inputsPlace()), processItem(b, ledger.Host))
	if !on(s.job.Plan.MMProjOffload) {
		out = s.addProjector(b, out, ledger.Host)
	}
	return s.serverItems(b, out, sh)
}

// hostWeights: in a mapped file the system may take the pages back; without mapping they lie in memory
// that the device can read, where it can.
func (s *sizer) hostWeights(b *ledger.Book, out []ledger.Item) []ledger.Item {
	const source = "docs/formulas.md#llama-weights"
	if n := s.buffers.plain.num(b, "tensors, each on a multiple of 32 bytes"); n.V > 0 {
		place := ledger.Host
		if s.set.mmap && !isOn(s.job.Plan.MLock) {
			place = ledger.Mapped // locked pages stay
		}
		out = append(out, ledger.Known("weights", "weights on the host", n, ledger.Exact, ledger.Persistent, place, source))
	}
	if n := s.buffers.pinned.num(b, "tensors, each on a multiple of 32 bytes"); n.V > 0 {
		out = append(out, ledger.Known("weights", "weights in page-locked memory", n, ledger.Exact, ledger.Persistent, ledger.Pinned, source))
	}
	return out
}

// logitsPlace: logits are copied to the host buffer of the device that computes them.
func (s *sizer) logitsPlace() ledger.Place {
	if h := s.layout.head; h != host && s.devices[h].backend.host != "" {
		return ledger.Pinned
	}
	return ledger.Host
}

// inputsPlace: the host's part of the graph lies in the host buffer of the first device.
func (s *sizer) inputsPlace() ledger.Place {
	if s.hostBuffer() != "" {
		return ledger.Pinned
	}
	return ledger.Host
}

// hostBuffer is the page-locked buffer of the first device that has one; "" for none.
func (s *sizer) hostBuffer() string {
	for i := range s.devices {
		if name := s.devices[i].backend.host; name != "" {
			return name
		}
	}
	return ""
}

// output is the buffer of logits: at first a row for each slot; it grows when a batch asks for more.
// Before 2024-04 it had a row for each token of a batch.
func (s *sizer) output(b *ledger.Book, sh *shape, place ledger.Place) ledger.Item {
	rows, origin := sh.seqs, "sequences"
	if !s.rules.slotOut {
		rows, origin = sh.batch, "batch_tokens"
	}
	row := b.Int("vocabulary", s.job.Model.Vocab, "model")
	if s.set.embeds {
		row = b.Add(row, b.Int("hidden", s.job.Model.Hidden, "embeddings beside logits"))
	}
	n := b.Mul(b.Lit(4), row, b.Int("rows", rows, origin))
	return ledger.Known("output", "output buffer", n, ledger.Exact, ledger.SemiPersistent, place, "src/llama-context.cpp (output_reserve)")
}

func (s *sizer) hostCompute(b *ledger.Book, sh *shape, place ledger.Place) ledger.Item {
	return s.graph.item(b, len(s.devices), sh, place)
}

// serverItems are caches of llama-server that fill while it runs: none of their bytes must be there.
func (s *sizer) serverItems(b *ledger.Book, out []ledger.Item, sh *shape) []ledger.Item {
	if !s.program.server(s.job) {
		return out
	}
	if ram := s.cacheRAM(); ram > 0 {
		n := b.Size("cache_ram", unit.Bytes(ram)*unit.MiB, "--cache-ram")
		it := ledger.Known("prompt_cache", "prompts of idle slots, up to --cache-ram", n, ledger.Derived, ledger.SemiPersistent, ledger.Host, "tools/server: --cache-ram")
		out = append(out, it.Band(0, it.Bytes))
	}
	if per, count := s.checkpoint(sh), s.checkpoints(); per > 0 && count > 0 {
		n := b.Mul(b.Int("checkpoints", count, "--ctx-checkpoints"), b.Int("slots", sh.slots, "sequences"), b.Size("state", per, "windows and recurrent state of one slot"))
		it := ledger.Known("checkpoints", "checkpoints of windows and states, up to --ctx-checkpoints", n, ledger.Derived, ledger.SemiPersistent, ledger.Host, "tools/server: --ctx-checkpoints")
		out = append(out, it.Band(0, it.Bytes))
	}
	return out
}

// cacheRAM is --cache-ram in MiB; a negative one has no bound, and is remarked on.
func (s *sizer) cacheRAM() int64 {
	if n := s.job.Plan.CacheRAM; n != nil {
		return int64(*n)
	}
	return s.rules.cacheRAM
}

// checkpoints is --ctx-checkpoints.
func (s *sizer) checkpoints() int64 {
	if n := s.job.Plan.Checkpoints; n != nil {
		return int64(*n)
	}
	return s.rules.checks.count
}

// checkpoint is what one checkpoint of one slot holds: what cannot be rolled back, that is the windows of
// sliding layers and recurrent states.
func (s *sizer) checkpoint(sh *shape) (n unit.Bytes) {
	add := func(held []heldCache) {
		for i := range held {
			h := &held[i]
			switch {
			case h.class == model.StateCache && s.rules.checks.states:
				n += unit.Bytes(h.count * 4 * (h.conv + h.scan))
			case h.span > 0 && !s.set.fullSWA && s.rules.window != windowFull:
				n += unit.Bytes(h.count*min(h.span, sh.cells)) * (h.k.bytes + h.v.bytes)
			}
		}
	}
	for i := range s.devices {
		add(s.devices[i].caches)
	}
	add(s.host.caches)
	return n
}

// hostOnly is the rank of a machine without accelerators: its memory is the host's.
func (s *sizer) hostOnly(b *ledger.Book, sh *shape) engine.Rank {
	m := s.job.Machine
	r := engine.Rank{Name: m.Name, Count: 1, Unlimited: !m.Host.Memory.Known}
	if r.Name == "" {
		r.Name = "CPU"
	}
	if !r.Unlimited {
		f := m.Host.Memory
		r.UsableBasis = f.Basis
		r.Capacity = b.Size("capacity", f.Value, "host memory")
		r.Usable = b.Size("host_memory", f.Value, f.Source)
		r.Usable = engine.Unreserved(b, s.job.Plan, r.Usable)
	}
	w := s.buffers.plain.num(b, "tensors, each on a multiple of 32 bytes")
	r.Items = append(r.Items, ledger.Known("weights", "weights", w, ledger.Exact, ledger.Persistent, ledger.Device, "docs/formulas.md#llama-weights"))
	s.addCaches(b, &r.Items, &s.host, sh, ledger.Device, ledger.Exact)
	r.Items = append(r.Items, s.output(b, sh, ledger.Device), s.hostCompute(b, sh, ledger.Device), processItem(b, ledger.Device))
	r.Items = s.addMTP(b, s.addAdapters(b, r.Items, host, ledger.Device), host, ledger.Device, sh)
	r.Items = append(s.addProjector(b, r.Items, ledger.Device), s.missing...)
	r.Host = s.serverItems(b, nil, sh)
	s.kvFigures(&r, &s.host, sh)
	return r
}
