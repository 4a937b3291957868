package api

// Percentiles of a time, in milliseconds.
type Percentiles struct {
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	P99  float64 `json:"p99"`
}

// Simulated is what became of a workload.
type Simulated struct {
	Load
	// TTFT from arrival to the first token; TPOT of a request, its mean time per further token; ITL, the gaps between
	// tokens; E2E from arrival to the last token. Wait is from arrival until a request is first computed.
	TTFT *Percentiles `json:"ttft_ms,omitempty"`
	TPOT *Percentiles `json:"tpot_ms,omitempty"`
	ITL  *Percentiles `json:"itl_ms,omitempty"`
	E2E  *Percentiles `json:"e2e_ms,omitempty"`
	Wait *Percentiles `json:"wait_ms,omitempty"`
	// Goodput is how many requests a second met the goal, GoalShare how many of those asked; GoalMet says whether every
	// percentile of the goal was kept.
	Goodput   *float64 `json:"goodput,omitempty"`
	GoalShare *float64 `json:"goal_share,omitempty"`
	GoalMet   *bool    `json:"goal_met,omitempty"`
	// MostUsers are as many of a closed loop as keep within the goal, where that was asked; MostUsersLow and MostUsersHigh as many as do
	// where every step takes as long as at the slow edge of its band, and at the fast one.
	MostUsers     *int64 `json:"most_users,omitempty"`
	MostUsersLow  *int64 `json:"most_users_low,omitempty"`
	MostUsersHigh *int64 `json:"most_users_high,omitempty"`
	// Replicas were played with their share of the load, where a fleet has more of them.
	Replicas  int64      `json:"replicas,omitempty"`
	Pool      *PoolUse   `json:"-"` // stands in the answer's kv
	Series    *Series    `json:"series,omitempty"`
	Quantiles *Quantiles `json:"quantiles,omitempty"`
	Versus    []Versus   `json:"versus,omitempty"`
	// Low and High are the edges of the band.
	Low  *Edge `json:"low,omitempty"`
	High *Edge `json:"high,omitempty"`
}

// Load says whether a server holds a workload.
type Load struct {
	// Holds: the queue does not grow for as long as requests arrive, and fewer than a tenth are refused, fail or give up.
	Holds      bool       `json:"holds"`
	Requests   Requests   `json:"requests"`
	Throughput Throughput `json:"throughput"`
	// RunsOut is what requests waited for most: kv_cache, max_num_seqs, compute, max_loras, nothing.
	RunsOut string `json:"runs_out"`
	// DivergesAt is when the queue began to grow for good, in seconds; absent where it holds.
	DivergesAt *float64 `json:"diverges_at_s,omitempty"`
	// PromptShare is how much of the computed time prompts added.
	PromptShare float64 `json:"prompt_share"`
	SimulatedS  float64 `json:"simulated_s"`
	// Capacity is how many requests a second of the same mix the server holds at most; absent where it is not known.
	Capacity *float64 `json:"holds_requests_per_s,omitempty"`
	// Stopped: the simulation was ended before its requests were.
	Stopped bool `json:"stopped,omitempty"`
}

// Requests by what became of them.
type Requests struct {
	Asked    int64 `json:"asked"`
	Finished int64 `json:"finished"`
	Failed   int64 `json:"failed"`
	Refused  int64 `json:"refused"`
	HungUp   int64 `json:"hung_up"`
	// Warmup are those that came first and are in none of the times, nor judged by the goal: they find servers empty, or come all at
	// once. Rates, the cache and the gaps between tokens are of the whole run.
	Warmup int64 `json:"warmup"`
}

// Throughput of a run, from the first arrival to the last end.
type Throughput struct {
	Output   float64 `json:"output_tokens_per_s"`
	Requests float64 `json:"requests_per_s"`
}

// PoolUse is what of the KV cache was used, and how.
type PoolUse struct {
	Peak          float64 `json:"peak_utilization"`
	Mean          float64 `json:"mean_utilization"`
	Waste         Waste   `json:"waste"`
	PrefixHitRate float64 `json:"prefix_hit_rate"`
	// Tiers are those below the device, the nearest first.
	Tiers       []TierUse `json:"tiers,omitempty"`
	Preemptions int64     `json:"preemptions"`
	Preempted   int64     `json:"preempted_requests"`
	Tokens      int64     `json:"capacity_tokens"`
}

// TierUse is what a tier in host memory or on NVMe brought back, as a share of all prompt tokens: a part of the PrefixHitRate.
type TierUse struct {
	On      string  `json:"on"` // host, nvme or store
	HitRate float64 `json:"hit_rate"`
}

// Waste are shares of the KV cache that hold no token though they are taken, or cannot be taken.
type Waste struct {
	Internal float64 `json:"internal"`
	Reserved float64 `json:"reserved"`
	External float64 `json:"external"`
	Total    float64 `json:"total"`
}

// Versus is the same workload with a technique less.
type Versus struct {
	Name string `json:"name"`
	Load
	TTFT *Percentiles `json:"ttft_ms,omitempty"`
	TPOT *Percentiles `json:"tpot_ms,omitempty"`
	E2E  *Percentiles `json:"e2e_ms,omitempty"`
	Pool *PoolUse     `json:"kv,omitempty"`
	// ThroughputRatio is how many times the output tokens a second of this one the plan has.
	ThroughputRatio *float64 `json:"throughput_ratio,omitempty"`
	// CapacityRatio is how many times the requests a second of this one the plan holds, and Published what papers say of
	// that.
	CapacityRatio *float64 `json:"holds_ratio,omitempty"`
	Published     string   `json:"published,omitempty"`
}

// Series is what a run was like over time, in intervals of one width from its beginning; the first that holds a figure of
// each list is its index. Replicas are summed, the use of the KV cache is their mean.
type Series struct {
	IntervalS float64   `json:"interval_s"`
	Waiting   []float64 `json:"waiting"`
	Running   []float64 `json:"running"`
	KV        []float64 `json:"kv_utilization"`
	Output    []float64 `json:"output_tokens_per_s"`
}

// Quantiles are times in milliseconds that a share of the requests do not exceed, for curves of them.
type Quantiles struct {
	Share []float64 `json:"share"`
	TTFT  []float64 `json:"ttft_ms"`
	TPOT  []float64 `json:"tpot_ms,omitempty"`
	E2E   []float64 `json:"e2e_ms"`
}

// Edge is what becomes of the same workload where every step takes so many times as long: at an edge of the 90 % band of a
// step's time. A small error of a step is a large one of a queue.
type Edge struct {
	StepTime float64 `json:"step_time"`
	Load
	TTFT *Percentiles `json:"ttft_ms,omitempty"`
	TPOT *Percentiles `json:"tpot_ms,omitempty"`
	E2E  *Percentiles `json:"e2e_ms,omitempty"`
}
