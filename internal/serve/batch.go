package serve

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/batch"
	"github.com/memwall/memwall/internal/desk"
)

// maxBatch bounds the body of a batch.
const maxBatch = 8 << 20

// batch answers a request a line, one after the other, each in its own turn and within the client's share.
func (s *Server) batch(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	put := putLine
	if events(r) {
		put = func(w http.ResponseWriter, text []byte) { event(w, "answer", bytes.TrimRight(text, "\n")) }
		w.Header().Set("Content-Type", eventsType)
		defer event(w, "end", []byte("{}"))
	} else {
		w.Header().Set("Content-Type", linesType)
	}
	lines := batch.NewLines(r.Body)
	for r.Context().Err() == nil {
		line, more, err := lines.Next()
		if err != nil || !more {
			return
		}
		b, err := newJSON(line.Answer(func(q *memwall.Request) (*memwall.Answer, error) { return s.inTurn(r, q) }))
		if err != nil {
			return
		}
		put(w, b.text)
	}
}

func putLine(w http.ResponseWriter, text []byte) {
	_, _ = w.Write(text) // who asked may be gone: the context says so
	_ = http.NewResponseController(w).Flush()
}

// inTurn asks as often as it takes until there is room.
func (s *Server) inTurn(r *http.Request, q *memwall.Request) (*memwall.Answer, error) {
	for {
		answer, err := s.Desk.Ask(r.Context(), client(r), q, nil)
		var b *desk.Busy
		if !errors.As(err, &b) {
			return answer, ended(err)
		}
		select {
		case <-time.After(b.After):
		case <-r.Context().Done():
			return nil, ended(r.Context().Err())
		}
	}
}

// ended gives the end of a question that had no turn the form of the contract.
func ended(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return &memwall.Error{Code: memwall.Limit, Message: "the question had no turn in time", Hint: "ask again"}
	}
	return err
}
