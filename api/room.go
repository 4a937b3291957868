package api

import "github.com/memwall/memwall/unit"

// RoomForWeights is what the weights may take on the one device of a fit, so that it still fits with the high edge of
// all else that it holds; false where that is not known, or there are several devices.
func (a *Answer) RoomForWeights() (unit.Bytes, bool) {
	if len(a.Devices) != 1 || a.Devices[0].Count != 1 || a.Verdict == Unknown {
		return 0, false
	}
	d := &a.Devices[0]
	room := d.Usable - (d.NeededHigh - d.Sum("weights"))
	return room, room > 0
}
