package cost

import (
	"cmp"
	"slices"

	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/internal/stable"
	"github.com/memwall/memwall/stat"
	"github.com/memwall/memwall/unit"
)

// Rate is what running costs an hour, and where that is from.
type Rate struct {
	PerHour Figure // dollars, of all devices
	// Price is the row that the middle figure is from.
	Price hardware.Price
	// Rows is how many rows the range is over: of rent one a provider.
	Rows int
	// Source is a citation; Date when it was asked, "" when only the version of the source is known.
	Source, Date string
}

// Devices is how many are rented where so many are needed: instances are whole.
func (r Rate) Devices(needed int) int {
	if r.Price.Devices <= 0 {
		return needed
	}
	return int(unit.CeilDiv(int64(needed), int64(r.Price.Devices))) * r.Price.Devices
}

// Rent of so many devices for an hour, on demand. Instances are rented whole, so what a provider asks for is
// its instances' number times their price, by the instance with which that is least. The range is from the
// cheapest to the dearest provider, the figure the lower median. Who rents out more at a time than is needed counts only where nobody
// rents out less. Unknown where no row is.
func Rent(device string, devices int) Rate {
	rows := pricesOf(device, func(p *hardware.Price) bool { return p.Kind == "on-demand" && p.PerHour > 0 })
	larger := func(p hardware.Price) bool { return int64(p.Devices) > int64(devices) }
	if fitting := slices.DeleteFunc(slices.Clone(rows), larger); len(fitting) > 0 {
		rows = fitting
	}
	hour := func(p *hardware.Price) float64 { return wholeInstances(p, devices) }
	return rate(cheapest(rows, hour), hour)
}

// cheapest leaves one row of each provider; of equals the first.
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

// wholeInstances is the price of an hour of as many instances as hold the devices.
func wholeInstances(p *hardware.Price, devices int) float64 {
	return float64(unit.CeilDiv(int64(devices), int64(p.Devices))) * float64(p.PerHour)
}

// Terms are those of an owner. None has a default that would be honest everywhere.
type Terms struct {
	LifetimeHours float64  // that the purchase is spread over
	PerKWh        unit.USD // what a kilowatt-hour costs
	// Overhead is what a site draws for each watt of the devices: hosts, losses, cooling. 1 counts the devices
	// alone.
	Overhead float64
	// Purchase is the price of one device, where it is known better than by published ones; else 0.
	Purchase unit.USD
}

// Own is what owned devices cost an hour: their purchase over its lifetime, and their energy. Unknown where no
// purchase price is, the watts are unknown or the terms are not positive.
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

// PerMillion is the price of a million tokens: an hour's over the tokens of an hour. tokens is the rate of all
// sequences together. Its band is that of the rate: what others ask for an hour is no error of a prediction.
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
