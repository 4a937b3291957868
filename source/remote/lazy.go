package remote

import (
	"sync"

	"github.com/memwall/memwall/source"
)

// Lazy is a Finder that is made when it is first asked: most questions fetch nothing.
type Lazy struct {
	options Options
	once    sync.Once
	finder  *Finder
}

// Find gives the place that a reference leads to.
func (l *Lazy) Find(ref string) (*source.Place, error) {
	l.once.Do(func() { l.finder = New(l.options) })
	return l.finder.Find(ref)
}
