package watch

import "time"

// clock dates moments. Where the machine's clock is set back, dates go on from the last one: a watch that waited for the
// clock to catch up would stand still for as long as it was set back.
type clock struct {
	last  time.Time
	dated float64 // seconds since 1970 of last
	ahead float64 // seconds by which dates are ahead of the machine's clock
}

// at gives the seconds since 1970 of a moment, no less than those of the moment before.
func (c *clock) at(now time.Time) float64 {
	at := float64(now.UnixMilli())/1000 + c.ahead
	if at < c.dated {
		elapsed := max(0, now.Sub(c.last).Seconds()) // of the monotonic clock, where now has its reading
		c.ahead += c.dated + elapsed - at
		at = c.dated + elapsed
	}
	c.last, c.dated = now, at
	return at
}
