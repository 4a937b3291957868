package planner

import (
	"cmp"
	"fmt"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/cost"
	"github.com/memwall/memwall/internal/question"
)

// rentLess notes how few of the devices hold a single user's plan if renting those costs half or less, with the source of both
// prices.
func rentLess(q *question.Question, a *api.Answer) {
	m, v := q.Job.Machine, a.Speed
	if m == nil || v == nil || v.USDPerHour == nil || len(m.Groups) != 1 || q.Request.Sequences > 1 || a.Verdict == api.DoesNotFit {
		return
	}
	d, all := &m.Groups[0].Device, q.Env.RentOf(m, m.Devices())
	for n := 1; n <= m.Devices()/2 && !d.Consumer(); n *= 2 {
		if _, fits := tryOn(q, d.ID, n); !fits {
			continue
		}
		few, _, err := q.Env.Find(d.ID, n)
		if r := q.Env.RentOf(&few, n); err == nil && r.PerHour.Known() && r.PerHour.Mid*2 <= all.PerHour.Mid {
			a.Notes = append(a.Notes, api.Note{Code: "rent_less", Severity: "info", Field: "hardware", Text: fmt.Sprintf(
				"one user needs %d of the %d %s: %s in place of %s", n, m.Devices(), d.Name, rentWords(&r), rentWords(&all))})
		}
		return
	}
}

// rentWords describes a rent in dollars per hour and its source.
func rentWords(r *cost.Rate) string {
	return fmt.Sprintf("$%.2f an hour (%s on demand, %s)", r.PerHour.Mid, r.Price.Provider, cmp.Or(r.Date, "undated"))
}
