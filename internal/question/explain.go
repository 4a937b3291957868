package question

import (
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/speed"
)

// Explainer collects how numbers were computed, by JSON pointer. A nil Explainer collects nothing.
type Explainer struct {
	Book *ledger.Book
	Out  map[string]api.Explain
	// Timing holds the formulas of the parts of a step; assumed reports that no measurement supports them.
	Timing []speed.Formula
	// Nearest describes the closest measured runs.
	Nearest string
	Assumed bool
}

func (x *Explainer) item(at string, it *ledger.Item, f ledger.Formula) {
	if x == nil {
		return
	}
	e := Explanation(f, float64(it.Bytes), it.Basis)
	e.Unit, e.Low, e.High, e.Source = "B", float64(it.Low), float64(it.High), it.Source
	x.Out[at+"/bytes"] = e
	x.bound(at+"/low_bytes", float64(it.Low), it)
	x.bound(at+"/high_bytes", float64(it.High), it)
}

// bound explains an edge of a band.
func (x *Explainer) bound(at string, v float64, it *ledger.Item) {
	x.Out[at] = api.Explain{Value: v, Unit: "B", Low: v, High: v, Basis: it.Basis, Formula: ledger.Number(v),
		Source: "90 % band of " + it.ID}
}

// Explanation converts a recorded formula to that of an answer.
func Explanation(f ledger.Formula, v float64, basis ledger.Basis) api.Explain {
	e := api.Explain{Value: v, Low: v, High: v, Basis: basis, Formula: f.Text, Tokens: f.Tokens}
	if e.Formula == "" {
		e.Formula = ledger.Number(v)
	}
	for _, i := range f.Inputs {
		e.Inputs = append(e.Inputs, api.ExplainInput{Name: i.Name, Value: i.Value, Origin: i.Origin})
	}
	return e
}

func (x *Explainer) num(at string, n ledger.Num, basis ledger.Basis) {
	if x == nil {
		return
	}
	e := Explanation(x.Book.Formula(n), float64(n.Bytes()), basis)
	e.Unit = "B"
	x.Out[at] = e
}

// total explains sums over a ledger: bytes add, bands add in quadrature.
func (x *Explainer) total(at string, t ledger.Total, items []api.Item) {
	if x == nil {
		return
	}
	var terms []string
	e := api.Explain{Value: float64(t.Bytes), Unit: "B", Low: float64(t.Low), High: float64(t.High), Basis: t.Basis,
		Source: "sum of the ledger"}
	seen := map[string]int{}
	for _, it := range items {
		if it.ID == "pool_unused" {
			continue
		}
		name := it.ID
		if seen[it.ID]++; seen[it.ID] > 1 {
			name += "_" + strconv.Itoa(seen[it.ID])
		}
		terms = append(terms, name)
		e.Inputs = append(e.Inputs, api.ExplainInput{Name: name, Value: float64(it.Bytes), Origin: it.Name})
	}
	e.Formula = strings.Join(terms, " + ")
	x.Out[at+"/needed_bytes"] = e
}

// Rest adds an entry for every remaining number of the answer: given, defaulted, or counted.
func (x *Explainer) Rest(a *api.Answer) {
	x.walk("", reflect.ValueOf(a).Elem())
}

func (x *Explainer) walk(at string, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			x.walk(at, v.Elem())
		}
	case reflect.Struct:
		x.fields(at, v)
	case reflect.Slice:
		for i := range v.Len() {
			x.walk(at+"/"+strconv.Itoa(i), v.Index(i))
		}
	case reflect.Int, reflect.Int64:
		x.addNumber(at, float64(v.Int()))
	case reflect.Float64:
		x.addNumber(at, v.Float())
	}
}

func (x *Explainer) fields(at string, v reflect.Value) {
	t := v.Type()
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous || f.Tag.Get("inline") == "true" {
			x.walk(at, v.Field(i))
			continue
		}
		name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" || strings.Contains(opts, "omitempty") && v.Field(i).IsZero() {
			continue
		}
		x.walk(at+"/"+name, v.Field(i))
	}
}

// addNumber explains a plain number by itself; its origin follows from its place in the answer.
func (x *Explainer) addNumber(at string, v float64) {
	if _, ok := x.Out[at]; ok || x.simulated(at, v) {
		return
	}
	x.Out[at] = api.Explain{Value: v, Low: v, High: v, Basis: basisOf(at), Formula: ledger.Number(v), Unit: unitOf(at),
		Source: sourceOf(at)}
}

// played are the places of simulation results.
var played = []string{"/requests", "/throughput", "/ttft_ms", "/tpot_ms", "/itl_ms", "/e2e_ms", "/wait_ms", "/goodput", "/goal_share",
	"/series", "/quantiles", "/versus", "/low", "/high", "/simulated_s", "/prompt_share", "/diverges_at_s", "/holds_requests_per_s"}

// simulated explains numbers counted during the simulation, by the engine's rules and step times.
func (x *Explainer) simulated(at string, v float64) bool {
	if !slices.ContainsFunc(played, func(p string) bool { return strings.HasPrefix(at, p) }) {
		return false
	}
	unit := ""
	switch {
	case strings.Contains(at, "_ms"):
		unit = "ms"
	case strings.HasSuffix(at, "_per_s"), strings.HasSuffix(at, "goodput"):
		unit = "1/s"
	case strings.HasSuffix(at, "_s"):
		unit = "s"
	}
	x.Out[at] = api.Explain{Value: v, Low: v, High: v, Basis: ledger.Derived, Formula: ledger.Number(v), Unit: unit, Source: SimulatedBy}
	return true
}

const SimulatedBy = "simulated: docs/guides/serve-users.md"

func basisOf(at string) ledger.Basis {
	for _, p := range []string{"/rungs", "/kv", "/prints", "/fits_on"} {
		if strings.HasPrefix(at, p) {
			return ledger.Derived
		}
	}
	return ledger.Exact
}

func unitOf(at string) string {
	switch {
	case strings.HasSuffix(at, "_bytes"):
		return "B"
	case strings.Contains(at, "token") || strings.HasSuffix(at, "context"):
		return "tokens"
	}
	return ""
}

func sourceOf(at string) string {
	switch {
	case strings.HasPrefix(at, "/plan"):
		return "request, or its default (see notes)"
	case strings.HasPrefix(at, "/model"):
		return "counted over the tensors"
	case strings.HasPrefix(at, "/rungs"), strings.HasPrefix(at, "/kv"):
		return "the same plan at another load"
	case strings.HasPrefix(at, "/prints"):
		return "the engine's own rule, in its own unit"
	}
	return "ledger"
}

// Rounded rounds a figure to the digits that answers show.
func Rounded(x float64) *float64 {
	if x > 0 && !math.IsInf(x, 0) {
		scale := math.Pow10(3 - int(math.Floor(math.Log10(x))))
		x = math.Round(x*scale) / scale
	}
	return &x
}

// Ratio returns b / a; nil if either is unknown or a is 0.
func Ratio(a, b *float64) *float64 {
	if a == nil || b == nil || *a == 0 {
		return nil
	}
	return Rounded(*b / *a)
}
