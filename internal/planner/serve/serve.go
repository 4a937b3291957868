// Package serve searches for fleets that serve a load within bounds: it lists servers, estimates them, simulates the
// most promising and says why the others lose.
//
// A server is one replica; a fleet is as many of one kind as the load needs. Plan lists the phases, each a function of
// the previous one's result: the task (task.go); the servers that fit, each estimated in steady state (servers.go,
// steady.go); fleets of the most promising ones, simulated at the load (confirm.go; most.go if the most users are asked
// for); those with their bands, ranked (rank.go, ranked.go); and the answer with its reasons (answer.go, why.go,
// miss.go).
package serve

import (
	"context"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/question"
)

// Plan answers how best to serve a load.
func Plan(ctx context.Context, a *question.Env, r *api.Request) (*api.Answer, error) {
	t, err := readTask(ctx, a, r)
	if err != nil {
		return nil, err
	}
	s, err := listServers(t)
	if err != nil {
		return nil, err
	}
	p, err := playServers(s)
	if err != nil {
		return nil, err
	}
	f, err := p.ranked()
	if err != nil {
		return nil, err
	}
	return p.answer(f), nil
}
