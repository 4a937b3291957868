package live

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/memwall/memwall/engine/startup"
	"github.com/memwall/memwall/internal/observe"
)

// Options of a visit.
type Options struct {
	// Token is sent as a bearer token to the server that is named, and to no other; "" for none.
	Token string
	// For is how long the server is watched for its speed; 0 not at all.
	For time.Duration
	// Timeout bounds everything but the watching; 0 stands for 10 s.
	Timeout time.Duration
	// Transport is Go's own unless given.
	Transport http.RoundTripper
	// Every is the time between two readings; 0 stands for a second.
	Every time.Duration
}

// Bounds on what a server sends.
const (
	maxPage   = observe.MaxBytes
	maxHops   = 3
	longest   = 10 * time.Minute // that a server is watched
	shortAnew = 10 * time.Second
)

// visitor asks one server.
type visitor struct {
	Options
	base *url.URL
	// refused keeps the first answer that was neither a page nor "not found".
	mu      sync.Mutex
	refused error
}

// Ask reads what the server at an address publishes and makes a log of it.
func Ask(ctx context.Context, address string, o Options) (*startup.Log, error) {
	base, err := parse(address)
	if err != nil {
		return nil, err
	}
	if o.Timeout <= 0 {
		o.Timeout = shortAnew
	}
	if o.Every <= 0 {
		o.Every = time.Second
	}
	if o.Transport == nil {
		t := http.DefaultTransport.(*http.Transport).Clone()
		t.MaxResponseHeaderBytes = 64 << 10
		defer t.CloseIdleConnections()
		o.Transport = t
	}
	v := &visitor{Options: o, base: base}
	first, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	pages := Pages{}
	v.fetch(first, pages, signs)
	who := pages.Engine()
	if who == "" {
		return nil, v.nobody(pages)
	}
	v.fetch(first, pages, more[who])
	if name := loaded(pages).text("name"); who == "ollama" && name != "" {
		v.show(first, pages, name)
	}
	l := Read(pages)
	v.locked(l)
	if o.For > 0 {
		v.watch(ctx, l, pages)
	}
	return l, nil
}

// locked notes pages that a token opens; some servers show their metrics without one.
func (v *visitor) locked(l *startup.Log) {
	if e, ok := errors.AsType[*Error](v.refused); ok && e.Unauthorised {
		l.Note("locked", "%s for some of its pages: %s", e.Error(), e.Fix)
	}
}

// Local reports whether an address is of this machine.
func Local(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// Base is the address of a server without what people copy with it: /v1, /metrics.
func Base(address string) (string, error) {
	u, err := parse(address)
	if err != nil {
		return "", err
	}
	return strings.TrimSuffix(u.String(), "/"), nil
}

// parse reads an address; what people copy with it is left out: /v1, /metrics.
func parse(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return nil, refusal("the server", "give the address of the server: http://localhost:8000", "has no address that can be asked")
	}
	if u.User != nil {
		return nil, refusal(u.Host, "leave it out of the address; a token goes in MEMWALL_SERVER_TOKEN",
			"stands behind a password in the address")
	}
	for _, end := range []string{"/", "/v1/models", "/v1", "/metrics", "/"} {
		u.Path = strings.TrimSuffix(u.Path, end)
	}
	u.RawPath, u.RawQuery, u.Fragment = "", "", ""
	return u, nil
}

// fetch reads pages at the same time.
func (v *visitor) fetch(ctx context.Context, into Pages, paths []string) {
	found := make([][]byte, len(paths))
	var wg sync.WaitGroup
	for i, path := range paths {
		wg.Go(func() {
			body, err := v.page(ctx, path, nil)
			if err != nil {
				v.fault(err)
				return
			}
			found[i] = body
		})
	}
	wg.Wait()
	for i, path := range paths {
		if found[i] != nil {
			into[path] = found[i]
		}
	}
}

// show asks Ollama what a model is; it wants the name in a body.
func (v *visitor) show(ctx context.Context, into Pages, name string) {
	asked, err := json.Marshal(map[string]string{"model": name})
	if err != nil {
		return
	}
	if body, err := v.page(ctx, "/api/show", asked); err == nil {
		into["/api/show"] = body
	}
}

// fault keeps the worst: that a token is asked for counts more than that nobody answers.
func (v *visitor) fault(err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	var e *Error
	if v.refused == nil || errors.Is(v.refused, errAbsent) || errors.As(err, &e) && e.Unauthorised {
		v.refused = err
	}
}

var errAbsent = errors.New("there is no such page")

// page fetches one page: bounded in bytes, over redirects to the same host alone. What is asked with it makes it a POST.
func (v *visitor) page(ctx context.Context, path string, asked []byte) ([]byte, error) {
	at := *v.base
	at.Path += path
	for range maxHops {
		r, err := v.send(ctx, &at, asked)
		if err != nil {
			return nil, v.silent(err)
		}
		next, err := v.redirected(r, &at)
		if next == nil {
			body, err := v.body(r, path, err)
			_ = r.Body.Close()
			return body, err
		}
		_ = r.Body.Close()
		at = *next
	}
	return nil, refusal(v.base.Host, "give the address that it redirects to", "redirects %s in circles", path)
}

func (v *visitor) send(ctx context.Context, at *url.URL, asked []byte) (*http.Response, error) {
	method := http.MethodGet
	if asked != nil {
		method = http.MethodPost
	}
	q, err := http.NewRequestWithContext(ctx, method, at.String(), bytes.NewReader(asked))
	if err != nil {
		return nil, err
	}
	if asked != nil {
		q.Header.Set("Content-Type", "application/json")
	}
	q.Header.Set("User-Agent", "memwall")
	q.Header.Set("Accept", "application/json, text/plain")
	if v.Token != "" {
		q.Header.Set("Authorization", "Bearer "+v.Token)
	}
	return v.Transport.RoundTrip(q)
}

