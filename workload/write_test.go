package workload

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// fixedSource gives requests that are there.
type fixedSource []Request

func (f *fixedSource) Next() (Request, bool, error) {
	if len(*f) == 0 {
		return Request{}, false, nil
	}
	r := (*f)[0]
	*f = (*f)[1:]
	return r, true, nil
}

func (*fixedSource) After(*Request, time.Duration) (Request, bool) { return Request{}, false }

// randomRequests in order of time, with all that a request may hold.
func randomRequests(r *rand.Rand) (out []Request) {
	var at time.Duration
	for i := range 1 + r.IntN(50) {
		at += time.Duration(r.Int64N(1 << r.IntN(50)))
		q := Request{ID: int64(i), Arrival: at, Prompt: 1 + r.Int64N(5000), Output: 1 + r.Int64N(900)}
		for left := q.Prompt; left > 0 && r.IntN(3) > 0; left -= q.Spans[len(q.Spans)-1].Tokens {
			q.Spans = append(q.Spans, Span{r.Uint64() >> r.IntN(64), 1 + r.Int64N(left)})
		}
		if r.IntN(2) == 0 {
			q.Own, q.User, q.Adapter, q.Priority, q.Patience = r.Uint64(), r.Uint64(), r.Uint32N(99), r.Int32()-1<<30,
				time.Duration(r.Int64N(1e12))
		}
		out = append(out, q)
	}
	return out
}

func written(rs []Request) string {
	var b []byte
	for i := range rs {
		b = AppendOwn(b, &rs[i])
	}
	return string(b)
}

// TestOwnRoundTrip: what is written reads as the same requests.
func TestOwnRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		want := randomRequests(r)
		text := written(want)
		got, tr, err := read(text, ReadOptions{})
		if d := cmp.Diff(want, got); err != nil || d != "" || len(tr.Unread()) > 0 {
			t.Fatalf("%v %s %s", err, d, text)
		}
	}
}
