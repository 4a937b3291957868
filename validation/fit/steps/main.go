// Command steps fits a law of the time of a step to each log of a server, by playing the log: what is left is what the
// rules of its scheduler explain. It writes validation/rows/loads/laws.txt.
package main

import (
	"bytes"
	"fmt"
	"math"

	"gonum.org/v1/gonum/optimize"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/sim"
	"github.com/memwall/memwall/validation"
	"github.com/memwall/memwall/validation/fit/internal/tables"
)

func main() { tables.Run("steps", "o", "validation/rows/loads/laws.txt", laws) }

const head = "# Laws of steps fitted to each log: name, blocks, share of experts, and the seconds of law.go, in its order.\n# Made by go " +
	"run ./validation/fit/steps.\n"

func laws() ([]byte, error) {
	set, err := validation.Loads()
	if err != nil {
		return nil, err
	}
	b := bytes.NewBufferString(head)
	for i := range set.Rows {
		r := &set.Rows[i]
		if r.Ask.Workload == nil || r.Ask.Workload.Trace == "" {
			continue
		}
		l, err := fit(r)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.Name(), err)
		}
		fmt.Fprintf(b, "%s %d %g", r.Ask.Workload.Trace, l.Blocks, l.Share)
		for _, x := range []float64{l.Step, l.Sequence, l.Token, l.Cached, l.Pair, l.Experts} {
			fmt.Fprintf(b, " %.5g", x)
		}
		b.WriteString("\n")
	}
	return b.Bytes(), nil
}

// start of the search: a millisecond's fraction of each kind, in seconds.
var start = []float64{0.01, 3e-5, 1e-4, 1e-7, 1e-9, 0.01}

// fit a law to a log: the logarithms of its coefficients by a simplex, begun again from where it ended.
func fit(r *validation.Row) (validation.Law, error) {
	log, err := validation.Log(r.Ask.Workload.Trace)
	if err != nil {
		return validation.Law{}, err
	}
	fixed, err := known(&r.Ask)
	if err != nil {
		return fixed, err
	}
	p := optimize.Problem{Func: func(x []float64) float64 { return loss(r, with(fixed, x), log) }}
	x := make([]float64, len(start))
	for i := range x {
		x[i] = math.Log(start[i])
	}
	for _, size := range []float64{0.5, 0.3, 0.7, 0.2} {
		got, err := optimize.Minimize(p, x, &optimize.Settings{FuncEvaluations: 1500}, &optimize.NelderMead{SimplexSize: size})
		if got == nil {
			return fixed, err
		}
		x = got.X
	}
	return with(fixed, x), nil
}

func with(l validation.Law, x []float64) validation.Law {
	for i, to := range []*float64{&l.Step, &l.Sequence, &l.Token, &l.Cached, &l.Pair, &l.Experts} {
		*to = math.Exp(x[i])
	}
	if l.Share == 0 {
		l.Experts = 0
	}
	return l
}

// known are the blocks of the cache, which the row or the ledger says, and the share of experts that a token takes.
func known(ask *memwall.Request) (l validation.Law, err error) {
	r := *ask
	r.Ask, r.Workload, r.KVBlocks = "fit", nil, 0
	a, err := memwall.Ask(&r)
	if err != nil {
		return l, err
	}
	if l.Blocks = int64(ask.KVBlocks); l.Blocks == 0 {
		l.Blocks = a.KV.Blocks
	}
	l.Share, err = validation.ExpertShare(ask.Model)
	return l, err
}

// loss is the mean of squared logarithms of what each request's times are off by; a wait counts from 50 ms on.
func loss(r *validation.Row, law validation.Law, log []validation.Logged) (sum float64) {
	src := make(validation.Requests, 0, len(log))
	for i := range log {
		src = append(src, log[i].Request)
	}
	each := func(d *sim.Done) {
		l := &log[d.ID]
		sum += square(0.05+(d.First-d.Arrival).Seconds(), 0.05+(l.First-l.Arrival).Seconds())
		sum += 4 * square((d.End-d.First).Seconds(), (l.End-l.First).Seconds())
	}
	_, err := sim.Run(law.Fleet(&r.Ask), &src, sim.Options{Each: each})
	if err != nil {
		return math.Inf(1)
	}
	return sum / float64(len(log))
}

func square(a, b float64) float64 {
	if a <= 0 || b <= 0 {
		return 0
	}
	x := math.Log(a / b)
	return x * x
}
