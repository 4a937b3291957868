package planfile

import (
	"github.com/memwall/memwall"
	"github.com/memwall/memwall/plan"
)

// column is a name and what a plan has there.
type column struct {
	name string
	of   func(*row) string
}

// columns in their order. Names stay; new ones are added behind.
var columns = []column{
	{"rank", func(r *row) string { return integer(int64(r.at + 1)) }},
	{"plan", func(r *row) string { return text(r.Change) }},
	{"verdict", func(r *row) string { return string(r.Verdict) }},
	asked("model", func(p *memwall.Request) string { return text(p.Model) }),
	{"hardware", hardware},
	fleet("replicas", func(f *memwall.Fleet) string { return integer(f.Replicas) }),
	{"devices", devices},
	asked("engine", func(p *memwall.Request) string { return text(p.Engine) }),
	asked("weights", func(p *memwall.Request) string { return text(p.Weights) }),
	asked("kv", func(p *memwall.Request) string { return text(p.KV) }),
	asked("tp", func(p *memwall.Request) string { return given(p.TP) }),
	asked("pp", func(p *memwall.Request) string { return given(p.PP) }),
	asked("ep", func(p *memwall.Request) string { return given(p.EP) }),
	asked("dp", func(p *memwall.Request) string { return given(p.DP) }),
	asked("context", func(p *memwall.Request) string { return given(p.Context) }),
	asked("step_tokens", func(p *memwall.Request) string { return given(p.MaxBatchedTokens) }),
	asked("max_seqs", func(p *memwall.Request) string { return given(p.MaxSeqs) }),
	fleet("meets", func(f *memwall.Fleet) string { return f.Meets }),
	fleet("sure_replicas", func(f *memwall.Fleet) string { return counted(f.Sure) }),
	fleet("measured_runs", func(f *memwall.Fleet) string { return integer(f.Runs) }),
	fleet("users_per_replica", func(f *memwall.Fleet) string { return figure(f.UsersEach) }),
	fleet("holds_requests_per_s", func(f *memwall.Fleet) string { return known(f.HoldsRate) }),
	fleet("holds_users", func(f *memwall.Fleet) string { return counted(f.HoldsUsers) }),
	played("ttft_p50_ms", func(s *memwall.Simulated) string { return median(s.TTFT) }),
	played("ttft_p99_ms", func(s *memwall.Simulated) string { return tail(s.TTFT) }),
	edges("ttft_p99_ms_low", func(s *memwall.Simulated) *memwall.Edge { return s.Low },
		func(e *memwall.Edge) string { return tail(e.TTFT) }),
	edges("ttft_p99_ms_high", func(s *memwall.Simulated) *memwall.Edge { return s.High },
		func(e *memwall.Edge) string { return tail(e.TTFT) }),
	played("tpot_p50_ms", func(s *memwall.Simulated) string { return median(s.TPOT) }),
	played("tpot_p99_ms", func(s *memwall.Simulated) string { return tail(s.TPOT) }),
	edges("tpot_p99_ms_low", func(s *memwall.Simulated) *memwall.Edge { return s.Low },
		func(e *memwall.Edge) string { return tail(e.TPOT) }),
	edges("tpot_p99_ms_high", func(s *memwall.Simulated) *memwall.Edge { return s.High },
		func(e *memwall.Edge) string { return tail(e.TPOT) }),
	played("e2e_p50_ms", func(s *memwall.Simulated) string { return median(s.E2E) }),
	played("e2e_p99_ms", func(s *memwall.Simulated) string { return tail(s.E2E) }),
	played("requests_per_s", func(s *memwall.Simulated) string { return figure(s.Throughput.Requests) }),
	played("output_tokens_per_s", func(s *memwall.Simulated) string { return figure(s.Throughput.Output) }),
	fleet("usd_per_hour_low", func(f *memwall.Fleet) string { return known(f.USDPerHourLow) }),
	{"usd_per_hour", func(r *row) string { return known(r.USDPerHour) }},
	fleet("usd_per_hour_high", func(f *memwall.Fleet) string { return known(f.USDPerHourHigh) }),
	fleet("usd_per_million_tokens_low", func(f *memwall.Fleet) string { return known(f.USDPerMillionLow) }),
	{"usd_per_million_tokens", func(r *row) string { return known(r.Cost) }},
	fleet("usd_per_million_tokens_high", func(f *memwall.Fleet) string { return known(f.USDPerMillionHigh) }),
	fleet("watts", func(f *memwall.Fleet) string { return known(f.Watts) }),
	fleet("joules_per_token", func(f *memwall.Fleet) string { return known(f.JoulesPerToken) }),
	judged("quality_metric", func(q *memwall.Quality) string { return text(q.Metric) }),
	judged("quality_change_low", func(q *memwall.Quality) string { return figure(q.Low) }),
	judged("quality_change", func(q *memwall.Quality) string { return figure(q.Mid) }),
	judged("quality_change_high", func(q *memwall.Quality) string { return figure(q.High) }),
	judged("quality_measured_on", func(q *memwall.Quality) string { return text(q.MeasuredOn) }),
	{"headroom_bytes", func(r *row) string { return integer(r.Headroom) }},
	{"capacity_bytes", func(r *row) string { return given(r.Capacity) }},
	trained("step_s", func(s *memwall.TrainingStep) string { return figure(s.Seconds) }),
	trained("step_s_low", func(s *memwall.TrainingStep) string { return figure(s.SecondsLow) }),
	trained("step_s_high", func(s *memwall.TrainingStep) string { return figure(s.SecondsHigh) }),
	trained("tokens_per_s_per_device", func(s *memwall.TrainingStep) string { return figure(s.PerDevice) }),
	trained("mfu", func(s *memwall.TrainingStep) string { return figure(s.MFU) }),
	split("prefill_workers", func(d *plan.Disaggregated) string { return integer(d.Prefill) }),
	split("decode_workers", func(d *plan.Disaggregated) string { return integer(d.Decode) }),
	asked("framework", func(p *memwall.Request) string { return text(p.Framework) }),
	asked("sharding", func(p *memwall.Request) string { return text(p.Sharding) }),
	asked("micro_batch", func(p *memwall.Request) string { return given(p.MicroBatch) }),
	asked("recompute", func(p *memwall.Request) string { return text(p.Recompute) }),
	{"pareto", onFront},
	{"why", func(r *row) string { return text(r.Why) }},
	{"command", func(r *row) string { return text(command(r)) }},
}

