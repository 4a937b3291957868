package llamacpp

import "github.com/memwall/memwall/engine"

// Schedule of llama-server (tools/server/server.cpp, update_slots): a token for each slot that generates, and prompts in
// what the batch leaves. Each slot has its share of the cache from the start, and keeps it for a prompt that begins alike.
func (Engine) Schedule(j *engine.Job) engine.Schedule {
	p := j.Plan
	return engine.Schedule{Rules: "in-flight", MaxSequences: max(1, int64(p.Sequences)), StepTokens: int64(p.BatchTokens), SlotTokens: int64(p.Context), PrefixCache: true}
}
