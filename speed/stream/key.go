package stream

// Key is what the table calls the stage's device.
func (s *Stage) Key() string { return s.Backend + "/" + s.Device.ID }
