package remote

import (
	"context"
	"errors"
	"io"
	"net/url"
	"time"
)

// Pages fetches small pages, such as an engine's metrics, repeatedly from servers that the user runs or names. Those hosts may be
// private; redirects to other private hosts are refused as elsewhere, and no token is sent.
type Pages struct {
	client *client
	whole  time.Duration
}

// NewPages returns Pages for the hosts of the given addresses; patience is the time limit per page.
func NewPages(env func(string) string, addresses []string, patience time.Duration) *Pages {
	o := Options{Env: env, Limits: Limits{Dial: patience, Answer: patience, Stall: patience, Tries: 1, Rate: maxFetched}}
	c := newClient(o, addresses)
	c.token = func(*url.URL) string { return "" }
	return &Pages{client: c, whole: patience}
}

// Get fetches a page of at most so many bytes; what is larger is an error. It ends with ctx, and when the time is up.
func (p *Pages) Get(ctx context.Context, address string, most int64) ([]byte, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, refuse("http://HOST:PORT/metrics", "%s is not an address", format40(redact(address)))
	}
	r, err := p.client.once(query{url: u, from: 0, to: -1})
	if err != nil {
		return nil, err
	}
	late := time.AfterFunc(p.whole, func() { r.body.stop(errSlow) })
	defer late.Stop()
	defer context.AfterFunc(ctx, func() { r.body.stop(ctx.Err()) })()
	defer r.close()
	text, err := io.ReadAll(io.LimitReader(r.body, most+1))
	if err != nil {
		return nil, err
	}
	if int64(len(text)) > most {
		return nil, refuse("the address of a page of metrics", "%s sends more than %d MiB", u.Host, most>>20)
	}
	return text, nil
}

// Why describes briefly why a page could not be fetched.
func Why(err error) string { return redact(reason(err)) }

// Status returns the status of an unsuccessful response; 0 for other errors.
func Status(err error) int {
	if s, ok := errors.AsType[*statusError](err); ok {
		return s.status
	}
	return 0
}
