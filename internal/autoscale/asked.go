// Package autoscale replays a day's load on replicas that policies start and stop: how well each policy meets the goal,
// its cost relative to the best fleet with knowledge of the load, and the policy as a file.
//
// See report.go for the way from a load to the answer, load.go for the sources of a load, policies.go for the policies
// by name.
package autoscale

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall/internal/load"
	"github.com/memwall/memwall/scale"
	"github.com/memwall/memwall/unit"
)

// Asked is the input of a replay in addition to the plan, its lengths and its goal.
type Asked struct {
	Load        string // a file, a list of rates, or a recording of watch
	Policies    []string
	Target      string // METRIC=VALUE, instead of the best that is found
	Attainment  float64
	Least, Most int
	Start       float64 // seconds; 0: predicted
	Node        float64 // seconds that a machine takes to come, before
	Grace       float64
	Scrape      float64 // seconds between two readings of metrics
	Queue       float64
	Evicted     float64 // an hour and replica
	Notice      float64
	SpotPrice   float64 // share of the price that is paid for replicas that may be evicted
	Seed        uint64
	Play        bool // the best policy's replicas are played request by request too
}

// Words are the flags.
func (a *Asked) Words() []load.Word {
	word := func(name, operand, doc, example string, read func(string) error) load.Word {
		return load.Word{Name: name, Operand: operand, Doc: doc, Example: example, Read: read}
	}
	return []load.Word{
		word("load", "FILE|RATES", "requests per second over the day: a CSV of times and rates, a list of rates in equal parts of a day, "+
			"a recording of memwall watch --record", "2,1,1,4,9,8", load.WordOf(&a.Load)),
		word("policy", "NAME|EXPR", "scaling policy; repeat it to compare several: "+strings.Join(names(), ", ")+
			", fixed:N, or an expression over "+nameWords(), "hpa",
			func(s string) error { a.Policies = append(a.Policies, s); return nil }),
		word("target", "METRIC=X", "target per replica for hpa and keda, instead of the cheapest that meets the goal: "+metricWords(),
			"running=40", load.WordOf(&a.Target)),
		word("attainment", "SHARE", "share of the day's requests that must meet --ttft and --tpot", "99%", shareOf(&a.Attainment)),
		word("min", "N", "minimum replicas; 0 lets KEDA scale to zero", "1", countOf(&a.Least)),
		word("max", "N", "replicas at most", "32", countOf(&a.Most)),
		word("start", "TIME", "until a new replica serves, instead of the prediction", "4min", load.SecondsOf(&a.Start)),
		word("node-start", "TIME", "time to provision a machine for a new replica, before that", "3min", load.SecondsOf(&a.Node)),
		word("metrics-every", "TIME", "how often metrics are read: a policy sees them as they last were; 0: as they are", "15s",
			load.SecondsOf(&a.Scrape)),
		word("grace", "TIME", "how long a replica may finish its requests before it is killed (terminationGracePeriodSeconds)", "30s",
			load.SecondsOf(&a.Grace)),
		word("queue", "N", "queue limit per replica; further requests are rejected, low priorities first", "50",
			numberOf(&a.Queue)),
		word("evict", "RATE", "evictions per hour of a replica on spot machines", "0.05", numberOf(&a.Evicted)),
		word("notice", "TIME", "notice before an eviction", "2min", load.SecondsOf(&a.Notice)),
		word("spot-price", "SHARE", "price of spot machines, as a share of the on-demand price", "40%", shareOf(&a.SpotPrice)),
	}
}

// Usual returns the defaults.
func Usual() *Asked {
	return &Asked{Attainment: 0.99, Least: 1, Most: 64, Grace: 30, Scrape: 15, Notice: 120, SpotPrice: 1, Seed: 1}
}

func nameWords() string {
	var all []string
	for _, n := range scale.Names {
		all = append(all, n[0])
	}
	return strings.Join(all, ", ")
}

func metricWords() string {
	var all []string
	for _, m := range scale.Metrics {
		all = append(all, m.Name)
	}
	return strings.Join(all, ", ")
}

func numberOf(at *float64) func(string) error {
	return func(s string) (err error) {
		if *at, err = unit.ParseNumber(s); err == nil && *at < 0 {
			err = fmt.Errorf("%q is less than nothing", s)
		}
		return err
	}
}

func shareOf(at *float64) func(string) error {
	return func(s string) error {
		number, percent := strings.CutSuffix(s, "%")
		x, err := unit.ParseNumber(strings.TrimSpace(number))
		if percent {
			x /= 100
		}
		if err == nil && !(x > 0 && x <= 1) {
			err = fmt.Errorf("%q is not a share above 0 and at most 1", s)
		}
		*at = x
		return err
	}
}

func countOf(at *int) func(string) error {
	return func(s string) error {
		n, err := unit.ParseCount(s)
		if err == nil && n > 4096 {
			err = fmt.Errorf("%q is more than 4096", s)
		}
		*at = int(n)
		return err
	}
}
