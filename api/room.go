package api

import "github.com/memwall/memwall/unit"

// RoomForWeights returns the most that the weights may take on the single device of a fit such that the plan still fits
// with everything else at the high edge of its band. It returns false if that is unknown or there are several devices.
func (a *Answer) RoomForWeights() (unit.Bytes, bool) {
	if len(a.Devices) != 1 || a.Devices[0].Count != 1 || a.Verdict == Unknown {
		return 0, false
	}
	d := &a.Devices[0]
	room := d.Usable - (d.NeededHigh - d.Sum("weights"))
	return room, room > 0
}
