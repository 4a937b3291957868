package hardware

import "strings"

// One returns the single device that a text describes: a catalog name as accepted by Find, or a custom device
// (name=x,memory=24GiB,...) as accepted by Parse. Several devices and nodes are rejected.
func One(text string) (*Device, []Note, error) {
	if !strings.Contains(text, "=") {
		d, notes, err := Find(text)
		if err == nil {
			return d, notes, nil
		}
		if m, _, parsed := Parse(text, 0); parsed == nil && len(m.Groups) > 0 {
			return nil, nil, bad("hardware", text, "is not one device", m.Groups[0].Device.ID+" is one of them")
		}
		return nil, nil, err
	}
	m, notes, err := Parse(text, 0)
	switch {
	case err != nil:
		return nil, nil, err
	case len(m.Groups) != 1 || m.Devices() != 1:
		return nil, nil, bad("hardware", text, "is not one device", "leave the count out")
	}
	return &m.Groups[0].Device, notes, nil
}
