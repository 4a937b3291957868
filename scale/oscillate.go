package scale

import "github.com/memwall/memwall/stat"

// Oscillation is repeated scaling up and down that the load does not call for.
type Oscillation struct {
	Period   float64 // median seconds from one rise to the next
	Turns    int     // number of changes of direction
	From, To int     // typical extremes, in replicas
	Begin    float64 // start of the longest stretch
	Seconds  float64
}

// Criteria of an oscillation: a minimum number of turns, each within quickTurn of the last, less than half of which the
// load explains.
const (
	quickTurn  = 2400.0
	leastTurns = 6
)

// Oscillates returns the longest stretch of repeated turns, or nil. each is the rate that a replica holds.
func (r *Replay) Oscillates(l *Load, each float64) *Oscillation {
	var turns []Change // first change in each direction
	for i, c := range r.Changes {
		if i == 0 || (c.To > c.From) != (r.Changes[i-1].To > r.Changes[i-1].From) {
			turns = append(turns, c)
		}
	}
	var found *Oscillation
	for begin := 0; begin < len(turns); {
		end := begin + 1
		for end < len(turns) && turns[end].At-turns[end-1].At <= quickTurn {
			end++
		}
		n := end - begin
		if n >= leastTurns && (found == nil || n > found.Turns) && 2*needed(l, each, turns[begin].At, turns[end-1].At) < n {
			found = oscillation(turns[begin:end])
		}
		begin = end
	}
	return found
}

func oscillation(turns []Change) *Oscillation {
	var periods []float64
	var low, high []float64
	for i, c := range turns {
		if i >= 2 {
			periods = append(periods, c.At-turns[i-2].At)
		}
		if c.To > c.From {
			low = append(low, float64(c.From))
		} else {
			high = append(high, float64(c.From))
		}
	}
	first, last := turns[0].At, turns[len(turns)-1].At
	return &Oscillation{Period: stat.Median(periods), Turns: len(turns), From: int(stat.Median(low)), To: int(stat.Median(high)),
		Begin: first, Seconds: last - first}
}

// needed returns how often the number of replicas that the load requires turns between two times.
func needed(l *Load, each, from, to float64) (turns int) {
	last, rising := -1, 0
	for i := l.part(from); i <= l.part(to); i++ {
		n := ceil(l.Rates[i] / each)
		way := 0
		if last >= 0 && n != last {
			way = 1
			if n < last {
				way = -1
			}
		}
		if way != 0 && way != rising {
			turns++
			rising = way
		}
		last = n
	}
	return turns
}
