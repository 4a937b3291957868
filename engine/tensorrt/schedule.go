package tensorrt

import "github.com/memwall/memwall/engine"

// Schedule of TensorRT-LLM (tensorrt_llm/llmapi/llm_args.py): GUARANTEED_NO_EVICT, reuse of blocks and the overlapping
// scheduler are its defaults, prompts in pieces are not.
func (Engine) Schedule(j *engine.Job) engine.Schedule {
	p := j.Plan
	return engine.Schedule{Rules: "in-flight", MaxSequences: int64(p.MaxSeqs), StepTokens: int64(p.MaxBatchedTokens),
		WholePrompts: !engine.On(p.ChunkedPrefill, false),
		Ahead:        j.Version.AtLeast(engine.V(1, 0, 0)), Promise: true, PrefixCache: engine.On(p.PrefixCache, true)}
}
