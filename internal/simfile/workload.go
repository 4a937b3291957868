package simfile

import (
	"cmp"
	"io"
	"time"

	"github.com/memwall/memwall/internal/stable"
	"github.com/memwall/memwall/sim"
	"github.com/memwall/memwall/workload"
)

// Workload writes what was asked as a recording. A recording is in the order of arrival and requests end in another, so
// that its lines are kept until the end.
type Workload struct {
	w     io.Writer
	text  []byte
	lines []arrived
}

// arrived is a line of the text.
type arrived struct {
	at       time.Duration
	id       int64
	from, to int
}

// NewWorkload begins a recording.
func NewWorkload(w io.Writer) *Workload { return &Workload{w: w} }

// Add a request that ended.
func (x *Workload) Add(d *sim.Done) {
	if x == nil {
		return
	}
	from := len(x.text)
	x.text = workload.AppendOwn(x.text, d.Request)
	x.lines = append(x.lines, arrived{d.Arrival, d.ID, from, len(x.text)})
}

// End writes the lines in order.
func (x *Workload) End() {
	if x == nil {
		return
	}
	stable.Sort(x.lines, func(a, b arrived) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.id, b.id)) })
	for _, l := range x.lines {
		_, _ = x.w.Write(x.text[l.from:l.to])
	}
}
