package simfile

import (
	"io"
	"strconv"
	"time"

	"github.com/memwall/memwall/sim"
)

// Requests writes a row for each request, in the order in which they end.
type Requests struct {
	w    io.Writer
	line []byte
}

// RequestColumns are the names of the columns. A time that never came is empty.
const RequestColumns = "id,user,replica,outcome,arrival_s,admitted_s,first_token_s,end_s," +
	"prompt_tokens,output_tokens,generated_tokens,cached_tokens,preempted"

// NewRequests writes the names of the columns.
func NewRequests(w io.Writer) *Requests {
	_, _ = io.WriteString(w, RequestColumns+"\n")
	return &Requests{w: w}
}

// Add a request that ended.
func (r *Requests) Add(d *sim.Done) {
	if r == nil {
		return
	}
	b := strconv.AppendInt(r.line[:0], d.ID, 10)
	b = strconv.AppendUint(append(b, ','), d.User, 10)
	b = strconv.AppendInt(append(b, ','), int64(d.Replica), 10)
	b = append(append(append(b, ','), outcomes[d.Outcome]...), ',')
	b = appendSeconds(b, d.Arrival)
	for _, t := range []time.Duration{d.Admitted, d.First, d.End} {
		if b = append(b, ','); t > 0 {
			b = appendSeconds(b, t)
		}
	}
	for _, n := range []int64{d.Prompt, d.Output, d.Generated, d.Cached, int64(d.Preempted)} {
		b = strconv.AppendInt(append(b, ','), n, 10)
	}
	r.line = append(b, '\n')
	_, _ = r.w.Write(r.line)
}
