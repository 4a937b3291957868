package hardware

import "sync"

// byID holds the devices that ByID has read: of the catalog's ids alone, so it is no larger than the catalog.
var byID sync.Map

// ByID gives the device of an id of the catalog, spelt as there, or nil. Each is read once and shared: who asks for the
// devices of thousands of rows takes this, and changes none. It is safe for concurrent use.
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
