package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/memwall/memwall"
)

// client sends requests: it follows redirects itself, hop by hop, so that every hop is checked and a token goes to the
// endpoint it belongs to and nowhere else.
type client struct {
	round  http.RoundTripper
	allow  *allowList
	limits Limits
	token  func(*url.URL) string // what a URL may be sent; "" for nothing
	left   atomic.Int64          // bytes that may still be kept in memory
}

// most that is kept in memory of all files together: what servers send ends there.
const mostKept = 512 << 20

func newClient(o Options, endpoints []string) *client {
	c := &client{allow: allowed(o.Env, endpoints), limits: o.Limits.filled(), token: tokens(o.Env, o.Home), round: o.Transport}
	if c.round == nil {
		c.round = transport(o, c.allow)
	}
	c.left.Store(mostKept)
	return c
}

// query is a request for a file or a part of it.
type query struct {
	ctx        context.Context // nil: it ends by itself
	url        *url.URL
	accept     string
	from, to   int64  // bytes, to included; to below from: the whole
	unless     string // ETag of what is known
	redirected *url.URL
}

func (q *query) context() context.Context {
	if q.ctx == nil {
		return context.Background()
	}
	return q.ctx
}

// reply is the answer of the last hop, with what the hops before it said.
type reply struct {
	*http.Response
	url    *url.URL // of the last hop
	commit string   // X-Repo-Commit of the hub
	size   int64    // X-Linked-Size of the hub; -1 when it does not say
	body   *body
}

func (r *reply) close() { _ = r.body.Close() }

// statusError is an answer that is not a success.
type statusError struct {
	status  int
	code    string // X-Error-Code of the hub
	said    string // X-Error-Message
	url     *url.URL
	wait    time.Duration // Retry-After
	hadAuth bool
	size    int64 // that the hub promised; -1: none
}

func (e *statusError) Error() string {
	text := fmt.Sprintf("%s answered %d %s", e.url.Host, e.status, http.StatusText(e.status))
	if e.said != "" {
		text += " (" + redact(e.said) + ")"
	}
	return text
}

// refusal is what is not followed or not believed, and why; asking again does not help.
type refusal struct{ problem, fix string }

func (e *refusal) Error() string { return e.problem }

func refuse(fix, problem string, args ...any) error {
	return &refusal{fmt.Sprintf(problem, args...), fix}
}

// get sends a query until it is answered, refused, or has failed often enough.
func (c *client) get(q query) (*reply, error) {
	for try := 1; ; try++ {
		r, err := c.once(q)
		if err == nil || try >= c.limits.Tries || !passing(err) || q.context().Err() != nil {
			return r, err
		}
		if !c.pause(try, err) {
			return nil, err
		}
	}
}

// passing tells faults that may pass: of the connection, and what servers say when they are busy.
func passing(err error) bool {
	var s *statusError
	var no *refusal
	var p *privateError
	switch {
	case errors.As(err, &no), errors.As(err, &p):
		return false
	case errors.As(err, &s):
		return slices.Contains([]int{408, 425, 429, 500, 502, 503, 504}, s.status)
	}
	return !isCertificate(err) && !noSuchHost(err) && !unreachable(err)
}

// longestWait is how long a server may ask to be left alone before the wait is the user's to decide.
const longestWait = 5 * time.Second

// pause waits before another attempt: as long as the server asks, else longer each time. False: too long.
func (c *client) pause(try int, err error) bool {
	wait := c.limits.Backoff << (try - 1)
	wait += time.Duration(rand.Int64N(int64(wait)/4 + 1))
	if s, ok := errors.AsType[*statusError](err); ok && s.wait > 0 {
		if s.wait > longestWait {
			return false
		}
		wait = s.wait
	}
	time.Sleep(wait)
	return true
}

// most redirects that are followed.
const maxHops = 5

// once sends a query and follows its redirects.
func (c *client) once(q query) (*reply, error) {
	out := &reply{size: -1, url: q.url}
	if q.redirected != nil {
		out.url = q.redirected
	}
	seen := map[string]bool{}
	for hop := 0; ; hop++ {
		if seen[out.url.String()] || hop > maxHops {
			return nil, refuse("try again later; if it stays so, report it to the service",
				"%s redirects in circles or without end (%d times, last to %s)", q.url.Host, hop, shown(out.url))
		}
		seen[out.url.String()] = true
		if err := c.send(out, q); err != nil {
			return nil, err
		}
		next, err := out.redirect()
		switch {
		case err != nil:
			out.close()
			return nil, err
		case next == nil:
			err := out.failure()
			return out, err
		}
		out.close()
		if out.url.Scheme == "https" && next.Scheme != "https" {
			return nil, refuse("nothing is fetched unencrypted; report it to the service", "%s redirects from https to %s", out.url.Host,
				shown(next))
		}
		out.url = next
	}
}

