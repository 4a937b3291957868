package llamacpp

// The third and fourth step of --fit: layers. Devices are filled from the last to the first with as many layers
// as each holds. Of a model with routed experts these are layers without experts; where all of them fit, devices
// then take whole layers from the first to the last, and try a part of one more.

// filling is a search among trials for one device.
type filling struct {
	f  *fitter
	id int
	// count is what grows; grow makes a trial with step more of it.
	count func(trial) int
	grow  func(low trial, step int) trial
}

// between finds the largest trial from low to high that the device holds, by false position.
func (s *filling) between(low, high trial) (trial, error) {
	target := s.f.target[s.id]
	atHigh, err := s.used(high)
	if err != nil || atHigh <= target {
		return high, err
	}
	atLow, err := s.used(low)
	for delta := s.count(high) - s.count(low); err == nil && delta > 1; delta = s.count(high) - s.count(low) {
		t := s.grow(low, step(delta, target-atLow, atHigh-atLow))
		n := s.count(t)
		if n == s.count(low) {
			break
		}
		var at int64
		if at, err = s.used(t); at <= target {
			low, atLow = t, at
		} else {
			high, atHigh = t, at
		}
	}
	return low, err
}

func (s *filling) used(t trial) (int64, error) {
	m, err := s.f.measure(t)
	if err != nil {
		return 0, err
	}
	return m.used[s.id], nil
}

// step from 1 to delta-1 on the line between both ends.
func step(delta int, room, span int64) int {
	n := int64(delta - 1)
	if span > 0 && room >= 0 {
		n = int64(delta) * room / span
	}
	return int(max(1, min(n, int64(delta-1))))
}

// fill is both steps.
func (f *fitter) fill(base trial) (trial, error) {
	t := base
	t.shares = make([]share, len(f.free))
	for i := range t.shares {
		t.shares[i].spill = host
	}
	for id := len(f.free) - 1; id >= 0; id-- {
		next, err := f.backward(id, t)
		if err != nil {
			return t, err
		}
		t = next
	}
	if !f.experts {
		return t, nil
	}
	bare := base
	bare.hostExperts = true
	m, err := f.measure(bare)
	if err != nil || surplus(f.target, m.used) <= 0 {
		return t, err
	}
	return f.forward(t)
}

// backward gives a device what layers are left, or as many of them as it holds.
func (f *fitter) backward(id int, low trial) (trial, error) {
	last := id == len(f.free)-1
	left := f.layers + 1 - low.layers()
	if left == 0 {
		return low, nil
	}
	high := low.clone()
	high.shares[id].layers = left
	if high.shares[id].part = 0; f.experts {
		if high.shares[id].part = left; last {
			high.shares[id].part-- // the output layer is always whole
		}
	}
	s := filling{f: f, id: id, count: func(t trial) int { return t.shares[id].layers }, grow: func(low trial, step int) trial {
		t := low.clone()
		at := &t.shares[id]
		at.layers += step
		switch {
		case !f.experts:
		case last && at.part == 0:
			at.part += step - 1
		default:
			at.part += step
		}
		return t
	}}
	return s.between(low, high)
}

// forward makes whole layers of layers in part.
func (f *fitter) forward(t trial) (trial, error) {
	for t.start < len(t.shares) && t.shares[t.start].layers == 0 {
		t.start++
	}
	for id := 0; id <= t.start && t.start < len(t.shares); id++ {
		next, err := f.fillDevice(id, t)
		if err != nil {
			return t, err
		}
		if t, err = f.oneMore(id, next); err != nil {
			return t, err
		}
	}
	return t, nil
}

// fillDevice gives a device as many whole layers as it holds.
func (f *fitter) fillDevice(id int, low trial) (trial, error) {
	high, last := low.clone(), len(low.shares)-1
	for k := low.start; k <= last; k++ {
		move := high.shares[k].layers
		if k == last {
			move--
		}
		high.shares[id].layers += move
		high.shares[k].layers -= move
		high.shares[k].part = 0
	}
	high.start = last
	s := filling{f: f, id: id, count: func(t trial) int { return t.shares[id].fullLayers() }, grow: func(low trial, step int) trial { return low.deal(id, step) }}
	return s.between(low, high)
}

// deal turns so many layers in part into whole ones of a device.
func (t *trial) deal(id, n int) trial {
	out := t.clone()
	for ; out.start < len(out.shares); out.start++ {
		from := &out.shares[out.start]
		move := min(n, from.part)
		from.layers -= move
		from.part -= move
		out.shares[id].layers += move
		if n -= move; from.part > 0 {
			break
		}
	}
	return out
}

// oneMore tries a part of one more layer on a device: first all but gates and ffn_down, then more or less of it.
// What is left of it lies on the next device, or on the host behind the last.
func (f *fitter) oneMore(id int, t trial) (trial, error) {
	last := len(t.shares) - 1
	head := 0 // the output layer stays where it is
	if id == last {
		head = 1
	}
	if t.start > last || t.shares[t.start].layers <= head || t.shares[t.start].part == 0 {
		return t, nil
	}
	more := t.clone()
	from := &more.shares[t.start]
	from.layers--
	from.part--
	more.shares[id].layers++
	more.shares[id].part++
	if from.part == 0 {
		more.start++
	}
	if more.shares[id].spill = host; id < last {
		more.shares[id].spill = id + 1
	}
	return f.largestPart(id, t, more)
}

// largestPart is the largest of the parts that both devices hold; else the trial without.
func (f *fitter) largestPart(id int, without, more trial) (trial, error) {
	up, ok, err := f.holds(id, more, withUp)
	if err != nil {
		return without, err
	}
	next := attn
	if ok {
		without, next = up, withGate
	}
	if t, ok, err := f.holds(id, more, next); ok || err != nil {
		return t, err
	}
	return without, nil
}

// holds reports whether a device, and the one that the rest of the layer lies on, have room to spare.
func (f *fitter) holds(id int, t trial, keeps fraction) (trial, bool, error) {
	out := t.clone()
	out.shares[id].keeps = keeps
	m, err := f.measure(out)
	if err != nil {
		return t, false, err
	}
	ok := m.used[id] < f.target[id] && (id+1 == len(f.target) || m.used[id+1] < f.target[id+1])
	return out, ok, nil
}
