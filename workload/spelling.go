package workload

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// ParseLaw parses a distribution: a number for a constant, or a name with parameters, as in uniform:100-2000,
// exponential:300, gamma:300,2, lognormal:1500,0.5 and empirical:100,200,300. All but the first and the last may end in
// bounds: lognormal:1500,0.5,1-8k. number parses the numbers, so that lengths and times use their own units.
func ParseLaw(text string, number func(string) (float64, error)) (Law, error) {
	name, rest, named := strings.Cut(text, ":")
	if !named {
		mean, err := number(text)
		return Law{Law: "fixed", Mean: mean}, err
	}
	l := Law{Law: strings.TrimSpace(name)}
	if _, known := lawFields[l.Law]; !known {
		return Law{}, fmt.Errorf("%q is not a law: %s", name, strings.Join(slices.Sorted(maps.Keys(lawFields)), ", "))
	}
	err := l.take(strings.Split(rest, ","), number)
	return l, err
}

// take parses the parameters of a distribution.
func (l *Law) take(words []string, number func(string) (float64, error)) (err error) {
	if l.Law == "empirical" {
		return l.takeValues(words, number)
	}
	if low, high, ranged := strings.Cut(words[len(words)-1], "-"); ranged && low != "" {
		if l.Min, err = number(low); err != nil {
			return err
		}
		if l.Max, err = number(high); err != nil {
			return err
		}
		words = words[:len(words)-1]
	}
	takes := 1
	if strings.Contains(lawFields[l.Law], "cv") {
		takes = 2
	}
	if len(words) > takes || len(words) == 0 && l.Law != "uniform" || len(words) > 0 && words[0] == "" {
		return fmt.Errorf("%s takes %s", l.Law, lawExamples[l.Law])
	}
	if len(words) > 0 {
		if l.Mean, err = number(words[0]); err != nil {
			return err
		}
	}
	if len(words) > 1 {
		l.CV, err = unit.ParseNumber(words[1])
	}
	return err
}

func (l *Law) takeValues(words []string, number func(string) (float64, error)) error {
	for _, w := range words {
		v, err := number(w)
		if err != nil {
			return err
		}
		l.Values = append(l.Values, v)
	}
	return nil
}

// lawExamples are example parameters of each distribution.
var lawExamples = map[string]string{
	"fixed": "a value: fixed:1500", "uniform": "bounds: uniform:100-2000", "exponential": "a mean: exponential:300",
	"gamma":     "a mean and a cv: gamma:300,2",
	"lognormal": "a mean and a cv: lognormal:1500,0.5",
}

// ParseChoice parses a count and, after a colon, the exponent of the popularity: 100 or 100:1.2.
func ParseChoice(text string) (c Choice, err error) {
	count, zipf, skewed := strings.Cut(text, ":")
	n, err := unit.ParseCount(count)
	if c.Count = plan.Int(n); err != nil || !skewed {
		return c, err
	}
	c.Zipf, err = unit.ParseNumber(zipf)
	return c, err
}
