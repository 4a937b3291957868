package engine

// Sampled is what answers to one prompt make of a load. vLLM makes of a request one for each answer, all of which find the whole blocks of
// the prompt in its prefix cache (0.29: vllm/v1/engine/parallel_sampling.py, v1/core/kv_cache_manager.py get_computed_blocks: all but the
// last token). SGLang computes the prompt once before it sends the answers (0.5: srt/managers/tokenizer_manager.py,
// _handle_batch_request), TensorRT-LLM shares whole context blocks among beams (1.2: batch_manager/kvCacheManager.cpp, addSequence).
// Beams of a search part sooner or later, and then keep as much; vLLM's own beam search asks for a token of every beam at a time, outside
// of its scheduler (vllm/entrypoints, beam_search), and finds what it computed in the same cache.
type Sampled struct {
	// Alive are sequences in all; Sharing of them begin with the whole blocks of a prompt that another one holds.
	Alive, Sharing int64
	// Tokens of a prompt that are shared, before they are rounded to blocks.
	Tokens int64
}

// Sampled counts the answers to the prompts of a load. cached: the engine keeps blocks for prompts that begin alike.
func (j *Job) Sampled(l Load, cached bool) Sampled {
	n := max(1, int64(j.Plan.Samples))
	s := Sampled{Alive: l.Sequences * n}
	if cached && n > 1 {
		s.Sharing, s.Tokens = l.Sequences*(n-1), max(0, min(Prompt(j, l), l.Context)-1)
	}
	return s
}
