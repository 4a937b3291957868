package serve

import (
	"bytes"
	"net/http"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/desk"
	"github.com/memwall/memwall/safe"
)

// agents passes requests of agents on, after the guards. Plain-text errors of the protocol's handler are converted to
// problems.
func (s *Server) agents(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		s.nothing(w, r)
		return
	}
	r.Header.Set(desk.ClientHeader, client(r))
	p := &plainly{ResponseWriter: w}
	s.Agents.ServeHTTP(p, r)
	if p.status == 0 {
		return
	}
	e := &memwall.Error{Code: memwall.BadField, Field: "body", Message: p.heldText(),
		Hint: "a message of JSON-RPC 2.0, as the Model Context Protocol has them"}
	if strings.HasPrefix(e.Message, "Accept") {
		e.Field, e.Hint = "Accept", "Accept: application/json, text/event-stream"
	}
	if p.status >= http.StatusInternalServerError {
		e = &memwall.Error{Code: memwall.Internal, Message: "memwall itself failed", Hint: "this is a bug; report it with the request"}
	}
	s.fail(w, problem(p.status, e))
}

// plainly intercepts plain-text errors.
type plainly struct {
	http.ResponseWriter
	status int // of the intercepted response
	words  bytes.Buffer
}

// WriteHeader sends the header unless it is that of a plain-text error.
func (p *plainly) WriteHeader(status int) {
	if status >= http.StatusBadRequest && strings.HasPrefix(p.Header().Get("Content-Type"), "text/plain") {
		p.status = status
		return
	}
	p.Header().Del("Content-Length") // escaping makes it longer
	p.ResponseWriter.WriteHeader(status)
}

// Write sends a message, or an event with one.
func (p *plainly) Write(b []byte) (int, error) {
	if p.status > 0 {
		return p.words.Write(b)
	}
	if _, err := p.ResponseWriter.Write(safe.JSON(b)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// heldText returns the intercepted text, truncated.
func (p *plainly) heldText() string {
	const most = 200
	words := bytes.TrimSpace(p.words.Bytes())
	return strings.ToValidUTF8(string(words[:min(len(words), most)]), "�")
}

// Unwrap supports http.ResponseController.
func (p *plainly) Unwrap() http.ResponseWriter { return p.ResponseWriter }