// send asks one hop, after checking that it may be asked.
func (c *client) send(out *reply, q query) error {
	if err := c.check(out.url); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(q.context())
	late := time.AfterFunc(c.limits.Answer, func() { cancel(errSilent) })
	resp, err := c.round.RoundTrip((&http.Request{Method: http.MethodGet, URL: out.url, Host: out.url.Host, Header: c.header(out.url, q),
		ProtoMajor: 1, ProtoMinor: 1}).WithContext(ctx))
	late.Stop()
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		cancel(nil)
		return fmt.Errorf("%s: %w", out.url.Host, err)
	}
	out.Response = resp
	out.body = newBody(ctx, cancel, c.limits, resp.Body, resp.ContentLength)
	if v := resp.Header.Get("X-Repo-Commit"); out.commit == "" && isCommit(v) {
		out.commit = v
	}
	if n, err := strconv.ParseInt(resp.Header.Get("X-Linked-Size"), 10, 64); err == nil && out.size < 0 && n >= 0 {
		out.size = n
	}
	return nil
}

// header of a request. A token goes only to where token says.
func (c *client) header(u *url.URL, q query) http.Header {
	h := http.Header{"User-Agent": {"memwall/" + memwall.Version}}
	if q.accept != "" {
		h.Set("Accept", q.accept)
	}
	if q.to >= q.from {
		h.Set("Range", fmt.Sprintf("bytes=%d-%d", q.from, q.to))
	}
	if q.unless != "" {
		h.Set("If-None-Match", q.unless)
	}
	if t := c.token(u); t != "" {
		h.Set("Authorization", "Bearer "+t)
	}
	return h
}

// check refuses what is never asked: other schemes, unencrypted hosts, private addresses. Addresses behind names are
// checked when they are dialled.
func (c *client) check(u *url.URL) error {
	mine := c.allow.has(hostPort(u))
	switch {
	case u.Scheme != "https" && u.Scheme != "http" || u.Host == "":
		return refuse("an https address", "%s is not an address that is fetched", format40(u.String()))
	case u.User != nil:
		return refuse("an address without one", "the address at %s holds a password", u.Host)
	case u.Scheme == "http" && !mine:
		return refuse("give the https address; for a server of your own: MEMWALL_ALLOW_PRIVATE="+hostPort(u), "%s is not encrypted",
			shown(u))
	case mine:
		return nil
	}
	if a, err := netip.ParseAddr(u.Hostname()); err == nil && isPrivate(a) || local(u.Hostname()) {
		return &privateError{u.Host, u.Hostname()}
	}
	return nil
}

// redirect is where an answer leads on; nil: it is the answer itself.
func (r *reply) redirect() (*url.URL, error) {
	switch r.StatusCode {
	case 301, 302, 303, 307, 308:
	default:
		return nil, nil
	}
	to := r.Header.Get("Location")
	if to == "" || len(to) > 16<<10 {
		return nil, refuse("try again later", "%s redirects to nowhere", r.url.Host)
	}
	next, err := r.url.Parse(to)
	if err != nil {
		return nil, refuse("try again later", "%s redirects to what is not an address", r.url.Host)
	}
	return next, nil
}

// failure is the error of an answer that is not a success; the body is dropped.
func (r *reply) failure() error {
	switch r.StatusCode {
	case 200, 206, 304:
		return nil
	}
	e := &statusError{status: r.StatusCode, code: r.Header.Get("X-Error-Code"), said: format40(r.Header.Get("X-Error-Message")), url: r.url,
		size: r.size}
	if n, err := strconv.Atoi(r.Header.Get("Retry-After")); err == nil && n > 0 {
		e.wait = time.Duration(min(n, 1<<20)) * time.Second
	}
	e.hadAuth = r.Request != nil && r.Request.Header.Get("Authorization") != ""
	_, _ = io.CopyN(io.Discard, r.body, 16<<10)
	r.close()
	return e
}

// format40 keeps what a server says to a line, without what a terminal would obey.
func format40(s string) string {
	out := make([]rune, 0, 160)
	for _, r := range s {
		if len(out) == 160 {
			return string(out) + "…"
		}
		if strconv.IsPrint(r) {
			out = append(out, r)
		}
	}
	return string(out)
}
