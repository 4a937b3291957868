package serve

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// abuses are bytes that a connection may begin with, and what they lead to; smuggled stands where a second request hides
// behind what the first says of its own length.
var abuses = []struct {
	name, sent string
	statuses   []int // of all answers on the connection, in order; none: it is closed
}{
	{"no HTTP", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", []int{400}},
	{"HTTP/0.9", "GET /\r\n\r\n", []int{400}},
	{"no host", "GET / HTTP/1.1\r\n\r\n", []int{400}},
	{"two hosts", "GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n", []int{400}},
	{"another host", "GET /v1/models HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n", []int{421}},
	{"another host in the target", "GET http://evil.example/v1/models HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", []int{421}},
	{"a proxy's CONNECT", "CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\nConnection: close\r\n\r\n", []int{421}},
	{"two lengths", "POST /v1/fit HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 0\r\n\r\n" + smuggled, []int{400}},
	{"a length and chunks, of which chunks count", "POST /v1/fit HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled, []int{400}},
	{"odd chunks", "POST /v1/fit HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + smuggled, []int{501}},
	{"chunks twice", "POST /v1/fit HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n" + smuggled, []int{501}},
	{"a negative length", "POST /v1/fit HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n" + smuggled, []int{400}},
	{"a length with a sign", "POST /v1/fit HTTP/1.1\r\nHost: localhost\r\nContent-Length: +4\r\n\r\n{} \n" + smuggled, []int{400}},
	{"chunks of another size", "POST /v1/fit HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n", []int{400}},
	{"a space before the colon", "GET /v1/models HTTP/1.1\r\nHost: localhost\r\nContent-Length : 10\r\n\r\n" + smuggled, []int{400}},
	{"a folded header", "GET /v1/models HTTP/1.1\r\nHost: localhost\r\n Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n", []int{400}},
	{"a header of 1 MiB", "GET / HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("x", 1<<20) + "\r\n\r\n", []int{431}},
	{"10,000 headers", "GET / HTTP/1.1\r\nHost: localhost\r\n" + strings.Repeat("X: y\r\n", 10_000) + "\r\n", []int{431}},
	{"a path of 1 MiB", "GET /" + strings.Repeat("a/", 1<<19) + " HTTP/1.1\r\nHost: localhost\r\n\r\n", []int{431}},
	{"a zero in the path", "GET /v1/models/%00 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", []int{404}},
	{"a page of another site", "POST /v1/fit HTTP/1.1\r\nHost: localhost\r\nOrigin: https://evil.example\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}", []int{403}},
	{"a form of another site", "POST /v1/fit HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: cross-site\r\nContent-Type: text/plain\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}", []int{403}},
	{"an upgrade", "GET /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n\r\n", nil},
}

const smuggled = "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"

// TestAbuse: what no client sends gets an error or none, and nothing that hides behind it is answered.
func TestAbuse(t *testing.T) {
	s := server(t, nil)
	addr, stop := listening(t, s)
	defer stop()
	for _, a := range abuses {
		t.Run(a.name, func(t *testing.T) {
			statuses, text := answersTo(t, addr, a.sent)
			if a.statuses != nil && fmt.Sprint(statuses) != fmt.Sprint(a.statuses) {
				t.Errorf("answered by %v, want %v", statuses, a.statuses)
			}
			if strings.Contains(text, "memwall_requests_in_flight") {
				t.Errorf("the request behind it was answered:\n%.300s", text)
			}
		})
	}
}

// answersTo what is sent on a connection of its own, and their texts.
func answersTo(t *testing.T, addr, sent string) (statuses []int, text string) {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	go io.WriteString(c, sent) // the server may hang up in the middle
	in := bufio.NewReader(c)
	for {
		r, err := http.ReadResponse(in, nil)
		if err != nil {
			return statuses, text
		}
		body, _ := io.ReadAll(r.Body)
		statuses, text = append(statuses, r.StatusCode), text+string(body)
	}
}

// TestManyConnections: so many at once that most must go; who asks is answered, and none is kept beyond the bound.
func TestManyConnections(t *testing.T) {
	const many = 10_000
	s := server(t, nil)
	addr, stop := listening(t, s)
	defer stop()
	var conns []net.Conn
	for range many {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Logf("%d connections: this system opens no more: %v", len(conns), err)
			for _, c := range conns[len(conns)-100:] {
				c.Close()
			}
			break
		}
		conns = append(conns, c)
	}
	start := time.Now()
	r, err := http.Post("http://"+addr+"/v1/fit", jsonType, strings.NewReader(fitBody))
	if err != nil || r.StatusCode != http.StatusOK {
		t.Errorf("beside %d connections: %v, %v", len(conns), r, err)
	} else {
		r.Body.Close()
	}
	t.Logf("answered beside %d connections after %v", len(conns), time.Since(start))
	var open atomic.Int64
	var wg sync.WaitGroup
	for _, c := range conns {
		wg.Go(func() {
			_ = c.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
			if _, err := c.Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) {
				open.Add(1)
			}
			c.Close()
		})
	}
	wg.Wait()
	if n := open.Load(); n > mostSockets {
		t.Errorf("%d connections are open, of %d at the most", n, mostSockets)
	}
}
