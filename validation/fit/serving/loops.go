package main

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall/speed/coef"
	"github.com/memwall/memwall/speed/serving"
	"github.com/memwall/memwall/validation"
	"github.com/memwall/memwall/validation/kernels"
)

// servingRow is a run at fixed concurrency beside our model of it.
type servingRow struct {
	*validation.Row
	model     loop
	load      serving.Load
	device    string
	saturated bool
	fit       bool
	static    bool
	early     bool // of an engine of another era
}

type servingRows struct{ rows []*servingRow }

func loadServing() (*servingRows, error) {
	sets, err := validation.Load()
	if err != nil {
		return nil, err
	}
	batches, err := validation.Batches()
	if err != nil {
		return nil, err
	}
	sets = append(sets, batches...)
	out, p := &servingRows{}, newPlans()
	for i := range sets {
		if sets[i].Name != "serving" && sets[i].Name != "static" {
			continue
		}
		for j := range sets[i].Rows {
			r := &sets[i].Rows[j]
			if r.Refused != "" {
				continue
			}
			m, err := p.loop(&r.Ask, empty)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", r.Name(), err)
			}
			row := &servingRow{Row: r, model: m, fit: r.Fit, static: sets[i].Name == "static", early: early(&r.Ask)}
			if row.device, err = deviceOf(&r.Ask); err != nil {
				return nil, fmt.Errorf("%s: %w", r.Name(), err)
			}
			row.load = serving.Load{Users: int64(r.Ask.Sequences), Prompt: int64(r.Ask.PromptTokens), Output: int64(r.Ask.OutputTokens),
				Burst: true, Requests: r.Requests, Alike: r.Alike}
			row.saturated = m.Saturated(row.load)
			out.rows = append(out.rows, row)
		}
	}
	return out, nil
}

// figure of a row: its name in the row, what it counts, and one unit of the row in seconds.
type figure struct {
	kind, got              string
	weight, saturate, unit float64
}

var (
	looped  = []figure{{serving.SpreadPerToken, "tpot_ms", 1, 0.3, 1e-3}, {serving.SpreadFirst, "ttft_ms", 0.4, 0, 1e-3}}
	batched = []figure{{serving.SpreadPerToken, "tpot_ms", 0.5, 0.2, 1e-3}, {serving.SpreadFirst, "ttft_ms", 0.2, 0.1, 1e-3},
		{"total", "e2e_s", 0.5, 0.2, 1}}
)

func (r *servingRow) figures() []figure {
	if r.static {
		return batched
	}
	return looped
}

// predict a figure with coefficients.
func (r *servingRow) predict(m loop, kind string) float64 {
	if r.static {
		w := m.(joint).Static(r.load)
		return map[string]float64{serving.SpreadPerToken: w.PerToken, serving.SpreadFirst: w.First, "total": w.Total}[kind]
	}
	c := m.Mean(r.load)
	return map[string]float64{serving.SpreadPerToken: c.PerToken, serving.SpreadFirst: c.First}[kind]
}

func (r *servingRow) slopes(m loop, kind string) []float64 {
	if r.static {
		_, first, perToken, total := m.(joint).StaticElasticities(r.load)
		return map[string][]float64{serving.SpreadPerToken: perToken, serving.SpreadFirst: first, "total": total}[kind]
	}
	_, e := m.Elasticities(r.load)
	return map[string][]float64{serving.SpreadPerToken: e.PerToken, serving.SpreadFirst: e.First}[kind]
}

// penalty weighs the priors of whole engines against their rows, which are many for few plans.
const penalty = 3

// fit adds what whole engines take to a table of kernels.
func (s *servingRows) fit(known *coef.Table, out func(r *servingRow) bool) (*coef.Table, error) {
	p := &coef.Problem{Start: start, Sigma: sigmas(), Known: known, Scale: 0.12, Penalty: penalty, Enough: 1e-6}
	for _, r := range s.rows {
		if !r.fit || out != nil && out(r) {
			continue
		}
		for _, f := range r.figures() {
			w := f.weight
			if r.saturated {
				w *= f.saturate
			}
			if v, ok := r.Got[f.got]; ok && w > 0 {
				p.Rows = append(p.Rows, coef.Row{Name: r.Name() + " " + f.kind, Uses: r.model.Uses(), Measured: v.Mid * f.unit, Weight: w,
					Predict: func(c []float64) float64 { return r.predict(r.model.at(c), f.kind) },
					Slopes:  func(c []float64) []float64 { return r.slopes(r.model.at(c), f.kind) }})
			}
		}
	}
	return p.Solve()
}

