package live

import (
	"math"

	"github.com/memwall/memwall/engine/startup"
	"github.com/memwall/memwall/internal/observe"
	"github.com/memwall/memwall/plan"
)

// latencies are the means of all requests since the server's start; how many ran at once they do not say.
func latencies(l *startup.Log, metrics []byte) {
	r, err := observe.Read(metrics)
	if err != nil {
		return
	}
	means(l, r.TTFT, r.TPOT, r.ITL)
	for _, n := range r.Notes {
		l.Note("metrics", "%s", n)
	}
}

// named takes the names of models from the labels of metrics.
func named(l *startup.Log, metrics []byte) {
	if r, err := observe.Read(metrics); err == nil && len(r.Models) == 1 {
		l.Named(printableLine(r.Models[0]))
	}
}

func means(l *startup.Log, ttft, tpot, itl *observe.Histogram) {
	if tpot == nil {
		tpot = itl
	}
	for _, f := range []struct {
		h        *observe.Histogram
		id, name string
	}{{ttft, "speed_ttft", "time to the first token, mean"}, {tpot, "speed_tpot", "time of a further token, mean"}} {
		if m, ok := f.h.Mean(); ok {
			add(l, f.id, f.name, "", "ms", m*1000, 1)
		}
	}
}

// Watched replaces latencies by those between two readings, at the load that ran between them: the mean of running is
// that of all readings.
func Watched(l *startup.Log, old, now *observe.Reading, running, seconds float64) {
	r := observe.Between(old, now, seconds)
	if r == nil {
		l.Note("not_watched", "the server's counters cannot be compared: it was started again, or says nothing")
		return
	}
	kept := l.Figures[:0]
	for _, f := range l.Figures {
		if f.ID != "speed_ttft" && f.ID != "speed_tpot" {
			kept = append(kept, f)
		}
	}
	l.Figures = kept
	if running < 0.5 {
		l.Note("idle", "nothing ran while the server was watched: no speed is compared")
		return
	}
	means(l, r.TTFT, r.TPOT, r.ITL)
	if r.OutputTokens != nil {
		add(l, "speed_out", "output tokens a second", "", "tokens/s", *r.OutputTokens, 1)
	}
	l.Loaded = true
	l.Plan.Sequences = plan.Int(math.Round(running))
	lengths(&l.Plan, now)
	l.Note("load", "%.1f requests ran at once while it was watched for %.0f s", running, seconds)
}

// lengths of the mean request since the start.
func lengths(p *plan.Plan, r *observe.Reading) {
	if r.Finished == nil || r.PromptTokens == nil || r.OutputTokens == nil || *r.Finished < 1 {
		return
	}
	prompt, output := math.Round(*r.PromptTokens / *r.Finished), math.Round(*r.OutputTokens / *r.Finished)
	if prompt >= 1 && output >= 1 && prompt+output <= plan.MaxContext && (p.Context == 0 || prompt+output <= float64(p.Context)) {
		p.PromptTokens, p.OutputTokens = plan.Int(prompt), plan.Int(output)
	}
}
