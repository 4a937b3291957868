package hardware

import "strings"

// One gives the device that a text means: a name of the catalog as Find takes it, or a device of one's own,
// name=x,memory=24GiB,... as Parse takes it. Several devices, and nodes, are refused.
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
