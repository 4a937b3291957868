package workload

// filling draws the content of requests, each aspect from its own random numbers.
type filling struct {
	prompt, output, patience sampler
	adapter, priority, which alias
	prefixes                 []Span // one of them begins a prompt

	prompts, outputs, patiences, adapters, priorities, prefix stream
}

func (s *Spec) filling(seed uint64) filling {
	f := filling{
		prompt: s.Prompt.sampler(true), output: s.Output.sampler(true), patience: s.Patience.sampler(false),
		adapter: s.Adapters.alias(), which: s.Prefixes.alias(),
		prompts: newStream(seed, "prompts"), outputs: newStream(seed, "outputs"), patiences: newStream(seed, "patience"),
		adapters: newStream(seed, "adapters"), priorities: newStream(seed, "priorities"), prefix: newStream(seed, "prefixes"),
	}
	if len(s.Priorities) > 0 {
		f.priority = newAlias(len(s.Priorities), func(i int) float64 { return s.Priorities[i] })
	}
	if s.SharedPrefix > 0 {
		f.prefixes = make([]Span, max(1, s.Prefixes.Count))
		for i := range f.prefixes {
			f.prefixes[i] = Span{uint64(i+1) << 1, int64(s.SharedPrefix)}
		}
	}
	return f
}

// alias returns a sampler of the choice.
func (c *Choice) alias() alias {
	return newAlias(int(c.Count), func(i int) float64 { return exponent(-c.Zipf * logarithm(float64(i+1))) })
}

// fill draws the content of a session's turn. What is constant over a session is drawn with its first turn.
func (f *filling) fill(r *Request, session, turn uint64) {
	f.prompts.seek(session, turn)
	f.outputs.seek(session, turn)
	r.Prompt, r.Output = f.prompt.tokens(&f.prompts), f.output.tokens(&f.outputs)
	if f.patience.a > 0 || f.patience.kind != fixed {
		f.patiences.seek(session, turn)
		r.Patience = max(1, seconds(f.patience.draw(&f.patiences)))
	}
	if turn > 0 {
		return
	}
	if len(f.adapter.stay) > 0 {
		f.adapters.seek(session, 0)
		r.Adapter = uint32(f.adapter.draw(&f.adapters)) + 1
	}
	if len(f.priority.stay) > 0 {
		f.priorities.seek(session, 0)
		r.Priority = int32(f.priority.draw(&f.priorities))
	}
	f.begin(r, session)
}

// begin starts a prompt with a prefix. A prompt no longer than the prefix consists of it. Prompts share the read-only
// list of spans.
func (f *filling) begin(r *Request, session uint64) {
	if len(f.prefixes) == 0 {
		return
	}
	i := 0
	if len(f.which.stay) > 1 {
		f.prefix.seek(session, 0)
		i = f.which.draw(&f.prefix)
	}
	r.Spans = f.prefixes[i : i+1 : i+1]
	if s := r.Spans[0]; s.Tokens > r.Prompt {
		r.Spans = []Span{{s.ID, r.Prompt}}
	}
}
