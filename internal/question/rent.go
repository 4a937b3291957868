package question

// PerHour is what hardware rents for, in dollars: so many devices of a machine, as a request names both. Nil where nobody
// is known to rent it, or where there is no such hardware.
func PerHour(hardware string, devices int64) *float64 {
	a := &Env{}
	m, _, err := a.Find(hardware, int(devices))
	if err != nil {
		return nil
	}
	return a.PerHour(&m)
}
