package validation

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/sim"
	"github.com/memwall/memwall/validation/packed"
	"github.com/memwall/memwall/workload"
)

// The measures of simulation: of runs in which requests arrive at their own time. With the steps of the log, a law of
// steps was fitted to the log itself (validation/fit/steps), so that the scheduler alone is judged.
var (
	ownToken = Measure{Name: "simulated TPOT, steps of the log", About: "mean time of an output token, the law of steps fitted to the same log: the scheduler alone", Target: 0.02, Bandless: true, Fitted: true}
	ownFirst = Measure{Name: "simulated TTFT, steps of the log", About: "mean time to the first token, the law of steps fitted to the same log: the scheduler alone", Target: 0.10, Bandless: true, Fitted: true}
	simToken = Measure{Name: "simulated TPOT", About: "mean time of an output token, end to end, played at both edges of a step; no row is fitted to", Target: 0.05}
	simFirst = Measure{Name: "simulated TTFT", About: "mean time to the first token, end to end, played at both edges of a step; no row is fitted to", Target: 0.15}
)

// SimulationMeasures are the measures in the order of the report.
var SimulationMeasures = []*Measure{&ownToken, &ownFirst, &simToken, &simFirst}

// Logged is a request of a log.
type Logged struct {
	workload.Request
	First, End time.Duration
}

// Log reads the log of a run by its name.
func Log(name string) ([]Logged, error) {
	data, err := packed.File("rows/loads/" + name + ".tsv").Read()
	if err != nil {
		return nil, fmt.Errorf("no log is called %s", name)
	}
	r := csv.NewReader(bytes.NewReader(data))
	r.Comma = '\t'
	rows, err := r.ReadAll()
	if err != nil {
		return nil, err
	}
	out := make([]Logged, 0, len(rows))
	for i, row := range rows[1:] {
		l, err := logged(int64(i), row)
		if err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", name, i+2, err)
		}
		out = append(out, l)
	}
	return out, nil
}

// logged reads arrival, prompt, output, queued, scheduled, first, end.
func logged(id int64, row []string) (l Logged, err error) {
	var x [7]float64
	for i := range x {
		if x[i], err = strconv.ParseFloat(row[i], 64); err != nil {
			return l, err
		}
	}
	at := func(s float64) time.Duration { return time.Duration(1e9 * s) }
	l.Request = workload.Request{ID: id, Arrival: at(x[0]), Prompt: int64(x[1]), Output: int64(x[2])}
	l.First, l.End = at(x[5]), at(x[6])
	return l, nil
}

// Traces reads the requests of logs, as lines of memwall's own trace format.
type Traces struct{}

// Trace of a log.
func (Traces) Trace(name string) (io.ReadCloser, error) {
	log, err := Log(name)
	if err != nil {
		return nil, err
	}
	var b []byte
	for i := range log {
		b = workload.AppendOwn(b, &log[i].Request)
	}
	return io.NopCloser(bytes.NewReader(b)), nil
}

// Loads returns the runs.
func Loads() (Set, error) {
	s, err := readSet("loads", "rows/loads/runs.jsonl")
	s.File = "loads/runs.jsonl"
	return s, err
}

// CompareLoads simulates each run, end to end and with step times from its own log.
func CompareLoads() (Set, []Comparison, error) {
	set, err := Loads()
	if err != nil {
		return Set{}, nil, err
	}
	laws, err := Laws()
	if err != nil {
		return Set{}, nil, err
	}
	var out []Comparison
	for i := range set.Rows {
		r := &set.Rows[i]
		if law, ok := laws[r.trace()]; ok {
			r.Fit = true
			tpot, ttft, err := Alone(r, law)
			out = append(out, r.simulated(&ownToken, "tpot_ms", exactly(tpot), err)...)
			out = append(out, r.simulated(&ownFirst, "ttft_ms", exactly(ttft), err)...)
		}
		tpot, ttft, err := endToEnd(r)
		out = append(out, r.simulated(&simToken, "tpot_ms", tpot, err)...)
		out = append(out, r.simulated(&simFirst, "ttft_ms", ttft, err)...)
	}
	return set, out, nil
}

// trace that the row replays; "" where its arrivals are described.
func (r *Row) trace() string {
	if r.Ask.Workload == nil {
		return ""
	}
	return r.Ask.Workload.Trace
}

// simulated compares a figure of a run, if the row has it.
func (r *Row) simulated(m *Measure, figure string, ours Range, err error) []Comparison {
	v, ok := r.Got[figure]
	if !ok {
		return nil
	}
	c := Comparison{Measure: m, Row: r, Figure: figure, Measured: v, Ours: ours, Refused: r.Refused}
	if err != nil {
		c.Refused = err.Error()
	}
	if c.Refused != "" {
		return []Comparison{c}
	}
	c.judge()
	return []Comparison{c}
}

// endToEnd is a whole run: milliseconds of an output token and to the first one, from the fast edge of a step to the slow one.
func endToEnd(r *Row) (tpot, ttft Range, err error) {
	ask, none := r.Ask, plan.Int(0) // those who measured counted all requests
	if w := ask.Workload; w != nil && w.Warmup == nil {
		counted := *w
		counted.Warmup, ask.Workload = &none, &counted
	}
	a, err := (&memwall.Asker{Traces: Traces{}}).Ask(&ask)
	switch {
	case err != nil:
		return tpot, ttft, err
	case a.Simulated == nil || a.Simulated.TTFT == nil || a.Simulated.TPOT == nil:
		return tpot, ttft, errors.New("the plan does not fit")
	}
	s := a.Simulated
	tpot, ttft = exactly(s.TPOT.Mean), exactly(s.TTFT.Mean)
	if s.Low != nil && s.High != nil && s.Low.TTFT != nil && s.High.TTFT != nil {
		tpot.Low, tpot.High = s.Low.TPOT.Mean, s.High.TPOT.Mean
		ttft.Low, ttft.High = s.Low.TTFT.Mean, s.High.TTFT.Mean
	}
	return tpot, ttft, nil
}

// Alone simulates a log by its engine's scheduling rules, with step times from a law.
func Alone(r *Row, law Law) (tpot, ttft float64, err error) {
	log, err := Log(r.trace())
	if err != nil {
		return 0, 0, err
	}
	src := make(Requests, 0, len(log))
	for i := range log {
		src = append(src, log[i].Request)
	}
	res, err := sim.Run(law.Fleet(&r.Ask), &src, sim.Options{})
	if err != nil {
		return 0, 0, err
	}
	return 1000 * res.PerToken.Mean().Seconds(), 1000 * res.First.Mean().Seconds(), nil
}

// Requests is a source of what is given.
type Requests []workload.Request

// Next of them.
func (q *Requests) Next() (r workload.Request, ok bool, err error) {
	if len(*q) == 0 {
		return r, false, nil
	}
	r, *q = (*q)[0], (*q)[1:]
	return r, true, nil
}

// After none comes another.
func (*Requests) After(*workload.Request, time.Duration) (r workload.Request, ok bool) {
	return r, false
}
