// Package change holds what single changes of a plan share: settings and their prices, patches, and re-evaluating the
// changed plan without resolving its model again.
package change

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/internal/timing"
)

// OutlineAnswer is as much of an answer as suggestions rest on.
func OutlineAnswer(q *question.Question, ranks []engine.Rank) *api.Answer {
	a := TimedAnswer(q, ranks)
	a.Plan, a.Verdict = q.Plan(), q.Verdict(ranks)
	a.Devices = []api.Device{{Needed: ranks[0].Needed().Bytes, Headroom: question.Headroom(&ranks[0])}}
	a.Host = &api.Memory{Needed: question.HostNeeds(q.Job, ranks).Bytes}
	return a
}

// SameModelEnv answers further questions about the question's model without resolving it anew, which may mean
// reading files.
func SameModelEnv(q *question.Question) *question.Env {
	a := q.Env.Remembering()
	a.Memo.Models[q.Request.Model] = q.Resolved
	return a
}

const MaxSuggestions = 6

// Setting of an axis: in words, alone and beside others, what it sets, and what it costs beside time, in points of
// internal/planner/price.go.
type Setting struct {
	Words string
	Short string
	Set   func(*api.Request)
	Price float64
}

// PatchOf is the JSON merge patch from one request to another. Whether numbers are explained is no part of a plan.
func PatchOf(from, to *api.Request) map[string]any {
	out := map[string]any{}
	for _, f := range api.Fields() {
		a, b := f.Value(from), f.Value(to)
		switch {
		case f.Name == "explain", unchanged(a, b):
		case b.IsZero():
			out[f.Name] = nil
		case b.Kind() == reflect.Pointer:
			out[f.Name] = Untyped(b.Elem())
		default:
			out[f.Name] = Untyped(b)
		}
	}
	return out
}

// PriceOfMoreDevices is the price of twice as many devices.
const PriceOfMoreDevices = 50

// HardwareOfKind names so many devices of the plan's kind, with the same host, link and fabric.
func HardwareOfKind(q *question.Question, n int) string {
	to := HardwareName(n, q.Job.Machine.Groups[0].Device.ID)
	if device, keys, ok := strings.Cut(q.Request.Hardware, ","); ok && !strings.Contains(device, "=") {
		to += "," + keys
	}
	return to
}

// unchanged compares two values of a field: what pointers lead to, where they differ.
func unchanged(a, b reflect.Value) bool {
	return a.Comparable() && a.Equal(b) || !plainKinds[a.Kind()] && reflect.DeepEqual(a.Interface(), b.Interface())
}

// Untyped is a value without the name of its type.
func Untyped(v reflect.Value) any {
	if v.CanInt() {
		return v.Int()
	}
	return v.Interface()
}

// PriceOfDoubling is the price of an answer that takes twice as long, by what the asker wants least of.
var PriceOfDoubling = map[string]float64{"": 4, "quality_loss": 0.5, "latency": 30, "cost": 4, "devices": 4}

// PriceNearlyFree is the price of a change that is nearly free: fewer sequences at once, smaller steps, less slack.
const PriceNearlyFree = 0.1

// TimedAnswer is as much of an answer as its price rests on: how long users wait.
func TimedAnswer(q *question.Question, ranks []engine.Rank) *api.Answer {
	question.DecidingFirst(ranks)
	q.Brief = true
	return &api.Answer{Plan: &q.Request, Speed: timing.Speed(q, question.KV(&ranks[0].KV))}
}

// HardwareName names so many of a device.
func HardwareName(n int, id string) string {
	if n == 1 {
		return id
	}
	return fmt.Sprintf("%dx%s", n, id)
}

// plainKinds of values are equal only where Equal says so.
var plainKinds = map[reflect.Kind]bool{reflect.String: true, reflect.Bool: true, reflect.Int64: true, reflect.Float64: true}
