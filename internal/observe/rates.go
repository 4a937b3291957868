package observe

// Rates are what an engine did between two readings, a second; nil where one of them does not say it, or where the engine
// was started again between them.
type Rates struct {
	PromptTokens, OutputTokens, Finished, Preemptions *float64
	// HitRate is the part of queries that the prefix cache answered.
	HitRate *float64
	// Latencies of the requests between the readings.
	TTFT, TPOT, ITL, E2E, Queue *Histogram
}

// Between gives the rates of the seconds between two readings of one engine; nil without time between them.
func Between(old, now *Reading, seconds float64) *Rates {
	if old == nil || now == nil || !(seconds > 0) || old.Engine != now.Engine {
		return nil
	}
	per := func(a, b *float64) *float64 {
		d := grown(a, b)
		if d != nil {
			*d /= seconds
		}
		return d
	}
	r := &Rates{
		PromptTokens: per(old.PromptTokens, now.PromptTokens), OutputTokens: per(old.OutputTokens, now.OutputTokens),
		Finished: per(old.Finished, now.Finished), Preemptions: per(old.Preemptions, now.Preemptions),
		TTFT: now.TTFT.Since(old.TTFT), TPOT: now.TPOT.Since(old.TPOT), ITL: now.ITL.Since(old.ITL), E2E: now.E2E.Since(old.E2E),
		Queue: now.Queue.Since(old.Queue),
	}
	if hits, queries := grown(old.Hits, now.Hits), grown(old.Queries, now.Queries); hits != nil && queries != nil && *queries > 0 &&
		*hits <= *queries {
		rate := *hits / *queries
		r.HitRate = &rate
	}
	return r
}

// grown is by how much a counter grew; nil where it fell.
func grown(old, now *float64) *float64 {
	if old == nil || now == nil || *now < *old {
		return nil
	}
	d := *now - *old
	return &d
}
