package hardware

import "github.com/memwall/memwall/unit"

// Default host memory bandwidths: a desktop has two channels of DDR5-5600; SXM and OAM modules are in two-socket
// servers with at least eight channels of DDR4-3200 per socket (NVIDIA, DGX A100 system architecture).
const (
	DesktopRate = unit.ByteRate(89.6e9)
	ServerRate  = unit.ByteRate(409.6e9)
)

// HostRate returns the memory bandwidth of a node's host. If not given, it is assumed from the form of the devices.
func (m *Machine) HostRate() (rate unit.ByteRate, assumed bool) {
	switch {
	case m.Host.Bandwidth.Known:
		return m.Host.Bandwidth.Value, false
	case len(m.Groups) > 0 && m.Groups[0].Device.module():
		return ServerRate, true
	}
	return DesktopRate, true
}

// module reports whether the device is mounted on a server board rather than a card.
func (d *Device) module() bool { return d.Form == "SXM" || d.Form == "OAM" }

// Reach returns the rate at which a device reads from host memory ("host"), disk ("nvme") or a pool beyond the host
// ("pool"): the rate of its link, or its share of the store's bandwidth if that is less, with the given number of
// devices per node sharing it. It returns false if unknown.
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
