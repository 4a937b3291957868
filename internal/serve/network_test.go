package serve

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/desk"
)

// listening starts a server on a port of this machine; stop ends it and waits.
func listening(t testing.TB, s *Server) (addr string, stop func()) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	return l.Addr().String(), sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// TestIdleAndSlow: a thousand connections that say nothing, half a header or half a body do not keep others from
// answers.
func TestIdleAndSlow(t *testing.T) {
	addr, stop := listening(t, server(t, nil))
	defer stop()
	head := "POST /v1/fit HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n"
	for i := range 1000 {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		said := []string{"", head[:40], head + "\r\n{", head + "\r\n" + strings.Repeat(" ", 1000)}[i%4]
		if _, err := io.WriteString(c, said); err != nil {
			t.Fatal(err)
		}
	}
	for range 50 {
		r, err := http.Post("http://"+addr+"/v1/fit", jsonType, strings.NewReader(fitBody))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r.Body)
		if err != nil || r.StatusCode != http.StatusOK || len(text) < 1000 {
			t.Fatalf("status %d, %d bytes, %v", r.StatusCode, len(text), err)
		}
		r.Body.Close()
	}
}

// TestCrowd: where there are too many connections, the one that has waited longest makes room.
func TestCrowd(t *testing.T) {
	c := &crowd{most: 2}
	var conns []net.Conn
	for range 4 {
		a, b := net.Pipe()
		t.Cleanup(func() { b.Close() })
		conns = append(conns, a)
	}
	c.follow(conns[0], http.StateNew)
	c.follow(conns[0], http.StateActive)
	c.follow(conns[1], http.StateNew)
	c.follow(conns[2], http.StateNew)
	if _, err := conns[1].Write(nil); err == nil {
		t.Error("who waited longest is still there")
	}
	c.follow(conns[1], http.StateClosed)
	if c.open != 2 || c.waiting.Len() != 1 || len(c.at) != 1 {
		t.Errorf("%d open, %d waiting, %d known", c.open, c.waiting.Len(), len(c.at))
	}
}

// endless is a simulation that nobody wants to wait for.
const endless = `{"model":"llama-3.1-8b","hardware":"h100","workload":{"rate":4,"requests":1000000000,"prompt":{"mean":1000},"output":{"mean":200}}}`

