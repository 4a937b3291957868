package farm

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/farm/internal/studyfile"
	"github.com/memwall/memwall/internal/batch"
)

// Ask answers a request.
type Ask func(context.Context, *memwall.Request) (*memwall.Answer, error)

// asker remembers what questions share, for a while.
type asker struct {
	*memwall.Asker
	asked int
}

// forget is how many questions an asker remembers.
const forget = 1000

// askers are as many as may be asked at a time.
type askers struct {
	free   chan *asker
	traces memwall.TraceSource
	with   Ask // in their place, where it is not nil
}

func newAskers(n int, traces memwall.TraceSource, with Ask) *askers {
	a := &askers{make(chan *asker, n), traces, with}
	for range n {
		a.free <- &asker{}
	}
	return a
}

// ask one that is free.
func (a *askers) ask(ctx context.Context, r *memwall.Request) (*memwall.Answer, error) {
	if a.with != nil {
		return a.with(ctx, r)
	}
	one := <-a.free
	defer func() { a.free <- one }()
	if one.Asker == nil || one.asked >= forget {
		*one = asker{Asker: (&memwall.Asker{Models: memwall.Catalog{}, Traces: a.traces}).Remembering()}
	}
	one.asked++
	asked := one.Asker
	one.Asker = nil // what a fault leaves behind is not asked again
	answer, err := asked.AskContext(ctx, r)
	one.Asker = asked
	return answer, err
}

// answer a request in its normal form; the JSON counts for nothing once the context has ended.
func (a *askers) answer(ctx context.Context, request []byte) ([]byte, error) {
	return Answer(request, func(r *memwall.Request) (*memwall.Answer, error) { return a.ask(ctx, r) })
}

// Answer is the JSON of what a request in its normal form is answered with: a line of memwall batch, or an error where that
// is longer than a farm keeps.
func Answer(request []byte, ask func(*memwall.Request) (*memwall.Answer, error)) ([]byte, error) {
	answer := (&batch.Line{Text: request}).Answer(ask)
	text, err := json.Marshal(answer)
	if err == nil && len(text) > studyfile.MaxAnswer {
		message := fmt.Sprintf("the answer has %d bytes, more than the %d that a study keeps", len(text), studyfile.MaxAnswer)
		long := batch.Failed(&memwall.Error{Code: memwall.Limit, Field: "study", Message: message, Hint: "ask it alone with memwall batch"})
		long.Ask = answer.Ask
		return json.Marshal(long)
	}
	return text, err
}
