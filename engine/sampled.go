package engine

// Sampled is the effect of several answers per prompt on a load. vLLM turns them into separate requests, which find the
// prompt's full blocks in the prefix cache (0.29: vllm/v1/engine/parallel_sampling.py, v1/core/kv_cache_manager.py
// get_computed_blocks: all but the last token). SGLang computes the prompt once before it submits them (0.5:
// srt/managers/tokenizer_manager.py, _handle_batch_request). TensorRT-LLM shares full context blocks among beams (1.2:
// batch_manager/kvCacheManager.cpp, addSequence). Beams diverge sooner or later and then need as much; vLLM's beam
// search requests one token for every beam at a time, outside its scheduler (vllm/entrypoints, beam_search), and hits
// the same cache.
type Sampled struct {
	// Alive is the total number of sequences; Sharing is how many of them share the full blocks of another's prompt.
	Alive, Sharing int64
	// Tokens of a prompt that are shared, before rounding to blocks.
	Tokens int64
}

// Sampled returns the effect of several answers per prompt. cached says whether the engine has a prefix cache.
func (j *Job) Sampled(l Load, cached bool) Sampled {
	n := max(1, int64(j.Plan.Samples))
	s := Sampled{Alive: l.Sequences * n}
	if cached && n > 1 {
		s.Sharing, s.Tokens = l.Sequences*(n-1), max(0, min(Prompt(j, l), l.Context)-1)
	}
	return s
}
