package memwall

import (
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/speed/serving"
	"github.com/memwall/memwall/unit"
)

// prompts is the question that one worker answers which computes prompts for others (disaggregated serving): it
// holds the caches of a prompt for each of its ranks. nil where every worker does both.
func (q *question) prompts() (*question, error) {
	if q.request.Disaggregated == nil {
		return nil, nil
	}
	r := q.asked
	r.Plan = q.request.Prompter()
	r.Explain, r.Also = false, nil
	r.Context, r.OutputTokens, r.Sequences = r.PromptTokens, 0, plan.Int(max(1, r.DP))
	return q.asker.prepare(&r)
}

// prompting adds the devices of the workers that compute prompts to those that generate; a plan fits where both do.
func (q *question) prompting(a *Answer) {
	if q.prompter == nil {
		return
	}
	ranks := q.prompter.sizer.Size(nil, q.prompter.job.Load())
	v := q.prompter.verdict(ranks)
	if severity[v] > severity[a.Verdict] {
		a.Verdict = v
	}
	d := q.request.Disaggregated
	for i := range ranks {
		out := q.prompter.device(nil, 0, &ranks[i])
		out.Name, out.Count = out.Name+" (prompts)", ranks[i].Count*int64(d.Prefill)
		a.Devices = append(a.Devices, out)
	}
	q.job.Note("disaggregated", "info", "disaggregated", "workers that compute prompts: %d, that generate: %d; caches and longest context are of those that generate. Each kind has its command line, which says nothing of who hands caches to whom", int64(d.Prefill), int64(d.Decode))
}

// handed remarks on what crosses from workers of one kind to the other.
func (q *question) handed(f *serving.Figures) {
	if q.prompter != nil {
		q.job.Note("handed_over", "info", "disaggregated", "the caches of a prompt take %s from one worker to the other at %s a device", unit.Seconds(f.HandOver), serving.Wire(q.job.Machine).EachWay.Value)
	}
}

// looped is the closed loop of a plan: of one kind of worker, or of two.
func (q *question) looped(m *serving.Model, l serving.Load) (serving.Figures, error) {
	p, err := q.pools(m)
	switch {
	case err == nil && p != nil:
		return p.Closed(l), nil
	case q.brief:
		return m.Mids(l), err
	}
	return m.Closed(l), err
}

// pools are the workers of both kinds, those that generate as they are given; nil where all do both.
func (q *question) pools(m *serving.Model) (*serving.Pools, error) {
	if q.prompter == nil {
		return nil, nil
	}
	in, err := q.prompter.served(nil)
	if err != nil {
		return nil, err
	}
	first, err := q.prompter.compiled(in)
	if err != nil {
		return nil, err
	}
	return q.split(first, m), nil
}

// split joins the model of a worker that computes prompts to that of one that generates.
func (q *question) split(first, m *serving.Model) *serving.Pools {
	d := q.request.Disaggregated
	return serving.NewPools(first, m, serving.Split{Prefills: int64(d.Prefill), Decodes: int64(d.Decode), Wire: serving.Wire(q.job.Machine)})
}
