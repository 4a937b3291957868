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

// OutlineAnswer returns the part of an answer that suggestions depend on, without how fast it is.
func OutlineAnswer(q *question.Question, ranks []engine.Rank) *api.Answer {
	question.DecidingFirst(ranks)
	return &api.Answer{Plan: q.Plan(), Verdict: q.Verdict(ranks),
		Devices: []api.Device{{Needed: ranks[0].Needed().Bytes, Headroom: question.Headroom(&ranks[0])}},
		Host:    &api.Memory{Needed: question.HostNeeds(q.Job, ranks).Bytes}}
}

// SameModelEnv returns an Env for further questions about the question's model that does not resolve it again, which may mean
// reading files.
func SameModelEnv(q *question.Question) *question.Env {
	a := q.Env.Remembering()
	a.Memo.Models[q.Request.Model] = q.Resolved
	return a
}

const MaxSuggestions = 6

// Setting is a value of an axis: its description, alone and among others, what it sets, and its price apart from time, in points of
// internal/planner/price.go.
type Setting struct {
	Words string
	Short string
	Set   func(*api.Request)
	Price float64
}

// PatchOf returns the JSON merge patch from one request to another, ignoring whether numbers are explained.
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

// PriceOfMoreDevices is the price of doubling the number of devices.
const PriceOfMoreDevices = 50

// HardwareOfKind returns the name of n devices of the plan's kind, with the same host, link and fabric.
func HardwareOfKind(q *question.Question, n int) string {
	to := HardwareName(n, q.Job.Machine.Groups[0].Device.ID)
	if device, keys, ok := strings.Cut(q.Request.Hardware, ","); ok && !strings.Contains(device, "=") {
		to += "," + keys
	}
	return to
}

// unchanged compares two values of a field, dereferencing different pointers.
func unchanged(a, b reflect.Value) bool {
	return a.Comparable() && a.Equal(b) || !plainKinds[a.Kind()] && reflect.DeepEqual(a.Interface(), b.Interface())
}

// Untyped returns a value without its named type.
func Untyped(v reflect.Value) any {
	if v.CanInt() {
		return v.Int()
	}
	return v.Interface()
}

// PriceOfDoubling is the price of an answer that takes twice as long, by objective.
var PriceOfDoubling = map[string]float64{"": 4, "quality_loss": 0.5, "latency": 30, "cost": 4, "devices": 4}

// PriceNearlyFree is the price of a nearly free change: fewer concurrent sequences, smaller steps, less slack.
const PriceNearlyFree = 0.1

// TimedAnswer returns the part of an answer that its price depends on: how long users wait.
func TimedAnswer(q *question.Question, ranks []engine.Rank) *api.Answer {
	question.DecidingFirst(ranks)
	q.Brief = true
	return &api.Answer{Plan: &q.Request, Speed: timing.Speed(q, question.KV(&ranks[0].KV))}
}

// HardwareName returns the name of n devices of an id.
func HardwareName(n int, id string) string {
	if n == 1 {
		return id
	}
	return fmt.Sprintf("%dx%s", n, id)
}

// plainKinds are the kinds of values that are equal only if Equal reports so.
var plainKinds = map[reflect.Kind]bool{reflect.String: true, reflect.Bool: true, reflect.Int64: true, reflect.Float64: true}
