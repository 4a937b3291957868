package scale

import "slices"

// Grid is the resolution of the oracle's schedules in seconds: the sync period of an HPA, of which the other intervals
// are multiples.
const Grid = 15.0

// mostTries limits the replays of an oracle.
const mostTries = 120

// oracle searches for the cheapest schedule that meets the goal for a share of the requests.
type oracle struct {
	load  *Load
	fleet *Fleet
	share float64
	stop  func() bool
	tries int
	best  *Replay
	by    []int
}

// Oracle returns the replay of the cheapest schedule found that meets the goal for the given share of requests, given
// knowledge of the load, and its number of replicas per Grid interval. It starts from the replicas each moment
// requires, started in time, and from the other policies' schedules, then removes whatever the best one does not need.
// It returns nil if even the maximum of replicas does not meet the goal.
func Oracle(l *Load, f *Fleet, share float64, others []*Replay, stop func() bool) (*Replay, []int, error) {
	o := &oracle{load: l, fleet: f, share: share, stop: stop}
	for _, r := range others {
		if r.Kept() >= share && (o.best == nil || r.ReplicaSeconds < o.best.ReplicaSeconds) {
			o.best, o.by = r, o.sampled(r)
		}
	}
	if err := o.search(); err != nil || o.best == nil {
		return nil, nil, err
	}
	return o.best, o.by, o.trim()
}

// cells returns the number of grid intervals.
func (o *oracle) cells() int { return max(1, ceil(o.load.Seconds()/Grid)) }

// sampled returns the number of replicas that a policy wanted, by grid interval.
func (o *oracle) sampled(r *Replay) []int {
	out := make([]int, o.cells())
	now, i := min(max(o.fleet.Begin, o.fleet.Least), o.fleet.Most), 0
	for c := range out {
		for ; i < len(r.Changes) && r.Changes[i].At <= float64(c)*Grid; i++ {
			now = r.Changes[i].To
		}
		out[c] = now
	}
	return out
}

// search varies the load assigned to each replica, from what meets the goal in steady state to more, with occasional
// overload.
func (o *oracle) search() error {
	if ok, err := o.try(slices.Repeat([]int{o.fleet.Most}, o.cells())); err != nil || !ok && o.best == nil {
		return err
	}
	low, high := o.fleet.Curve.Holds(o.share)/2, o.fleet.Curve.Capacity()
	for range 12 {
		each := (low + high) / 2
		if each <= 0 {
			return nil
		}
		ok, err := o.try(o.ahead(each))
		if err != nil {
			return err
		}
		if ok {
			low = each
		} else {
			high = each
		}
	}
	return nil
}

// ahead returns the schedule with the replicas that each moment's load requires, started in advance.
func (o *oracle) ahead(each float64) []int {
	need := make([]int, o.cells())
	for c := range need {
		for t := float64(c) * Grid; t < min(float64(c+1)*Grid, o.load.Seconds()); t += min(Grid, o.load.Part) {
			need[c] = max(need[c], ceil(o.load.at(t)/each))
		}
		need[c] = min(max(need[c], o.fleet.Least), o.fleet.Most)
	}
	lead := ceil(o.fleet.Start/Grid) + 1
	out := make([]int, len(need))
	for c := range out {
		out[c] = slices.Max(need[c:min(len(need), c+lead+1)])
	}
	return out
}

// try replays a schedule, reports whether it meets the goal, and keeps the cheapest that does.
func (o *oracle) try(by []int) (bool, error) {
	o.tries++
	f := *o.fleet
	f.Begin = by[0]
	r, err := Play(o.load, &f, &Schedule{Grid, by}, o.stop)
	if err != nil {
		return false, err
	}
	ok := r.Kept() >= o.share
	if ok && (o.best == nil || r.ReplicaSeconds < o.best.ReplicaSeconds) {
		o.best, o.by = r, slices.Clone(by)
	}
	return ok, nil
}

// trim removes from the best schedule what the goal does not need: whole stretches of a replica, then parts of them.
func (o *oracle) trim() error {
	for part := 1.0; part > 0.1; part /= 2 {
		for level := slices.Max(o.by); level > o.fleet.Least; level-- {
			for _, s := range stretches(o.by, level) {
				if err := o.cut(s, level, part); err != nil || o.tries >= mostTries {
					return err
				}
			}
		}
	}
	return nil
}

// cut tries to remove a share of a stretch from its end, or from its beginning.
func (o *oracle) cut(s [2]int, level int, part float64) error {
	n := max(1, int(part*float64(s[1]-s[0])))
	for _, at := range [][2]int{{s[1] - n, s[1]}, {s[0], s[0] + n}} {
		by := slices.Clone(o.by)
		changed := false
		for c := at[0]; c < at[1]; c++ {
			if by[c] >= level {
				by[c], changed = level-1, true
			}
		}
		if !changed {
			continue
		}
		if ok, err := o.try(by); err != nil || ok && part == 1 {
			return err
		}
	}
	return nil
}

// stretches returns the ranges of a schedule with at least the given number of replicas.
func stretches(by []int, level int) (out [][2]int) {
	for c, n := range by {
		switch {
		case n < level:
		case c > 0 && by[c-1] >= level:
			out[len(out)-1][1] = c + 1
		default:
			out = append(out, [2]int{c, c + 1})
		}
	}
	return out
}
