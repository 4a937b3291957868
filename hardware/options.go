package hardware

import (
	"strconv"
	"strings"

	"github.com/memwall/memwall/ledger"
)

// apply applies the keys that describe the machine around its devices.
func (m *Machine) apply(options []option) ([]Note, error) {
	var notes []Note
	seen := map[string]bool{}
	for _, o := range options {
		if seen[o.key] {
			return nil, bad(o.key, o.value, "is given twice", "give it once")
		}
		seen[o.key] = true
		n, err := m.set(o)
		if err != nil {
			return nil, err
		}
		notes = append(notes, n...)
	}
	return notes, nil
}

func (m *Machine) set(o option) ([]Note, error) {
	var err error
	switch o.key {
	case "host":
		if len(m.Groups) == 1 && m.Groups[0].Device.Unified != nil && len(m.Groups[0].Device.Options) > 1 {
			return nil, bad("host", o.value, "is not memory of its own: "+m.Groups[0].Device.ID+" shares one with its GPU",
				"name the size that it is sold with: "+m.Groups[0].Device.smallest())
		}
		var s Store
		s, err = givenStore(o)
		m.Host.Memory, m.Host.Bandwidth = s.Capacity, s.Bandwidth.or(m.Host.Bandwidth)
	case "cores":
		m.Host.Cores, err = givenCores(o)
	case "nvme":
		m.NVMe, err = givenStore(o)
	case "pool":
		m.Pool, err = givenStore(o)
	case "link":
		if strings.EqualFold(o.value, "nvlink") {
			return m.bridge(o)
		}
		m.Intra, err = givenLink(o)
		m.Intra.EachWay = halved(m.Intra.EachWay)
		return linkNote(m.Intra), err
	case "fabric":
		m.Inter, err = givenLink(o)
	case "per-node":
		return m.setPerNode(o)
	case "usable":
		err = m.setUsable(o)
	case "pcie":
		err = m.setPCIe(o)
	case "mps":
		return m.setMPS(o)
	default:
		return nil, bad(o.key, o.value, "is not a key of a machine", nearKey(o.key))
	}
	return nil, err
}

// setPerNode redistributes the devices over nodes, keeping explicitly given links.
func (m *Machine) setPerNode(o option) ([]Note, error) {
	n, err := perNode(o)
	if err != nil {
		return nil, err
	}
	if m.Node != "" || len(m.Groups) == 0 {
		return nil, bad(o.key, o.value, "does not go with "+quote(m.Name), "leave it out")
	}
	for i := range m.Groups {
		m.Groups[i].Device.PerNode = fact(n, ledger.Exact, given)
	}
	intra, inter := m.Intra, m.Inter
	m.Nodes, m.Intra, m.Inter = 0, Link{}, Link{}
	m.spread()
	notes := m.join()
	if intra.EachWay.Source == given {
		m.Intra = intra
	}
	if inter.EachWay.Source == given {
		m.Inter = inter
	}
	return notes, nil
}

// givenCores parses the number of host cores.
func givenCores(o option) (Fact[int], error) {
	const most = 1 << 16
	n, err := strconv.Atoi(o.value)
	if err != nil || n < 1 || n > most {
		return Fact[int]{}, bad(o.key, o.value, "is not a number of cores", "1 to 65,536")
	}
	return fact(n, ledger.Exact, given), nil
}

// setUsable sets how much of each device a program may use, where a driver or limit on this machine differs from the
// catalog.
func (m *Machine) setUsable(o option) error {
	b, err := givenSize(o)
	switch {
	case err != nil:
		return err
	case len(m.Groups) != 1:
		return bad(o.key, o.value, "is of one kind of device, and "+quote(m.Name)+" is not", "leave it out")
	}
	d := &m.Groups[0].Device
	most := d.Memory.Value
	for _, size := range d.Options {
		most = max(most, size)
	}
	if d.Memory.Known && b.Value > most {
		return bad(o.key, o.value, "is more than the memory of "+d.ID, "at most "+most.String())
	}
	d.Usable = b
	return nil
}

// setPCIe sets how the devices are connected to the host: a slot may have fewer lanes than the card.
func (m *Machine) setPCIe(o option) error {
	p, err := givenPCIe(o)
	switch {
	case err != nil:
		return err
	case len(m.Groups) == 0:
		return bad(o.key, o.value, "is of devices, and "+quote(m.Name)+" has none", "leave it out")
	}
	for i := range m.Groups {
		m.Groups[i].Device.PCIe = p
	}
	if m.Intra.Name == "PCIe" {
		m.Intra.EachWay = p.EachWay
	}
	return nil
}

// bridge handles "link=nvlink": the link that the catalog lists for the device, which for a card is a separately sold
// bridge.
func (m *Machine) bridge(o option) ([]Note, error) {
	if len(m.Groups) != 1 || !m.Groups[0].Device.Link.EachWay.Known {
		return nil, bad(o.key, o.value, "is a link of which no rate is known here", "name:rate, such as nvlink:900GB/s")
	}
	d := &m.Groups[0].Device
	if strings.Contains(d.Link.Name, "bridge") && m.PerNode > 2 {
		return []Note{note("link_assumed", "a bridge joins two of %s: between all %d the slower PCIe counts", d.ID, m.PerNode)}, nil
	}
	m.Intra = d.Link
	m.Intra.EachWay.Source = given // its presence is given; the rate keeps the catalog's basis
	return nil, nil
}

func linkNote(l Link) []Note {
	if !l.EachWay.Known {
		return nil
	}
	return []Note{note("link_halved", "link=%s counts both directions, as datasheets do: %s each way", l.Name, l.EachWay.Value)}
}

// givenStore parses "128GiB@200GB/s" or "128GiB".
func givenStore(o option) (Store, error) {
	size, rate, hasRate := strings.Cut(o.value, "@")
	c, err := givenSize(option{o.key, strings.TrimSpace(size)})
	if err != nil {
		return Store{}, err
	}
	s := Store{Capacity: c}
	if hasRate {
		s.Bandwidth, err = givenRate(option{o.key, strings.TrimSpace(rate)})
	}
	return s, err
}

// givenLink parses "nvlink:900GB/s".
func givenLink(o option) (Link, error) {
	name, rate, ok := strings.Cut(o.value, ":")
	name = strings.TrimSpace(name)
	if !ok || name == "" || len(name) > 64 {
		return Link{}, bad(o.key, o.value, "is not a link", "name:rate, such as nvlink:900GB/s")
	}
	r, err := givenRate(option{o.key, strings.TrimSpace(rate)})
	return Link{Name: name, EachWay: r}, err
}
