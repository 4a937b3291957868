package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
)

// dear are questions that take seconds each: a search of fleets, a simulation of a million requests, a megabyte of a log.
var dear = []struct{ path, body string }{
	{"/v1/plan", `{"model":"llama-3.1-8b","hardware":"h100,l40s,rtx-4090","workload":{"rate":4,"requests":20000,"prompt":{"mean":1000},"output":{"mean":200}},"goal":{"ttft_ms":{"p99":2000}}}`},
	{"/v1/sim", `{"model":"llama-3.1-8b","hardware":"h100","workload":{"rate":4,"requests":1000000,"prompt":{"mean":1000},"output":{"mean":200}}}`},
	{"/v1/diagnose", fmt.Sprintf(`{"text":%q}`, strings.Repeat("step 12 | loss 2.31 | CUDA memory 21.3 GiB of 23.6\n", 15_000))},
}

// beside asks dear questions one behind the other, each kind by itself, until it is stopped; stop says how many were answered.
func beside(client *http.Client, url string) (stop func() string) {
	var wg sync.WaitGroup
	answered, over := make([]atomic.Int64, len(dear)), make(chan struct{})
	for i, d := range dear {
		wg.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
				}
				r, err := client.Post(url+d.path, "application/json", strings.NewReader(d.body))
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
