package hardware

import (
	"slices"
	"sync"
)

// lately are the names that were found of late. Whoever is asked for other names all the time makes it forget, not grow.
var lately = found{most: 512}

// found keeps what names led to. It is safe for concurrent use.
type found struct {
	most  int // names that it keeps
	mu    sync.RWMutex
	names map[string]finding
}

type finding struct {
	device Device
	notes  []Note
}

// load gives what a name led to, for the caller to change.
func (f *found) load(name string) (Device, []Note, bool) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	h, ok := f.names[name]
	h.device.Options = slices.Clone(h.device.Options)
	return h.device, slices.Clone(h.notes), ok
}

// store keeps a name, and forgets all others once there are too many.
func (f *found) store(name string, d Device, notes []Note) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.names) >= f.most || f.names == nil {
		f.names = make(map[string]finding)
	}
	d.Options = slices.Clone(d.Options)
	f.names[name] = finding{d, slices.Clone(notes)}
}
