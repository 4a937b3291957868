package calibrate

import "cmp"

// Given is what the user states about a file. It overrides the file, whose names may be those of a mount or a proxy.
type Given struct {
	Model, Hardware, Weights, Engine string
	Sequences                        int64
}

// With applies what is given to every observation.
func (f *File) With(g Given) {
	for i := range f.Observations {
		o := &f.Observations[i]
		o.Model, o.Weights, o.Engine = cmp.Or(g.Model, o.Model), cmp.Or(g.Weights, o.Weights), cmp.Or(g.Engine, o.Engine)
		if g.Model != "" {
			o.Params = 0
		}
		o.Concurrency = cmp.Or(g.Sequences, o.Concurrency)
		if g.Hardware != "" {
			o.Hardware, o.Devices = g.Hardware, 0
		}
	}
}
