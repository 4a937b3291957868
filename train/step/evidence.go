package step

import (
	"fmt"

	"github.com/memwall/memwall/speed/coef"
)

// RestsOn describes how close the measurements behind a prediction are: runs on the device or its family, and with the framework or
// others of its class.
func (p *Predictor) RestsOn() string {
	name, _ := p.framework()
	return p.deviceEvidence() + ", " + p.frameworkEvidence(name)
}

func (p *Predictor) deviceEvidence() string {
	d := p.device
	level, rows := p.table.Nearest(coefMultiply, coef.Level{Name: "device", Key: d.ID}, coef.Level{Name: "family", Key: Family(d)})
	switch level {
	case "device":
		return fmt.Sprintf("%d runs on %s", rows, d.Name)
	case "family":
		return fmt.Sprintf("%d runs on the family of %s, none on itself", rows, d.Name)
	}
	return "runs on other families than that of " + d.Name
}

func (p *Predictor) frameworkEvidence(name string) string {
	level, rows := p.table.Nearest(coefMultiply, coef.Level{Name: "framework", Key: name}, coef.Level{Name: "class", Key: p.class()})
	switch level {
	case "framework":
		return fmt.Sprintf("%d with %s", rows, name)
	case "class":
		return fmt.Sprintf("%d with frameworks like %s, none with itself", rows, name)
	}
	return "none with frameworks like " + name
}
