package cause

import (
	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/diagnose"
	"github.com/memwall/memwall/unit"
)

// frees returns what releases memory that keeps growing, and what does not.
func frees(f *diagnose.Finding) []api.Fix {
	var cached *unit.Bytes
	if f.Unallocated.Known {
		cached = known(f.Unallocated)
	}
	return []api.Fix{
		{When: now, Text: "torch.cuda.empty_cache() returns what PyTorch holds unused to other processes, but nothing that a " +
			"tensor holds", Saves: cached},
		{When: now, Text: "del x frees a tensor when no list, closure, graph or exception refers to it any more; then PyTorch keeps the " +
			"bytes for the next"},
		{When: now, Text: "a shorter context bounds what the KV cache of a sequence grows to; an engine that fills a pool at start holds " +
			"as much as before"},
		{When: now, Text: "a sliding window bounds only the layers that have one; layers of full attention keep every token"},
		{When: later, Text: "torch.cuda.memory._record_memory_history() and _dump_snapshot() name the line that holds what grows"},
	}
}
