package hardware

import "strings"

// One gives the device that a text means: a name of the catalog as Find takes it, or a device of one's own,
// name=x,memory=24GiB,... as Parse takes it.
func One(text string) (*Device, []Note, error) {
	if !strings.Contains(text, "=") {
		return Find(text)
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
