package autoscale

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/fault"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/scale"
	"github.com/memwall/memwall/workload"
)

// ScalingReport is the outcome of policies for a load.
type ScalingReport struct {
	Schema   string          `json:"schema"`
	Version  string          `json:"version"`
	Model    string          `json:"model"`
	Name     string          `json:"name"`
	Hardware string          `json:"hardware"`
	Device   string          `json:"device"`  // its name
	Devices  int64           `json:"devices"` // of a replica
	Engine   string          `json:"engine"`
	Verdict  memwall.Verdict `json:"verdict"` // of one replica's memory
	Goal     Goal            `json:"goal"`
	Load     LoadFigures     `json:"load"`
	Replica  Replica         `json:"replica"`
	Start    Start           `json:"start"`
	Least    int             `json:"min_replicas"`
	Most     int             `json:"max_replicas"`
	Policies []Policy        `json:"policies"`
	// Oracle is the cheapest fleet found by an oracle that knows the load; null where not even the most replicas keep the goal.
	Oracle *Policy `json:"oracle"`
	// Best is the name of the cheapest policy that keeps the goal; "" where none does.
	Best string `json:"best"`
	// Played is the best policy, or the first, request by request; null where nobody asks.
	Played *Played        `json:"played,omitempty"`
	Notes  []memwall.Note `json:"notes,omitempty"`

	answer *memwall.Answer
}

// Goal bounds requests, in milliseconds; null is no bound.
type Goal struct {
	TTFT  *float64 `json:"ttft_ms"`
	TPOT  *float64 `json:"tpot_ms"`
	Share float64  `json:"attainment"`
}

// LoadFigures describes the load.
type LoadFigures struct {
	Seconds  float64   `json:"s"`
	Part     float64   `json:"part_s"`
	Requests float64   `json:"requests"`
	Mean     float64   `json:"mean_requests_per_s"`
	Peak     float64   `json:"peak_requests_per_s"`
	Rates    []float64 `json:"requests_per_s"`
}

// Replica is what one holds, as it was simulated at fourteen loads.
type Replica struct {
	Holds    float64  `json:"holds_requests_per_s"` // within the goal
	Capacity float64  `json:"capacity_requests_per_s"`
	In       float64  `json:"requests_within_goal"` // in it at what it holds
	USD      *float64 `json:"usd_per_hour"`
}

// Start is how long a new replica takes.
type Start struct {
	Seconds float64     `json:"s"`
	Low     float64     `json:"s_low"`
	High    float64     `json:"s_high"`
	Parts   []StartPart `json:"parts"`
}

// Policy is the outcome of a policy.
type Policy struct {
	Name   string     `json:"name"`
	Metric string     `json:"metric,omitempty"`
	Target *float64   `json:"target,omitempty"`
	Tuned  bool       `json:"tuned,omitempty"` // the target was looked for
	Kept   float64    `json:"kept"`            // share of requests within the goal
	Met    bool       `json:"met"`
	TTFT   [2]float64 `json:"ttft_ms_p50_p99"`
	TPOT   [2]float64 `json:"tpot_ms_p50_p99"`
	Mean   float64    `json:"mean_replicas"` // that are paid
	Peak   int        `json:"peak_replicas"`
	Hours  float64    `json:"replica_hours"`
	USD    *float64   `json:"usd"`
	// Regret is how much more is paid than by the oracle, as a share; null where the goal is not kept, or by nobody.
	Regret    *float64      `json:"regret"`
	Changes   int           `json:"changes"`
	Shed      float64       `json:"turned_away"`
	Lost      float64       `json:"cut_off"`
	Evictions int           `json:"evictions,omitempty"`
	Classes   []ClassShare  `json:"classes,omitempty"`
	Swings    *Swings       `json:"oscillates,omitempty"`
	Parts     []PartFigures `json:"parts"`
	Error     string        `json:"error,omitempty"`

	replay   *scale.Replay
	schedule []int
}

// ClassShare is the outcome for requests of a priority.
type ClassShare struct {
	Kept float64 `json:"kept"`
	Shed float64 `json:"turned_away"`
}

// Swings counts replicas that a policy repeatedly adds and removes.
type Swings struct {
	Period  float64 `json:"period_s"`
	Turns   int     `json:"turns"`
	From    int     `json:"from"`
	To      int     `json:"to"`
	Begin   float64 `json:"begin_s"`
	Seconds float64 `json:"s"`
}

// PartFigures are a part of the load.
type PartFigures struct {
	Ready  float64 `json:"ready"`
	Billed float64 `json:"paid"`
	Kept   float64 `json:"kept"`
}

// Run replays a load. Request is a sim request with its lengths and goal.
func Run(ctx context.Context, asker *memwall.Asker, r *memwall.Request, asked *Asked,
	open func(string) (io.ReadCloser, error)) (*ScalingReport, error) {
	if err := checkAsked(r, asked); err != nil {
		return nil, err
	}
	contenders, err := contenders(asked.Policies)
	if err != nil {
		return nil, err
	}
	load, err := readLoad(r, asked, open)
	if err != nil {
		return nil, loadError(asked.Load, err)
	}
	r.Workload.Rate, r.Workload.Arrivals = 1, "poisson"
	r.MaxQueued = plan.Int(asked.Queue)
	curve, answer, err := asker.Curve(ctx, r)
	if err != nil {
		return nil, err
	}
	out := newReport(answer, load, asked)
	if curve == nil {
		return out, nil
	}
	f := &field{r: r, asked: asked, load: load, curve: curve, contenders: contenders}
	if err := out.play(ctx, f); err != nil || !asked.Play {
		return out, err
	}
	out.Played, err = f.oneByOne(ctx, asker, out)
	return out, err
}

