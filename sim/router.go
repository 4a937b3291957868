package sim

import "github.com/memwall/memwall/workload"

// Router chooses the replica of a request.
type Router interface {
	choose(servers []*server, r *workload.Request) int
}

// RoundRobin gives each replica its turn.
func RoundRobin() Router { return &roundRobin{} }

type roundRobin struct{ last int }

func (r *roundRobin) choose(servers []*server, _ *workload.Request) int {
	at := r.last % len(servers)
	r.last = at + 1
	return at
}

// LeastLoaded takes the replica with the fewest requests that wait or run, waiting ones counted four times, as vLLM's
// balancer of data-parallel engines does (vllm/v1/engine/core_client.py, DPLBAsyncMPClient).
func LeastLoaded() Router { return leastLoaded{} }

type leastLoaded struct{}

func (leastLoaded) choose(servers []*server, _ *workload.Request) (best int) {
	least := int64(-1)
	for i, s := range servers {
		if n := 4*int64(s.waiting.n) + s.running.n; least < 0 || n < least {
			best, least = i, n
		}
	}
	return best
}

// PrefixAware takes the replica that has most of the prompt cached, unless it has more than twice the mean of the others'
// requests; among equals the one with the fewest.
func PrefixAware() Router { return prefixAware{} }

type prefixAware struct{}

func (prefixAware) choose(servers []*server, r *workload.Request) (best int) {
	total := int64(0)
	for _, s := range servers {
		total += s.load()
	}
	most, least := int64(-1), int64(0)
	for i, s := range servers {
		if len(servers) > 1 && s.load() > 8+2*total/int64(len(servers)) {
			continue
		}
		rows, stored, _ := s.pool.match(r.Spans, r.Prompt)
		rows += stored
		if rows > most || rows == most && s.load() < least {
			best, most, least = i, rows, s.load()
		}
	}
	return best
}

// load is how many requests a server has.
func (s *server) load() int64 { return int64(s.waiting.n) + s.running.n }
