package rows

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/stat"
)

// key is what rows and answers are matched by.
type key struct{ model, weights, hardware, engine string }

func (r *Row) key() key { return keyOf(r.plan.Model, r.plan) }

func keyOf(model string, p *api.Request) key {
	return key{modelKey(model), weightsKey(p.Weights), hardwareKey(p.Hardware, p.Devices), engineKey(p.Engine)}
}

func modelKey(name string) string {
	if r, err := (memwall.Catalog{}).Model(name); err == nil {
		return r.ID
	}
	return strings.ToLower(name)
}

func weightsKey(s string) string {
	if r := dtype.FindRecipe(s); r != nil {
		return r.Name
	}
	return strings.ToLower(s)
}

// hardwareKey is a machine as counts and ids of devices: "2xh100-sxm-80gb".
func hardwareKey(text string, devices int64) string {
	m, _, err := hardware.Parse(text, int(devices))
	if err != nil {
		return text
	}
	var words []string
	for i := range m.Groups {
		words = append(words, countOf(m.Groups[i].Count)+m.Groups[i].Device.ID)
	}
	slices.Sort(words)
	return strings.Join(words, "+")
}

func countOf(n int) string {
	if n == 1 {
		return ""
	}
	return strconv.Itoa(n) + "x"
}

// engineKey is the engine without its version; programs of llama.cpp are one.
func engineKey(s string) string {
	name, _, _ := strings.Cut(s, "@")
	if name == "llama-server" {
		return "llama.cpp"
	}
	return name
}

// Evidence answers what a store's rows say about answers.
type Evidence struct {
	rows     []*Row
	keys     []key
	doubtful map[[2]int]bool
}

var _ api.Evidence = (*Evidence)(nil)

// NewEvidence judges rows and returns their Evidence.
func NewEvidence(rows []*Row) *Evidence {
	e := &Evidence{rows: rows, doubtful: map[[2]int]bool{}}
	for _, r := range rows {
		e.keys = append(e.keys, r.key())
	}
	for _, d := range Judge(rows) {
		e.doubtful[[2]int{d.Row, d.Figure}] = true
	}
	return e
}

// Measured says what was measured of the model of an answer on its devices; nil where nothing was.
func (e *Evidence) Measured(a *api.Answer) *api.Measured {
	if a.Plan == nil || a.Model == nil {
		return nil
	}
	want := keyOf(a.Model.ID, a.Plan)
	out, ratios := &api.Measured{}, map[string][]float64{}
	for at, k := range e.keys {
		if k.hardware != want.hardware || k.engine != want.engine {
			continue
		}
		if k.model != want.model || k.weights != want.weights {
			out.OtherRows++
			continue
		}
		out.Rows++
		e.count(at, out, ratios)
	}
	if out.Rows+out.OtherRows == 0 {
		return nil
	}
	for _, kind := range kinds {
		if x := ratios[kind]; len(x) > 0 {
			out.Ratios = append(out.Ratios, api.MeasuredRatio{Kind: kind, Figures: len(x), Median: math.Exp(stat.Median(x)),
				Low: math.Exp(slices.Min(x)), High: math.Exp(slices.Max(x))})
		}
	}
	return out
}

// kinds of figures in the order in which they are told.
var kinds = []string{kindMemory, "prefill", "decode", "mixed", "ttft", "tpot", "output", "latency", "throughput"}

// count the figures of a row: those in quarantine by their number alone.
func (e *Evidence) count(at int, out *api.Measured, ratios map[string][]float64) {
	for i := range e.rows[at].Figures {
		f := &e.rows[at].Figures[i]
		x, ok := f.Ratio()
		switch {
		case !ok || f.Kind() == "":
		case e.doubtful[[2]int{at, i}]:
			out.Quarantined++
		default:
			ratios[f.Kind()] = append(ratios[f.Kind()], math.Log(x))
		}
	}
}
