package workload

// Law is how a length or a time is distributed.
type Law struct {
	Law    string    `json:"law,omitempty" enum:"fixed,uniform,exponential,gamma,lognormal,empirical" doc:"fixed: the mean; uniform: from min to max; exponential, gamma, lognormal: around the mean; empirical: one of the values"`
	Mean   float64   `json:"mean,omitempty" doc:"mean, before min and max cut"`
	CV     float64   `json:"cv,omitempty" doc:"standard deviation over mean (gamma, lognormal)"`
	Min    float64   `json:"min,omitempty" doc:"least value; what is drawn below becomes it"`
	Max    float64   `json:"max,omitempty" doc:"largest value; what is drawn above becomes it"`
	Values []float64 `json:"values,omitempty" doc:"values of an empirical law"`
	// Weights are how often each value comes; all alike where none are given.
	Weights []float64 `json:"weights,omitempty" doc:"weight of each value; all alike where none are given"`
}

// given tells a law from one that was left out.
func (l *Law) given() bool {
	return l.Law != "" || l.Mean != 0 || l.CV != 0 || l.Min != 0 || l.Max != 0 || len(l.Values) > 0 || len(l.Weights) > 0
}

// Ends reports whether nothing that is drawn is longer than some length: the values' own, or a bound.
func (l *Law) Ends() bool {
	switch l.kind() {
	case "fixed", "uniform", "empirical":
		return true
	}
	return l.Max > 0
}

// kind of law; one that only gives a mean is fixed.
func (l *Law) kind() string {
	if l.Law == "" {
		return "fixed"
	}
	return l.Law
}
