package question

// PerHour returns the rent in dollars per hour of the given number of devices, named as in a request; nil if the
// hardware is unknown or has no known rental price.
func PerHour(hardware string, devices int64) *float64 {
	a := &Env{}
	m, _, err := a.Find(hardware, int(devices))
	if err != nil {
		return nil
	}
	return a.PerHour(&m)
}
