package serve

import (
	"bytes"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/desk"
	"github.com/memwall/memwall/safe"
)

// progress is a question's progress, and its age.
type progress struct {
	Elapsed float64 `json:"elapsed_s"`
	// Line of a batch, from 1.
	Line int `json:"line,omitempty"`
	memwall.Progress
}

// Phases besides those of the questions.
const (
	phaseWait = "wait" // for a turn
	phaseWork = "work" // working, without details
)

// beat is the interval of progress events, except in tests.
const beat = 250 * time.Millisecond

// latest is the last progress received.
type latest struct {
	one  sync.Mutex
	told memwall.Progress
}

func (l *latest) put(p memwall.Progress) {
	if p.Phase == "" {
		p.Phase = phaseWork
	}
	l.one.Lock()
	defer l.one.Unlock()
	l.told = p
}

func (l *latest) get() memwall.Progress {
	l.one.Lock()
	defer l.one.Unlock()
	return l.told
}

// stream responds with server-sent events: progress from time to time, and finally the answer or a problem.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, ask string, question []byte) {
	if _, err := desk.Decode(ask, question); err != nil {
		s.fail(w, err)
		return
	}
	var b *body
	var err error
	if fault := s.follow(w, 0, func(report desk.Report) { b, err = s.answer(r, ask, question, report) }); fault != nil {
		err = fault
	}
	if err != nil {
		send(w, "problem", problemOf(err))
		return
	}
	event(w, "answer", bytes.TrimRight(b.text, "\n"))
}

// follow sends progress until the work is done. A slow reader does not slow down the work, and a disconnected one ends
// it. It returns internal errors only.
func (s *Server) follow(w http.ResponseWriter, line int, work func(desk.Report)) (fault error) {
	begin(w)
	now := latest{told: memwall.Progress{Phase: phaseWait}}
	ended := make(chan struct{})
	start := time.Now()
	go func() {
		defer close(ended)
		defer func() {
			if recover() != nil {
				fault = errFault
			}
		}()
		work(now.put)
	}()
	tick := time.NewTicker(s.beat)
	defer tick.Stop()
	for {
		select {
		case <-ended:
			return fault
		case <-tick.C:
			send(w, "progress", progress{time.Since(start).Seconds(), line, now.get()})
		}
	}
}

// begin starts a stream, unbuffered by proxies.
func begin(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Type", eventsType)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
}

func send(w http.ResponseWriter, name string, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // structs of strings and numbers
	}
	event(w, name, safe.JSON(data))
}

// event writes an event; its data is JSON on one line.
func event(w http.ResponseWriter, name string, data []byte) {
	text := make([]byte, 0, len(data)+len(name)+16)
	text = append(append(append(append(text, "event: "...), name...), "\ndata: "...), data...)
	_, _ = w.Write(append(text, "\n\n"...)) // the client may have disconnected: see the context
	_ = http.NewResponseController(w).Flush()
}
