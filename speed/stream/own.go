package stream

import "github.com/memwall/memwall/speed/coef"

// What the table knows of figures that one report has of one device: OwnSpread is how far off one is once the others
// have said what the machine is like, Repeat the deviation of that in logarithms, and Machines that between the
// machines of a device.
const (
	OwnSpread = "own-"
	Repeat    = "repeat-"
	Machines  = "machines-"
)

// Own returns the name under which a calibration stores a figure on the stage's device with an engine.
func Own(figure string, s *Stage, engine string) string {
	return figure + "/" + s.Key() + "/" + engine
}

// own is the spread of a figure on a machine that was measured by its owner, and by how much the machine's own figures
// scatter. It does not rest on what the coefficients leave open: that is what was measured.
func (p *Predictor) own(figure string) (s coef.Spread, variance float64, ok bool) {
	if len(p.stages) != 1 {
		return s, 0, false
	}
	if variance, ok = p.table.Own(Own(figure, &p.stages[0].Stage, p.in.Engine)); !ok {
		return s, 0, false
	}
	s, ok = p.table.Spread(OwnSpread + figure)
	return s, variance, ok
}
