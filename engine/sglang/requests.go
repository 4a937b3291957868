package sglang

import (
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/unit"
)

// Requests that a server admits and where their tokens lie: model_executor/model_runner.py, init_memory_pool (from 2026
// resolve_max_num_reqs), and mem_cache/memory_pool.py, ReqToTokenPool.

// requestCaps is the cap where max_running_requests is not given.
var requestCaps = []engine.Since[int64]{
	{From: engine.V(0, 0, 0), Value: 5120, Source: "model_runner.py, 0.2; logs of 0.2.12 and 0.3.0 say 5119"},
	{From: engine.V(0, 3, 4), Value: 4096, Source: "model_runner.py; logs of 0.3.5 say 4097"},
}

const fewestRequests = 2048

// requests for which a pool of so many tokens has places.
func (s *sizer) requests(tokens int64) int64 {
	if n := int64(s.job.Plan.MaxSeqs); n > 0 {
		return n
	}
	c := max(1, int64(s.job.Plan.Context))
	return min(max(tokens*512/c, fewestRequests), engine.At(requestCaps, s.job.Version).Value)
}

// table says for every token of every request in which cell it lies: allocated once the pool has been sized, out of what is kept free.
func (s *sizer) table(b *ledger.Book, tokens int64) ledger.Item {
	rows := b.Add(b.Int("requests", s.requests(tokens), "max_running_requests"), b.Lit(1))
	width := b.Add(b.Int("context", int64(s.job.Plan.Context), "context"), b.Lit(4))
	if d := int64(s.job.Plan.DraftTokens); d > 0 && s.job.Version.AtLeast(draftRows) {
		width = b.Add(width, b.Int("verified", d+1, "speculative_num_draft_tokens"))
	}
	n := b.Mul(b.Mul(rows, width), b.Size("entry", 4, "int32"))
	return ledger.Known("workspace", "table of requests and their tokens", n, ledger.Derived, ledger.Persistent, ledger.Device,
		"sglang/srt/mem_cache/memory_pool.py, ReqToTokenPool")
}

// tableBytes without a book.
func (s *sizer) tableBytes(tokens int64) unit.Bytes { return s.table(nil, tokens).Bytes }
