package quantize

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/stable"
	"github.com/memwall/memwall/quant"
)

// measured tries the formats on every tensor that is not remembered, as many at a time as there are processors, the
// largest first.
func (w *work) measured(ctx context.Context, m *quant.Model, stats *quant.Statistics) (all []*quant.Measured, stopped bool, err error) {
	kept := remembered(w.Memory, m, stats, w.Again)
	defer kept.close()
	results, order := kept.recall(m.Tensors, w.q.formats, stats.Tells())
	stable.Sort(order, func(a, b *quant.Tensor) int { return cmp.Compare(b.Bytes, a.Bytes) })
	s := &shared{results: results, kept: kept, order: order}
	s.progress = newProgress(w.Progress, quant.Reading(order, w.q.formats), quant.Bytes(order))
	failed := make([]error, min(runtime.GOMAXPROCS(0), max(1, len(order))))
	var workers sync.WaitGroup
	for i := range failed {
		workers.Go(func() {
			failed[i] = s.work(&quant.Work{Formats: w.q.formats, Inputs: stats.Inputs, Done: func(n int64) bool {
				s.progress.report(s.read.Add(n))
				return ctx.Err() == nil && !s.broken.Load()
			}})
		})
	}
	workers.Wait()
	s.progress.clear()
	return inTensorOrder(m, results), ctx.Err() != nil, firstFault(failed)
}

// shared is what the workers have in common.
type shared struct {
	order      []*quant.Tensor
	next, read atomic.Int64
	broken     atomic.Bool // one has failed, and the others need not go on
	progress   *progress
	mu         sync.Mutex
	results    map[*quant.Tensor]*quant.Measured
	kept       *memory
}

// work measures one tensor after the other until none is left.
func (s *shared) work(w *quant.Work) error {
	for n := s.next.Add(1) - 1; n < int64(len(s.order)); n = s.next.Add(1) - 1 {
		x, err := w.Measure(s.order[n])
		if err != nil {
			s.broken.Store(true)
			return err
		}
		s.mu.Lock()
		s.results[x.Tensor] = x
		s.kept.add(x)
		s.mu.Unlock()
	}
	return nil
}

func inTensorOrder(m *quant.Model, results map[*quant.Tensor]*quant.Measured) (all []*quant.Measured) {
	for _, t := range m.Tensors {
		if x := results[t]; x != nil {
			all = append(all, x)
		}
	}
	return all
}

// firstFault is an error that is not the user's own interrupt.
func firstFault(failed []error) error {
	for _, err := range failed {
		if err != nil && !errors.Is(err, quant.ErrStopped) {
			return &memwall.Error{Code: memwall.BadFile, Field: "file", Message: err.Error(), Hint: "fetch the file again"}
		}
	}
	return nil
}
