package hardware

import (
	"strings"

	"github.com/memwall/memwall/unit"
)

// Node is a computer, or a rack that acts as one, as rented by a provider or sold by a vendor.
type Node struct {
	ID       string
	Name     string
	Provider string
	Device   string // id of its devices
	Devices  int    // number of devices
	Intra    Link   // between its devices
	Inter    Link   // to other nodes, per device
	Host     Host
	NVMe     Fact[unit.Bytes]
	Note     string
}

// FindNode returns the catalog node that a name refers to, by id or alias.
func FindNode(name string) (*Node, bool) {
	if len(name) > maxName {
		return nil, false
	}
	k, short := nodeKeys(name)
	of := func(have string) bool { s := series(have); return s != "" && same(s, k) }
	for _, r := range nodes.lines() {
		if !eachName(r, func(have string) bool {
			return same(have, k) || same(have, short) || same(strings.TrimPrefix(have, "standard_"), k) || of(have)
		}) {
			continue
		}
		n, err := readNode(r)
		return &n, err == nil
	}
	return nil, false
}

// series returns the series of an Azure instance, whose name has no size: Standard_ND96isr_H100_v5 belongs to ND H100
// v5.
func series(instance string) string {
	size, ok := strings.CutPrefix(instance, "standard_")
	if !ok {
		return ""
	}
	size, rest, _ := strings.Cut(size, "_")
	at := strings.IndexAny(size, "0123456789")
	return size[:max(at, 0)] + " " + rest
}

// nodeKeys returns a name as one word, with and without its provider. The numbers and units of an instance are part of
// its name ("8x_H100_192V_1600G").
func nodeKeys(name string) (whole, short string) {
	words := split(name)
	whole = key(words...)
	short = whole
	if len(words) > 1 && noise[words[0]] {
		short = key(words[1:]...)
	}
	return whole, short
}

// Nodes returns every node of the catalog, in catalog order.
func Nodes() []Node {
	var all []Node
	for r := range nodes.rows() {
		if n, err := readNode(r); err == nil {
			all = append(all, n)
		}
	}
	return all
}

func readNode(row row) (Node, error) {
	r := &reader{row: row}
	n := Node{
		ID:       r.id(),
		Name:     r.text("name"),
		Provider: r.text("provider"),
		Device:   r.text("device"),
		Devices:  r.count("devices"),
		Intra:    Link{r.text("intra"), rate[unit.ByteRate](r, "intra_gbs_each_way", gbs)},
		Inter:    Link{r.text("inter"), rate[unit.ByteRate](r, "inter_gbs_each_way_per_device", gbs)},
		Host:     Host{Memory: r.size("host_gib", unit.GiB), Cores: r.countFact("host_cores")},
		NVMe:     r.size("nvme_tb", unit.TB),
		Note:     r.text("note"),
	}
	return n, r.err
}