// TestCancelled: work ends when nobody waits for it, however many leave at once, and what it took is free again.
func TestCancelled(t *testing.T) {
	s := server(t, func(o *Options) { o.Desk = desk.New(desk.Options{Long: 4}) })
	addr, stop := listening(t, s)
	defer stop()
	before := runtime.NumGoroutine()
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(50+20*i)*time.Millisecond)
			defer cancel()
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+addr+"/v1/sim", strings.NewReader(endless))
			if err != nil {
				t.Error(err)
				return
			}
			r.Header.Set("Content-Type", jsonType)
			if i%2 == 0 {
				r.Header.Set("Accept", eventsType)
			}
			if response, err := http.DefaultClient.Do(r); err == nil {
				_, _ = io.Copy(io.Discard, response.Body) // until the time is over
				response.Body.Close()
			}
		})
	}
	wg.Wait()
	http.DefaultClient.CloseIdleConnections()
	for range 200 {
		if s.metrics.inFlight.Load() == 0 && runtime.NumGoroutine() <= before+4 {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if n, now := s.metrics.inFlight.Load(), runtime.NumGoroutine(); n != 0 || now > before+4 {
		t.Errorf("%d requests in flight, %d goroutines, %d before", n, now, before)
	}
	small := strings.Replace(endless, "1000000000", "100", 1)
	r, err := http.Post("http://"+addr+"/v1/sim", jsonType, strings.NewReader(small))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if r.StatusCode != http.StatusOK {
		t.Errorf("status %d", r.StatusCode)
	}
}

// unending are questions that go on for very long, by path: simulations, searches of both kinds, and a batch of them.
var unending = map[string]string{
	"/v1/sim":   endless,
	"/v1/plan":  `{"model":"llama-3.1-8b","hardware":"h100,l40s,rtx-4090","workload":{"rate":4,"requests":1000000,"prompt":{"mean":1000},"output":{"mean":200}},"goal":{"ttft_ms":{"p99":2000}}}`,
	"/v1/batch": `{"ask":"sim",` + endless[1:] + "\n" + `{"ask":"sim",` + endless[1:],
}

// TestSearchesCancelled: who closes a stream ends searches too, in the middle of a phase; then the next has its turn.
func TestSearchesCancelled(t *testing.T) {
	s := server(t, func(o *Options) { o.Desk = desk.New(desk.Options{Long: 1, Patience: 5 * time.Second}) })
	s.beat = 5 * time.Millisecond
	addr, stop := listening(t, s)
	defer stop()
	for path, body := range unending {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: localhost\r\nAccept: %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", path, eventsType, s.routes.takes(path), len(body), body)
		_ = c.SetReadDeadline(time.Now().Add(30 * time.Second))
		in := bufio.NewReader(c)
		for line := ""; !strings.Contains(line, `"phase":"simulate"`) && !strings.Contains(line, `"phase":"play"`); {
			if line, err = in.ReadString('\n'); err != nil {
				t.Fatalf("%s: %v", path, err)
			}
		}
		c.Close()
		for range 500 {
			if s.metrics.inFlight.Load() == 0 {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if n := s.metrics.inFlight.Load(); n != 0 {
			t.Fatalf("%s goes on: %d in flight", path, n)
		}
	}
	if w := do(s, asked{path: "/v1/pick", body: `{"hardware":"rtx-3060"}`}); w.Code != http.StatusOK {
		t.Errorf("status %d: %.200s", w.Code, w.Body)
	}
}

// TestLimit: an answer that takes too long is what is known by then.
func TestLimit(t *testing.T) {
	s := server(t, func(o *Options) { o.Desk = desk.New(desk.Options{Limit: 100 * time.Millisecond}) })
	w := do(s, asked{path: "/v1/sim", body: endless})
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"stopped":true`) {
		t.Errorf("status %d: %.300s", w.Code, w.Body)
	}
	if s.kept.order.Len() != 0 {
		t.Error("half an answer is kept")
	}
}

// TestShare: a client that asks for more than its share is told when to come again, and another is answered.
func TestShare(t *testing.T) {
	release := make(chan struct{})
	s := server(t, func(o *Options) {
		o.Fixed, o.Desk = false, desk.New(desk.Options{Quick: 300, Asker: memwall.Asker{Models: waiting{release}}})
	})
	var wg sync.WaitGroup
	for range 256 {
		wg.Go(func() { do(s, asked{path: "/v1/fit", body: fitBody}) })
	}
	for s.metrics.inFlight.Load() < 256 {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(50 * time.Millisecond)
	w := do(s, asked{path: "/v1/fit", body: fitBody})
	other := make(chan int, 1)
	go func() { other <- do(s, asked{path: "/v1/fit", body: fitBody, from: "192.0.2.1:1"}).Code }()
	if p := problemIn(t, w); p.Status != http.StatusTooManyRequests || w.Header().Get("Retry-After") == "" {
		t.Errorf("status %d, %v", p.Status, w.Header())
	}
	close(release)
	wg.Wait()
	if code := <-other; code != http.StatusOK {
		t.Errorf("status %d of another client", code)
	}
}

// waiting finds models when it is let.
type waiting struct{ until chan struct{} }

func (w waiting) Model(ref string) (*memwall.Resolved, error) {
	<-w.until
	return memwall.Catalog{}.Model(ref)
}

// TestShutdown: what is under way is answered before the server ends, and searches end with what they have.
func TestShutdown(t *testing.T) {
	addr, stop := listening(t, server(t, nil))
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	body := strings.Replace(endless, "1000000000", "400000", 1)
	fmt.Fprintf(c, "POST /v1/sim HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	time.Sleep(200 * time.Millisecond)
	stop()
	line, err := bufio.NewReader(c).ReadString('\n')
	if err != nil || !strings.Contains(line, "200") {
		t.Errorf("%q, %v", line, err)
	}
}
