package serve

import (
	"container/list"
	"net"
	"net/http"
	"sync"
)

// crowd limits open connections: when there are too many, the longest idle one is closed.
type crowd struct {
	most    int
	mu      sync.Mutex
	open    int
	waiting list.List // of net.Conn, longest idle first
	at      map[net.Conn]*list.Element
}

// follow tracks the state of a connection.
func (c *crowd) follow(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch state {
	case http.StateNew:
		c.open++
		c.wait(conn)
	case http.StateIdle:
		c.wait(conn)
	case http.StateActive:
		c.leave(conn)
	case http.StateClosed, http.StateHijacked:
		c.open--
		c.leave(conn)
	}
	if c.open <= c.most {
		return
	}
	if first := c.waiting.Front(); first != nil && first.Value != conn {
		old := first.Value.(net.Conn)
		c.leave(old)
		old.Close() //nolint:errcheck // nobody waits for it
	}
}

func (c *crowd) wait(conn net.Conn) {
	if c.at == nil {
		c.at = map[net.Conn]*list.Element{}
	}
	c.at[conn] = c.waiting.PushBack(conn)
}

func (c *crowd) leave(conn net.Conn) {
	if e := c.at[conn]; e != nil {
		c.waiting.Remove(e)
		delete(c.at, conn)
	}
}
