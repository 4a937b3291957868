// Command load asks a server at a rate, whether or not it keeps up, and says how long answers took: times are from when
// a request was due, so that waiting for the server counts (an open loop, without coordinated omission).
//
//	memwall serve & go run ./internal/loadtest -rate 500 -for 60s
//
// -mix same repeats a dozen questions, which a server may remember; distinct never asks the same twice; llama.cpp asks
// for plans that do not fit, the dearest there are; mixed is nine of ten of the first two and one of the third; every asks for all that
// a server has, right and wrong, and hangs up on some. -beside asks for searches, simulations and diagnoses without end at the same
// time. What a server keeps for good shows in an hour of:
//
//	memwall serve & go run ./internal/loadtest -mix every -rate 20 -for 1h -of $!
//
// which prints the server's memory, open files, threads and goroutines sixty times.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/memwall/memwall/stat"
)

// call is a request: its path, and its body; without one it is a GET. Who leaves does so after a fifth of a second.
type call struct {
	path, body string
	leaves     bool
}

// question gives the n-th request.
type question func(n int) call

// fits asks whether a plan fits.
func fits(body func(n int) string) question {
	return func(n int) call { return call{path: "/v1/fit", body: body(n)} }
}

// plans of engines in closed form, as people ask for them.
var plans = []struct{ model, hardware string }{
	{"llama-3.1-8b", "rtx-4090"}, {"llama-3.1-70b", "2xh100"}, {"qwen3-32b", "h100"}, {"deepseek-v3", "8xh200"}, {"gpt-oss-120b", "h100"},
	{"qwen3-8b", "l40s"},
	{"mistral-7b", "a100"}, {"llama-3.1-405b", "8xh200"}, {"qwen3-30b-a3b", "2xrtx-4090"}, {"gemma-3-27b", "h100"}, {"phi-4", "rtx-4090"},
	{"llama-3.1-8b", "4xl4"},
}

func same(n int) string {
	p := plans[n%len(plans)]
	return fmt.Sprintf(`{"model":%q,"hardware":%q}`, p.model, p.hardware)
}

func distinct(n int) string {
	p := plans[n%len(plans)]
	return fmt.Sprintf(`{"model":%q,"hardware":%q,"context":%d,"sequences":%d}`, p.model, p.hardware, 1024+16*(n%4096), 1+n/4096)
}

func llama(n int) string {
	return fmt.Sprintf(`{"model":"qwen3-32b","weights":"q4_k_m","hardware":"rtx-4090","context":%d}`, 20000+n)
}

func mixed(n int) string {
	switch n % 10 {
	case 9:
		return llama(n)
	case 0, 2, 4, 6, 8:
		return same(n)
	}
	return distinct(n)
}

var mixes = map[string]question{"same": fits(same), "distinct": fits(distinct), "llama.cpp": fits(llama), "mixed": fits(mixed),
	"every": every}

// result of one request.
type result struct {
	took   time.Duration
	status int // 0: no answer
}

func main() {
	url := flag.String("url", "http://127.0.0.1:8421", "where the server is")
	rate := flag.Float64("rate", 500, "requests a second")
	lasts := flag.Duration("for", 30*time.Second, "how long")
	mix := flag.String("mix", "distinct", "same, distinct, llama.cpp, mixed or every")
	dearToo := flag.Bool("beside", false, "ask for what takes seconds, too")
	server := flag.Int("of", 0, "the server's process, to tell of its growth")
	flag.Parse()
	ask := mixes[*mix]
	if ask == nil || *rate <= 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(*url, *rate, *lasts, ask, *dearToo, *server); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

// run asks and reports.
func run(url string, rate float64, lasts time.Duration, ask question, dearToo bool, server int) error {
	transport := &http.Transport{MaxIdleConnsPerHost: 512, DisableCompression: true}
	client := &http.Client{Timeout: 30 * time.Second, Transport: transport}
	if r := one(client, url, ask(0), time.Now()); r.status != http.StatusOK {
		return fmt.Errorf("%s answers with status %d", url, r.status)
	}
	n := int(rate * lasts.Seconds())
	results := make([]result, n)
	stop := func() string { return "nothing" }
	if dearToo {
		stop = askDear(&http.Client{}, url)
	}
	watched := func() string { return "" }
	if server > 0 {
		watched = follow(client, url, server, lasts/moments)
	}
	before, start := heap(client, url), time.Now()
	var wg sync.WaitGroup
	for i := range n {
		due := start.Add(time.Duration(float64(i) / rate * float64(time.Second)))
		time.Sleep(time.Until(due))
		wg.Go(func() { results[i] = one(client, url, ask(i), due) })
	}
	wg.Wait()
	took := time.Since(start)
	fmt.Println("answered beside:", stop())
	fmt.Print(watched())
	report(results, took)
	fmt.Printf("server: %s before, %s after\n", before, heap(client, url))
	return nil
}

// one request that was due at a time.
func one(c *http.Client, url string, ask call, due time.Time) result {
	r, err := ask.send(c, url)
	if err != nil {
		return result{took: time.Since(due)}
	}
	defer r.Body.Close()
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return result{took: time.Since(due)}
	}
	return result{time.Since(due), r.StatusCode}
}

// send asks it.
func (a call) send(c *http.Client, url string) (*http.Response, error) {
	if a.leaves {
		hasty := *c
		hasty.Timeout = time.Second / 5
		c = &hasty
	}
	method := http.MethodPost
	if a.body == "" {
		method = http.MethodGet
	}
	r, err := http.NewRequest(method, url+a.path, strings.NewReader(a.body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "*/*")
	r.Header.Set("Content-Type", "application/json")
	return c.Do(r)
}

// report says what came of the requests.
func report(results []result, took time.Duration) {
	times := make([]float64, len(results))
	bad := map[int]int{}
	for i, r := range results {
		times[i] = r.took.Seconds()
		if r.status != http.StatusOK {
			bad[r.status]++
		}
	}
	at := func(q float64) time.Duration {
		return time.Duration(stat.Quantile(times, q) * float64(time.Second)).Round(time.Microsecond)
	}
	fmt.Printf("%d requests, %.0f a second, not answered by status: %v\n", len(results), float64(len(results))/took.Seconds(), bad)
	fmt.Printf("p50 %v  p90 %v  p99 %v  p99.9 %v  max %v\n", at(0.5), at(0.9), at(0.99), at(0.999), at(1))
}

// heap is what the server says of its objects and goroutines.
func heap(c *http.Client, url string) string {
	return fmt.Sprintf("heap %d bytes, %d goroutines", gauge(c, url, "memwall_heap_bytes"), gauge(c, url, "memwall_goroutines"))
}

// gauge is a number among the server's metrics; -1 where it does not tell.
func gauge(c *http.Client, url, name string) int64 {
	r, err := c.Get(url + "/metrics")
	if err != nil {
		return -1
	}
	defer r.Body.Close()
	lines := bufio.NewScanner(r.Body)
	for lines.Scan() {
		if v, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			if n, err := strconv.ParseInt(v, 10, 64); err == nil {
				return n
			}
		}
	}
	return -1
}
