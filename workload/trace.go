package workload

import (
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/memwall/memwall/fault"
)

// Trace is a source of recorded requests. It buffers one request and its followers.
type Trace struct {
	Format string
	// Failed counts requests without output in a server's log, which are omitted: what would have been served is
	// unknown.
	Failed int64
	// Skipped counts invalid requests by reason (with ReadOptions.SkipBad).
	Skipped map[Reason]int64
	// Cut counts prompts longer than ReadOptions.MaxPrompt.
	Cut int64

	options ReadOptions
	most    int64         // requests
	until   time.Duration // arrivals
	lines   feed
	codec   codec
	read    record // current request, reused to avoid allocation
	unread  unread
	untimed bool // times are not used
	made    int64
	last    time.Duration
	err     error
	// followers are sent after another request's answer.
	followers following
}

// record is a request as stored in a file.
type record struct {
	Request
	timed  bool
	failed bool
	after  uint64 // name of the request it follows; 0 if independent
	pause  time.Duration
}

// codec parses one format.
type codec interface {
	// read parses a request.
	read(text []byte, r *record) *fault.Error
	// fields returns the format's names of arrival, prompt and output.
	fields() [3]string
}

// feed returns the texts of requests one by one, and the line of the last.
type feed interface {
	next() ([]byte, error)
	line() int64
}

// Next returns the next independent request of the trace.
func (t *Trace) Next() (Request, bool, error) {
	r, ok := t.own()
	if !ok {
		return t.failed()
	}
	if t.Format == "memwall" {
		t.gather(&r)
	}
	return r, true, nil
}

// own returns the next independent request: the one read after the last one's followers, or one read now.
func (t *Trace) own() (r Request, ok bool) {
	if a := t.followers.ahead; a != nil {
		t.followers.ahead = nil
		return *a, true
	}
	for t.err == nil && t.made < t.most {
		text, err := t.lines.next()
		if err != nil {
			t.err = t.ended(err)
			t.skips(t.err)
		} else if t.request(text) {
			return t.read.Request, true
		}
	}
	return r, false
}

// failed ends a source, with its error if there was one.
func (t *Trace) failed() (Request, bool, error) {
	if errors.Is(t.err, io.EOF) {
		return Request{}, false, nil
	}
	return Request{}, false, t.err
}

// Requests returns the number of requests read so far.
func (t *Trace) Requests() int64 { return t.made }

// request parses a text; false if it has no usable request.
func (t *Trace) request(text []byte) bool {
	r := &t.read
	*r = record{}
	f := t.codec.read(text, r)
	if f == nil && r.failed {
		t.Failed++
		return false
	}
	if f == nil {
		f = t.check(r)
	}
	follows := r.after != 0
	if f == nil && follows {
		f = t.follow(r)
	}
	if f != nil {
		f.Line = int(t.lines.line())
		t.err = f
		t.skips(f)
		return false
	}
	return !follows && t.take(&r.Request)
}

// check validates what all formats have.
func (t *Trace) check(r *record) *fault.Error {
	names := t.codec.fields()
	switch {
	case r.Prompt == 0:
		return wrong(names[1], []byte("0"), Zero, wholeFix)
	case r.Output == 0:
		return wrong(names[2], []byte("0"), Zero, "at least one token is generated; leave failed requests out")
	case t.untimed || r.after != 0:
		return nil
	case !r.timed:
		return wrong(names[0], nil, Missing, "give it, or generate arrivals: poisson, gamma, closed or burst with a rate or a number "+
			"of users")
	case r.Arrival < t.last:
		return wrong(names[0], []byte(r.Arrival.String()), Unsorted, "sort the file by time")
	}
	return nil
}

// take applies the options to a request; false once the end time has passed.
func (t *Trace) take(r *Request) bool {
	t.last = r.Arrival
	if s := t.options.Speed; s > 0 {
		r.Arrival = time.Duration(float64(r.Arrival)/s + 0.5)
	}
	if r.Arrival > t.until {
		t.err = io.EOF
		return false
	}
	if m := int64(t.options.MaxPrompt); m > 0 && r.Prompt > m {
		t.Cut++
		r.cut(m)
	}
	r.ID = t.made
	t.made++
	return true
}

// cut truncates a prompt.
func (r *Request) cut(most int64) {
	r.Prompt = most
	for i, s := range r.Spans {
		if s.Tokens >= most {
			r.Spans = r.Spans[:i+1]
			r.Spans[i].Tokens = most
			return
		}
		most -= s.Tokens
	}
}

// skips counts an error and continues, if so configured.
func (t *Trace) skips(err error) {
	var f *fault.Error
	if t.options.SkipBad && errors.As(err, &f) && f.Field != "file" {
		t.Skipped[Reason(f.Problem)]++
		t.err = nil
	}
}

// ended returns how reading ended: at the end of the file with at least one request, or with an error.
func (t *Trace) ended(err error) error {
	var f *fault.Error
	switch {
	case errors.As(err, &f):
		f.Line = int(t.lines.line())
		return f
	case !errors.Is(err, io.EOF):
		return broken(t.lines.line(), err)
	case t.made == 0:
		return &fault.Error{Line: int(t.lines.line()), Field: "file", Value: fmt.Sprintf("%d failed, %d skipped", t.Failed, t.skipped()),
			Problem: string(Empty), Fix: "give a trace with requests"}
	}
	return io.EOF
}

func (t *Trace) skipped() (n int64) {
	for _, k := range t.Skipped {
		n += k
	}
	return n
}

// broken returns an error about the position of unreadable input.
func broken(line int64, err error) error {
	var corrupt flate.CorruptInputError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &fault.Error{Line: int(line), Field: "file", Problem: string(CutOff),
			Fix: "copy it again: the end of the compressed file is not there"}
	case errors.Is(err, gzip.ErrChecksum), errors.Is(err, gzip.ErrHeader), errors.As(err, &corrupt):
		return &fault.Error{Line: int(line), Field: "file", Value: err.Error(), Problem: string(Malformed),
			Fix: "copy it again: its compressed bytes were changed"}
	}
	return fmt.Errorf("line %d: %w", line, err)
}
