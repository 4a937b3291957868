package memwall

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/memwall/memwall/sim"
)

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
	Holds    bool       `json:"holds"`
	Requests Requests   `json:"requests"`
	Rate     Throughput `json:"throughput"`
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
	Preemptions   int64   `json:"preemptions"`
	Preempted     int64   `json:"preempted_requests"`
	Tokens        int64   `json:"capacity_tokens"`
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
	// Throughput is how many times the output tokens a second of this one the plan has.
	Throughput *float64 `json:"throughput_ratio,omitempty"`
	// CapacityRatio is how many times the requests a second of this one the plan holds, and Published what papers say of
	// that.
	CapacityRatio *float64 `json:"holds_ratio,omitempty"`
	Published     string   `json:"published,omitempty"`
}

// tell writes a result into an answer.
func (s *simulation) tell(r *sim.Result) *Simulated {
	out := &Simulated{Load: loadOf(r), TTFT: percentiles(&r.First), TPOT: percentiles(&r.PerToken), ITL: percentiles(&r.Gap), E2E: percentiles(&r.Whole), Wait: percentiles(&r.Wait),
		Pool: s.poolOf(r), Series: seriesOf(&r.Series), Quantiles: quantilesOf(r)}
	s.judge(out, r)
	if r.Stopped {
		s.q.job.Note("stopped", "warn", "", "stopped at %s of the simulated time: this is what was known by then", r.End.Round(time.Second))
	}
	if r.Refused > 0 {
		s.q.job.Note("refused", "warn", "workload.prompt", "%d of %d requests were refused: longer than the context of %d tokens, or than the KV cache", r.Refused, r.Asked, s.q.request.Context)
	}
	return out
}

// judge a run by the goal.
func (s *simulation) judge(out *Simulated, r *sim.Result) {
	if s.goal() == (sim.Goal{}) {
		return
	}
	if counted := r.Asked - r.Settled; counted > 0 {
		share := float64(r.Good) / float64(counted)
		out.GoalShare, out.Goodput = rounded(share), rounded(share*float64(r.Asked)/spanOf(r).Seconds())
	}
	g := s.q.original.Goal
	met := r.Finished > 0 && within(&r.First, g.TTFT) && within(&r.PerToken, g.TPOT)
	out.GoalMet = &met
}

// within reports whether percentiles, such as p99, lie within bounds in milliseconds.
func within(s *sim.Sample, bounds map[string]float64) bool {
	for name, most := range bounds {
		if p, err := percentile(name); err != nil || 1000*s.Quantile(p).Seconds() > most {
			return false
		}
	}
	return true
}

// percentile reads p50, p99 or p99.9.
func percentile(name string) (share float64, err error) {
	number, ok := strings.CutPrefix(name, "p")
	p, err := strconv.ParseFloat(number, 64)
	if !ok || err != nil || !(p > 0 && p <= 100) {
		return 0, &Error{Code: BadField, Field: "goal", Value: shorten(name), Message: fmt.Sprintf("goal: %s is no percentile", shorten(name)), Hint: `such as {"ttft_ms":{"p99":500}}`}
	}
	return p / 100, nil
}

// checkGoal refuses percentiles that are none and bounds that nothing keeps.
func (g *Goal) checkGoal() error {
	if g == nil {
		return nil
	}
	for field, bounds := range map[string]map[string]float64{"ttft_ms": g.TTFT, "tpot_ms": g.TPOT} {
		for name, ms := range bounds {
			if _, err := percentile(name); err != nil {
				return err
			}
			if !(ms > 0 && ms <= 1e9) {
				return &Error{Code: BadField, Field: "goal." + field, Value: fmt.Sprint(ms), Message: fmt.Sprintf("goal.%s = %v is no time above 0 and at most 1000000000 ms", field, ms), Hint: "give milliseconds, such as 500"}
			}
		}
	}
	return nil
}

func (s *simulation) poolOf(r *sim.Result) *PoolUse {
	out := &PoolUse{Peak: four(r.KV.Peak), Mean: four(r.KV.Mean), Waste: wasteOf(&r.KV), Preemptions: r.Preemptions, Preempted: r.Preempted, Tokens: s.kv.Tokens}
	if r.Prompt > 0 {
		out.PrefixHitRate = four(float64(r.Cached) / float64(r.Prompt))
	}
	return out
}

func wasteOf(k *sim.KV) Waste {
	return Waste{four(k.Internal), four(k.Reserved), four(k.External), four(k.Internal + k.Reserved + k.External)}
}

func four(x float64) float64 { return *rounded(x) }

func percentiles(s *sim.Sample) *Percentiles {
	if s.N() == 0 {
		return nil
	}
	ms := func(d time.Duration) float64 { return four(1000 * d.Seconds()) }
	return &Percentiles{ms(s.Mean()), ms(s.Quantile(0.5)), ms(s.Quantile(0.9)), ms(s.Quantile(0.99))}
}

// spanOf a run: from the first arrival to the last end.
func spanOf(r *sim.Result) time.Duration { return max(1, r.End-r.Began) }

func loadOf(r *sim.Result) Load {
	span := spanOf(r).Seconds()
	l := Load{Requests: Requests{r.Asked, r.Finished, r.Failed, r.Refused, r.HungUp, r.Settled}, Rate: Throughput{four(float64(r.Generated) / span), four(float64(r.Finished) / span)},
		RunsOut: runsOut(r), SimulatedS: four(span), Stopped: r.Stopped}
	if r.Busy > 0 {
		l.PromptShare = four(r.Prompting.Seconds() / r.Busy.Seconds())
	}
	since, grows := r.Diverges()
	if l.Holds = !grows && served(r); grows {
		l.DivergesAt = rounded(since.Seconds())
	}
	return l
}

// served reports whether nearly all who asked were: a server that refuses a tenth of a workload does not hold it.
func served(r *sim.Result) bool { return 10*(r.Failed+r.Refused+r.HungUp) < max(1, r.Asked) }

// worthNaming is the share of the time of all requests from which on it is said what they waited for.
const worthNaming = 0.01

// runsOut is what requests waited for most.
func runsOut(r *sim.Result) string {
	most, name := time.Duration(worthNaming*float64(r.Whole.Mean())*float64(r.Whole.N())), "nothing"
	for limit, word := range map[sim.Limit]string{sim.Room: "kv_cache", sim.Seats: "max_num_seqs", sim.Budget: "compute", sim.Adapters: "max_loras"} {
		if w := r.Waiting[limit]; w > most {
			most, name = w, word
		}
	}
	return name
}
