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
	// Label is how people call it, Unit what it is in.
	Label, Unit string
	// path in the answer, and those of the edges of its band, where it has one.
	path, low, high string
}

// Figure is a measure of an answer.
type Figure struct {
	Value float64  `json:"value"`
	Low   *float64 `json:"low,omitempty"`
	High  *float64 `json:"high,omitempty"`
}

// Figures are figures by the names of their measures; absent if the answer does not have them.
type Figures map[string]Figure

// lone is a measure without a band.
func lone(name, label, unit, path string) Measure {
	return Measure{name, false, label, unit, path, "", ""}
}

// banded is a measure whose edges stand beside it.
func banded(name, label, unit, path string) Measure {
	return Measure{name, false, label, unit, path, path + "_low", path + "_high"}
}

// played is one of a simulation, whose edges are those of runs of their own.
func played(name, label, unit, before, path string) Measure {
	return Measure{name, false, label, unit, before + path, before + "low." + path, before + "high." + path}
}

// more of it is better.
func more(m Measure) Measure {
	m.More = true
	return m
}

// Measures returns the measures of a question's answers, most informative first.
func Measures(ask string) []Measure {
	switch ask {
	case "sim":
		return simMeasures()
	case "plan":
		return planMeasures()
	case "train":
		return []Measure{
			lone("run_usd", "run cost", "$", "run.usd"), banded("run_days", "run time", "days", "run.days"),
			banded("step_s", "step", "s", "step.seconds"),
			more(banded("tokens_per_s_per_device", "throughput", "tok/s per GPU", "step.tokens_per_s_per_device")),
			more(lone("mfu", "MFU", "", "step.mfu")),
			banded("reserved_bytes", "reserved", "bytes", "per_device.reserved_bytes"),
		}
	}
	return []Measure{
		banded("usd_per_million_tokens", "cost", "$/M tokens", "speed.usd_per_million_tokens"),
		more(banded("decode_tokens_per_s", "decode", "tok/s", "speed.decode_tokens_per_s")),
		more(banded("total_tokens_per_s", "all users", "tok/s", "speed.total_tokens_per_s")),
		banded("ttft_ms", "TTFT", "ms", "speed.ttft_ms"), banded("tpot_ms", "TPOT", "ms", "speed.tpot_ms"),
		banded("joules_per_token", "energy", "J/token", "speed.joules_per_token"),
		more(lone("headroom_bytes", "headroom", "bytes", "headroom_bytes")),
		lone("kv_bytes_per_token", "KV cache", "bytes/token", "kv.bytes_per_token"),
	}
}

func simMeasures() []Measure {
	return []Measure{
		lone("usd_per_hour", "rent", "$/h", "usd_per_hour"),
		played("ttft_p99_ms", "TTFT p99", "ms", "", "ttft_ms.p99"), played("tpot_p99_ms", "TPOT p99", "ms", "", "tpot_ms.p99"),
		played("e2e_p99_ms", "E2E p99", "ms", "", "e2e_ms.p99"),
		lone("ttft_p50_ms", "TTFT p50", "ms", "ttft_ms.p50"), lone("tpot_p50_ms", "TPOT p50", "ms", "tpot_ms.p50"),
		more(played("output_tokens_per_s", "output", "tok/s", "", "throughput.output_tokens_per_s")),
		more(played("requests_per_s", "served", "requests/s", "", "throughput.requests_per_s")),
		more(lone("goal_share", "within goal", "", "goal_share")), more(lone("goodput", "goodput", "requests/s", "goodput")),
		more(lone("holds_requests_per_s", "capacity", "requests/s", "holds_requests_per_s")),
		lone("kv_peak_utilization", "KV cache peak", "", "kv.peak_utilization"), lone("preemptions", "preemptions", "", "kv.preemptions"),
	}
}

func planMeasures() []Measure {
	of := func(m Measure, low, high string) Measure {
		m.low, m.high = low, high
		return m
	}
	return []Measure{
		of(lone("usd_per_hour", "rent", "$/h", "best.usd_per_hour"), "best.fleet.usd_per_hour_low", "best.fleet.usd_per_hour_high"),
		played("ttft_p99_ms", "TTFT p99", "ms", "best.simulated.", "ttft_ms.p99"),
		played("tpot_p99_ms", "TPOT p99", "ms", "best.simulated.", "tpot_ms.p99"),
		of(lone("usd_per_million_tokens", "cost", "$/M tokens", "best.cost"), "best.fleet.usd_per_million_tokens_low",
			"best.fleet.usd_per_million_tokens_high"),
		lone("devices", "devices", "", "best.fleet.devices"), lone("replicas", "replicas", "", "best.fleet.replicas"),
		lone("joules_per_token", "energy", "J/token", "best.fleet.joules_per_token"),
		more(banded("decode_tokens_per_s", "decode", "tok/s", "best.speed.decode_tokens_per_s")),
		more(banded("total_tokens_per_s", "all users", "tok/s", "best.speed.total_tokens_per_s")),
		more(lone("headroom_bytes", "headroom", "bytes", "best.headroom_bytes")),
		of(lone("step_s", "step", "s", "best.step.seconds"), "best.step.seconds_low", "best.step.seconds_high"),
		lone("run_usd", "run cost", "$", "best.run.usd"),
	}
}

// held is the figure that says whether an answer does what is wanted: 1 or 0.
const held = "held"

// Judged: figures say whether their answer does what is wanted, where it can be said. Those of an older memwall-farm do not.
func (f Figures) Judged(ask string) bool {
	_, ok := f[held]
	return ok || ask != "sim" || len(f) == 0
}

// Gist is the summary of an answer.
type Gist struct {
	Verdict, Failure string
	Figures          Figures
}

// lookUp a path of an answer: what stands there, in the unit of its name; nil where there is nothing.
func lookUp(answer map[string]any, path string) any {
	v := any(answer)
	for key := range strings.SplitSeq(path, ".") {
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
		s, _ := lookUp(one, path).(string)
		return s
	}
	number := func(path string) *float64 {
		x, ok := lookUp(one, path).(float64)
		if !ok {
			return nil
		}
		return &x
	}
	if rent := rentOf(text("plan.hardware"), number("plan.devices"), number("plan.replicas")); ask == "sim" && rent != nil &&
		text("error.message") == "" {
		one["usd_per_hour"] = *rent
	}
	g := &Gist{Verdict: text("verdict"), Failure: text("error.message"), Figures: Figures{}}
	if holds, ok := lookUp(one, "holds").(bool); ok {
		kept, judged := lookUp(one, "goal_met").(bool)
		g.Figures[held] = Figure{Value: map[bool]float64{true: 1}[holds && (kept || !judged)]}
	}
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
