package hardware

import "github.com/memwall/memwall/unit"

// Memory rates of hosts that nobody described: a desktop has two channels of DDR5-5600; modules sit in servers of two
// sockets, with eight channels of DDR4-3200 each at the least (NVIDIA, DGX A100 system architecture).
const (
	DesktopRate = unit.ByteRate(89.6e9)
	ServerRate  = unit.ByteRate(409.6e9)
)

// HostRate is how fast the memory of a node's host is read; assumed, by the form of its devices, where nobody says.
func (m *Machine) HostRate() (rate unit.ByteRate, assumed bool) {
	switch {
	case m.Host.Bandwidth.Known:
		return m.Host.Bandwidth.Value, false
	case len(m.Groups) > 0 && m.Groups[0].Device.module():
		return ServerRate, true
	}
	return DesktopRate, true
}

// module tells devices that are soldered to a board for servers.
func (d *Device) module() bool { return d.Form == "SXM" || d.Form == "OAM" }

// Reach is the rate at which a device reads what lies in the host's memory ("host"), on its disk ("nvme") or in a pool
// beyond it ("pool"): that of its link, or its part of the store's where so many devices of a node share it. false where
// nobody says.
func (m *Machine) Reach(d *Device, where string, sharers int64) (unit.ByteRate, bool) {
	rate := d.PCIe.EachWay.Value
	if d.Attached != nil && d.Attached.EachWay.Known {
		rate = d.Attached.EachWay.Value
	}
	if d.Unified != nil {
		rate = d.Bandwidth.Value
	}
	store := m.Host.Bandwidth
	switch where {
	case "nvme":
		store = m.NVMe.Bandwidth
	case "pool":
		store = m.Pool.Bandwidth
	}
	each := store.Value / unit.ByteRate(max(1, sharers))
	if store.Known && (rate == 0 || each < rate) {
		rate = each
	}
	return rate, rate > 0 && (where == "host" || store.Known)
}
