package memwall

// PerHour is what hardware rents for, in dollars: so many devices of a machine, as a request names both. Nil where nobody
// is known to rent it, or where there is no such hardware.
func PerHour(hardware string, devices int64) *float64 {
	a := &Asker{}
	m, _, err := a.find(hardware, int(devices))
	if err != nil {
		return nil
	}
	return a.perHour(&m)
}
