package hardware

import (
	"strconv"
	"strings"

	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/unit"
)

// Machine is what a model runs on: groups of identical devices, in one node or in several on a fabric, with the memory
// around them. What is neither stated nor sourced, such as the host of a bare device, is unknown.
type Machine struct {
	Name   string // accepted by Parse, after the number of devices, unless custom
	Node   string // id of the node type, if one was named
	Groups []Group
	Nodes  int // 0 for "local"
	// PerNode is the number of devices in a full node; the last node may have fewer.
	PerNode int
	Intra   Link // between devices of a node
	Inter   Link // between nodes, per device
	Host    Host // of each node
	NVMe    Store
	Pool    Store // memory beyond the host: CXL or another machine's
	CPUOnly bool
	Local   bool // this machine: the caller detects it
}

// Group is a number of identical devices.
type Group struct {
	Device Device
	Count  int
}

// Host is the CPU side of a node.
type Host struct {
	Memory    Fact[unit.Bytes]
	Bandwidth Fact[unit.ByteRate]
	Cores     Fact[int]
}

// Store is memory beyond the devices, with its read bandwidth.
type Store struct {
	Capacity  Fact[unit.Bytes]
	Bandwidth Fact[unit.ByteRate]
}

// Memory returns the total memory of all devices.
func (m *Machine) Memory() (all unit.Bytes) {
	for i := range m.Groups {
		all += m.Groups[i].Device.Memory.Value * unit.Bytes(m.Groups[i].Count)
	}
	return all
}

// Vendor returns the vendor of the first devices; empty if there are none.
func (m *Machine) Vendor() string {
	if m == nil || len(m.Groups) == 0 {
		return ""
	}
	return m.Groups[0].Device.Vendor
}

// Devices returns the number of devices in all groups.
func (m *Machine) Devices() int {
	n := 0
	for _, g := range m.Groups {
		n += g.Count
	}
	return n
}

// defaultFabric is the assumed bandwidth between nodes: 400 Gb/s per device.
const defaultFabric = 50 * gbs

// ofDevices builds a machine of bare devices.
func ofDevices(groups []Group) (Machine, []Note) {
	groups, cpus := hosts(groups)
	m := Machine{Groups: groups, Name: groupsName(groups, cpus)}
	var notes []Note
	if len(groups) == 0 {
		m.CPUOnly, m.Nodes = true, 1
	} else {
		notes = append(m.spread(), m.join()...)
		m.attach()
		for _, g := range groups {
			if g.Device.Dies > 1 {
				notes = append(notes, note("board_of_dies", "a %s shows itself as %d devices; all figures are the board's", g.Device.ID,
					g.Device.Dies))
			}
		}
	}
	for _, c := range cpus {
		m.Host.Bandwidth = c.Device.Bandwidth.times(unit.ByteRate(c.Count))
		m.Host.Cores = c.Device.SMs.times(c.Count)
		// A socket with memory in its own package.
		m.Host.Memory = c.Device.Memory.times(unit.Bytes(c.Count))
	}
	return m, notes
}

// hosts separates the processors from the accelerators.
func hosts(groups []Group) (accelerators, cpus []Group) {
	for _, g := range groups {
		if g.Device.IsCPU() {
			cpus = append(cpus, g)
		} else {
			accelerators = append(accelerators, g)
		}
	}
	return accelerators, cpus
}

// spread distributes the devices over nodes.
func (m *Machine) spread() []Note {
	total, holds := m.Devices(), m.Groups[0].Device.PerNode.Value
	for _, g := range m.Groups {
		holds = min(holds, max(1, g.Device.PerNode.Value))
	}
	if total <= holds {
		m.Nodes, m.PerNode = 1, total
		return nil
	}
	m.PerNode = holds
	for _, g := range m.Groups {
		m.Nodes += int(unit.CeilDiv(int64(g.Count), int64(holds)))
	}
	return []Note{note("nodes_assumed", "%d devices taken as %d nodes of up to %d, as %s usually comes", total, m.Nodes, holds,
		m.Groups[0].Device.ID)}
}

// join determines the links between devices and between nodes.
func (m *Machine) join() []Note {
	var notes []Note
	if m.PerNode > 1 {
		m.Intra, notes = intra(m.Groups)
	}
	if m.Nodes > 1 {
		var n []Note
		m.Inter, n = inter(m.Groups)
		notes = append(notes, n...)
	}
	return notes
}

