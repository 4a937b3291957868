package simulate

import (
	"fmt"
	"math"
	"time"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/sim"
)

// writeResult writes a result into an answer.
func (s *Simulation) writeResult(r *sim.Result) *api.Simulated {
	out := &api.Simulated{Load: LoadOf(r), TTFT: Percentiles(&r.First), TPOT: Percentiles(&r.PerToken), ITL: Percentiles(&r.Gap),
		E2E: Percentiles(&r.Whole), Wait: Percentiles(&r.Wait),
		Pool: s.poolOf(r), Series: seriesOf(&r.Series), Quantiles: quantilesOf(r)}
	s.Judge(out, r)
	if r.Stopped {
		s.Question.Job.Note("stopped", "warn", "", "stopped at %s of the simulated time: this is what was known by then",
			r.End.Round(time.Second))
	}
	if r.Refused > 0 {
		s.Question.Job.Note("refused", "warn", "workload.prompt",
			"%d of %d requests were refused: longer than the context of %d tokens, or than the KV cache", r.Refused, r.Asked,
			s.Question.Request.Context)
	}
	return out
}

// Judge a run by the goal.
func (s *Simulation) Judge(out *api.Simulated, r *sim.Result) {
	if s.goal() == (sim.Goal{}) {
		return
	}
	if counted := r.Asked - r.Settled; counted > 0 {
		share := float64(r.Good) / float64(counted)
		out.GoalShare, out.Goodput = question.Rounded(share), question.Rounded(share*float64(r.Asked)/SpanOf(r).Seconds())
	}
	g := s.Question.Original.Goal
	met := r.Finished > 0 && Within(&r.First, g.TTFT) && Within(&r.PerToken, g.TPOT)
	out.GoalMet = &met
}

// Within reports whether percentiles, such as p99, lie within bounds in milliseconds.
func Within(s *sim.Sample, bounds map[string]float64) bool {
	for name, most := range bounds {
		if p, err := api.Percentile(name); err != nil || 1000*s.Quantile(p).Seconds() > most {
			return false
		}
	}
	return true
}

// CheckGoal refuses percentiles that are none and bounds that nothing keeps.
func CheckGoal(g *api.Goal) error {
	if g == nil {
		return nil
	}
	for field, bounds := range map[string]map[string]float64{"ttft_ms": g.TTFT, "tpot_ms": g.TPOT} {
		for name, ms := range bounds {
			if _, err := api.Percentile(name); err != nil {
				return err
			}
			if !(ms > 0 && ms <= 1e9) {
				return &api.Error{Code: api.BadField, Field: "goal." + field, Value: fmt.Sprint(ms),
					Message: fmt.Sprintf("goal.%s = %v is not a time above 0 and at most 1000000000 ms", field, ms),
					Hint:    "give milliseconds, such as 500"}
			}
		}
	}
	return nil
}

func (s *Simulation) poolOf(r *sim.Result) *api.PoolUse {
	out := &api.PoolUse{Peak: FourDigits(r.KV.Peak), Mean: FourDigits(r.KV.Mean), Waste: wasteOf(&r.KV), Preemptions: r.Preemptions,
		Preempted: r.Preempted, Tokens: s.KV.Tokens}
	if r.Prompt > 0 {
		out.PrefixHitRate = FourDigits(float64(r.Cached) / float64(r.Prompt))
		for i, t := range s.tiers {
			out.Tiers = append(out.Tiers, api.TierUse{On: t.on, HitRate: FourDigits(float64(r.FromTiers[i]) / float64(r.Prompt))})
		}
		if s.store() != nil {
			found := float64(r.FromTiers[sim.InStore]) / float64(r.Prompt)
			out.Tiers = append(out.Tiers, api.TierUse{On: "store", HitRate: FourDigits(found)})
		}
	}
	return out
}

func wasteOf(k *sim.KV) api.Waste {
	return api.Waste{Internal: FourDigits(k.Internal), Reserved: FourDigits(k.Reserved), External: FourDigits(k.External),
		Total: FourDigits(k.Internal + k.Reserved + k.External)}
}

// FourDigits is Rounded of a figure that is known.
func FourDigits(x float64) float64 { return *question.Rounded(x) }

// Percentiles of a sample, in milliseconds; nil of none.
func Percentiles(s *sim.Sample) *api.Percentiles {
	if s.N() == 0 {
		return nil
	}
	ms := func(d time.Duration) float64 { return FourDigits(1000 * d.Seconds()) }
	return &api.Percentiles{Mean: ms(s.Mean()), P50: ms(s.Quantile(0.5)), P90: ms(s.Quantile(0.9)), P99: ms(s.Quantile(0.99))}
}

// SpanOf a run: from the first arrival to the last end.
func SpanOf(r *sim.Result) time.Duration { return max(1, r.End-r.Began) }

// LoadOf says whether a run held its workload.
func LoadOf(r *sim.Result) api.Load {
	span := SpanOf(r).Seconds()
	l := api.Load{Requests: api.Requests{Asked: r.Asked, Finished: r.Finished, Failed: r.Failed, Refused: r.Refused, HungUp: r.HungUp,
		Warmup: r.Settled}, Throughput: api.Throughput{Output: FourDigits(float64(r.Generated) / span),
		Requests: FourDigits(float64(r.Finished) / span)},
		RunsOut: runsOut(r), SimulatedS: FourDigits(span), Stopped: r.Stopped}
	if r.Busy > 0 {
		l.PromptShare = FourDigits(r.Prompting.Seconds() / r.Busy.Seconds())
	}
	since, grows := r.Diverges()
	if l.Holds = !grows && Served(r); grows {
		l.DivergesAt = question.Rounded(since.Seconds())
	}
	return l
}

// Served reports whether nearly all who asked were: a server that refuses a tenth of a workload does not hold it.
func Served(r *sim.Result) bool { return 10*(r.Failed+r.Refused+r.HungUp) < max(1, r.Asked) }

// worthNaming is the share of the time of all requests from which on it is said what they waited for.
const worthNaming = 0.01

// runsOut is what requests waited for most.
func runsOut(r *sim.Result) string {
	most, name := time.Duration(worthNaming*float64(r.Whole.Mean())*float64(r.Whole.N())), "nothing"
	for limit, word := range map[sim.Limit]string{sim.Room: "kv_cache", sim.Seats: "max_num_seqs", sim.Budget: "compute",
		sim.Adapters: "max_loras"} {
		if w := r.Waiting[limit]; w > most {
			most, name = w, word
		}
	}
	return name
}

// RequestBound is the same as a time.
func RequestBound(by map[string]float64) time.Duration {
	return time.Duration(math.Round(1e6 * api.Highest(by)))
}
