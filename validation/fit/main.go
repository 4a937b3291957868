// Fit writes engine/vllm/fitted.tsv: the constants of vLLM's budget that no source code fixes, each the
// median over the rows of validation that are marked to be fitted, a vote for each who measured, with the range that is to
// hold 90 % of what others would measure. Beside it are the pools of all rows, each predicted by constants that its source
// had no part in (folds.go). It gives the same tables whatever they were before:
//
//	go run ./validation/fit -out engine/vllm/fitted.tsv -folds validation/rows/vllm-folds.tsv
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/vllm"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/stat"
	"github.com/memwall/memwall/validation"
	"github.com/memwall/memwall/validation/fit/internal/tables"
)

func main() {
	out := flag.String("out", "engine/vllm/fitted.tsv", "table to write")
	left := flag.String("folds", "validation/rows/vllm-folds.tsv", "predictions to write, each by constants without the row's source")
	tables.Start()
	table, folds, err := fit()
	if err == nil {
		err = errors.Join(tables.Write(*out, table), tables.Write(*left, folds))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "fit:", err)
		os.Exit(1)
	}
}

// fit collects what each row says of each constant, sums it up, and predicts each row without its source.
func fit() (table, folds []byte, err error) {
	sets, err := validation.Load()
	if err != nil {
		return nil, nil, err
	}
	found := estimatesOf{}
	var rows []*validation.Row
	for _, s := range sets {
		if s.Name != "vllm" {
			continue // rows of times say nothing of memory
		}
		for i := range s.Rows {
			r := &s.Rows[i]
			if r.Refused != "" || !strings.HasPrefix(r.Ask.Engine, "vllm") {
				continue
			}
			if r.Fit {
				if err := graphs(r, found); err != nil {
					return nil, nil, fmt.Errorf("%s: %w", r.Name(), err)
				}
			}
			if r.Ask.Hardware == "" {
				continue
			}
			rows = append(rows, r)
			if !r.Fit {
				continue
			}
			if err := estimates(r, found); err != nil {
				return nil, nil, fmt.Errorf("%s: %w", r.Name(), err)
			}
		}
	}
	if folds, err = leftOut(rows, found); err != nil {
		return nil, nil, err
	}
	return write(found), folds, nil
}

// least is the smallest constant, in GiB: what is printed is a difference of free memory, which can be
// negative; what was taken cannot.
const least = 0.00001

// enough rows make a fitted constant; fewer leave the assumption in rules.go.
const enough = 3

func write(found estimatesOf) []byte {
	var b bytes.Buffer
	fmt.Fprintln(&b, "name\tvalue\tlow\thigh\trows")
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if c, ok := found.constant(name, ""); ok {
			fmt.Fprintf(&b, "%s\t%.5f\t%.5f\t%.5f\t%d\n", name, c.Value, c.Low, c.High, c.Rows)
		}
	}
	return b.Bytes()
}

// estimate is what a row says of a constant.
type estimate struct {
	source, device string
	value          float64
}

type estimatesOf map[string][]estimate

func (e estimatesOf) add(name string, r *validation.Row, device string, x float64) {
	e[name] = append(e[name], estimate{validation.Reporter(r), device, x})
}

// constant sums up what others than a source say of a constant; false where they are too few.
func (e estimatesOf) constant(name, without string) (c vllm.Constant, ok bool) {
	said := slices.DeleteFunc(slices.Clone(e[name]), func(x estimate) bool { return x.source == without })
	if len(said) < enough {
		return c, false
	}
	voters := map[string]float64{}
	voter := func(x *estimate) string { return x.source }
	first := said[0].source
	several := slices.ContainsFunc(said, func(x estimate) bool { return x.source != first })
	if !several {
		voter = func(x *estimate) string { return x.device } // of one source, devices vote
	}
	for i := range said {
		voters[voter(&said[i])]++
	}
	x := make([]stat.Weighted, len(said))
	for i := range said {
		x[i] = stat.Weighted{Value: said[i].value, Weight: 1 / voters[voter(&said[i])]}
	}
	low, mid, high := band(x, len(voters), several)
	if c, ok := vllm.AssumedOutside(name); ok && !several { // one reporter has one build of NCCL and one driver
		low, high = min(low, c.Low), max(high, c.High)
	}
	return vllm.Constant{Name: name, Value: math.Max(least, mid), Low: math.Max(0, low), High: high, Rows: len(said)}, true
}

// band is to hold 90 % of what further voters would say: that of one more draw from a normal distribution which the voters are drawn
// from, their own spread included. The range over few holds less: of n drawn, (n-1)/(n+1), by which it is widened about the
// median where they are devices of one source. Where one device said all, its rows count as voters.
func band(x []stat.Weighted, voters int, sources bool) (low, mid, high float64) {
	n := float64(voters)
	mid = stat.WeightedQuantile(x, 0.5)
	if sources && voters > 2 {
		squares := 0.0
		for _, w := range x {
			squares += w.Weight * (w.Value - mid) * (w.Value - mid)
		}
		half := student(voters-1) * math.Sqrt(squares/(n-1)*(1+1/n))
		return mid - half, mid, mid + half
	}
	if voters == 1 {
		n = float64(len(x))
	}
	wide := math.Max(1, 0.9*(n+1)/(n-1))
	low, high = stat.WeightedQuantile(x, 0), stat.WeightedQuantile(x, 1)
	return mid - wide*(mid-low), mid, mid + wide*(high-mid)
}

