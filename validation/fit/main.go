// Fit writes engine/vllm/fitted.tsv: the constants of vLLM's budget that no source code fixes, each the
// median over the rows of validation that are marked to be fitted, with the range that holds 90 % of them.
// It gives the same table whatever the table was before:
//
//	go run ./validation/fit -out engine/vllm/fitted.tsv
package main

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"os"
	"sort"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/vllm"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/stat"
	"github.com/memwall/memwall/validation"
	"github.com/memwall/memwall/validation/fit/internal/tables"
)

func main() {
	out := flag.String("out", "engine/vllm/fitted.tsv", "table to write")
	tables.Start()
	table, err := fit()
	if err == nil {
		err = tables.Write(*out, table)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "fit:", err)
		os.Exit(1)
	}
}

// fit collects what each row says of each constant, and sums it up.
func fit() ([]byte, error) {
	sets, err := validation.Load()
	if err != nil {
		return nil, err
	}
	found := estimatesOf{}
	for _, s := range sets {
		if s.Name != "vllm" {
			continue // rows of times say nothing of memory
		}
		for i := range s.Rows {
			if r := &s.Rows[i]; r.Fit && r.Refused == "" && r.Ask.Hardware != "" && strings.HasPrefix(r.Ask.Engine, "vllm") {
				if err := estimates(r, found); err != nil {
					return nil, fmt.Errorf("%s: %w", r.Name(), err)
				}
			}
		}
	}
	return table(found), nil
}

// least is the smallest constant, in GiB: what is printed is a difference of free memory, which can be
// negative; what was taken cannot.
const least = 0.00001

// enough rows make a fitted constant; fewer leave the assumption in rules.go.
const enough = 3

func table(found estimatesOf) []byte {
	var names []string
	for name, by := range found {
		if len(by.all()) >= enough {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	var b bytes.Buffer
	fmt.Fprintln(&b, "name\tvalue\tlow\thigh\trows")
	for _, name := range names {
		x := found[name].all()
		low, high := band(x, len(found[name]))
		fmt.Fprintf(&b, "%s\t%.5f\t%.5f\t%.5f\t%d\n", name, math.Max(least, stat.Median(x)), math.Max(0, low), high, len(x))
	}
	return b.Bytes()
}

// estimatesOf are what rows say of each constant, by device.
type estimatesOf map[string]byDevice

type byDevice map[string][]float64

func (e estimatesOf) add(name, device string, x float64) {
	if e[name] == nil {
		e[name] = byDevice{}
	}
	e[name][device] = append(e[name][device], x)
}

func (by byDevice) all() (out []float64) {
	for _, x := range by {
		out = append(out, x...)
	}
	sort.Float64s(out)
	return out
}

// band is to hold 90 % of what rows of further devices would say: the range over n devices holds
// (n-1)/(n+1) of them, so it is widened about the median while that is less. Where all rows are of one
// device, rows count as devices do.
func band(x []float64, devices int) (low, high float64) {
	n := float64(devices)
	if devices == 1 {
		n = float64(len(x))
	}
	wide := math.Max(1, 0.9*(n+1)/(n-1))
	m := stat.Median(x)
	return m - wide*(m-x[0]), m + wide*(x[len(x)-1]-m)
}

// estimates adds what a row says: of memory outside torch the difference between what was available and
// what we expect, of graphs the bytes of a piece.
func estimates(r *validation.Row, found estimatesOf) error {
	a, err := (&memwall.Asker{}).Size(&r.Ask)
	if err != nil {
		return err
	}
	m, _, err := hardware.Parse(r.Ask.Hardware, 0)
	if err != nil {
		return err
	}
	_, text, _ := strings.Cut(r.Ask.Engine, "@")
	v, err := engine.ParseVersion(text)
	if err != nil {
		return err
	}
	device, rocm := m.Groups[0].Device.ID, m.Groups[0].Device.Vendor == "AMD"
	now := item(a, "driver") + item(a, "collectives")
	name := vllm.OutsideName(v, rocm, a.Plan.TP*a.Plan.PP > 1)
	multimodal := strings.HasPrefix(a.Model.ID, "gemma-3")
	free, ok := r.Got["kv_available"]
	switch w := r.Got["weights"]; {
	case !ok || multimodal:
	case has(r, "outside_torch"):
		found.add(name, device, r.Got["outside_torch"].Mid/gib)
	default:
		loss := print(a, "Available KV cache memory") - free.Mid/gib
		if w.Mid > 0 {
			loss += print(a, "Model loading took") - w.Mid/gib
		}
		found.add(name, device, now+loss)
	}
	if w := r.Got["weights"]; rocm && w.Mid > 0 {
		found.add("loading.rocm", device, vllm.Loading()+w.Mid/gib-print(a, "Model loading took"))
	}
	if g := r.Got["graphs"]; g.Mid != 0 {
		c := vllm.Graphs(v, &m.Groups[0].Device)
		pieces := math.Round(beside(a, "graphs") / c.Value)
		found.add(c.Name, device, g.Mid/gib/pieces)
	}
	return nil
}

const gib = 1 << 30

func has(r *validation.Row, figure string) bool { _, ok := r.Got[figure]; return ok }

func item(a *memwall.Answer, id string) float64 { return sum(a.Devices[0].Ledger, id) }

func beside(a *memwall.Answer, id string) float64 { return sum(a.Devices[0].Beside, id) }

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
