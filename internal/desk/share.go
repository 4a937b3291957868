package desk

import (
	"math"
	"sync"
	"time"
)

// ClientHeader tells a handler behind a server's guards which client is asking; a value sent by the client is ignored.
const ClientHeader = "Memwall-Client"

// share is the limit per client: questions in flight, long ones among them, and seconds of work, replenished at a rate.
// Work only counts against clients that keep others waiting.
type share struct {
	inFlight, long  int
	perSecond, most float64
}

// clients tracks clients by name.
type clients struct {
	share
	mu   sync.Mutex
	all  map[string]*client
	busy int // questions in flight, of all clients
}

// client is a client's questions in flight, and the work it may still request, as of a time.
type client struct {
	inFlight, long int
	left           float64
	at             time.Time
}

// mostClients is the number of clients tracked; idle ones with their full share are dropped first.
const mostClients = 4096

// admit admits a client's question, or says when to retry. done must be called when it is answered, with the work it
// took.
func (c *clients) admit(name string, long bool, now time.Time) (done func(now time.Time, took time.Duration), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	who := c.find(name, now)
	if who == nil {
		return nil, &Busy{time.Second, "too many clients ask at once"}
	}
	switch {
	case who.inFlight >= c.inFlight:
		return nil, &Busy{time.Second, "this client has too many questions in flight"}
	case long && who.long >= c.long:
		return nil, &Busy{5 * time.Second, "this client has as many searches and simulations in flight as it may"}
	case who.left <= 0 && c.busy > who.inFlight:
		wait := math.Ceil((1 - who.left) / c.perSecond)
		return nil, &Busy{time.Duration(wait) * time.Second, "this client has asked for more work than its share"}
	}
	c.busy++
	who.inFlight++
	if long {
		who.long++
	}
	return func(now time.Time, took time.Duration) { c.release(who, long, now, took) }, nil
}

func (c *clients) release(who *client, long bool, now time.Time, took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	who.refill(now, &c.share)
	who.left -= took.Seconds()
	c.busy--
	who.inFlight--
	if long {
		who.long--
	}
}

// find returns the client of a name; nil if there is no space for a new one.
func (c *clients) find(name string, now time.Time) *client {
	who := c.all[name]
	if who == nil {
		if c.all == nil {
			c.all = map[string]*client{}
		}
		if len(c.all) >= mostClients && !c.clear(now) {
			return nil
		}
		who = &client{left: c.most, at: now}
		c.all[name] = who
	}
	who.refill(now, &c.share)
	return who
}

// clear drops clients that need not be tracked.
func (c *clients) clear(now time.Time) bool {
	for name, who := range c.all {
		if who.refill(now, &c.share); who.inFlight == 0 && who.left >= c.most {
			delete(c.all, name)
		}
	}
	return len(c.all) < mostClients
}

func (w *client) refill(now time.Time, s *share) {
	if gone := now.Sub(w.at).Seconds(); gone > 0 {
		w.left, w.at = min(s.most, max(w.left, -s.most)+gone*s.perSecond), now
	}
}
