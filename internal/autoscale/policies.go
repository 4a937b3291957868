package autoscale

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/scale"
	"github.com/memwall/memwall/spell"
)

// kind is a policy that has a name.
type kind struct {
	name string
	// tuned: a target of a metric decides, and the best is looked for where nobody gives one.
	tuned bool
	make  func(s *setting) scale.Policy
}

// setting is what a policy is made with.
type setting struct {
	curve  *scale.Curve
	share  float64
	least  int
	most   int
	metric scale.Metric
	target float64
}

// kinds of policies.
var kinds = []kind{
	{"hpa", true, func(s *setting) scale.Policy { return s.hpa(false) }},
	{"keda", true, func(s *setting) scale.Policy {
		return &scale.KEDA{HPA: *s.hpa(true), ToZero: s.least == 0}
	}},
	{"dynamo", false, func(s *setting) scale.Policy { return &scale.Planner{Each: s.curve.Holds(s.share)} }},
	{"llm-d", false, func(*setting) scale.Policy { return &scale.Saturation{} }},
}

func (s *setting) hpa(external bool) *scale.HPA {
	up, down := scale.Usual()
	return &scale.HPA{Metric: s.metric, Target: s.target, External: external, Up: up, Down: down, Most: s.most}
}

func names() (all []string) {
	for _, k := range kinds {
		all = append(all, k.name)
	}
	return all
}

// contender is a policy that is to be played: a kind, a number of replicas, or an expression.
type contender struct {
	name string
	kind *kind
	make func(*setting) (scale.Policy, error)
}

// contenders are the policies that are asked for; all kinds where nobody says.
func contenders(asked []string) ([]contender, error) {
	if len(asked) == 0 {
		asked = names()
	}
	var out []contender
	for _, word := range asked {
		word = strings.TrimSpace(word)
		i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == word })
		number, fixed := strings.CutPrefix(word, "fixed:")
		switch {
		case i >= 0:
			out = append(out, contender{name: word, kind: &kinds[i]})
		case fixed:
			n, err := strconv.Atoi(number)
			if err != nil || n < 1 || n > 4096 {
				return nil, policyFault(word, "fixed takes a number of replicas from 1 to 4096", "fixed:4")
			}
			out = append(out, contender{name: word, make: func(*setting) (scale.Policy, error) { return scale.Fixed(n), nil }})
		case !strings.ContainsAny(word, " ()*/+<>?") && !slices.ContainsFunc(scale.Names, func(n [2]string) bool { return n[0] == word }):
			hint := strings.Join(names(), ", ") + `, fixed:4, or an expression such as "ceil(rate / holds)"`
			if near := spell.Nearest(word, names()); len(near) > 0 {
				hint = "did you mean " + strings.Join(near, ", ")
			}
			return nil, policyFault(word, fmt.Sprintf("%.40q is not a policy", word), hint)
		default:
			out = append(out, expressed(word))
		}
	}
	return out, nil
}

func expressed(text string) contender {
	return contender{name: text, make: func(s *setting) (scale.Policy, error) {
		e, err := scale.Parse(text, s.curve, s.share)
		if err != nil {
			return nil, policyFault(text, err.Error(), `"max(1, ceil(rate / holds * 1.2))"`)
		}
		return e, nil
	}}
}

func policyFault(value, message, hint string) error {
	return &memwall.Error{Code: memwall.BadField, Field: "policy", Value: value, Message: "--policy: " + message, Hint: hint}
}

// targeted is a target that is given: METRIC=VALUE.
func targeted(text string) (*setting, error) {
	name, value, _ := strings.Cut(text, "=")
	i := slices.IndexFunc(scale.Metrics, func(m scale.Metric) bool { return m.Name == name })
	x, err := strconv.ParseFloat(value, 64)
	if i < 0 || err != nil || !(x > 0 && x < 1e9) {
		return nil, &memwall.Error{Code: memwall.BadField, Field: "target", Value: text,
			Message: "--target: " + strconv.Quote(text) + " is not a metric with a value above 0: " + metricWords(),
			Hint:    "--target running=40"}
	}
	return &setting{metric: scale.Metrics[i], target: x}, nil
}

// targets that are tried for each metric: parts of what a replica has of it where it just keeps the goal.
func (s *setting) targets() (out []setting) {
	in := s.curve.In(s.curve.Holds(s.share))
	parts := []float64{0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.15}
	for _, m := range scale.Metrics {
		at := scale.Sight{Ready: []scale.Seen{{Running: s.curve.Running(in), Waiting: in - s.curve.Running(in), KV: s.curve.KV(in)}},
			Rate: s.curve.Holds(s.share)}
		full := m.Sum(&at)
		if m.Name == "waiting" {
			full = max(full, 4)
		}
		for _, part := range parts {
			if full*part > 1e-9 {
				t := *s
				t.metric, t.target = m, rounded(full*part)
				out = append(out, t)
			}
		}
	}
	return out
}

// rounded to two digits, as people write targets.
func rounded(x float64) float64 {
	v, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 2, 64), 64)
	return v
}
