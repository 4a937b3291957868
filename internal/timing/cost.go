package timing

import (
	"cmp"
	"fmt"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/cost"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/speed"
)

// price adds energy and cost per token, if all devices are alike and sourced. turns is the number of devices that take
// turns, each working for its share of the time.
func price(q *question.Question, v *api.Speed, total speed.Figure, turns int) {
	m := q.Job.Machine
	if len(m.Groups) != 1 || !total.Known() {
		return
	}
	d, n := &m.Groups[0].Device, m.Devices()
	load := cost.Load{}
	if v.BandwidthFraction != nil {
		load.Memory = *v.BandwidthFraction / float64(turns)
	}
	if v.FLOPsFraction != nil {
		load.Compute = *v.FLOPsFraction / float64(turns)
	}
	watts := cost.Watts(d, load)
	Figure(cost.JoulesPerToken(watts.Figure, n, total), &v.JoulesPerToken, &v.JoulesPerTokenLow, &v.JoulesPerTokenHigh)
	defer func() { priced(q, d, load, n, v, total.Mid) }()
	rent := q.Env.RentOf(m, n)
	if !rent.PerHour.Known() {
		return
	}
	Figure(cost.PerMillion(rent, total), &v.USDPerMillion, &v.USDPerMillionLow, &v.USDPerMillionHigh)
	v.USDPerHour = question.Rounded(rent.PerHour.Mid)
	rented := rent.Devices(n)
	if rented > n {
		v.RentedDevices = int64(rented)
	}
	v.Price = fmt.Sprintf("%s on demand: $%.2f an hour for %d, the middle of %d rows; %s", rent.Price.Provider, rent.PerHour.Mid, rented,
		rent.Rows, cmp.Or(rent.Date, "undated"))
}
