package coef

import "math"

// Noise is the scatter of errors by what they have in common: a product of one factor per level, each shrunk towards 1 if it rests
// on few errors.
type Noise struct {
	Name   string
	Levels [][]Level // of each error
	Errors []float64 // ln(measured/predicted)
}

// few errors of a level weigh as much as the belief that it scatters like all others.
const few = 25

// rounds in which the factors of all levels settle.
const settling = 6

// Fit sets the factors in the table, one level after another, over and over: a factor is the mean of what the
// errors are over what the other factors say.
func (n *Noise) Fit(t *Table) {
	t.start[n.Name] = 1
	for range settling {
		for l := range n.names() {
			n.level(t, l)
		}
	}
}

func (n *Noise) names() []Level {
	if len(n.Levels) == 0 {
		return nil
	}
	return n.Levels[0]
}

func (n *Noise) level(t *Table, l int) {
	sums, counts, sum := map[string]float64{}, map[string]int{}, 0.0
	for i, e := range n.Errors {
		at := n.Levels[i][l]
		x := math.Abs(e) / t.At(Use{Name: n.Name, Levels: n.Levels[i]}).Value
		sum += x
		o, _ := t.Offset(n.Name, at.Name, at.Key)
		sums[at.Key] += x * math.Exp(o.Value)
		counts[at.Key]++
	}
	mean := sum / float64(len(n.Errors))
	name := n.Levels[0][l].Name
	for key, x := range sums {
		c := float64(counts[key])
		v := c / (c + few) * math.Log(math.Max(x/c/mean, least))
		t.put(term{n.Name, name, key}, Offset{Value: v, Rows: counts[key]})
	}
}

// least factor: below it errors are those of one report repeated.
const least = 1e-2
