package serve

import (
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/memwall/memwall/internal/desk"
)

// ask handles a question: the body is a Request, the response an Answer.
func (s *Server) ask(w http.ResponseWriter, r *http.Request, ask string) {
	question, err := io.ReadAll(r.Body)
	if err != nil {
		s.fail(w, broken(err))
		return
	}
	if events(r) {
		s.stream(w, r, ask, question)
		return
	}
	if b := s.kept.find(ask, question); b != nil {
		s.metrics.hits.Add(1)
		s.deliver(w, r, b)
		return
	}
	start := time.Now()
	b, err := s.answer(r, ask, question, nil)
	if err != nil {
		s.fail(w, err)
		return
	}
	w.Header().Set("Server-Timing", "ask;dur="+strconv.FormatFloat(time.Since(start).Seconds()*1000, 'f', 3, 64))
	s.deliver(w, r, b)
}

// answer answers a question and caches the answer unless it was cut short.
func (s *Server) answer(r *http.Request, ask string, question []byte, report desk.Report) (*body, error) {
	request, err := desk.Decode(ask, question)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	answer, err := s.Desk.Ask(r.Context(), client(r), request, report)
	if err != nil {
		return nil, err
	}
	b, err := newJSON(answer)
	if err == nil && r.Context().Err() == nil && time.Since(start) < s.Desk.Limit() {
		s.kept.keep(ask, question, b)
	}
	return b, err
}

// client identifies the client by its address; for IPv6, by its customer network.
func client(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return ""
	}
	a, err := netip.ParseAddr(host)
	if err != nil || a.Is4() || a.Is4In6() || a.IsLoopback() {
		return host
	}
	p, err := a.WithZone("").Prefix(64)
	if err != nil {
		return host
	}
	return p.String()
}

// events reports whether a client accepts an event stream.
func events(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept"), eventsType)
}

// sizeOf formats a limit.
func sizeOf(bytes int64) string { return strconv.FormatInt(bytes>>10, 10) + " KiB" }

// post handles an operation in the turn of a long question.
func (s *Server) post(w http.ResponseWriter, r *http.Request, p *posted) {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		s.fail(w, broken(err))
		return
	}
	out, err := desk.Run(r.Context(), s.Desk, client(r), desk.Long, p.task, text)
	if err != nil {
		s.fail(w, err)
		return
	}
	s.deliver(w, r, newBody(jsonType, out))
}