// student is the 95 % quantile of Student's distribution with so many degrees of freedom.
func student(freedom int) float64 {
	table := []float64{6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860, 1.833, 1.812}
	return table[min(freedom, len(table))-1]
}

// estimates adds what a row says: of memory outside torch the difference between what was available and
// what we expect, of graphs the bytes of a piece.
func estimates(r *validation.Row, found estimatesOf) error {
	a, err := (&memwall.Asker{}).Size(&r.Ask)
	if err != nil {
		return err
	}
	v, d, err := named(r)
	if err != nil {
		return err
	}
	device, rocm := d.ID, d.Vendor == "AMD"
	now := item(a, "driver") + item(a, "collectives")
	name := vllm.OutsideName(v, d, a.Plan.TP, a.Plan.PP)
	multimodal := strings.HasPrefix(a.Model.ID, "gemma-3")
	free, ok := r.Got["kv_available"]
	switch w := r.Got["weights"]; {
	case !ok || multimodal:
	case has(r, "outside_torch"):
		found.add(name, r, device, r.Got["outside_torch"].Mid/gib)
	default:
		loss := print(a, "Available KV cache memory") - free.Mid/gib
		if w.Mid > 0 {
			loss += print(a, "Model loading took") - w.Mid/gib
		}
		if g := r.Got["graphs_estimate"]; g.Mid > 0 && item(a, "graphs") > 0 { // inside the budget
			loss += item(a, "graphs") - g.Mid/gib
		}
		found.add(name, r, device, now+loss)
	}
	if w := r.Got["weights"]; rocm && w.Mid > 0 {
		found.add("loading.rocm", r, device, vllm.Loading()+w.Mid/gib-print(a, "Model loading took"))
	}
	if g := r.Got["graphs"]; g.Mid != 0 {
		c := vllm.Graphs(v, d)
		if pieces := math.Round(besideItem(a, "graphs") / c.Value); pieces > 0 { // from 0.20 the budget holds the estimate instead
			found.add(c.Name, r, device, g.Mid/gib/pieces)
		}
	}
	return nil
}

// graphs adds what a row says of the estimate's pieces, which no device decides, once what rules.go assumes of the first graph is taken
// off.
func graphs(r *validation.Row, found estimatesOf) error {
	g, ok := r.Got["graphs_estimate"]
	if !ok {
		return nil
	}
	ask := r.Ask
	if ask.Hardware == "" {
		ask.Hardware = fmt.Sprintf("%dxh200", ask.Ranks())
	}
	a, err := (&memwall.Asker{}).Size(&ask)
	if err != nil {
		return err
	}
	m, _, err := hardware.Parse(ask.Hardware, 0)
	if err != nil {
		return err
	}
	c, first := vllm.Estimated(&m, a.Plan.TP, latent(ask.Model))
	now := c.Fitted()
	pieces := math.Round((print(a, "Estimated CUDA graph memory") - first) / now.Value)
	found.add(c.Name, r, ask.Hardware, (g.Mid/gib-first)/pieces)
	return nil
}

// latent: the layers of a model keep one latent for all heads.
func latent(name string) (found bool) {
	m, err := catalog.Model(name)
	if err != nil {
		return false
	}
	m.Decoder().Each(func(k *model.Kind, _ int64) {
		k.Caches(func(c model.Cache) { found = found || c.Class == model.LatentKV })
	})
	return found
}

// named are the version and the device of a row.
func named(r *validation.Row) (engine.Version, *hardware.Device, error) {
	m, _, err := hardware.Parse(r.Ask.Hardware, 0)
	if err != nil {
		return engine.Version{}, nil, err
	}
	_, text, _ := strings.Cut(r.Ask.Engine, "@")
	v, err := engine.ParseVersion(text)
	return v, &m.Groups[0].Device, err
}

const gib = 1 << 30

func has(r *validation.Row, figure string) bool { _, ok := r.Got[figure]; return ok }

func item(a *memwall.Answer, id string) float64 { return sum(a.Devices[0].Ledger, id) }

func besideItem(a *memwall.Answer, id string) float64 { return sum(a.Devices[0].Beside, id) }

func sum(items []memwall.Item, id string) (x float64) {
	for _, it := range items {
		if it.ID == id {
			x += it.Bytes.GiB()
		}
	}
	return x
}

func print(a *memwall.Answer, name string) float64 {
	for _, p := range a.Prints {
		if p.Name == name {
			return p.Value
		}
	}
	return math.NaN()
}
