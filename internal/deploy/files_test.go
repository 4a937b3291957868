package deploy

import (
	"fmt"
	"testing"
)

// Workers share no device and no port of a host, and no host has more than it holds.
func TestPlacedWorkers(t *testing.T) {
	d := &deployment{}
	p := placer{d: d, holds: 8}
	for i := range 40 {
		p.place(worker{devices: []int64{1, 2, 4, 8, 3}[i%5]})
	}
	taken := map[string]bool{}
	take := func(what string) {
		if taken[what] {
			t.Errorf("%s twice", what)
		}
		taken[what] = true
	}
	for _, w := range d.workers {
		take(fmt.Sprintf("port %d of host %d", w.port, w.host))
		for i := range w.devices {
			take(fmt.Sprintf("device %d of host %d", w.first+i, w.host))
		}
		if w.first+w.devices > 8 {
			t.Errorf("%+v lies over the end of its host", w)
		}
	}
	wide := placer{d: &deployment{}, holds: 8}
	wide.place(worker{devices: 16})
	wide.place(worker{devices: 16})
	if w := wide.d.workers; w[1].host != 2 || wide.d.spans != 2 {
		t.Errorf("%+v, %d hosts each", w, wide.d.spans)
	}
}
