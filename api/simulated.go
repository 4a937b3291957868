package api

// Percentiles of a time, in milliseconds.
type Percentiles struct {
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	P99  float64 `json:"p99"`
}

// Simulated is the outcome of simulating a workload.
type Simulated struct {
	Load
	// TTFT is the time from arrival to the first token, TPOT a request's mean time per further token, ITL the gaps
	// between tokens, E2E the time from arrival to the last token, and Wait the time from arrival until a request is
	// first computed.
	TTFT *Percentiles `json:"ttft_ms,omitempty"`
	TPOT *Percentiles `json:"tpot_ms,omitempty"`
	ITL  *Percentiles `json:"itl_ms,omitempty"`
	E2E  *Percentiles `json:"e2e_ms,omitempty"`
	Wait *Percentiles `json:"wait_ms,omitempty"`
	// Goodput is the rate of requests that met the goal, per second, and GoalShare their share of those submitted.
	// GoalMet reports whether every percentile of the goal was met.
	Goodput   *float64 `json:"goodput,omitempty"`
	GoalShare *float64 `json:"goal_share,omitempty"`
	GoalMet   *bool    `json:"goal_met,omitempty"`
	// MostUsers is the largest number of closed-loop users within the goal, if requested; MostUsersLow and MostUsersHigh
	// are the same if every step takes as long as at the slow and fast edge of its band.
	MostUsers     *int64 `json:"most_users,omitempty"`
	MostUsersLow  *int64 `json:"most_users_low,omitempty"`
	MostUsersHigh *int64 `json:"most_users_high,omitempty"`
	// Replicas is the number simulated, with their share of the load, if the fleet has more.
	Replicas  int64      `json:"replicas,omitempty"`
	Pool      *PoolUse   `json:"-"` // part of the answer's kv
	Series    *Series    `json:"series,omitempty"`
	Quantiles *Quantiles `json:"quantiles,omitempty"`
	Versus    []Versus   `json:"versus,omitempty"`
	// Low and High are the results at the edges of the band.
	Low  *Edge `json:"low,omitempty"`
	High *Edge `json:"high,omitempty"`
}

// Load says whether a server sustains a workload.
type Load struct {
	// Holds reports that the queue does not keep growing while requests arrive, and that fewer than a tenth are
	// rejected, fail or are abandoned.
	Holds      bool       `json:"holds"`
	Requests   Requests   `json:"requests"`
	Throughput Throughput `json:"throughput"`
	// RunsOut is what requests waited for most: kv_cache, max_num_seqs, compute, max_loras or nothing.
	RunsOut string `json:"runs_out"`
	// DivergesAt is when the queue started to grow for good, in seconds; absent if it did not.
	DivergesAt *float64 `json:"diverges_at_s,omitempty"`
	// PromptShare is the share of compute time added by prompts.
	PromptShare float64 `json:"prompt_share"`
	SimulatedS  float64 `json:"simulated_s"`
	// Capacity is the highest rate of this mix that the server sustains, in requests a second; absent if unknown.
	Capacity *float64 `json:"holds_requests_per_s,omitempty"`
	// Stopped reports that the simulation ended before all its requests did.
	Stopped bool `json:"stopped,omitempty"`
}

// Requests counts requests by outcome.
type Requests struct {
	Asked    int64 `json:"asked"`
	Finished int64 `json:"finished"`
	Failed   int64 `json:"failed"`
	Refused  int64 `json:"refused"`
	HungUp   int64 `json:"hung_up"`
	// Warmup counts the first requests, which are excluded from latencies and goal because they find an idle server or
	// arrive all at once. Rates, cache use and the gaps between tokens cover the whole run.
	Warmup int64 `json:"warmup"`
}

// Throughput of a run, from the first arrival to the last completion.
type Throughput struct {
	Output   float64 `json:"output_tokens_per_s"`
	Requests float64 `json:"requests_per_s"`
}

// PoolUse is how much of the KV cache was used, and for what.
type PoolUse struct {
	Peak          float64 `json:"peak_utilization"`
	Mean          float64 `json:"mean_utilization"`
	Waste         Waste   `json:"waste"`
	PrefixHitRate float64 `json:"prefix_hit_rate"`
	// Tiers are the cache tiers below the device, nearest first.
	Tiers       []TierUse `json:"tiers,omitempty"`
	Preemptions int64     `json:"preemptions"`
	Preempted   int64     `json:"preempted_requests"`
	Tokens      int64     `json:"capacity_tokens"`
}

// TierUse is the share of all prompt tokens loaded from a tier in host memory or on NVMe. It is part of PrefixHitRate.
type TierUse struct {
	On      string  `json:"on"` // host, nvme or store
	HitRate float64 `json:"hit_rate"`
}

// Waste gives the shares of the KV cache that are allocated without holding a token, or cannot be allocated.
type Waste struct {
	Internal float64 `json:"internal"`
	Reserved float64 `json:"reserved"`
	External float64 `json:"external"`
	Total    float64 `json:"total"`
}

// Versus is the result for the same workload with one technique turned off.
type Versus struct {
	Name string `json:"name"`
	Load
	TTFT *Percentiles `json:"ttft_ms,omitempty"`
	TPOT *Percentiles `json:"tpot_ms,omitempty"`
	E2E  *Percentiles `json:"e2e_ms,omitempty"`
	Pool *PoolUse     `json:"kv,omitempty"`
	// ThroughputRatio is the plan's output tokens a second over this one's.
	ThroughputRatio *float64 `json:"throughput_ratio,omitempty"`
	// CapacityRatio is the plan's sustained requests a second over this one's, and Published what papers report for it.
	CapacityRatio *float64 `json:"holds_ratio,omitempty"`
	Published     string   `json:"published,omitempty"`
}

// Series is the run over time, in equal intervals from its start; a list begins at the interval given by its index.
// Figures are summed over replicas, except the KV cache use, which is averaged.
type Series struct {
	IntervalS float64   `json:"interval_s"`
	Waiting   []float64 `json:"waiting"`
	Running   []float64 `json:"running"`
	KV        []float64 `json:"kv_utilization"`
	Output    []float64 `json:"output_tokens_per_s"`
}

// Quantiles are times in milliseconds at given shares of the requests, for plotting their distribution.
type Quantiles struct {
	Share []float64 `json:"share"`
	TTFT  []float64 `json:"ttft_ms"`
	TPOT  []float64 `json:"tpot_ms,omitempty"`
	E2E   []float64 `json:"e2e_ms"`
}

// Edge is the outcome of the same workload with every step scaled to an edge of its 90 % band. Queueing amplifies a
// small error in step time.
type Edge struct {
	StepTime float64 `json:"step_time"`
	Load
	TTFT *Percentiles `json:"ttft_ms,omitempty"`
	TPOT *Percentiles `json:"tpot_ms,omitempty"`
	E2E  *Percentiles `json:"e2e_ms,omitempty"`
}
