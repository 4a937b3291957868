package stream

import (
	"fmt"

	"github.com/memwall/memwall/speed/coef"
)

// RestsOn says how near the measurements are that a prediction rests on: of the device, of its family, or of others.
func (p *Predictor) RestsOn() string {
	s := &p.stages[0]
	level, rows := p.table.Nearest(coefRead, coef.Level{Name: "device", Key: s.Backend + "/" + s.Device.ID}, coef.Level{Name: "family", Key: family(s)}, coef.Level{Name: "backend", Key: s.Backend})
	return Evidence(level, rows, s.Device.Name)
}

// Evidence puts into words at which level a table knows a device.
func Evidence(level string, rows int, name string) string {
	switch level {
	case "device":
		return fmt.Sprintf("%d figures of %s", rows, name)
	case "family":
		return fmt.Sprintf("%d figures of the family of %s, none of its own", rows, name)
	}
	return "figures of other families than that of " + name
}
