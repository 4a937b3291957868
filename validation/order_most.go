package validation

// ofMost is the order of plans by their largest throughput.
var ofMost = OrderKind{"most tokens", "largest output tokens/s of a device by plans of any number of devices, for the same prompts and answers; no row is fitted to", false}

// mostOrders are runs with as many users as the server takes.
func mostOrders(all []Comparison) ([]ordered, error) {
	o := ordered{kind: &ofMost}
	for i := range all {
		c := &all[i]
		if c.Measure != &throughput || c.Refused != "" {
			continue
		}
		s, err := serves(&c.Row.Ask)
		if err != nil {
			return nil, err
		}
		n := float64(s.devices)
		o.trials = append(o.trials, trial{s.subject(), s.subject() + " · " + s.lengthsAlone(), s.plan,
			Option{s.settings, c.Measured.Mid / n, c.Ours.Mid / n, c.Naive / n}})
	}
	return []ordered{o}, nil
}
