package desk

import (
	"math"
	"sync"
	"time"
)

// ClientHeader tells a handler behind the guards of a server which client asks; what the client says there is not heard.
const ClientHeader = "Memwall-Client"

// share is what one client may have: questions in flight, long ones among them, and seconds of work, of which so many
// come back each second. Work is counted only against who keeps others waiting.
type share struct {
	inFlight, long  int
	perSecond, most float64
}

// clients are those that ask, by name.
type clients struct {
	share
	mu   sync.Mutex
	all  map[string]*client
	busy int // questions in flight, of all clients
}

// client is one that asks: what it has in flight, and what work it may still ask for, as of a time.
type client struct {
	inFlight, long int
	left           float64
	at             time.Time
}

// mostClients are remembered; those that ask for nothing and have their whole share again are forgotten first.
const mostClients = 4096

// admit lets a question of a client in, or says when to come again. What it gives is called when the question is
// answered, with the work that it took.
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

// find gives the client of a name; nil when there is no room for a new one.
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

// clear forgets those of whom nothing need be known.
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
