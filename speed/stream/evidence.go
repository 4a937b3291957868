package stream

import (
	"fmt"

	"github.com/memwall/memwall/speed/coef"
)

// RestsOn says whose law a prediction is, and how near the measurements are that it rests on: of the device, of its family,
// or of others, and of the engine.
func (p *Predictor) RestsOn() string {
	level, rows := p.nearest()
	on := Evidence(level, rows, p.stages[0].Device.Name) + " on " + p.stages[0].Backend
	engine := p.in.Engine
	if engine == "" || engine == common {
		return on
	}
	o, _ := p.table.Offset(coefRead, "engine", engine)
	if o.Rows == 0 {
		return on + "; none of " + engine + ", whose own law nobody measured: that of " + common + " and its kin, with a wider band"
	}
	return fmt.Sprintf("%s; %d figures of %s", on, o.Rows, engine)
}

// common is the engine that most measurements are of: the law of others is its law with an offset.
const common = "llama.cpp"

// Figures is how many measured figures there are of the device, where it is one; 0 of several, which are rarely measured together.
func (p *Predictor) Figures() int {
	if level, rows := p.nearest(); level == "device" && len(p.stages) == 1 {
		return rows
	}
	return 0
}

// nearest level of which there are measurements, and how many.
func (p *Predictor) nearest() (level string, rows int) {
	s := &p.stages[0]
	return p.table.Nearest(coefRead, coef.Level{Name: "device", Key: s.Backend + "/" + s.Device.ID}, coef.Level{Name: "family", Key: family(s)}, coef.Level{Name: "backend", Key: s.Backend})
}

// Evidence describes at which level a table knows a device.
func Evidence(level string, rows int, name string) string {
	switch level {
	case "device":
		return fmt.Sprintf("%d figures of %s", rows, name)
	case "family":
		return fmt.Sprintf("%d figures of the family of %s, none of its own", rows, name)
	}
	return "figures of other families than that of " + name
}
