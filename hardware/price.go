package hardware

import (
	"strconv"
	"strings"

	"github.com/memwall/memwall/unit"
)

// Price is what a provider or dealer asked on a given day.
type Price struct {
	Device   string // id
	Node     string // rented instance, as its provider names it; FindNode may know it
	Provider string
	Devices  int      // in the instance
	PerHour  unit.USD // of the whole instance; 0 for a purchase
	Purchase unit.USD // of one device; 0 for rent
	Kind     string   // "on-demand", "spot", "msrp" (list price), "street", or "estimate" (from a cost model)
	Region   string
	Date     string // "" if only the date of the source's version is known
	Source   string // key
	Note     string
}

// rented parses "[N x]INSTANCE" for an instance of which only the price is listed: a smaller size of a type whose
// largest is a catalog node.
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

// PerDeviceHour returns the rent of one device per hour.
func (p *Price) PerDeviceHour() unit.USD { return p.PerHour / unit.USD(p.Devices) }

// Prices returns the known rents and prices of the device or node with the given id; nil if none.
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
