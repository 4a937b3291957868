package autoscale

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/desk"
)

// ScalingRequest requests a replay over HTTP or by an agent: the command line's options, with a load in numbers and no files.
type ScalingRequest struct {
	Request memwall.Request `json:"request" doc:"the plan, with the prompts and answers of its workload and the goal, as for sim"`
	Load    []float64       `json:"requests_per_s" doc:"requests a second in equal parts of a day"`

	Policies   []string `json:"policies,omitempty" doc:"hpa, keda, dynamo, llm-d, fixed:N, or expressions; the first four if left out"`
	Target     string   `json:"target,omitempty" doc:"METRIC=X that hpa and keda keep for each replica, not what is best"`
	Attainment *float64 `json:"attainment,omitempty" doc:"share of the day's requests that must keep the goal: 0.99"`
	Least      *int     `json:"min_replicas,omitempty" doc:"replicas at least: 1"`
	Most       *int     `json:"max_replicas,omitempty" doc:"replicas at most: 64"`
	Start      float64  `json:"start_s,omitempty" doc:"seconds until a new replica serves, instead of the prediction"`
	Node       float64  `json:"node_start_s,omitempty" doc:"seconds until a machine for it is there, before that"`
	Scrape     *float64 `json:"metrics_every_s,omitempty" doc:"seconds between two readings of metrics: 15"`
	Grace      *float64 `json:"grace_s,omitempty" doc:"seconds that a replica may finish what it serves: 30"`
	Queue      float64  `json:"queue,omitempty" doc:"requests that may wait in each replica; 0 bounds nothing"`
	Evicted    float64  `json:"evictions_per_hour,omitempty" doc:"evictions an hour of a replica on spot machines"`
	Notice     *float64 `json:"notice_s,omitempty" doc:"seconds before an eviction at which it is told: 120"`
	SpotPrice  *float64 `json:"spot_price,omitempty" doc:"what spot machines cost, as a share of the price: 1"`
}

// Bounds of what programs may ask for.
const mostPolicies, mostAskedParts = 16, 24 * 60

// Decode reads a ScalingRequest; the error is a *memwall.Error that names the field.
func Decode(text []byte) (*ScalingRequest, error) {
	var raw struct {
		Request json.RawMessage `json:"request"`
		ScalingRequest
	}
	if err := desk.Strict(text, &raw, `{"request":{…},"requests_per_s":[2,1,4,9]}`); err != nil {
		return nil, err
	}
	if len(raw.Request) == 0 {
		return nil, requestFault("request", "", "no plan is asked for",
			`"request":{"model":"llama-3.1-8b","hardware":"h100","workload":{…},"goal":{…}}`)
	}
	r, err := memwall.Decode(raw.Request)
	if err != nil {
		return nil, err
	}
	if r.Ask != "" && r.Ask != "sim" {
		return nil, requestFault("request.ask", r.Ask, "the plan is asked as for sim", "leave ask out")
	}
	raw.ScalingRequest.Request = *r
	return &raw.ScalingRequest, nil
}

func requestFault(field, value, message, hint string) *memwall.Error {
	return &memwall.Error{Code: memwall.BadField, Field: field, Value: value, Message: field + ": " + message, Hint: hint}
}

// Answer replays what is asked.
func (q *ScalingRequest) Answer(ctx context.Context, asker *memwall.Asker) (*ScalingReport, error) {
	a, err := q.asked()
	if err != nil {
		return nil, err
	}
	r := q.Request
	r.Ask = "sim"
	if r.Workload == nil {
		return nil, requestFault("request.workload", "", "the lengths of requests are missing",
			`"workload":{"prompt":{"mean":1500},"output":{"mean":300}}`)
	}
	return Run(ctx, asker, &r, a, func(string) (io.ReadCloser, error) { return nil, io.ErrUnexpectedEOF })
}

// asked is the same in the words of the command line, checked as its words are.
func (q *ScalingRequest) asked() (*Asked, error) {
	a := Usual()
	if n := len(q.Load); n < 2 || n > mostAskedParts {
		return nil, requestFault("requests_per_s", fmt.Sprint(n), fmt.Sprintf("%d parts of a day are not from 2 to %d", n, mostAskedParts),
			"[2,1,4,9]")
	}
	if len(q.Policies) > mostPolicies {
		return nil, requestFault("policies", fmt.Sprint(len(q.Policies)), fmt.Sprintf("more than %d", mostPolicies), "fewer")
	}
	words := make([]string, len(q.Load))
	for i, x := range q.Load {
		words[i] = fmt.Sprint(x)
	}
	a.Load, a.Policies, a.Target = strings.Join(words, ","), q.Policies, q.Target
	a.Start, a.Node, a.Queue, a.Evicted = q.Start, q.Node, q.Queue, q.Evicted
	for _, p := range []struct {
		field    string
		from, to *float64
		most     float64
	}{{"attainment", q.Attainment, &a.Attainment, 1},
		{"metrics_every_s", q.Scrape, &a.Scrape, 86400}, {"grace_s", q.Grace, &a.Grace, 86400},
		{"notice_s", q.Notice, &a.Notice, 86400}, {"spot_price", q.SpotPrice, &a.SpotPrice, 1}, {"start_s", &q.Start, &a.Start, 86400},
		{"node_start_s", &q.Node, &a.Node, 86400}, {"queue", &q.Queue, &a.Queue, 1e9}, {"evictions_per_hour", &q.Evicted, &a.Evicted, 60}} {
		if p.from == nil {
			continue
		}
		if !(*p.from >= 0 && *p.from <= p.most) {
			return nil, requestFault(p.field, fmt.Sprint(*p.from), fmt.Sprintf("not from 0 to %g", p.most), "leave it out")
		}
		*p.to = *p.from
	}
	for _, p := range []struct {
		field string
		from  *int
		to    *int
	}{{"min_replicas", q.Least, &a.Least}, {"max_replicas", q.Most, &a.Most}} {
		if p.from == nil {
			continue
		}
		if *p.from < 0 || *p.from > mostAsked {
			return nil, requestFault(p.field, fmt.Sprint(*p.from), fmt.Sprintf("not from 0 to %d", mostAsked), "leave it out")
		}
		*p.to = *p.from
	}
	return a, nil
}

// mostAsked replicas.
const mostAsked = 4096
