// Package bench measures what a running server delivers over the OpenAI completions API: TTFT, TPOT and tokens a
// second, at several numbers of users who each send a request as soon as the last is answered (a closed loop).
//
// See bench.go for one load level, request.go for one streamed response, report.go for the comparison and how results
// are kept.
package bench

import (
	"cmp"
	"context"
	"errors"
	"math"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/memwall/memwall/stat"
)

// Server is the server being measured.
type Server struct {
	Address string // "http://127.0.0.1:8000", without /v1
	Token   string // sent as a bearer token to this server alone; "" for none
	Model   string // as the server names it
	// Transport is Go's own unless given.
	Transport http.RoundTripper
}

// Load is what each user of a level sends.
type Load struct {
	Prompt   int64 // tokens
	Answer   int64 // tokens
	Requests int   // of a user, one behind the other
}

// Spread is the distribution of a figure over the requests of a level.
type Spread struct {
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50"`
	P99  float64 `json:"p99"`
}

// Level is the measurement at a number of concurrent users. Times are in milliseconds.
type Level struct {
	Users     int64  `json:"users"`
	Completed int64  `json:"completed"`
	Failed    int64  `json:"failed,omitempty"`
	Error     string `json:"error,omitempty"` // of the first that failed
	// Prompt and Answer are tokens of all requests that were completed.
	Prompt int64   `json:"prompt_tokens"`
	Answer int64   `json:"output_tokens"`
	TTFT   Spread  `json:"ttft_ms"`
	TPOT   *Spread `json:"tpot_ms"` // null where answers have one token
	// Output is tokens a second of all users together, from the first request to the last answer.
	Output float64 `json:"output_tokens_per_s"`
}

// Measure runs a level. It fails when no request was completed, and with ctx's error when that ended.
func (s *Server) Measure(ctx context.Context, users int64, l Load, words *Words) (*Level, error) {
	client := &http.Client{Transport: s.transport(users), CheckRedirect: stay}
	defer client.CloseIdleConnections()
	done := make([][]finished, users)
	began := time.Now()
	var all sync.WaitGroup
	for u := range done {
		all.Go(func() {
			for range l.Requests {
				if ctx.Err() != nil {
					return
				}
				done[u] = append(done[u], s.ask(ctx, client, words.Prompt(l.Prompt), l.Answer))
			}
		})
	}
	all.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return summed(users, done, time.Since(began))
}

// finished is a request that was answered, or failed.
type finished struct {
	answer
	err error
}

// summed makes a level of its requests.
func summed(users int64, done [][]finished, took time.Duration) (*Level, error) {
	l := &Level{Users: users}
	var first, each []float64
	for _, f := range slices.Concat(done...) {
		if f.err != nil {
			l.Failed++
			l.Error = cmp.Or(l.Error, f.err.Error())
			continue
		}
		l.Completed++
		l.Prompt, l.Answer = l.Prompt+f.prompt, l.Answer+f.tokens
		first = append(first, milliseconds(f.first))
		if f.tokens > 1 {
			each = append(each, milliseconds(f.last-f.first)/float64(f.tokens-1))
		}
	}
	if l.Completed == 0 {
		return nil, errors.New(l.Error)
	}
	l.TTFT, l.Output = spread(first), float64(l.Answer)/took.Seconds()
	if len(each) > 0 {
		s := spread(each)
		l.TPOT = &s
	}
	return l, nil
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func spread(x []float64) Spread {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	round := func(v float64) float64 { return math.Round(1e3*v) / 1e3 }
	return Spread{Mean: round(sum / float64(len(x))), P50: round(stat.Median(x)), P99: round(stat.Quantile(x, 0.99))}
}
