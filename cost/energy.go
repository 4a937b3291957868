package cost

// JoulesPerToken is the energy that devices take for a token: watts / tokens a second. tokens is the rate of
// all sequences on all devices together; watts of one device. Unknown when either is.
func JoulesPerToken(watts Figure, devices int, tokens Figure) Figure {
	return per(watts.Times(float64(devices)), tokens)
}

// joulesPerKWh is a kilowatt for an hour.
const joulesPerKWh = 3.6e6
