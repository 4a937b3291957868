package hardware

import (
	"strconv"
	"strings"

	"github.com/memwall/memwall/unit"
)

// Price is what a provider or a dealer asked on a day.
type Price struct {
	Device   string // id
	Node     string // the instance rented, as its provider names it; of the catalog when FindNode knows it
	Provider string
	Devices  int      // in the instance
	PerHour  unit.USD // of the whole instance; 0 for a purchase
	Purchase unit.USD // of one device; 0 for rent
	Kind     string   // "on-demand", "spot", "msrp" (list price), "street", or "estimate" (a cost model, no price)
	Region   string
	Date     string // "" when only the day of the source's version is known
	Source   string // key
	Note     string
}

// rented reads "[N x]INSTANCE" of which nothing but its price is listed: a smaller one of a kind whose largest is a node.
func rented(text string) (p Price, count int, ok bool) {
	count, name := 1, text
	if n, rest, counted := CountOf(text); counted && n > 0 && n <= mostInNode {
		count, name = n, rest
	}
	if !strings.ContainsAny(name, "-._") {
		return Price{}, 0, false
	}
	k := key(split(name)...)
	for _, r := range prices.lines() {
		if !same(r.second(), k) {
			continue
		}
		p, err := readPrice(r)
		return p, count, err == nil
	}
	return Price{}, 0, false
}

// PerDeviceHour is the rent of one device for an hour.
func (p *Price) PerDeviceHour() unit.USD { return p.PerHour / unit.USD(p.Devices) }

// Prices gives what is known of the rent and price of a device or a node, by its id. None is nil.
func Prices(id string) []Price {
	var all []Price
	for _, r := range prices.lines() {
		if id == "" || r.id() != id && r.second() != id {
			continue
		}
		if p, err := readPrice(r); err == nil {
			all = append(all, p)
		}
	}
	return all
}

func readPrice(row row) (Price, error) {
	r := &reader{row: row}
	p := Price{
		Device: r.text("device"), Node: r.text("node"), Provider: r.text("provider"), Devices: r.count("devices"),
		PerHour: r.money("usd_per_hour"), Purchase: r.money("usd_purchase"), Kind: r.text("kind"),
		Region: r.text("region"), Date: r.text("date"), Source: r.text("source"), Note: r.text("note"),
	}
	if p.Devices < 1 {
		r.fail("devices", "")
	}
	return p, r.err
}

func (r *reader) money(column string) unit.USD {
	s := r.text(column)
	if s == "" {
		return 0
	}
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || x <= 0 {
		r.fail(column, s)
	}
	return unit.USD(x)
}
