package workload

import "github.com/memwall/memwall/plan"

// Spec describes a workload. Zero fields are unset.
type Spec struct {
	Arrivals string `json:"arrivals,omitempty" enum:"poisson,gamma,closed,burst,trace" doc:"poisson: at a rate, independent of each other; gamma: at a rate, with gaps of a given cv; closed: a number of users, each asks when its last answer is there; burst: all at once; trace: as a file tells"`
	// Rate counts sessions, if there are any, else requests.
	Rate        float64   `json:"rate,omitempty" doc:"arrivals a second (poisson, gamma)"`
	CV          *float64  `json:"cv,omitempty" doc:"standard deviation of the gaps over their mean (gamma): 0 evenly spaced, 1 as poisson, more comes in clumps"`
	Concurrency plan.Int  `json:"concurrency,omitempty" doc:"users of a closed loop"`
	Requests    plan.Int  `json:"requests,omitempty" doc:"requests in all, turns of sessions counted"`
	Warmup      *plan.Int `json:"warmup,omitempty" doc:"requests that come first and are in none of the times, a quarter of all at the most: they find servers empty, or come all at once; 0 counts all"`
	DurationS   float64   `json:"duration_s,omitempty" doc:"seconds after which nothing more arrives, instead of requests or beside them"`
	Seed        plan.Int  `json:"seed,omitempty" doc:"the same seed gives the same requests"`

	Prompt Law `json:"prompt,omitzero" doc:"tokens of a prompt; of a session, what each turn adds"`
	Output Law `json:"output,omitzero" doc:"tokens of an answer"`

	SharedPrefix plan.Int `json:"shared_prefix_tokens,omitempty" doc:"tokens that prompts begin with in common, counted in the prompt"`
	Prefixes     Choice   `json:"prefixes,omitzero" doc:"how many such beginnings there are, and how unevenly they are used; one where nothing is said"`

	Sessions   *Sessions `json:"sessions,omitempty" doc:"users who ask several times, each time with all that was said before"`
	Patience   Law       `json:"patience_s,omitzero" doc:"seconds after which a client hangs up; for ever where nothing is said"`
	Adapters   Choice    `json:"adapters,omitzero" doc:"LoRA adapters, and how unevenly they are used"`
	Priorities []float64 `json:"priorities,omitempty" doc:"shares of the requests with priority 0, 1, ...; lower is served first"`

	// Trace names the trace of the requests. Arrivals "trace" uses its times too; with other arrivals its requests are
	// taken in file order.
	Trace   string      `json:"trace,omitempty" doc:"file of a trace"`
	Reading ReadOptions `json:"reading,omitzero" doc:"how the trace is read"`
}

// Sessions describes how users continue.
type Sessions struct {
	Turns  Law `json:"turns,omitzero" doc:"requests of a session"`
	ThinkS Law `json:"think_s,omitzero" doc:"seconds between an answer and the next turn; in a closed loop also before the next session"`
	// MaxTokens ends a session before a longer prompt.
	MaxTokens plan.Int `json:"max_tokens,omitempty" doc:"a session ends before a prompt longer than that"`
}

// Choice is a choice from a number of things, the k-th with probability proportional to 1/k^zipf.
type Choice struct {
	Count plan.Int `json:"count,omitempty" doc:"how many there are"`
	Zipf  float64  `json:"zipf,omitempty" doc:"exponent of their popularity: 0 all alike, 1 the second half as often as the first"`
}

// Limits of a workload, so that none takes unbounded time.
const (
	// MaxRequests is the maximum number of requests.
	MaxRequests = 1_000_000_000
	// MaxWarmup is the maximum number of warm-up requests, which are buffered until the total is known.
	MaxWarmup = 1_000_000
	// MaxTokens is the maximum length of a prompt or answer: no model accepts more, so a longer one is an error in the
	// file.
	MaxTokens = 100_000_000
	// MaxSeconds is the maximum duration of a workload, a pause or a client's patience: about thirty years.
	MaxSeconds = 1e9
	// MaxTurns is the maximum number of turns of a session.
	MaxTurns = 10_000
	// MaxRate is the maximum arrival rate per second, near the resolution of a nanosecond clock.
	MaxRate = 1e6
	// MaxChoices is the maximum number of prefixes, adapters, or values of an empirical distribution.
	MaxChoices = 1_000_000
	// MaxConcurrency is the maximum number of users of a closed loop.
	MaxConcurrency = plan.MaxSequences
)
