package hardware

import "sync"

// byID caches the devices that ByID has read. Its keys are catalog ids, so its size is bounded by the catalog.
var byID sync.Map

// ByID returns the device with a catalog id, spelled exactly, or nil. Each device is read once and shared: callers must
// not modify it. ByID is safe for concurrent use and fast enough to call for thousands of rows.
func ByID(id string) *Device {
	if d, ok := byID.Load(id); ok {
		return d.(*Device)
	}
	r, ok := devices.row(id)
	if !ok {
		return nil
	}
	d, err := readDevice(r)
	if err != nil {
		return nil
	}
	byID.Store(id, &d)
	return &d
}
