package remote

import (
	"context"
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
func (l *Lazy) Find(ref string) (*source.Place, error) { return l.made().Find(ref) }

// Download brings the files of a model to this machine.
func (l *Lazy) Download(ctx context.Context, ref string, d Downloading) (string, error) {
	return l.made().Download(ctx, ref, d)
}

func (l *Lazy) made() *Finder {
	l.once.Do(func() { l.finder = New(l.options) })
	return l.finder
}
