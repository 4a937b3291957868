// Package serve is the HTTP face: the questions of the contract as POST requests, lists as GET requests, and guards in
// front of both. It resolves nothing, computes nothing and opens nothing: a desk answers.
//
// Open serve.go for what is served, guard.go for who may ask, ask.go for the life of a question, stream.go for answers
// that are waited for.
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

// Options of a server.
type Options struct {
	Desk *desk.Desk
	// Models are those that cards may be asked of.
	Models memwall.ModelSource
	// Fixed: a request has the same answer for as long as the server runs, so that answers may be kept.
	Fixed bool
	// Token is asked of everybody; "" of nobody, and then only this machine may be listened on.
	Token string
	// Hosts are names that the server goes by, beside those of this machine. With a token every name does.
	Hosts []string
	// Origins are of pages elsewhere that may ask the API from browsers, as https://example.org; pages of others may not.
	Origins []string
	// Study is shown as a page and at /v1/study; nil: there is none.
	Study func(context.Context) (*card.Study, error)
	// Access is told of each request that has ended, in a line of JSON; nil: nobody is.
	Access io.Writer
	// Agents answers at /mcp; nil: nobody does.
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
	beat    time.Duration // between two words on progress
}

// Bounds on connections: what is slower, larger or more is shut out, so that it holds up nobody.
const (
	headerTime   = 5 * time.Second
	bodyTime     = 15 * time.Second
	writeTime    = 15 * time.Second // for each piece of an answer
	idleTime     = 2 * time.Minute
	closingTime  = 10 * time.Second
	maxHeader    = 16 << 10
	mostSockets  = 4096
	mostLarge    = 16
	keptBytes    = 32 << 20
	compressFrom = 1 << 10
)

// New gives a server.
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

// Handler answers requests, with all guards before it.
func (s *Server) Handler() http.Handler { return http.HandlerFunc(s.guard) }

// Serve answers on a listener until the context ends, and then what is under way.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	c := &crowd{most: mostSockets}
	base, cancel := context.WithCancel(context.Background())
	defer cancel()
	h := &http.Server{
		Handler:           s.Handler(),
		ReadHeaderTimeout: headerTime, ReadTimeout: bodyTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeader,
		ConnState:   c.follow,
		BaseContext: func(net.Listener) context.Context { return base },
		ErrorLog:    log.New(io.Discard, "", 0), // what clients do wrong is theirs to know
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
