package llamacpp

// The second step of --fit: a shorter context, where nobody gave one.

// streams are caches of their own, which --fit counts the context by.
func (f *fitter) streams() int64 {
	if f.job.Plan.KVUnified != nil && *f.job.Plan.KVUnified {
		return 1
	}
	return max(1, int64(f.job.Plan.Sequences))
}

// longest context that --fit begins with, of all slots together.
func (f *fitter) longest() int64 {
	trained := f.job.Model.Context
	if trained == 0 {
		trained = fitContext
	}
	return trained * f.streams()
}

// least context that --fit may choose, of all slots together.
func (f *fitter) least() int64 {
	n := int64(f.job.Plan.FitContext)
	if n == 0 {
		n = fitContext
	}
	return n * f.streams()
}

// shorten lays a line through the needs at the longest and at the least context and takes the longest context
// that the devices have room for, in steps of 256 tokens for each stream. It reports whether that is all.
func (f *fitter) shorten(t *trial, full measured) (done bool, err error) {
	most, least := t.context, f.least()
	if most <= least {
		return false, nil
	}
	room := sum(f.target) - f.waste(full)
	t.context = least
	short, err := f.measure(*t)
	if err != nil {
		return false, err
	}
	atMost, atLeast := sum(full.used), sum(short.used)
	if room <= atLeast || atMost <= atLeast {
		return false, nil
	}
	t.context += (most - least) * (room - atLeast) / (atMost - atLeast)
	t.context = max(least, t.context-t.context%(256*f.streams()))
	return len(f.free) == 1, nil
}

// waste is what several devices leave empty because only whole layers, or tensors of a third of one, can be
// placed: half of such a piece for each device, and one more to be safe.
func (f *fitter) waste(full measured) int64 {
	devices := int64(len(f.free))
	if devices < 2 {
		return 0
	}
	pieces := int64(2)
	if f.experts {
		pieces = 6
	}
	layers := int64(f.layers)
	if f.given.layers {
		if n := int64(*f.job.Plan.GPULayers); n > 0 {
			layers = min(layers, n)
		}
	}
	return (devices + 1) * (sum(full.weights) / layers) / pieces
}
