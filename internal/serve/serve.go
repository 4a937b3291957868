// Package serve is the HTTP interface: the contract's questions as POST requests, lists as GET requests, and guards in
// front of both. It resolves, computes and opens nothing itself: a desk answers.
//
// See serve.go for what is served, guard.go for access control, ask.go for the life of a question, and stream.go for
// event streams.
package serve

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/card"
	"github.com/memwall/memwall/internal/desk"
)

// Options configure a Server.
type Options struct {
	Desk *desk.Desk
	// Models resolves the models whose cards may be requested.
	Models memwall.ModelSource
	// Fixed says that a request has the same answer for as long as the server runs, so that answers may be cached.
	Fixed bool
	// Token is required of all clients; if "", only loopback addresses may be listened on.
	Token string
	// Hosts are names of the server besides those of this machine. With a token any name is accepted.
	Hosts []string
	// Origins are those of other sites whose pages may call the API from browsers, such as https://example.org.
	Origins []string
	// Study is shown as a page and at /v1/study; nil for none.
	Study func(context.Context) (*card.Study, error)
	// Access receives a JSON line for each completed request; nil for none.
	Access io.Writer
	// Agents handles /mcp; nil for none.
	Agents http.Handler
}

// Server answers questions over HTTP.
type Server struct {
	Options
	mux     *http.ServeMux
	routes  routes
	metrics counters
	access  accessLog
	kept    *kept
	large   chan struct{}
	beat    time.Duration // between progress events
}

// Limits on connections: what is slower, larger or more is rejected, so that it delays nobody.
const (
	headerTime   = 5 * time.Second
	bodyTime     = 15 * time.Second
	writeTime    = 15 * time.Second // for each write of a response
	idleTime     = 2 * time.Minute
	closingTime  = 10 * time.Second
	maxHeader    = 16 << 10
	mostSockets  = 4096
	mostLarge    = 16
	keptBytes    = 32 << 20
	compressFrom = 1 << 10
)

// New returns a Server.
func New(o Options) (*Server, error) {
	s := &Server{Options: o, access: accessLog{to: o.Access}, mux: http.NewServeMux(), large: make(chan struct{}, mostLarge), beat: beat}
	if o.Fixed {
		s.kept = newKept(keptBytes)
	}
	if err := s.register(); err != nil {
		return nil, err
	}
	return s, nil
}

// Handler returns the handler with all guards.
func (s *Server) Handler() http.Handler { return http.HandlerFunc(s.guard) }

// Serve serves a listener until the context ends, then completes requests in progress.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	c := &crowd{most: mostSockets}
	base, cancel := context.WithCancel(context.Background())
	defer cancel()
	h := &http.Server{
		Handler:           s.Handler(),
		ReadHeaderTimeout: headerTime, ReadTimeout: bodyTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeader,
		ConnState:   c.follow,
		BaseContext: func(net.Listener) context.Context { return base },
		ErrorLog:    log.New(io.Discard, "", 0), // errors of clients are theirs to see
	}
	stopped := make(chan error, 1)
	go func() {
		<-ctx.Done()
		late, done := context.WithTimeout(context.Background(), closingTime)
		defer done()
		time.AfterFunc(closingTime/2, cancel) // searches end with what they have
		stopped <- h.Shutdown(late)
	}()
	if err := h.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	if err := <-stopped; err != nil {
		return h.Close()
	}
	return nil
}
