package serve

import (
	"bytes"
	"encoding/json"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/memwall/memwall/internal/desk"
)

// progress of a question: how long it has been computed, and of a simulation the requests that have ended.
type progress struct {
	Elapsed   float64 `json:"elapsed_s"`
	Requests  int64   `json:"requests,omitempty"`
	Simulated float64 `json:"simulated_s,omitempty"`
}

// beat is how often a stream tells how far an answer is.
const beat = 250 * time.Millisecond

// stream answers with server-sent events: progress now and then, and in the end the answer or a problem. The work is
// not slowed by who reads it, and ends when nobody does.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, ask string, question []byte) {
	if _, err := desk.Decode(ask, question); err != nil {
		s.fail(w, err)
		return
	}
	type outcome struct {
		body *body
		err  error
	}
	var requests, simulated atomic.Int64
	ended := make(chan outcome, 1)
	start := time.Now()
	go func() {
		b, err := s.answer(r, ask, question, func(n int64, t time.Duration) { requests.Store(n); simulated.Store(int64(t)) })
		ended <- outcome{b, err}
	}()
	w.Header().Set("Content-Type", eventsType)
	w.Header().Set("Cache-Control", "no-store")
	tick := time.NewTicker(beat)
	defer tick.Stop()
	for {
		select {
		case o := <-ended:
			s.end(w, o.body, o.err)
			return
		case <-tick.C:
			send(w, "progress", progress{time.Since(start).Seconds(), requests.Load(), time.Duration(simulated.Load()).Seconds()})
		}
	}
}

// end of a stream: the answer, or what is wrong.
func (s *Server) end(w http.ResponseWriter, b *body, err error) {
	if err != nil {
		send(w, "problem", problemOf(err))
		return
	}
	event(w, "answer", bytes.TrimRight(b.text, "\n"))
}

func send(w http.ResponseWriter, name string, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // structs of words and numbers
	}
	event(w, name, data)
}

// event writes one; its data is JSON on one line.
func event(w http.ResponseWriter, name string, data []byte) {
	text := make([]byte, 0, len(data)+len(name)+16)
	text = append(append(append(append(text, "event: "...), name...), "\ndata: "...), data...)
	_, _ = w.Write(append(text, "\n\n"...)) // who asked may be gone: the context says so
	_ = http.NewResponseController(w).Flush()
}
