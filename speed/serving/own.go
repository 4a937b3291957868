package serving

// OwnSpread is the spread of figures of one model and a version of an engine on one device: how far off one is once the
// others have said what the server is like.
const OwnSpread = "own-"

// Own names what a calibration knows of a kind of figure, of a model and an engine on a device.
func (m *Model) Own(kind string) string {
	return kind + "/" + m.in.Device.ID + "/" + m.in.Engine + "/" + m.in.Model.ID
}
