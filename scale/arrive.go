package scale

import (
	"cmp"
	"slices"
)

// arrive delivers arrivals to replicas, and completes requests.
func (x *player) arrive(dt float64) {
	rate := x.load.at(x.now)
	n := rate * dt
	x.out.Arrived += n
	x.since += n
	p := &x.out.Parts[x.load.part(x.now)]
	for k, share := range x.classes() {
		x.out.Classes[k].Arrived += n * share
	}
	if len(x.ready) == 0 {
		x.hold(n)
		return
	}
	for _, h := range x.waiting {
		p.Good += x.place(h.n, x.now-h.at, 0)
	}
	x.waiting = x.waiting[:0]
	p.Good += x.place(n, 0, rate)
	for i := range x.ready {
		x.ready[i].in = x.Curve.after(x.ready[i].in, 0, dt)
	}
	slices.SortFunc(x.ready, func(a, b group) int { return cmp.Compare(a.in, b.in) })
}

// hold queues requests until a replica serves; those of ten seconds are merged.
func (x *player) hold(n float64) {
	if n == 0 {
		return
	}
	if last := len(x.waiting) - 1; last >= 0 && x.now-x.waiting[last].at < 10 {
		x.waiting[last].n += n
		return
	}
	x.waiting = append(x.waiting, held{x.now, n})
}

// place assigns requests that have already waited to the least loaded replicas and returns how many will meet the goal.
func (x *player) place(n, waited, rate float64) (good float64) {
	if n == 0 {
		return 0
	}
	n, shed := x.fill(n)
	full := x.ready[0].in > x.Curve.Full()
	for k, part := range x.admitted(n, shed) {
		if part == 0 {
			continue
		}
		in, wait := x.ready[0].in, waited
		if full && len(x.queues) > 1 {
			in, wait = x.Curve.Full(), waited+x.waitOf(k, part, rate)
		}
		kept := part * x.Curve.Good(in, wait)
		x.tally.add(part, in, wait)
		good += kept
		x.out.Good += kept
		x.out.Classes[k].Good += kept
	}
	x.trueUp()
	return good
}

// fill assigns requests to the least loaded replicas, leveling them, as a router that counts requests does. Those
// beyond the queue bound are shed.
func (x *player) fill(n float64) (placed, shed float64) {
	count, sum, k := 0, n, 0
	for k < len(x.ready) && (count == 0 || x.ready[k].in*float64(count) < sum) {
		sum += x.ready[k].in * float64(x.ready[k].n)
		count += x.ready[k].n
		k++
	}
	level := sum / float64(count)
	if x.MaxWaiting > 0 {
		most := max(x.Curve.Full()+x.MaxWaiting, x.ready[k-1].in)
		if level > most {
			shed = (level - most) * float64(count)
			level = most
		}
	}
	x.ready[0] = group{level, count}
	x.ready = slices.Delete(x.ready, 1, k)
	return n - shed, shed
}

// admitted returns the requests of each class that are not shed; the last classes are shed first.
func (x *player) admitted(n, shed float64) []float64 {
	all := x.classes()
	x.parts = x.parts[:0]
	for _, share := range all {
		x.parts = append(x.parts, share*(n+shed))
	}
	x.out.Shed += shed
	for k := len(all) - 1; k >= 0 && shed > 0; k-- {
		s := min(shed, x.parts[k])
		x.parts[k] -= s
		x.out.Classes[k].Shed += s
		shed -= s
	}
	return x.parts
}

// waitOf returns the wait of a request that joins its class: for those ahead of it, and for later ones of higher
// priority.
func (x *player) waitOf(k int, part, rate float64) float64 {
	x.queues[k] += part
	ahead, ends := 0.0, x.Curve.Capacity()*float64(x.serving())
	for j := 0; j <= k; j++ {
		ahead += x.queues[j]
		if j < k {
			ends -= rate * x.classes()[j]
		}
	}
	if ends <= 0 {
		return longestTime
	}
	return min(longestTime, ahead/ends)
}

// trueUp reconciles the queues of the classes with the number waiting: completions come from the first class, and any
// excess belongs to the last.
func (x *player) trueUp() {
	if len(x.queues) == 1 {
		return
	}
	over := 0.0
	for _, g := range x.ready {
		over -= max(0, g.in-x.Curve.Full()) * float64(g.n)
	}
	for _, q := range x.queues {
		over += q
	}
	for k := range x.queues {
		if over <= 0 {
			break
		}
		ended := min(over, x.queues[k])
		x.queues[k] -= ended
		over -= ended
	}
	x.queues[len(x.queues)-1] -= min(0, over)
}

// note records a step in its part.
func (x *player) note(dt float64) {
	p := &x.out.Parts[x.load.part(x.now)]
	ready, billed, waiting := 0, len(x.starting), 0.0
	for _, g := range x.ready {
		ready += g.n
		waiting += float64(g.n) * (g.in - x.Curve.Running(g.in))
	}
	for _, l := range x.leaving {
		billed += l.n
	}
	for _, h := range x.waiting {
		waiting += h.n
	}
	billed += ready
	p.Wanted += float64(x.wanted) * dt
	p.Ready += float64(ready) * dt
	p.Billed += float64(billed) * dt
	p.Waiting += waiting * dt
	x.out.ReplicaSeconds += float64(billed) * dt
}

// finish computes the means of the parts.
func (x *player) finish() {
	for i := range x.out.Parts {
		p := &x.out.Parts[i]
		span := min(x.load.Part, x.load.Seconds()-float64(i)*x.load.Part)
		p.Rate = x.load.Rates[i]
		for _, mean := range []*float64{&p.Wanted, &p.Ready, &p.Billed, &p.Waiting} {
			*mean /= span
		}
		if p.Good /= p.Rate * span; p.Rate == 0 {
			p.Good = 1
		}
		p.Good = min(1, p.Good)
	}
	for _, h := range x.waiting {
		x.tally.add(h.n, 0, x.now-h.at)
	}
	x.out.First, x.out.PerToken = x.tally.samples()
}
