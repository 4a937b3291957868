package sim

import "github.com/memwall/memwall/workload"

// Router chooses the replica for a request.
type Router interface {
	choose(servers []*server, r *workload.Request) int
}

// RoundRobin returns a router that cycles through the replicas.
func RoundRobin() Router { return &roundRobin{} }

type roundRobin struct{ last int }

func (r *roundRobin) choose(servers []*server, _ *workload.Request) int {
	at := r.last % len(servers)
	r.last = at + 1
	return at
}

// LeastLoaded returns a router that chooses the replica with the fewest requests, counting waiting ones four times,
// like vLLM's balancer of data-parallel engines (vllm/v1/engine/core_client.py, DPLBAsyncMPClient).
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

// PrefixAware returns a router that chooses the replica with most of the prompt cached, if above a threshold, and
// otherwise, or if the load is unbalanced, the replica with the fewest requests (SGLang's router, policy cache_aware,
// with the defaults of its router_args.py).
func PrefixAware() Router { return prefixAware{} }

type prefixAware struct{}

const (
	cachedShare = 0.3 // cache_threshold
	moreByCount = 64  // balance_abs_threshold
	moreByRatio = 1.5 // balance_rel_threshold
)

func (prefixAware) choose(servers []*server, r *workload.Request) (best int) {
	idlest, least, most := idlestOf(servers)
	if most-least > moreByCount && float64(most) > moreByRatio*float64(least) {
		return idlest
	}
	found, at := int64(0), idlest
	for i, s := range servers {
		rows, stored, _ := s.pool.match(r.Spans, r.Prompt)
		if n := (rows + stored.sum()) * s.BlockTokens; n > found || n == found && s.load() < servers[at].load() {
			found, at = n, i
		}
	}
	if float64(found) > cachedShare*float64(r.Prompt) {
		return at
	}
	return idlest
}

// idlestOf returns the least loaded server, and the smallest and largest number of requests of any.
func idlestOf(servers []*server) (at int, least, most int64) {
	least = servers[0].load()
	for i, s := range servers {
		n := s.load()
		if most = max(most, n); n < least {
			at, least = i, n
		}
	}
	return at, least, most
}

// load returns the number of requests of a server.
func (s *server) load() int64 { return int64(s.waiting.n) + s.running.n }
