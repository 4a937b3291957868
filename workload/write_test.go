package workload

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
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

func written(t testing.TB, format string, rs []Request) string {
	t.Helper()
	var b bytes.Buffer
	src := fixedSource(rs)
	if n, err := Write(&b, format, &src); err != nil || n != int64(len(rs)) {
		t.Fatal(n, err)
	}
	return b.String()
}

// TestOwnRoundTrip: what is written reads as the same requests.
func TestOwnRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		want := randomRequests(r)
		text := written(t, "memwall", want)
		got, tr, err := read(text, ReadOptions{})
		if d := cmp.Diff(want, got); err != nil || d != "" || len(tr.Unread()) > 0 {
			t.Fatalf("%v %s %s", err, d, text)
		}
	}
}

// TestMooncakeRoundTrip: a trace of Mooncake is written as it was read.
func TestMooncakeRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		var want []Request
		for i := range 20 {
			q := Request{ID: int64(i), Arrival: time.Duration(i) * time.Millisecond, Prompt: 1 + r.Int64N(4000), Output: 1}
			for left := q.Prompt; left > 0; left -= 512 {
				q.Spans = append(q.Spans, Span{r.Uint64N(1 << 40), min(left, 512)})
			}
			want = append(want, q)
		}
		got, _, err := read(written(t, "mooncake", want), ReadOptions{})
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Fatal(err, d)
		}
	}
}

// TestMooncakeKeepsWhatIsShared: two prompts have as many blocks in common as their common beginning fills.
func TestMooncakeKeepsWhatIsShared(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 500 {
		var spans []Span
		var common int64
		for range r.IntN(6) {
			spans = append(spans, Span{r.Uint64N(9), 1 + r.Int64N(900)})
			common += spans[len(spans)-1].Tokens
		}
		a := Request{ID: 1, Prompt: common + 600 + r.Int64N(900), Output: 1, Spans: append(spans[:len(spans):len(spans)], Span{100, 300})}
		b := Request{ID: 2, Prompt: common + 600 + r.Int64N(900), Output: 1, Spans: append(spans[:len(spans):len(spans)], Span{101, 300})}
		got, _, err := read(written(t, "mooncake", []Request{a, b}), ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		same := 0
		for same < len(got[0].Spans) && same < len(got[1].Spans) && got[0].Spans[same] == got[1].Spans[same] {
			same++
		}
		if int64(same) != common/512 {
			t.Fatalf("%d blocks of %d tokens in common: %v %v", same, common, a, b)
		}
	}
}

// TestWriteErrors: a format that is none, and a disk that is full.
func TestWriteErrors(t *testing.T) {
	src := fixedSource{{Prompt: 1, Output: 1}}
	if _, err := Write(&bytes.Buffer{}, "azure", &src); err == nil || !strings.Contains(err.Error(), "is not written") {
		t.Error(err)
	}
	if _, err := Write(full{}, "memwall", &src); !errors.Is(err, errFull) {
		t.Error(err)
	}
}

type full struct{}

var errFull = errors.New("full")

func (full) Write([]byte) (int, error) { return 0, errFull }
