package serving

// OwnSpread is the prefix of the spread among figures of one model and engine version on one device: the error of one figure given
// the others.
const OwnSpread = "own-"

// Own returns the name under which a calibration stores a kind of figure for a model and engine on a device.
func (m *Model) Own(kind string) string {
	return kind + "/" + m.in.Device.ID + "/" + m.in.Engine + "/" + m.in.Model.ID
}
