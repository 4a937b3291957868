package cost

import (
	"cmp"
	"slices"

	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/internal/stable"
	"github.com/memwall/memwall/stat"
	"github.com/memwall/memwall/unit"
)

// Rate is an hourly cost, with its source.
type Rate struct {
	PerHour Figure // dollars for all devices
	// Price is the row behind the middle figure.
	Price hardware.Price
	// Rows is the number of rows behind the range; for rent, one per provider.
	Rows int
	// Source is a citation. Date is when the price was asked, "" if only the source's version is known.
	Source, Date string
}

// Devices returns how many devices are rented to get the number needed, given that only whole instances are rented.
func (r Rate) Devices(needed int) int {
	if r.Price.Devices <= 0 {
		return needed
	}
	return int(unit.CeilDiv(int64(needed), int64(r.Price.Devices))) * r.Price.Devices
}

// Rent returns the hourly rent of the given number of devices, on demand. Only whole instances are rented, so a
// provider's price is that of its cheapest combination of instances of one type. The range spans the cheapest to the
// most expensive provider; the figure is the lower median. Providers that only rent more devices than needed are
// considered only if no other does. Rent is unknown if no row exists.
func Rent(device string, devices int) Rate {
	rows := pricesOf(device, func(p *hardware.Price) bool { return p.Kind == "on-demand" && p.PerHour > 0 })
	larger := func(p hardware.Price) bool { return int64(p.Devices) > int64(devices) }
	if fitting := slices.DeleteFunc(slices.Clone(rows), larger); len(fitting) > 0 {
		rows = fitting
	}
	hour := func(p *hardware.Price) float64 { return wholeInstances(p, devices) }
	return rate(cheapest(rows, hour), hour)
}

// cheapest returns each provider's cheapest row; on a tie, the first.
func cheapest(rows []hardware.Price, hour func(*hardware.Price) float64) (out []hardware.Price) {
	for i := range rows {
		at := slices.IndexFunc(out, func(p hardware.Price) bool { return p.Provider == rows[i].Provider })
		switch {
		case at < 0:
			out = append(out, rows[i])
		case hour(&rows[i]) < hour(&out[at]):
			out[at] = rows[i]
		}
	}
	return out
}

// wholeInstances returns the hourly price of as many instances as hold the devices.
func wholeInstances(p *hardware.Price, devices int) float64 {
	return float64(unit.CeilDiv(int64(devices), int64(p.Devices))) * float64(p.PerHour)
}

// Terms are the terms of ownership. No field has a default, since none would be right everywhere.
type Terms struct {
	LifetimeHours float64  // over which the purchase is spread
	PerKWh        unit.USD // price of a kilowatt-hour
	// Overhead is the site's power per watt of the devices, for hosts, losses and cooling. 1 counts the devices alone.
	Overhead float64
	// Purchase is the price of one device, overriding published prices; 0 if not given.
	Purchase unit.USD
}

// Own returns the hourly cost of owned devices: their price spread over the lifetime, and their energy. It is unknown
// if no purchase price is known, the watts are unknown, or the terms are not positive.
func Own(device string, devices int, watts Figure, t Terms) Rate {
	if !(t.LifetimeHours > 0) || !(t.PerKWh > 0) || !(t.Overhead >= 1) || !watts.Known() {
		return Rate{}
	}
	rows := pricesOf(device, func(p *hardware.Price) bool { return (p.Kind == "msrp" || p.Kind == "street") && p.Purchase > 0 })
	if t.Purchase > 0 {
		rows = []hardware.Price{{Device: device, Devices: 1, Purchase: t.Purchase, Kind: "street", Note: "as given"}}
	}
	r := rate(rows, func(p *hardware.Price) float64 { return float64(devices) * float64(p.Purchase) / t.LifetimeHours })
	if r.PerHour.Known() {
		energy := watts.Times(float64(devices) * t.Overhead * 3600 / joulesPerKWh * float64(t.PerKWh))
		r.PerHour = r.PerHour.Plus(energy)
	}
	return r
}

// PerMillion returns the price of a million tokens, the hourly cost over the tokens of an hour. tokens is the rate of
// all sequences together. The band is that of the rate: the spread of prices is not a prediction error.
func PerMillion(r Rate, tokens Figure) Figure {
	taken := Figure{Mid: r.PerHour.Mid, Low: r.PerHour.Mid, High: r.PerHour.Mid}
	return per(taken.Times(1e6/3600), tokens)
}

func pricesOf(device string, keep func(*hardware.Price) bool) (rows []hardware.Price) {
	for _, p := range hardware.Prices(device) {
		if keep(&p) {
			rows = append(rows, p)
		}
	}
	return rows
}

func rate(rows []hardware.Price, hour func(*hardware.Price) float64) Rate {
	if len(rows) == 0 {
		return Rate{}
	}
	stable.Sort(rows, func(a, b hardware.Price) int { return cmp.Compare(hour(&a), hour(&b)) })
	mid := rows[stat.MedianRow(len(rows))]
	r := Rate{PerHour: Figure{Mid: hour(&mid), Low: hour(&rows[0]), High: hour(&rows[len(rows)-1])}, Price: mid, Rows: len(rows),
		Date: mid.Date}
	if s, ok := hardware.Cite(mid.Source); ok {
		r.Source = s.Citation
		r.Date = cmp.Or(r.Date, s.Date)
	}
	return r
}
