package study

import (
	"encoding/json"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/figure"
)

// Measure is a figure of answers that a report compares.
type Measure struct {
	// Name is as in the contract, with its unit.
	Name string
	// More is better than less.
	More bool
	// path in the answer, and those of the edges of its band, where it has one.
	path, low, high string
}

// Figure is a measure of an answer.
type Figure struct {
	Value float64  `json:"value"`
	Low   *float64 `json:"low,omitempty"`
	High  *float64 `json:"high,omitempty"`
}

// Figures by the names of their measures; what an answer does not tell is not there.
type Figures map[string]Figure

// banded is a measure whose edges stand beside it.
func banded(name, path string, more bool) Measure {
	return Measure{name, more, path, path + "_low", path + "_high"}
}

// played is one of a simulation, whose edges are those of runs of their own.
func played(name, before, path string, more bool) Measure {
	return Measure{name, more, before + path, before + "low." + path, before + "high." + path}
}

// Measures of a question's answers, the most telling first.
func Measures(ask string) []Measure {
	switch ask {
	case "sim":
		return []Measure{
			{Name: "usd_per_hour", path: "one.usd_per_hour"},
			played("ttft_p99_ms", "one.", "ttft_ms.p99", false), played("tpot_p99_ms", "one.", "tpot_ms.p99", false), played("e2e_p99_ms", "one.", "e2e_ms.p99", false),
			{Name: "ttft_p50_ms", path: "one.ttft_ms.p50"}, {Name: "tpot_p50_ms", path: "one.tpot_ms.p50"},
			played("output_tokens_per_s", "one.", "throughput.output_tokens_per_s", true), played("requests_per_s", "one.", "throughput.requests_per_s", true),
			{Name: "goal_share", More: true, path: "one.goal_share"}, {Name: "goodput", More: true, path: "one.goodput"}, {Name: "holds_requests_per_s", More: true, path: "one.holds_requests_per_s"},
			{Name: "kv_peak_utilization", path: "one.kv.peak_utilization"}, {Name: "preemptions", path: "one.kv.preemptions"},
		}
	case "plan":
		return []Measure{
			{Name: "usd_per_hour", path: "one.best.usd_per_hour", low: "one.best.fleet.usd_per_hour_low", high: "one.best.fleet.usd_per_hour_high"},
			played("ttft_p99_ms", "one.best.simulated.", "ttft_ms.p99", false), played("tpot_p99_ms", "one.best.simulated.", "tpot_ms.p99", false),
			{Name: "usd_per_million_tokens", path: "one.best.cost", low: "one.best.fleet.usd_per_million_tokens_low", high: "one.best.fleet.usd_per_million_tokens_high"},
			{Name: "devices", path: "one.best.fleet.devices"}, {Name: "replicas", path: "one.best.fleet.replicas"}, {Name: "joules_per_token", path: "one.best.fleet.joules_per_token"},
			banded("decode_tokens_per_s", "one.best.speed.decode_tokens_per_s", true), banded("total_tokens_per_s", "one.best.speed.total_tokens_per_s", true),
			{Name: "headroom_bytes", More: true, path: "one.best.headroom_bytes"},
			{Name: "step_s", path: "one.best.step.seconds", low: "one.best.step.seconds_low", high: "one.best.step.seconds_high"}, {Name: "run_usd", path: "one.best.run.usd"},
		}
	case "train":
		return []Measure{
			{Name: "run_usd", path: "one.run.usd"}, banded("run_days", "one.run.days", false), banded("step_s", "one.step.seconds", false),
			banded("tokens_per_s_per_device", "one.step.tokens_per_s_per_device", true), {Name: "mfu", More: true, path: "one.step.mfu"},
			banded("reserved_bytes", "one.per_device.reserved_bytes", false),
		}
	}
	return []Measure{
		banded("usd_per_million_tokens", "one.speed.usd_per_million_tokens", false), banded("decode_tokens_per_s", "one.speed.decode_tokens_per_s", true),
		banded("total_tokens_per_s", "one.speed.total_tokens_per_s", true), banded("ttft_ms", "one.speed.ttft_ms", false), banded("tpot_ms", "one.speed.tpot_ms", false),
		banded("joules_per_token", "one.speed.joules_per_token", false), {Name: "headroom_bytes", More: true, path: "one.headroom_bytes"},
		{Name: "kv_bytes_per_token", path: "one.kv.bytes_per_token"},
	}
}

// Gist is what an answer comes to.
type Gist struct {
	Verdict, Failure string
	Figures          Figures
}

// at a path of an answer: what stands there, in the unit of its name; nil where there is nothing.
func at(answer map[string]any, path string) any {
	v := any(answer)
	for key := range strings.SplitSeq(strings.TrimPrefix(path, "one."), ".") {
		v = figure.Step(v, key)
	}
	return v
}

// GistOf reads an answer's JSON.
func GistOf(ask string, answer []byte) (*Gist, error) {
	var one map[string]any
	if err := json.Unmarshal(answer, &one); err != nil {
		return nil, err
	}
	text := func(path string) string {
		s, _ := at(one, path).(string)
		return s
	}
	number := func(path string) *float64 {
		x, ok := at(one, path).(float64)
		if !ok {
			return nil
		}
		return &x
	}
	if rent := rentOf(text("one.plan.hardware"), number("one.plan.devices"), number("one.plan.replicas")); ask == "sim" && rent != nil && text("one.error.message") == "" {
		one["usd_per_hour"] = *rent
	}
	g := &Gist{Verdict: text("one.verdict"), Failure: text("one.error.message"), Figures: Figures{}}
	for _, m := range Measures(ask) {
		if v := number(m.path); v != nil {
			g.Figures[m.Name] = Figure{*v, number(m.low), number(m.high)}
		}
	}
	return g, nil
}

// rentOf all replicas of a plan that is played; nil where it is not known.
func rentOf(hardware string, devices, replicas *float64) *float64 {
	if devices == nil {
		return nil
	}
	one := memwall.PerHour(hardware, int64(*devices))
	if one != nil && replicas != nil {
		*one *= *replicas
	}
	return one
}