func checkAsked(r *memwall.Request, asked *Asked) error {
	bad := func(field, value, message, hint string) error {
		return &memwall.Error{Code: memwall.BadField, Field: field, Value: value, Message: message, Hint: hint}
	}
	w := r.Workload
	switch {
	case asked.Load == "":
		return bad("load", "", "whose load is not said", "--load day.csv, --load 2,1,1,4,9,8 or --load recording.jsonl")
	case w.Rate > 0 || w.Concurrency > 0 || w.Trace != "" || w.DurationS > 0 || w.Sessions != nil:
		return bad("load", asked.Load, "rate, users, trace, duration and turns are of a simulation: the load says when requests arrive",
			"--load, --prompt and --output")
	case r.Goal == nil || len(r.Goal.TTFT)+len(r.Goal.TPOT) == 0:
		return bad("goal", "", "no bound says what is to be kept", "--ttft 1s --tpot 50ms")
	case asked.Most < max(1, asked.Least):
		return bad("max", fmt.Sprint(asked.Most), fmt.Sprintf("--max %d is below --min %d", asked.Most, asked.Least), "--min 1 --max 16")
	}
	for _, by := range []map[string]float64{r.Goal.TTFT, r.Goal.TPOT} {
		if len(by) > 1 {
			return bad("goal", "", "a replay counts requests within one bound each", "--ttft 1s --attainment 99%")
		}
	}
	return nil
}

// readLoad from where it is said: a list, a recording or a table.
func readLoad(r *memwall.Request, asked *Asked, open func(string) (io.ReadCloser, error)) (*scale.Load, error) {
	name := asked.Load
	if !strings.ContainsAny(name, "/\\") && strings.Trim(name, "0123456789.,ekM+- ") == "" {
		return List(name)
	}
	f, err := open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	text := bufio.NewReader(f)
	if head, _ := text.Peek(len(recordingHead)); string(head) != recordingHead {
		return Table(text)
	}
	mean := meanOf(&r.Workload.Output)
	if mean <= 0 {
		return nil, fault.New("a recording has tokens per second, but not how many an answer has", "--output 300")
	}
	return Recording(name, mean)
}

// recordingHead is what a recording of watch begins with.
const recordingHead = `{"recording":"memwall-watch`

func meanOf(l *workload.Law) float64 {
	switch {
	case l.Mean > 0:
		return l.Mean
	case len(l.Values) > 0:
		sum := 0.0
		for _, x := range l.Values {
			sum += x
		}
		return sum / float64(len(l.Values))
	}
	return (l.Min + l.Max) / 2
}

func loadError(name string, err error) error {
	var f *fault.Error
	switch {
	case errors.As(err, &f):
		return &memwall.Error{Code: memwall.BadFile, Field: "load", Value: name, Message: "--load: " + f.Error(), Hint: f.Fix}
	case memwall.AsError(err).Code != memwall.Internal:
		return err
	}
	return &memwall.Error{Code: memwall.BadFile, Field: "load", Value: name,
		Message: fmt.Sprintf("--load %s cannot be read: %v", name, err), Hint: "a file of times and rates, or a list of rates: 2,1,1,4,9,8"}
}

func newReport(a *memwall.Answer, l *scale.Load, asked *Asked) *ScalingReport {
	sum := 0.0
	for _, x := range l.Rates {
		sum += x
	}
	out := &ScalingReport{Schema: memwall.Schema, Version: memwall.Version, Model: a.Model.ID, Name: a.Model.Name,
		Hardware: a.Plan.Hardware,
		Devices:  a.Plan.Devices, Engine: a.Plan.Engine, Verdict: a.Verdict, Least: asked.Least, Most: asked.Most,
		Notes: a.Notes, answer: a,
		Load: LoadFigures{Seconds: l.Seconds(), Part: l.Part, Requests: sum * l.Part, Mean: sum / float64(len(l.Rates)),
			Peak: l.Peak(), Rates: l.Rates}}
	if len(a.Devices) > 0 {
		out.Device = a.Devices[0].Name
	}
	out.Start.Parts = startParts(a, asked.Node)
	if asked.Start > 0 {
		out.Start.Parts = []StartPart{{"all", asked.Start, asked.Start, asked.Start, "given", "--start"}}
	}
	out.Start.Seconds, out.Start.Low, out.Start.High = startSeconds(out.Start.Parts)
	out.Replica.USD = memwall.PerHour(a.Plan.Hardware, a.Plan.Devices)
	if usd := out.Replica.USD; usd != nil && asked.Evicted > 0 {
		spot := *usd * asked.SpotPrice
		out.Replica.USD = &spot
	}
	return out
}
