package timing

import (
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/speed"
	"github.com/memwall/memwall/speed/serving"
	"github.com/memwall/memwall/unit"
)

// Crossing returns by how many seconds a step of a batch with the given compute time is extended by link transfers: of
// weights, experts and caches held elsewhere.
type Crossing func(b speed.Batch, step float64) float64

// NewCrossing returns the Crossing of a plan, for timing many steps; nil if everything is on the devices.
func NewCrossing(q *question.Question, in *serving.In) (Crossing, error) {
	hosted := hosted(q)
	if q.Request.Offload == nil && len(hosted) == 0 {
		return nil, nil
	}
	share, err := speed.LinkShare()
	if err != nil {
		return nil, err
	}
	if _, err := moves(q, in, speed.Batch{Decodes: 1, Context: 1}); err != nil {
		return nil, err
	}
	first := speed.Walk(in.Model, &in.Stages[0], in.Exec, nil)
	read, err := reading(q, hosted, in, share)
	if err != nil {
		return nil, err
	}
	return func(b speed.Batch, step float64) (seconds float64) {
		if q.Request.Offload != nil {
			moves, _ := movesOf(q, first, in, b) // the links were resolved above
			seconds = speed.Exposed(speed.Figure{Mid: step, Low: step, High: step}, moves, share).Mid
		}
		return seconds + read(b)
	}, nil
}

// reading returns by how much steps are extended by weights that an engine offloads to the host.
func reading(q *question.Question, hosted []engine.Hosted, in *serving.In, share speed.Figure) (func(b speed.Batch) float64, error) {
	if len(hosted) == 0 {
		return func(speed.Batch) float64 { return 0 }, nil
	}
	rate, err := LinkTo(q, in.Device, "host")
	if err != nil {
		return nil, err
	}
	var ranks []*speed.Rank
	var experts []unit.Bytes
	for i := range hosted {
		stage := stageOf(&hosted[i], in)
		ranks, experts = append(ranks, speed.Walk(in.Model, stage, in.Exec, nil)), append(experts, expertBytes(stage))
	}
	return func(b speed.Batch) (seconds float64) {
		for i := range hosted {
			h := &hosted[i]
			seconds += reads(h, in, readsOf(h, ranks[i], experts[i], b), rate, share).Mid
		}
		return seconds
	}, nil
}

// AddCrossing adds link transfers to the means of a closed loop: one step per token, and those of a prompt before the
// first.
func AddCrossing(c serving.Closed, x Crossing, m *serving.Model, l serving.Load) serving.Closed {
	if x == nil {
		return c
	}
	was := c.PerToken
	c.PerToken += x(m.Decoding(l), was)
	c.First += x(m.Prompting(l), c.First)
	c.Throughput *= was / c.PerToken
	return c
}
