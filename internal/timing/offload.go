package timing

import (
	"fmt"

	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/speed"
	"github.com/memwall/memwall/speed/serving"
	"github.com/memwall/memwall/unit"
)

// addOffload extends a plan's times by transfers from host memory or NVMe.
func addOffload(q *question.Question, f *serving.Figures, in *serving.In, b speed.Batch) error {
	moves, err := moves(q, in, b)
	if err != nil || len(moves) == 0 {
		return err
	}
	share, err := speed.LinkShare()
	if err != nil {
		return err
	}
	step := speed.Figure{Mid: f.Step, Low: f.Step, High: f.Step}
	longer := speed.Exposed(step, moves, share).Times(1 / f.Expected)
	was := f.PerToken.Mid
	f.PerToken, f.First, f.FirstUnloaded = f.PerToken.Plus(longer), f.First.Plus(longer), f.FirstUnloaded.Plus(longer)
	f.Throughput = f.Throughput.Times(was / f.PerToken.Mid)
	if longer.Mid > 0 {
		f.Parts = append(f.Parts, speed.Part{Name: "copies", Seconds: longer.Mid, Bound: speed.Network})
		f.Bound = speed.Largest(f.Parts)
	}
	for _, m := range moves {
		q.Job.Note("crosses", "info", "offload", "each step brings %s of %s at %s: %s, beside the arithmetic's %s", unit.Bytes(m.Bytes),
			m.Name, m.Rate, unit.Seconds(m.Seconds(share).Mid), unit.Seconds(f.Step))
	}
	return nil
}

// moves returns a step's transfers for a rank of the first stage.
func moves(q *question.Question, in *serving.In, b speed.Batch) (out []speed.Move, err error) {
	if q.Request.Offload == nil {
		return nil, nil
	}
	return movesOf(q, speed.Walk(in.Model, &in.Stages[0], in.Exec, nil), in, b)
}

// movesOf is moves for a walked rank.
func movesOf(q *question.Question, r *speed.Rank, in *serving.In, b speed.Batch) (out []speed.Move, err error) {
	o := q.Request.Offload
	p := r.Points(b)
	w := r.Work(&p)
	expertsAt := o.Experts
	if offDevice(o.Weights) {
		expertsAt = o.Weights
	}
	for _, x := range []struct {
		name, where string
		bytes       float64
	}{{"weights", o.Weights, w.Weights - w.Experts}, {"experts", expertsAt, w.Experts}, {"KV cache", o.KV, w.CacheRead}} {
		if !offDevice(x.where) || x.bytes == 0 {
			continue
		}
		rate, err := LinkTo(q, in.Device, x.where)
		if err != nil {
			return nil, err
		}
		out = append(out, speed.Move{Name: x.name, Bytes: x.bytes, Rate: rate})
	}
	return out, nil
}

func offDevice(where string) bool { return where == "host" || where == "nvme" || where == "pool" }

// LinkTo returns the rate at which a device reads host memory, disk or a pool beyond the host, shared by the ranks of a
// node.
func LinkTo(q *question.Question, d *hardware.Device, where string) (unit.ByteRate, error) {
	rate, ok := q.Job.Machine.Reach(d, where, min(q.Request.Ranks(), q.Job.PerNode()))
	if !ok {
		return 0, fmt.Errorf("nobody says how fast %s of %s is reached", where, d.Name)
	}
	return rate, nil
}
