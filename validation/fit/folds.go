package main

import (
	"bytes"
	"fmt"
	"math"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/engine/vllm"
	"github.com/memwall/memwall/validation"
)

// leftOut predicts "Available KV cache memory" of every row by constants that the row's source had no part in. The pool is linear in
// them, so that the answer is moved by what the constants differ, and its band by the squares of theirs.
func leftOut(rows []*validation.Row, found estimatesOf) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintln(&b, "line\tavailable\tlow\thigh")
	for _, r := range rows {
		if _, ok := r.Got["kv_available"]; !ok {
			continue
		}
		a, err := (&memwall.Asker{}).Size(&r.Ask)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.Name(), err)
		}
		p, ok := available(a)
		if !ok {
			continue // a version that does not print it
		}
		v, d, err := named(r)
		if err != nil {
			return nil, err
		}
		for _, c := range vllm.Constants(v, d, a.Plan.TP, a.Plan.PP) {
			now := c.Fitted()
			other, ok := found.constant(c.Name, validation.Reporter(r))
			if !ok {
				other = c
			}
			p.move(&now, &other)
		}
		fmt.Fprintf(&b, "%d\t%.0f\t%.0f\t%.0f\n", r.Line, p.mid*gib, (p.mid-p.below)*gib, (p.mid+p.above)*gib)
	}
	return b.Bytes(), nil
}

// pool in GiB, and how far its band reaches.
type pool struct{ mid, below, above float64 }

func available(a *memwall.Answer) (pool, bool) {
	for _, p := range a.Prints {
		if p.Name == "Available KV cache memory" {
			return pool{p.Value, p.Value - p.Low, p.High - p.Value}, true
		}
	}
	return pool{}, false
}

// move puts one constant in place of another: what takes more leaves less.
func (p *pool) move(from, to *vllm.Constant) {
	p.mid += from.Value - to.Value
	p.below = swap(p.below, from.High-from.Value, to.High-to.Value)
	p.above = swap(p.above, from.Value-from.Low, to.Value-to.Low)
}

func swap(all, out, in float64) float64 {
	return math.Sqrt(math.Max(0, all*all-out*out) + in*in)
}
