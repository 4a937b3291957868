package workload

import (
	"fmt"
	"slices"
	"strings"
)

// lawFields are the parameters of each distribution.
var lawFields = map[string]string{
	"fixed":       "mean",
	"uniform":     "mean cv min max",
	"exponential": "mean min max",
	"gamma":       "mean cv min max",
	"lognormal":   "mean cv min max",
	"empirical":   "values weights min max",
}

// check validates a distribution whose values must lie between two bounds.
func (l *Law) check(field string, least, most float64) error {
	if !l.given() {
		return missing(field, "is not given", `give a law, such as {"law":"lognormal","mean":1024,"cv":0.5}`)
	}
	takes, known := lawFields[l.kind()]
	if !known {
		return bad(field+".law", l.Law, "is not known", "one of fixed, uniform, exponential, gamma, lognormal, empirical")
	}
	if err := l.checkNumbers(field, takes, most); err != nil {
		return err
	}
	switch l.kind() {
	case "uniform":
		return l.checkUniform(field, least)
	case "empirical":
		return l.checkValues(field, least, most)
	}
	if l.Mean < least || l.Mean == 0 && l.kind() != "fixed" {
		return bad(field+".mean", l.Mean, "is too little", "give "+above(least))
	}
	return nil
}

func above(least float64) string {
	if least == 0 {
		return "a number above 0"
	}
	return "a number from " + boundText(least)
}

// checkNumbers validates that given parameters are used and within bounds.
func (l *Law) checkNumbers(field, takes string, most float64) error {
	for _, c := range []struct {
		name  string
		value float64
		given bool
		most  float64
	}{
		{"mean", l.Mean, l.Mean != 0, most}, {"cv", l.CV, l.CV != 0, maxCV}, {"min", l.Min, l.Min != 0, most},
		{"max", l.Max, l.Max != 0, most},
		{"values", 0, len(l.Values) > 0, 0}, {"weights", 0, len(l.Weights) > 0, 0},
	} {
		switch {
		case c.given && !slices.Contains(strings.Fields(takes), c.name):
			return missing(field+"."+c.name, "has no meaning with law "+l.kind(), "leave it out, or another law")
		case !within(c.value, 0, c.most):
			return bad(field+"."+c.name, c.value, notFrom(0, c.most), "give a number in that range")
		}
	}
	if l.Max != 0 && l.Min > l.Max {
		return bad(field+".min", l.Min, "is more than max", fmt.Sprintf("at most %g", l.Max))
	}
	return nil
}

// checkUniform requires either bounds, or a mean and a cv, whose smallest value is mean·(1 - √3·cv).
func (l *Law) checkUniform(field string, least float64) error {
	bounds, moments := l.Min != 0 || l.Max != 0, l.Mean != 0 || l.CV != 0
	switch {
	case bounds == moments:
		return missing(field, "of law uniform takes either min and max, or mean and cv", `such as {"law":"uniform","min":100,"max":900}`)
	case bounds && l.Max < max(l.Min, least):
		return bad(field+".max", l.Max, "is too little", "give the largest value")
	case moments && l.Mean < least:
		return bad(field+".mean", l.Mean, "is too little", "give "+above(least))
	case moments && l.CV > 0.577:
		return bad(field+".cv", l.CV, "is more than a uniform law has above 0", "at most 0.577, or law gamma or lognormal")
	}
	return nil
}

func (l *Law) checkValues(field string, least, most float64) error {
	if len(l.Values) == 0 || len(l.Values) > MaxChoices {
		return bad(field+".values", len(l.Values), "values are "+strings.TrimPrefix(notFrom(1, MaxChoices), "is "),
			"give the values that an empirical law takes")
	}
	for i, v := range l.Values {
		if !within(v, least, most) {
			return bad(fmt.Sprintf("%s.values[%d]", field, i), v, notFrom(least, most), "give a number in that range")
		}
	}
	if len(l.Weights) > 0 && len(l.Weights) != len(l.Values) {
		return bad(field+".weights", len(l.Weights), fmt.Sprintf("weights are for %d values", len(l.Values)), "one weight for each value")
	}
	return checkWeights(field+".weights", l.Weights)
}

// checkWeights requires non-negative weights, not all zero.
func checkWeights(field string, weights []float64) error {
	var sum float64
	for i, w := range weights {
		if !within(w, 0, 1e12) {
			return bad(fmt.Sprintf("%s[%d]", field, i), w, notFrom(0, 1e12), "give how often it comes, such as 1")
		}
		sum += w
	}
	if len(weights) > 0 && !(sum > 1e-12) {
		return bad(field, sum, "in sum", "give at least one above 0")
	}
	return nil
}
