package main

// law is what nvidia-smi shows beside allocated bytes: GiB at all and with several ranks, which are the driver's, and shares
// of logits, of the block that is computed, and of gathered parameters, which torch reserves.
type law [5]float64

var lawNames = []string{"context", "ranks", "logits", "block", "gathered"}

// terms of a run, in bytes.
func (r *run) terms() [5]float64 {
	d := &r.drivers
	x := [5]float64{gib, 0, d.Logits, d.Block, d.Gathered}
	if d.Several {
		x[1] = gib
	}
	return x
}

// solve gives the coefficients, none below zero, with the least sum of squared relative errors: coordinate descent on the
// normal equations, which ends where no coefficient moves.
func solve(rows []run) (c law) {
	var a [5][5]float64
	var y [5]float64
	for i := range rows {
		r := &rows[i]
		shown := r.row.SMI * gib
		if shown > 0.985*r.capacity {
			continue // the device was full: what it would have taken is not known
		}
		x := r.terms()
		for p := range x {
			for q := range x {
				a[p][q] += x[p] * x[q] / (shown * shown)
			}
			y[p] += x[p] * (shown - r.allocated - r.drivers.Pools) / (shown * shown)
		}
	}
	for range 20000 {
		for p := range c {
			if a[p][p] == 0 {
				continue
			}
			rest := y[p]
			for q := range c {
				if q != p {
					rest -= a[p][q] * c[q]
				}
			}
			c[p] = max(0, rest/a[p][p])
		}
	}
	return c
}

// leftOut predicts what nvidia-smi shows of each run by coefficients that were fitted without its model.
func leftOut(rows []run) func(*run) float64 {
	laws := map[string]law{}
	return func(r *run) float64 {
		key := r.row.Model + r.row.Ask.Weights
		c, ok := laws[key]
		if !ok {
			var rest []run
			for _, x := range rows {
				if x.row.Model != r.row.Model {
					rest = append(rest, x)
				}
			}
			c = solve(rest)
			laws[key] = c
		}
		return c.shown(r)
	}
}

// outside is what the driver takes: the terms of context and channels.
func (l law) outside(r *run) float64 { return l[0]*r.terms()[0] + l[1]*r.terms()[1] }

// reserved is what torch reserves under a law: what is allocated and what the other terms keep, no more than the device has
// beside the least that the driver takes.
func (l law) reserved(r *run) float64 {
	n, x := r.allocated+r.drivers.Pools, r.terms()
	for i := 2; i < len(x); i++ {
		n += l[i] * x[i]
	}
	return max(r.allocated, min(n, r.capacity-r.drivers.LeastOutside()))
}

// shown is what nvidia-smi shows under a law: with what the driver takes, which is at least what it cannot do without.
func (l law) shown(r *run) float64 {
	reserved := l.reserved(r)
	return reserved + max(r.drivers.LeastOutside(), min(l.outside(r), r.capacity-reserved))
}
