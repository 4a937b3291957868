package question

import (
	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/speed/serving"
	"github.com/memwall/memwall/unit"
)

// prompts returns the question of a single prefill worker in disaggregated serving, which holds the caches of a prompt
// per rank; nil if not disaggregated.
func (q *Question) prompts() (*Question, error) {
	if q.Request.Disaggregated == nil {
		return nil, nil
	}
	r := q.asked
	r.Plan = q.Request.Prompter()
	r.Explain, r.Also = false, nil
	r.Context, r.OutputTokens, r.Sequences = r.PromptTokens, 0, plan.Int(max(1, r.DP))
	return q.Env.Prepare(&r)
}

// Prompting adds the devices of the prefill workers to those that decode; a plan fits if both do.
func (q *Question) Prompting(a *api.Answer) {
	if q.Prompter == nil {
		return
	}
	ranks := q.Prompter.Sizer.Size(nil, q.Prompter.Job.Load())
	v := q.Prompter.Verdict(ranks)
	if VerdictSeverity[v] > VerdictSeverity[a.Verdict] {
		a.Verdict = v
	}
	d := q.Request.Disaggregated
	for i := range ranks {
		out := q.Prompter.Device(nil, 0, &ranks[i])
		out.Name, out.Count = out.Name+" (prompts)", ranks[i].Count*int64(d.Prefill)
		a.Devices = append(a.Devices, out)
	}
	q.Job.Note("disaggregated", "info", "disaggregated",
		"workers that compute prompts: %d, that generate: %d; caches and longest context are of those that generate. Each kind has its "+
			"command line, which says nothing of who hands caches to whom", int64(d.Prefill), int64(d.Decode))
}

// NoteCacheTransfer notes what is transferred from prefill to decode workers.
func (q *Question) NoteCacheTransfer(f *serving.Figures) {
	if q.Prompter != nil {
		q.Job.Note("handed_over", "info", "disaggregated", "KV transfer of a prompt between workers takes %s at %s per device",
			unit.Seconds(f.HandOver), serving.Wire(q.Job.Machine).EachWay.Value)
	}
}

// Split combines the model of a prefill worker with that of a decode worker.
func (q *Question) Split(first, m *serving.Model) *serving.Pools {
	d := q.Request.Disaggregated
	return serving.NewPools(first, m, serving.Split{Prefills: int64(d.Prefill), Decodes: int64(d.Decode),
		Wire: serving.Wire(q.Job.Machine)})
}
