package config

import "github.com/memwall/memwall/plan"

// grpo are the settings of TRL's GRPOConfig beyond those of every trainer. Without a weight of the KL term there is
// no reference model.
func grpo(prefix string) []rule {
	return []rule{
		is("grpo"),
		{put: func(in *Input, s *section) {
			s.set(prefix+"beta", map[bool]float64{true: 0, false: 0.04}[in.Training.ReferenceModel == "none"])
		}, get: func(in *Input, r *reader) {
			if r.root.at(prefix+"beta") == nil {
				return
			}
			if b, ok := r.number(prefix + "beta"); ok && b == 0 {
				in.Training.ReferenceModel = "none"
			}
		}},
		count(prefix+"vllm_max_model_length", sequence),
		liger(prefix, false),
		{put: func(in *Input, s *section) { putRollout(prefix, prefix+"vllm_gpu_memory_utilization", in, s) }, get: func(in *Input, r *reader) { getRollout(prefix, prefix+"vllm_gpu_memory_utilization", in, r) }},
	}
}

// putRollout writes how answers are made; share is the key of the engine's part of the device.
func putRollout(prefix, share string, in *Input, s *section) {
	o := in.Training.Rollout
	if o == nil {
		s.set(prefix+"use_vllm", false)
		return
	}
	s.set(prefix+"use_vllm", o.Engine != "")
	if o.Engine != "" {
		s.set(prefix+"vllm_mode", map[bool]string{true: "colocate", false: "server"}[yes(o.Colocated)])
	}
	if o.Share > 0 {
		s.set(share, o.Share)
	}
	if o.Sleep != nil {
		s.set(prefix+"vllm_enable_sleep_mode", *o.Sleep)
	}
	for _, c := range []struct {
		key string
		n   plan.Int
	}{{"num_generations", o.Samples}, {"max_completion_length", o.Output}} {
		if c.n > 0 {
			s.set(prefix+c.key, int64(c.n))
		}
	}
}

func getRollout(prefix, share string, in *Input, r *reader) {
	used, said := r.flag(prefix + "use_vllm")
	samples, _ := r.optional(prefix + "num_generations")
	output, _ := r.optional(prefix + "max_completion_length")
	if !used && samples == 0 && output == 0 {
		return
	}
	o := &plan.Rollout{Samples: plan.Int(samples), Output: plan.Int(output)}
	if used && said {
		o.Engine = "vllm"
		o.Colocated = truth(r.text(prefix+"vllm_mode") != "server")
	}
	if x, ok := r.share(share); ok {
		o.Share = x
	}
	if b, ok := r.flag(prefix + "vllm_enable_sleep_mode"); ok {
		o.Sleep = &b
	}
	o.Prompt = max(0, in.Training.SequenceLength-o.Output)
	in.Training.Rollout = o
}

// optional is a count that may be missing; bounded, for it may be multiplied.
func (r *reader) optional(path string) (int64, bool) {
	if r.root.at(path) == nil {
		return 0, false
	}
	n, ok := r.count(path)
	if !ok || n < 0 || n > plan.MaxContext {
		r.keepUnlessAuto(path)
		return 0, false
	}
	return n, true
}

// share is a number above 0 and at most 1.
func (r *reader) share(path string) (float64, bool) {
	if r.root.at(path) == nil {
		return 0, false
	}
	x, ok := r.number(path)
	if ok && (x <= 0 || x > 1) {
		r.keep(path)
		return 0, false
	}
	return x, ok
}

// optionalCount is a count of a run, which may be large.
func (r *reader) optionalCount(path string) (int64, bool) {
	if r.root.at(path) == nil {
		return 0, false
	}
	n, ok := r.count(path)
	return n, ok && n > 0
}
