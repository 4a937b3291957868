package cost

// JoulesPerToken returns the energy per token, devices × watts / tokens. watts is per device; tokens is the rate in
// tokens a second over all sequences and devices. It is unknown if either is.
func JoulesPerToken(watts Figure, devices int, tokens Figure) Figure {
	return per(watts.Times(float64(devices)), tokens)
}

// joulesPerKWh is the energy of a kilowatt-hour in joules.
const joulesPerKWh = 3.6e6
