// Package remote locates models at addresses: on the Hugging Face hub and in its local cache, on ModelScope, in
// Ollama's registry and its local store, and at URLs. It fetches and caches what a header needs; package source reads
// it.
//
// See reference.go for the syntax of references, client.go for how requests are sent and what is rejected, file.go for
// reading files in parts, cache.go for what is cached. hub.go, modelscope.go, ollama.go and address.go are the
// services. All network access goes through the client; nothing is unpickled or executed.
package remote

import (
	"net/http"
	"strings"
	"time"

	"github.com/memwall/memwall/source"
	"github.com/memwall/memwall/source/cache"
)

// Options are what a Finder works with. Of the environment it reads HF_TOKEN, HF_TOKEN_PATH, HF_HOME, HF_HUB_CACHE,
// HF_ENDPOINT, HF_HUB_OFFLINE, MODELSCOPE_DOMAIN, OLLAMA_MODELS, the proxy's variables and MEMWALL_ALLOW_PRIVATE.
type Options struct {
	// Env is the environment; nil: nothing is set.
	Env func(string) string
	// Home is the user's folder; "": no local cache or store is looked for where no variable names it.
	Home string
	// Cache keeps what was fetched; nil: nothing is kept.
	Cache *cache.Cache
	// Transport sends requests; nil: its own, which dials no private address. Another one answers for that itself.
	Transport http.RoundTripper
	// Now is the time; nil: the clock's.
	Now func() time.Time
	// Limits are how long a server may take; zero fields are filled.
	Limits Limits
}

// Limits bounds the time a server may take, and the number of attempts.
type Limits struct {
	Dial    time.Duration // until connected
	Answer  time.Duration // until the first byte of an answer
	Stall   time.Duration // between two pieces of a body
	Backoff time.Duration // before the second attempt; it doubles
	Tries   int           // attempts at one request, and how often a cut body is taken up again
	Rate    int64         // bytes a second, below which a body is given up after Answer
}

func (l Limits) filled() Limits {
	or := func(d *time.Duration, otherwise time.Duration) {
		if *d == 0 {
			*d = otherwise
		}
	}
	or(&l.Dial, 6*time.Second)
	or(&l.Answer, 20*time.Second)
	or(&l.Stall, 15*time.Second)
	or(&l.Backoff, 250*time.Millisecond)
	if l.Tries == 0 {
		l.Tries = 4
	}
	if l.Rate == 0 {
		l.Rate = 32 << 10
	}
	return l
}

// Finder finds models at addresses. It is safe for concurrent use.
type Finder struct {
	env     func(string) string
	home    string
	cache   *cache.Cache
	now     func() time.Time
	client  *client
	offline bool
}

// New returns a Finder.
func New(o Options) *Finder {
	if o.Env == nil {
		o.Env = func(string) string { return "" }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	f := &Finder{env: o.Env, home: o.Home, cache: o.Cache, now: o.Now}
	f.offline = set(o.Env("HF_HUB_OFFLINE")) || set(o.Env("TRANSFORMERS_OFFLINE"))
	f.client = newClient(o, f.endpoints())
	return f
}

// set reads a variable as the hub's own library does.
func set(v string) bool {
	switch strings.ToUpper(v) {
	case "1", "ON", "YES", "TRUE":
		return true
	}
	return false
}

// Find gives the place that a reference leads to.
func (f *Finder) Find(ref string) (*source.Place, error) {
	r, err := f.parse(ref)
	if err != nil {
		return nil, err
	}
	if r.kind == onHub {
		return f.hub(r)
	}
	return f.elsewhere(r)
}

// elsewhere is a place that is not at the hub.
func (f *Finder) elsewhere(r *reference) (*source.Place, error) {
	switch r.kind {
	case onModelScope:
		return f.modelScope(r)
	case onOllama:
		return f.ollama(r)
	}
	return f.address(r)
}