// predict gives the closed loop of the rows that are chosen.
func (s *servingRows) predict(t *coef.Table, chosen func(r *servingRow) bool) map[*servingRow]left {
	out := map[*servingRow]left{}
	for _, r := range s.rows {
		if chosen == nil || chosen(r) {
			r.model.Use(t)
			l := left{figures: map[string]float64{}, vars: map[string]float64{}}
			for _, f := range r.figures() {
				if _, ok := r.Got[f.got]; ok {
					l.figures[f.kind], l.vars[f.kind] = r.predict(r.model, f.kind), r.model.Variance(r.slopes(r.model, f.kind))
				}
			}
			if !r.static {
				c, e := r.model.Elasticities(r.load)
				l.figures[serving.SpreadThroughput], l.vars[serving.SpreadThroughput] = c.Throughput, r.model.Variance(e.Throughput)
			}
			out[r] = l
		}
	}
	return out
}

// network is the model of a row; DeepSeek V3 and R1 are one network.
func network(r *servingRow) string {
	if strings.HasPrefix(r.Ask.Model, "deepseek-") {
		return "deepseek"
	}
	return r.Ask.Model
}

// fold is a way to leave rows out in groups.
type fold struct {
	name string
	key  func(r *servingRow) string
	k    int
	// hardware: kernels of the device are left out too. static: the rows are static batches; else these, of old
	// engines, take no part.
	hardware, static bool
}

func pairing(r *servingRow) string { return network(r) + " " + r.device }

// unseen are the folds that bands rest on: what a model does on a device left out as a whole, and whole models.
var unseen = []fold{
	{name: "plan out", key: pairing, k: 4},
	{name: "model out", key: network, k: 4},
}

// siblings is the fold of bands where a model was measured on a device with an engine: one way to place it there, with lengths of its
// own, left out while others of it stay. What has no other stays in no fit of this fold.
var siblings = fold{name: "server out", key: func(r *servingRow) string {
	p := &r.Ask.Plan
	return fmt.Sprint(network(r), r.device, r.Ask.Engine, r.Ask.Weights, r.Ask.Hardware, p.TP, p.PP, p.EP, p.DP, p.Disaggregated != nil,
		r.load.Prompt, r.load.Output)
}, k: 4}

// wholesale are further folds of a study.
var wholesale = []fold{
	{name: "device out", key: func(r *servingRow) string { return r.device }, k: 5, hardware: true},
	{name: "plan out", key: pairing, k: 4, static: true},
}

// waves are the kinds of rows in the order in which their keys are shared out: a kind that comes to be known leaves the
// folds of those before it as they are.
const waves = 3

// wave of a row: plans with workers of two kinds after those of one kind, static batches of today's engines last.
func (r *servingRow) wave() int {
	switch {
	case r.static && !r.early:
		return 2
	case r.Ask.Disaggregated != nil:
		return 1
	}
	return 0
}

// groups of keys that are left out together. Rows of a later wave go with those before that have their key.
func (s *servingRows) groups(f fold) []map[string]bool {
	out := make([]map[string]bool, f.k)
	known := map[string]bool{}
	for wave := range waves {
		var keys []string
		for _, r := range s.rows {
			if k := f.key(r); r.wave() == wave && !known[k] {
				keys = append(keys, k)
			}
		}
		for g, members := range coef.Folds(len(keys), func(i int) string { return keys[i] }, f.k) {
			if out[g] == nil {
				out[g] = map[string]bool{}
			}
			for _, i := range members {
				out[g][keys[i]], known[keys[i]] = true, true
			}
		}
	}
	return out
}

func (s *servingRows) outOfFold(k *kernelRows, known *coef.Table, f fold) (map[*servingRow]left, error) {
	all := map[*servingRow]left{}
	for _, keys := range s.groups(f) {
		out := func(r *servingRow) bool { return keys[f.key(r)] || r.static && !f.static }
		known := known
		if f.hardware {
			var err error
			if known, err = k.fit(func(r *kernels.Row) bool { return keys[r.Device] }); err != nil {
				return nil, err
			}
		}
		t, err := s.fit(known, out)
		if err != nil {
			return nil, err
		}
		asked := func(r *servingRow) bool { return keys[f.key(r)] && r.static == f.static }
		for r, c := range s.predict(t, asked) {
			all[r] = c
		}
	}
	return all, nil
}