// intra returns the link between the devices of a node: their own if they are identical and it is more than a bridge
// between two; otherwise PCI Express, as fast as the slowest.
func intra(groups []Group) (Link, []Note) {
	first := &groups[0].Device
	bridge := strings.Contains(first.Link.Name, "bridge")
	if len(groups) == 1 && first.Link.EachWay.Known && !bridge {
		return first.Link, nil
	}
	link := Link{Name: "PCIe", EachWay: first.PCIe.EachWay}
	for _, g := range groups[1:] {
		link.EachWay = lesser(link.EachWay, g.Device.PCIe.EachWay)
	}
	if !link.EachWay.Known {
		return Link{}, []Note{note("link_assumed", "the link between the devices is unknown; say link=name:rate")}
	}
	if bridge {
		return link,
			[]Note{note("link_assumed", "PCIe taken between the devices, %s each way; an NVLink bridge joins two and is bought apart: "+
				"say link=nvlink:%sGB/s",
				link.EachWay.Value, strconv.FormatFloat(float64(2*first.Link.EachWay.Value)/gbs, 'f', -1, 64))}
	}
	return link, nil
}

// inter returns the fabric between nodes: the device's own network, if it has one; a default for what stands in racks;
// unknown for desktop machines.
func inter(groups []Group) (Link, []Note) {
	d := &groups[0].Device
	switch {
	case d.PerNode.Value == 1 && d.Link.EachWay.Known && d.Form == "SoC":
		return d.Link, nil
	case d.PerNode.Value == 1 && d.Form != "Superchip":
		return Link{}, []Note{note("fabric_assumed", "nothing is known of the network between these computers; say fabric=name:rate")}
	}
	link := Link{Name: "fabric", EachWay: fact(unit.ByteRate(defaultFabric), ledger.Assumed, "fabric")}
	return link,
		[]Note{note("fabric_assumed", "between nodes %s each way for each device, as with 400 Gb/s InfiniBand; say fabric=name:rate",
			link.EachWay.Value)}
}

// attach adds up the host memory that comes with the devices.
func (m *Machine) attach() {
	a := m.Groups[0].Device.Attached
	if len(m.Groups) > 1 || a == nil {
		return
	}
	m.Host.Memory = a.Memory.times(unit.Bytes(m.PerNode))
	m.Host.Bandwidth = a.Bandwidth.times(unit.ByteRate(m.PerNode))
}

// ofNodes builds a machine of devices in nodes of one type.
func ofNodes(n *Node, d Device, total int) (Machine, []Note) {
	m := Machine{
		Node: n.ID, Groups: []Group{{d, total}}, PerNode: min(n.Devices, total),
		Nodes: int(unit.CeilDiv(int64(total), int64(n.Devices))),
		Intra: n.Intra, Host: n.Host, NVMe: Store{Capacity: n.NVMe},
	}
	m.Name = counted(m.Nodes, n.ID)
	var notes []Note
	if used := total % n.Devices; used != 0 {
		m.Name = n.ID
		notes = append(notes, note("partly_used", "%s holds %d devices; the last node uses %d", n.ID, n.Devices, used))
	}
	if m.Nodes > 1 {
		m.Inter = n.Inter
		if !m.Inter.EachWay.Known {
			m.Inter = Link{Name: "fabric", EachWay: fact(unit.ByteRate(defaultFabric), ledger.Assumed, "fabric")}
			notes = append(notes, note("fabric_assumed",
				"the network of %s is unknown: %s each way for each device taken; say fabric=name:rate", n.ID, m.Inter.EachWay.Value))
		}
	}
	if d.IsCPU() {
		m.CPUOnly, m.Groups = true, nil
		m.Host.Bandwidth = d.Bandwidth.times(unit.ByteRate(n.Devices))
	}
	return m, notes
}

func counted(n int, name string) string {
	if n == 1 {
		return name
	}
	return strconv.Itoa(n) + "x" + name
}

func groupsName(groups, cpus []Group) string {
	var names []string
	for _, g := range append(groups[:len(groups):len(groups)], cpus...) {
		names = append(names, counted(g.Count, g.Device.ID))
	}
	return strings.Join(names, "+")
}
