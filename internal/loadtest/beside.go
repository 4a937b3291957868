package main

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// dear are questions that take seconds each, of which %d makes a new one: a search of fleets, a simulation of a million requests, a
// megabyte of a log.
var dear = []call{
	{path: "/v1/plan", body: `{"model":"llama-3.1-8b","hardware":"h100,l40s,rtx-4090","workload":{"rate":4,"requests":20000,
		"prompt":{"mean":1000},"output":{"mean":200},"seed":%d},"goal":{"ttft_ms":{"p99":2000}}}`},
	{path: "/v1/sim", body: `{"model":"llama-3.1-8b","hardware":"h100","workload":{"rate":4,"requests":1000000,
		"prompt":{"mean":1000},"output":{"mean":200},"seed":%d}}`},
	{path: "/v1/diagnose", body: fmt.Sprintf(`{"text":%q}`,
		strings.Repeat("step %d | loss 2.31 | CUDA memory 21.3 GiB of 23.6\n", 15_000))},
}

// askDear asks dear questions one behind the other, each kind by itself, until it is stopped; stop says how many were answered.
func askDear(client *http.Client, url string) (stop func() string) {
	var wg sync.WaitGroup
	answered, over := make([]atomic.Int64, len(dear)), make(chan struct{})
	for i, d := range dear {
		wg.Go(func() {
			for n := 1; ; n++ {
				select {
				case <-over:
					return
				default:
				}
				ask := call{path: d.path, body: strings.ReplaceAll(d.body, "%d", strconv.Itoa(n))} // an answer that is kept is not dear
				r, err := ask.send(client, url)
				if err != nil {
					continue
				}
				_, _ = io.Copy(io.Discard, r.Body) // its status says enough
				r.Body.Close()
				if r.StatusCode == http.StatusOK {
					answered[i].Add(1)
				}
			}
		})
	}
	return func() string {
		close(over)
		wg.Wait()
		var out []string
		for i, d := range dear {
			out = append(out, fmt.Sprintf("%s %d", d.path, answered[i].Load()))
		}
		return strings.Join(out, ", ")
	}
}
