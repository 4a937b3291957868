package hardware

import (
	"slices"
	"sync"
)

// lately caches recent lookups. A stream of distinct names clears the cache rather than growing it.
var lately = found{most: 512}

// found caches the results of lookups. It is safe for concurrent use.
type found struct {
	most  int // maximum number of names
	mu    sync.RWMutex
	names map[string]finding
}

type finding struct {
	device Device
	notes  []Note
}

// load returns the cached result for a name, which the caller may modify.
func (f *found) load(name string) (Device, []Note, bool) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	h, ok := f.names[name]
	h.device.Options = slices.Clone(h.device.Options)
	return h.device, slices.Clone(h.notes), ok
}

// store caches a name, discarding all others if there are too many.
func (f *found) store(name string, d Device, notes []Note) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.names) >= f.most || f.names == nil {
		f.names = make(map[string]finding)
	}
	d.Options = slices.Clone(d.Options)
	f.names[name] = finding{d, slices.Clone(notes)}
}
