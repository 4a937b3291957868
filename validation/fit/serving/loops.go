package main

import (
	"fmt"
	"math"
	"os"
	"sort"
	"strings"

	"github.com/memwall/memwall/speed/coef"
	"github.com/memwall/memwall/speed/serving"
	"github.com/memwall/memwall/validation"
	"github.com/memwall/memwall/validation/kernels"
)

// servingRow is a run at fixed concurrency beside our model of it.
type servingRow struct {
	*validation.Row
	model     *serving.Model
	load      serving.Load
	device    string
	saturated bool
	fit       bool
}

type servingRows struct{ rows []*servingRow }

func loadServing() (*servingRows, error) {
	sets, err := validation.Load()
	if err != nil {
		return nil, err
	}
	out, p := &servingRows{}, newPlans()
	for i := range sets {
		if sets[i].Name != "serving" {
			continue
		}
		for j := range sets[i].Rows {
			r := &sets[i].Rows[j]
			if r.Refused != "" {
				continue
			}
			in, err := p.in(&r.Ask)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", r.Name(), err)
			}
			m, err := serving.CompileWith(in, empty)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", r.Name(), err)
			}
			row := &servingRow{Row: r, model: m, device: in.Device.ID, fit: r.Fit}
			row.load = serving.Load{Users: int64(r.Ask.Sequences), Prompt: int64(r.Ask.PromptTokens), Output: int64(r.Ask.OutputTokens), Burst: true}
			row.saturated = m.Saturated(row.load)
			out.rows = append(out.rows, row)
		}
	}
	return out, nil
}

// figures of a row, with the weight of one and of one whose requests wait for room.
var figures = []struct {
	name, got        string
	weight, saturate float64
	of               func(c serving.Closed) float64
	slopes           func(e serving.Elasticities) []float64
}{
	{serving.SpreadPerToken, "tpot_ms", 1, 0.3, func(c serving.Closed) float64 { return c.PerToken }, func(e serving.Elasticities) []float64 { return e.PerToken }},
	{serving.SpreadFirst, "ttft_ms", 0.4, 0, func(c serving.Closed) float64 { return c.First }, func(e serving.Elasticities) []float64 { return e.First }},
}

// penalty weighs the priors of whole engines against their rows, which are many for few plans.
const penalty = 1.5

// fit adds what whole engines take to a table of kernels.
func (s *servingRows) fit(known *coef.Table, out func(r *servingRow) bool) (*coef.Table, error) {
	p := &coef.Problem{Start: start, Sigma: sigmas(), Known: known, Scale: 0.12, Penalty: penalty}
	for _, r := range s.rows {
		if !r.fit || out != nil && out(r) {
			continue
		}
		for _, f := range figures {
			w := f.weight
			if r.saturated {
				w *= f.saturate
			}
			if v, ok := r.Got[f.got]; ok && w > 0 {
				p.Rows = append(p.Rows, coef.Row{Name: r.Name() + " " + f.name, Uses: r.model.Uses(), Measured: v.Mid / 1e3, Weight: w,
					Predict: func(c []float64) float64 { return f.of(r.model.With(c).Mean(r.load)) },
					Slopes: func(c []float64) []float64 {
						_, e := r.model.With(c).Elasticities(r.load)
						return f.slopes(e)
					}})
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
			l := left{Closed: r.model.Mean(r.load)}
			l.perToken, l.first, l.throughput = r.model.Variances(r.load)
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
	// hardware: kernels of the device are left out too.
	hardware bool
}

var folds = []fold{
	{"model and hardware", func(r *servingRow) string { return network(r) + " " + r.device }, 8, false},
	{"models out", func(r *servingRow) string { return network(r) }, 11, false},
	{"hardware out", func(r *servingRow) string { return r.device }, 5, true},
}

func (s *servingRows) outOfFold(k *kernelRows, known *coef.Table, f fold) (map[*servingRow]left, error) {
	all := map[*servingRow]left{}
	for _, group := range coef.Folds(len(s.rows), func(i int) string { return f.key(s.rows[i]) }, f.k) {
		keys := map[string]bool{}
		for _, i := range group {
			keys[f.key(s.rows[i])] = true
		}
		out := func(r *servingRow) bool { return keys[f.key(r)] }
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
		for r, c := range s.predict(t, out) {
			all[r] = c
		}
	}
	return all, nil
}

func (s *servingRows) report(title string, p map[*servingRow]left) {
	groups := map[string][]float64{}
	for _, r := range s.rows {
		for _, f := range figures {
			v, ok := r.Got[f.got]
			if _, predicted := p[r]; !ok || !predicted {
				continue
			}
			e := math.Log(f.of(p[r].Closed) / (v.Mid / 1e3))
			names := []string{"  all rows"}
			if r.fit {
				e0, _, _ := strings.Cut(r.Ask.Engine, "@")
				names = append(names, " kept", e0, r.Ask.Model, r.device, e0+" "+r.device, e0+" "+r.Ask.Model+" "+r.device, fmt.Sprint("tp ", r.Ask.TP), fmt.Sprint("users ", r.Ask.Sequences), fmt.Sprint("dp ", r.Ask.DP), fmt.Sprint("ep ", r.Ask.EP), fmt.Sprint("saturated ", r.saturated))
			} else {
				names = append(names, " "+r.Note)
			}
			for _, n := range names {
				groups[f.name+" "+n] = append(groups[f.name+" "+n], e)
			}
		}
	}
	var names []string
	for g := range groups {
		names = append(names, g)
	}
	sort.Strings(names)
	for _, g := range names {
		e := groups[g]
		sort.Float64s(e)
		abs := make([]float64, len(e))
		for i, x := range e {
			abs[i] = math.Abs(math.Expm1(x))
		}
		sort.Float64s(abs)
		fmt.Fprintf(os.Stderr, "%-20s %-60.60s n=%4d median %5.1f p90 %5.1f bias %+5.1f\n", title, g, len(e), 100*abs[len(abs)/2], 100*abs[len(abs)*9/10], 100*math.Expm1(e[len(e)/2]))
	}
}