// part makes columns of one part of a row, which are empty where the row has no such part.
func part[T any](get func(*row) *T) func(name string, of func(*T) string) column {
	return func(name string, of func(*T) string) column {
		return column{name, func(r *row) string {
			x := get(r)
			if x == nil {
				return ""
			}
			return of(x)
		}}
	}
}

var (
	asked   = part(func(r *row) *memwall.Request { return r.Plan }) // the request that a plan is
	fleet   = part(func(r *row) *memwall.Fleet { return r.Fleet })
	played  = part(func(r *row) *memwall.Simulated { return r.Simulated })
	judged  = part(func(r *row) *memwall.Quality { return r.Quality })
	trained = part(func(r *row) *memwall.TrainingStep { return r.Step })
	split   = part(func(r *row) *plan.Disaggregated { // workers of two kinds
		if r.Plan == nil {
			return nil
		}
		return r.Plan.Disaggregated
	})
)

func edges(name string, edge func(*memwall.Simulated) *memwall.Edge, of func(*memwall.Edge) string) column {
	return played(name, func(s *memwall.Simulated) string {
		if edge(s) == nil {
			return ""
		}
		return of(edge(s))
	})
}

func median(p *memwall.Percentiles) string {
	if p == nil {
		return ""
	}
	return figure(p.P50)
}

func tail(p *memwall.Percentiles) string {
	if p == nil {
		return ""
	}
	return figure(p.P99)
}

// hardware is what all devices of a plan are; of one replica, as it was asked for.
func hardware(r *row) string {
	switch {
	case r.Fleet != nil:
		return text(r.Fleet.Hardware)
	case r.Plan != nil:
		return text(r.Plan.Hardware)
	}
	return ""
}

func devices(r *row) string {
	switch {
	case r.Fleet != nil:
		return integer(r.Fleet.Devices)
	case r.Plan != nil:
		return given(r.Plan.Devices)
	}
	return ""
}
