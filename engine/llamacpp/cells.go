package llamacpp

import (
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// From a load to cache cells: src/llama-context.cpp (llama_context), src/llama-kv-cache-iswa.cpp.

// settings are what a plan determines whatever the load.
type settings struct {
	flash     bool
	unified   bool
	fullSWA   bool // sliding-window layers keep as many cells as others
	offloadKV bool
	mmap      bool
	dry       bool // figures of llama.cpp's own dry run are wanted
	batch     int64
	ubatch    int64
	rows      int64 // rows of logits, 0 for the program's rule
	server    bool  // one row of logits per slot
	drafted   int64 // and per drafted token
	rollback  int64 // additional states for rolling back drafted tokens
	spare     bool  // one sequence more than slots
	embeds    bool  // the output buffer holds embeddings and logits
	// shared says that the plan gave the total context of all slots, any of which may fill it. total is that context,
	// and planned the corresponding load.
	shared  bool
	total   int64
	planned engine.Load
}

// shape is what a load makes of the context.
type shape struct {
	asked   int64 // -c
	cells   int64 // of one stream
	streams int64
	slots   int64
	seqs    int64 // slots, and what the program adds
	states  int64 // recurrent states
	batch   int64
	tokens  int64   // tokens per batch: n_ubatch
	outputs int64   // rows of logits reserved
	compute buffers // of the devices, then of the host
}

func (s *settings) shape(r *rules, l engine.Load) shape {
	sh := shape{asked: l.Context * l.Sequences, streams: 1, slots: max(1, l.Sequences)}
	if sh.seqs = sh.slots; s.spare {
		sh.seqs++
	}
	sh.states = sh.seqs * (1 + s.rollback)
	switch {
	case s.total > 0 && l == s.planned:
		sh.asked = s.total
	case s.shared:
		sh.asked = l.Context
	}
	pad := r.pad.plain
	if s.flash {
		pad = r.pad.flash
	}
	total := unit.PadUp(sh.asked, pad)
	sh.cells = total
	if !s.unified {
		sh.streams = sh.slots
		sh.cells = total / sh.slots
		if r.divide == roundUp {
			sh.cells = unit.CeilDiv(sh.asked, sh.slots)
		}
		sh.cells = unit.PadUp(sh.cells, pad)
	}
	sh.batch = min(sh.asked, s.batch)
	sh.tokens = min(sh.batch, s.ubatch)
	sh.outputs = s.outputs(&sh)
	return sh
}

func (s *settings) outputs(sh *shape) int64 {
	switch {
	case s.rows > 0:
		return min(sh.tokens, s.rows)
	case s.server:
		return min(sh.tokens, max(1, min(sh.batch, sh.slots*(1+s.drafted))))
	}
	return sh.tokens
}

// slidingCells returns the cells of one stream in layers with a window.
func (s *settings) slidingCells(r *rules, sh *shape, window int64) int64 {
	if s.fullSWA || r.window == windowFull {
		return sh.cells
	}
	n := window
	if s.unified {
		n *= sh.slots
	}
	if r.window == windowBatch {
		n += sh.batch
	} else {
		n += sh.tokens
	}
	if r.window == windowPadded {
		return unit.PadUp(min(sh.cells, n), 256)
	}
	pad := r.pad.plain
	if s.flash {
		pad = r.pad.flash
	}
	return min(sh.cells, unit.PadUp(n, pad))
}

// contextOf returns what one slot of a total context may hold: all of it in a unified cache, else its share.
func contextOf(p *plan.Plan, s *settings, r *rules) int64 {
	total, slots := int64(p.ContextTotal), max(1, int64(p.Sequences))
	if s.unified {
		return total
	}
	whole := *s
	whole.shared = true
	sh := whole.shape(r, engine.Load{Context: total, Sequences: slots})
	return sh.cells
}

func on(b *bool) bool { return b == nil || *b }

func isOn(b *bool) bool { return b != nil && *b }
