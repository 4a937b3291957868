package plan

import "fmt"

// Disaggregated gives the numbers of prefill and decode workers. The parallel groups of a decode worker are the plan's
// own; those of a prefill worker are the same unless set here.
type Disaggregated struct {
	Prefill   Int   `json:"prefill" doc:"prefill workers"`
	Decode    Int   `json:"decode" doc:"decode workers"`
	PrefillTP int64 `json:"prefill_tp,omitempty" doc:"tensor parallelism of a prefill worker"`
	PrefillEP int64 `json:"prefill_ep,omitempty" doc:"its expert parallelism"`
	PrefillDP int64 `json:"prefill_dp,omitempty" doc:"its data parallelism"`
}

// Workers returns the number of decode workers; one if the plan is not disaggregated.
func (p *Plan) Workers() int64 {
	if p.Disaggregated == nil {
		return 1
	}
	return max(1, int64(p.Disaggregated.Decode))
}

// Pooled returns the number of workers of both kinds that share the devices; one if the plan is not disaggregated.
func (p *Plan) Pooled() int64 {
	if p.Disaggregated == nil {
		return 1
	}
	return p.Workers() + max(1, int64(p.Disaggregated.Prefill))
}

// Worker returns the plan of a single decode worker.
func (p *Plan) Worker() Plan {
	w := *p
	w.All2All = p.kernels()
	w.Disaggregated = nil
	return w
}

// Prompter returns the plan of a single prefill worker. The bound on sequences per step applies to decode workers only.
func (p *Plan) Prompter() Plan {
	w := p.Worker()
	w.MaxSeqs = 0
	if w.All2All != "" {
		w.All2All, w.DispatchTokens = DeepEPNormal, 0
	}
	d := p.Disaggregated
	if d == nil || d.PrefillTP == 0 && d.PrefillEP == 0 && d.PrefillDP == 0 {
		return w
	}
	w.TP, w.EP, w.DP = max(1, d.PrefillTP), d.PrefillEP, max(1, d.PrefillDP)
	return w
}

// checkPools rejects pools without workers and numbers out of range.
func (p *Plan) checkPools() error {
	d := p.Disaggregated
	if d == nil {
		return nil
	}
	for _, c := range []struct {
		field string
		value int64
		least int64
	}{
		{"prefill", int64(d.Prefill), 1}, {"decode", int64(d.Decode), 1}, {"prefill_tp", d.PrefillTP, 0}, {"prefill_ep", d.PrefillEP, 0},
		{"prefill_dp", d.PrefillDP, 0},
	} {
		if c.value < c.least || c.value > MaxRanks {
			return bad("disaggregated."+c.field, c.value, fmt.Sprintf("is not from %d to %d", c.least, MaxRanks),
				"give at least one worker of each kind")
		}
	}
	return nil
}