// redirected is where a redirect leads; nil for anything else.
func (v *visitor) redirected(r *http.Response, from *url.URL) (*url.URL, error) {
	switch r.StatusCode {
	case 301, 302, 303, 307, 308:
	default:
		return nil, nil
	}
	next, err := from.Parse(r.Header.Get("Location"))
	if err != nil || !strings.EqualFold(next.Host, v.base.Host) || next.Scheme != v.base.Scheme {
		to := "what is not an address"
		if err == nil {
			to = printableLine(next.Scheme + "://" + next.Host)
		}
		return nil, refusal(v.base.Host, "give that address if it is yours", "redirects to %s, which is not followed", to)
	}
	return next, nil
}

// body reads the answer; err is what was wrong with a redirect.
func (v *visitor) body(r *http.Response, path string, err error) ([]byte, error) {
	switch {
	case err != nil:
		return nil, err
	case r.StatusCode == http.StatusUnauthorized || r.StatusCode == http.StatusForbidden:
		return nil, v.unauthorised(r.StatusCode)
	case r.StatusCode == http.StatusNotFound || r.StatusCode == http.StatusMethodNotAllowed || r.StatusCode == http.StatusNotImplemented:
		return nil, errAbsent
	case r.StatusCode == http.StatusServiceUnavailable:
		return nil, refusal(v.base.Host, "wait until it is ready", "answers %s with 503: it is still loading, or overloaded", path)
	case r.StatusCode != http.StatusOK:
		return nil, refusal(v.base.Host, "look at the server's own log", "answers %s with %d", path, r.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxPage+1))
	switch {
	case err != nil:
		return nil, v.silent(err)
	case len(body) > maxPage:
		return nil, refusal(v.base.Host, "this is not an inference server, or its metrics have too many labels",
			"sends more than 8 MiB for %s",
			path)
	case bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n\ufeff"), []byte("<")):
		return nil, refusal(v.base.Host, "give the address of the server itself, not of a web page or a proxy before it",
			"answers %s with a web page", path)
	}
	return body, nil
}

func (v *visitor) unauthorised(status int) error {
	e := refusal(v.base.Host, "put the server's key in MEMWALL_SERVER_TOKEN, or in a file for --token-file", "wants a token (%d)", status)
	if v.Token != "" {
		e = refusal(v.base.Host, "give the key that the server was started with (--api-key)", "does not take this token (%d)", status)
	}
	e.Unauthorised = true
	return e
}

// silent says why nothing came.
func (v *visitor) silent(err error) error {
	var name *net.DNSError
	var timeout interface{ Timeout() bool }
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return refusal(v.base.Host, "check that the server answers: curl "+v.base.String()+"/v1/models", "did not answer in %s", v.Timeout)
	case errors.As(err, &name):
		return refusal(v.base.Host, "check the name", "is a host that nobody knows")
	case strings.Contains(err.Error(), "HTTP response to HTTPS client"):
		return refusal(v.base.Host, "give http:// instead of https://", "does not speak https")
	case strings.Contains(err.Error(), "connection refused"):
		return refusal(v.base.Host, "start the server, or give the port that it listens on", "refuses connections")
	}
	return refusal(v.base.Host, "check the address, and whether http or https is spoken there", "cannot be read: %s",
		printableLine(lastError(err)))
}

// lastError is the innermost error: outer ones repeat the address.
func lastError(err error) string {
	for {
		in := errors.Unwrap(err)
		if in == nil {
			return err.Error()
		}
		err = in
	}
}

// nobody is the error of a server that no engine is known by.
func (v *visitor) nobody(p Pages) error {
	if v.refused != nil && !errors.Is(v.refused, errAbsent) {
		return v.refused
	}
	if len(p) > 0 {
		return &Error{Address: v.base.Host, Unknown: true, Problem: "answers, but as no inference server that memwall knows",
			Fix: "vLLM, SGLang, TensorRT-LLM, llama-server, TGI and Ollama are known by their /v1/models, /metrics or /api/version"}
	}
	return refusal(v.base.Host, "give the address of the server: http://localhost:8000",
		"has neither /v1/models nor /metrics nor /api/version")
}

// watch reads the metrics again and again.
func (v *visitor) watch(ctx context.Context, l *startup.Log, pages Pages) {
	path := "/metrics"
	if pages["/prometheus/metrics"] != nil {
		path = "/prometheus/metrics"
	}
	old, err := observe.Read(pages[path])
	if err != nil {
		l.Note("not_watched", "the server publishes no metrics to watch: vLLM always does, SGLang with --enable-metrics, llama-server "+
			"with --metrics")
		return
	}
	began, last, running, n := time.Now(), old, value(old.Running), 1.0
	tick := time.NewTicker(v.Every)
	defer tick.Stop()
	for time.Since(began) < min(v.For, longest) {
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
		if r := v.reading(ctx, path); r != nil {
			last, running, n = r, running+value(r.Running), n+1
		}
		if ctx.Err() != nil {
			break
		}
	}
	Watched(l, old, last, running/n, time.Since(began).Seconds())
}

func (v *visitor) reading(ctx context.Context, path string) *observe.Reading {
	ctx, cancel := context.WithTimeout(ctx, v.Timeout)
	defer cancel()
	body, err := v.page(ctx, path, nil)
	if err != nil {
		return nil
	}
	r, err := observe.Read(body)
	if err != nil {
		return nil
	}
	return r
}

func value(x *float64) float64 {
	if x == nil {
		return 0
	}
	return *x
}
