package workload

// Law is the distribution of a length or a time.
type Law struct {
	Law    string    `json:"law,omitempty" enum:"fixed,uniform,exponential,gamma,lognormal,empirical" doc:"fixed: the mean; uniform: from min to max; exponential, gamma, lognormal: around the mean; empirical: one of the values"`
	Mean   float64   `json:"mean,omitempty" doc:"mean, before min and max cut"`
	CV     float64   `json:"cv,omitempty" doc:"standard deviation over mean (gamma, lognormal)"`
	Min    float64   `json:"min,omitempty" doc:"least value; what is drawn below becomes it"`
	Max    float64   `json:"max,omitempty" doc:"largest value; what is drawn above becomes it"`
	Values []float64 `json:"values,omitempty" doc:"values of an empirical law"`
	// Weights are the relative frequencies of the values; equal if empty.
	Weights []float64 `json:"weights,omitempty" doc:"weight of each value; all alike where none are given"`
}

// given reports whether the law is set.
func (l *Law) given() bool {
	return l.Law != "" || l.Mean != 0 || l.CV != 0 || l.Min != 0 || l.Max != 0 || len(l.Values) > 0 || len(l.Weights) > 0
}

// Ends reports whether values are bounded, by the distribution itself or by a maximum.
func (l *Law) Ends() bool {
	switch l.kind() {
	case "fixed", "uniform", "empirical":
		return true
	}
	return l.Max > 0
}

// kind returns the distribution; a mean alone means fixed.
func (l *Law) kind() string {
	if l.Law == "" {
		return "fixed"
	}
	return l.Law
}
