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

// maxBatch is the maximum body size of a batch.
const maxBatch = 8 << 20

// batch answers one request per line, one after the other, each in its own turn and within the client's share.
func (s *Server) batch(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	put, follow := putLine, alone
	if events(r) {
		begin(w)
		put = func(w http.ResponseWriter, text []byte) { event(w, "answer", bytes.TrimRight(text, "\n")) }
		follow = s.follow
		defer event(w, "end", []byte("{}"))
	} else {
		w.Header().Set("Content-Type", linesType)
	}
	lines := batch.NewLines(r.Body)
	for n := 1; r.Context().Err() == nil; n++ {
		line, more, err := lines.Next()
		if err != nil || !more {
			return
		}
		var answer *memwall.Answer
		fault := follow(w, n, func(report desk.Report) {
			answer = line.Answer(func(q *memwall.Request) (*memwall.Answer, error) { return s.inTurn(r, q, report) })
		})
		if e := answer.Error; fault != nil || e != nil && e.Code == memwall.Internal {
			e = &memwall.Error{Code: memwall.Internal, Message: "memwall itself failed", Hint: "this is a bug; report it with the request"}
			answer = batch.Failed(e)
		}
		b, err := newJSON(answer)
		if err != nil {
			return
		}
		put(w, b.text)
	}
}

// alone works without reporting progress.
func alone(_ http.ResponseWriter, _ int, work func(desk.Report)) error {
	work(nil)
	return nil
}

func putLine(w http.ResponseWriter, text []byte) {
	_, _ = w.Write(text) // the client may have disconnected: see the context
	_ = http.NewResponseController(w).Flush()
}

// inTurn retries until the question is admitted.
func (s *Server) inTurn(r *http.Request, q *memwall.Request, report desk.Report) (*memwall.Answer, error) {
	for {
		answer, err := s.Desk.Ask(r.Context(), client(r), q, report)
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

// ended converts the error of a question that had no turn to that of the contract.
func ended(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return &memwall.Error{Code: memwall.Limit, Message: "the question had no turn in time", Hint: "ask again"}
	}
	return err
}
