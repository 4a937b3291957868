package memwall

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/speed"
)

// explainer collects how numbers were made, by JSON pointer. A nil one collects nothing.
type explainer struct {
	book *ledger.Book
	out  map[string]Explain
	// timing are the formulas of the parts of a step; assumed: no measurement is behind them.
	timing  []speed.Formula
	assumed bool
}

func (x *explainer) item(at string, it *ledger.Item, f ledger.Formula) {
	if x == nil {
		return
	}
	e := explanation(f, float64(it.Bytes), it.Basis)
	e.Unit, e.Low, e.High, e.Source = "B", float64(it.Low), float64(it.High), it.Source
	x.out[at+"/bytes"] = e
	x.bound(at+"/low_bytes", float64(it.Low), it)
	x.bound(at+"/high_bytes", float64(it.High), it)
}

// bound explains an edge of a band.
func (x *explainer) bound(at string, v float64, it *ledger.Item) {
	x.out[at] = Explain{Value: v, Unit: "B", Low: v, High: v, Basis: it.Basis, Formula: ledger.Number(v), Source: "90 % band of " + it.ID}
}

func explanation(f ledger.Formula, v float64, basis ledger.Basis) Explain {
	e := Explain{Value: v, Low: v, High: v, Basis: basis, Formula: f.Text, Tokens: f.Tokens}
	if e.Formula == "" {
		e.Formula = ledger.Number(v)
	}
	for _, i := range f.Inputs {
		e.Inputs = append(e.Inputs, ExplainInput{Name: i.Name, Value: i.Value, Origin: i.Origin})
	}
	return e
}

func (x *explainer) num(at string, n ledger.Num, basis ledger.Basis) {
	if x == nil {
		return
	}
	e := explanation(x.book.Formula(n), float64(n.Bytes()), basis)
	e.Unit = "B"
	x.out[at] = e
}

// total explains sums over a ledger: bytes add, bands add in quadrature.
func (x *explainer) total(at string, t ledger.Total, items []Item) {
	if x == nil {
		return
	}
	var terms []string
	e := Explain{Value: float64(t.Bytes), Unit: "B", Low: float64(t.Low), High: float64(t.High), Basis: t.Basis, Source: "sum of the ledger"}
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
		e.Inputs = append(e.Inputs, ExplainInput{Name: name, Value: float64(it.Bytes), Origin: it.Name})
	}
	e.Formula = strings.Join(terms, " + ")
	x.out[at+"/needed_bytes"] = e
}

// rest gives every remaining number of the answer an entry: what was given, taken by default, or counted.
func (x *explainer) rest(a *Answer) {
	x.walk("", reflect.ValueOf(a).Elem())
}

func (x *explainer) walk(at string, v reflect.Value) {
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
		x.plain(at, float64(v.Int()))
	case reflect.Float64:
		x.plain(at, v.Float())
	}
}

func (x *explainer) fields(at string, v reflect.Value) {
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

// plain numbers are their own formula; where they come from follows from the place they stand in.
func (x *explainer) plain(at string, v float64) {
	if _, ok := x.out[at]; ok || x.simulated(at, v) {
		return
	}
	x.out[at] = Explain{Value: v, Low: v, High: v, Basis: basisOf(at), Formula: ledger.Number(v), Unit: unitOf(at), Source: sourceOf(at)}
}

// played are the places of what a simulation found.
var played = []string{"/requests", "/throughput", "/ttft_ms", "/tpot_ms", "/itl_ms", "/e2e_ms", "/wait_ms", "/goodput", "/goal_share", "/series", "/quantiles", "/versus", "/low", "/high", "/simulated_s", "/prompt_share", "/diverges_at_s", "/holds_requests_per_s"}

// simulated numbers are counted while requests are played, by the engine's rules and with its steps' times.
func (x *explainer) simulated(at string, v float64) bool {
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
	x.out[at] = Explain{Value: v, Low: v, High: v, Basis: ledger.Derived, Formula: ledger.Number(v), Unit: unit, Source: simulatedBy}
	return true
}

const simulatedBy = "simulated: docs/guides/serve-users.md"

// times of requests are percentiles of what was played, and their band what both edges of the time of a step gave.
func (x *explainer) times(v *Simulated) {
	for _, t := range []struct {
		at             string
		mid, low, high *Percentiles
	}{{"/wait_ms", v.Wait, nil, nil}, {"/ttft_ms", v.TTFT, v.Low.first(), v.High.first()}, {"/tpot_ms", v.TPOT, v.Low.token(), v.High.token()}, {"/itl_ms", v.ITL, nil, nil}, {"/e2e_ms", v.E2E, v.Low.whole(), v.High.whole()}} {
		if t.mid == nil {
			continue
		}
		for _, p := range percentileNames {
			e := Explain{Value: p.of(t.mid), Low: p.of(t.mid), High: p.of(t.mid), Unit: "ms", Basis: ledger.Derived, Formula: p.words + " gaps", Source: simulatedBy}
			if t.mid != v.ITL {
				e.Formula = p.words + " requests"
				e.Inputs = []ExplainInput{{Name: "requests", Value: float64(v.Requests.Finished), Origin: "played to their end"}}
			}
			if t.low != nil && t.high != nil {
				e.Low, e.High = min(e.Value, p.of(t.low)), max(e.Value, p.of(t.high))
			}
			x.out[t.at+"/"+p.name] = e
		}
	}
}

// percentileNames are those of an answer, and what they are in words.
var percentileNames = []struct {
	name, words string
	of          func(*Percentiles) float64
}{
	{"mean", "mean of", func(p *Percentiles) float64 { return p.Mean }}, {"p50", "50th percentile of", func(p *Percentiles) float64 { return p.P50 }},
	{"p90", "90th percentile of", func(p *Percentiles) float64 { return p.P90 }}, {"p99", "99th percentile of", func(p *Percentiles) float64 { return p.P99 }},
}

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
