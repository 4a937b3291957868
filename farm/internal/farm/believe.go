package farm

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/farm/internal/studyfile"
	"github.com/memwall/memwall/internal/study"
)

// arrival is a point that is said to have an answer, or never to get one.
type arrival struct {
	row   studyfile.Row
	point *study.Point
	// by is the ID of whose answer it is; "" of a task that is dead. again: it was there before anybody was asked.
	by    string
	again bool
	// suspect is why the answer is computed here as well, lost why it is not taken.
	suspect, lost string
	err           error
}

// settle arrivals: read their answers, compute some here as well, keep what is believed and ask the rest again.
func (s *Sweep) settle(ctx context.Context, all []*arrival) error {
	each(fetching, all, func(a *arrival) { a.err = s.read(ctx, a) })
	each(runtime.NumCPU(), all, func(a *arrival) {
		if a.err == nil && a.suspect != "" {
			a.err = s.compare(ctx, a)
		}
	})
	var good []*arrival
	var again []int64
	for _, a := range all {
		if a.err != nil {
			return a.err
		}
		if a.lost == "" && s.trust.refused(a.by) {
			a.lost = "its worker is refused"
		}
		switch a.lost {
		case "":
			good = append(good, a)
		case nowhere:
		default:
			s.complain("answers are not taken", fmt.Sprintf("an answer to question %d is not taken: %s", a.row.Index, a.lost))
			again = append(again, a.row.Index)
		}
	}
	if err := s.put(ctx, good); err != nil {
		return err
	}
	dropped, err := s.drop(ctx)
	if err != nil {
		return err
	}
	return s.askAgain(ctx, append(again, dropped...))
}

// nowhere: no answer is where one was said to be. reconcile asks again what never comes.
const nowhere = "it is not there"

// fetching is how many answers are read at a time.
const fetching = 16

// each arrival in its own goroutine, so many at a time.
func each(most int, all []*arrival, do func(*arrival)) {
	free := make(chan struct{}, most)
	var wg sync.WaitGroup
	for _, a := range all {
		free <- struct{}{}
		wg.Go(func() {
			defer func() { <-free }()
			do(a)
		})
	}
	wg.Wait()
}

// read the answer of an arrival, and find out whether it is to be computed here as well.
func (s *Sweep) read(ctx context.Context, a *arrival) error {
	if a.by == "" {
		return a.summed(s.Study.Ask)
	}
	if s.trust.refused(a.by) {
		a.lost = "its worker is refused"
		return nil
	}
	r, err := s.Farm.record(ctx, a.point.Key, a.by)
	switch {
	case gone(err):
		a.lost = nowhere
		return nil
	case isBad(err):
		a.lost = err.Error()
		return nil
	case err != nil:
		return err
	}
	a.row.Worker, a.row.Took, a.row.Packed = s.trust.signer(a.by, r.Worker), r.Took, r.packed
	a.row.Answer, err = studyfile.Unpack(r.packed)
	if err == nil {
		err = a.summed(s.Study.Ask)
	}
	switch {
	case a.by == s.trust.own:
	case err != nil:
		a.suspect = bounded(err.Error(), longWhy)
	default:
		if a.suspect = implausible(s.Study.Ask, a.point.Request, a.row.Answer); a.suspect == "" && s.trust.chosen(a.by, r.Worker) {
			a.suspect = "a sample"
		}
	}
	return nil
}

// summed up, so that reports need not read the answers.
func (a *arrival) summed(ask string) error {
	g, err := study.GistOf(ask, a.row.Answer)
	if err == nil {
		a.row.Verdict, a.row.Failure, a.row.Figures = g.Verdict, g.Failure, g.Figures
	}
	return err
}

// compare an answer with the one that is computed here, which takes its place where they differ.
func (s *Sweep) compare(ctx context.Context, a *arrival) error {
	own, err := s.compute(ctx, a.point)
	if err != nil {
		return err
	}
	s.counted(func(at *Progress) { at.Checked++ })
	if bytes.Equal(own, a.row.Answer) {
		return nil
	}
	if err := s.sound(ctx, a.point, own); err != nil {
		return err
	}
	s.found(a.by, a.row.Worker, a.row.Index)
	return a.ours(s, own)
}

// compute a question here.
func (s *Sweep) compute(ctx context.Context, p *study.Point) ([]byte, error) {
	answer, err := s.askers.answer(ctx, p.Request)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return answer, err
}

// sound: this machine computes the same a second time, so that it may say who does not.
func (s *Sweep) sound(ctx context.Context, p *study.Point, was []byte) error {
	now, err := s.compute(ctx, p)
	if err == nil && !bytes.Equal(was, now) {
		message := fmt.Sprintf("question %d has one answer here, and another the second time", p.Index)
		err = &memwall.Error{Code: memwall.Internal, Field: "study", Value: p.Key.String(), Message: message,
			Hint: "the memory or the processor of this machine computes wrongly: sweep on another"}
	}
	return err
}

// ours is what stands in place of somebody else's answer.
func (a *arrival) ours(s *Sweep, answer []byte) error {
	a.by, a.again, a.suspect, a.lost = s.trust.own, false, "", ""
	a.row = studyfile.Row{Index: a.row.Index, Key: a.row.Key, Worker: s.By.String(), Answer: answer}
	return a.summed(s.Study.Ask)
}

// found out: somebody's answer is not what the question is answered with. All that it answered is asked again.
func (s *Sweep) found(id, name string, question int64) {
	if !s.trust.refuse(id, name) {
		return
	}
	s.mu.Lock()
	s.at.Liars = append(s.at.Liars, name)
	s.unbelieved = append(s.unbelieved, id)
	s.mu.Unlock()
	s.complain("workers are refused", fmt.Sprintf("ATTENTION: %s gave another answer to question %d than this machine: it is refused, "+
		"and what it answered is asked again", name, question))
}

// drop the results of those that were found out, and tell them; the points are to be asked again.
func (s *Sweep) drop(ctx context.Context) (points []int64, err error) {
	s.mu.Lock()
	ids := s.unbelieved
	s.unbelieved = nil
	s.mu.Unlock()
	for _, id := range ids {
		of, err := s.Results.Drop(ctx, id)
		if err != nil {
			return nil, err
		}
		points = append(points, of...)
		if err := s.Farm.refuse(ctx, s.id, id); err != nil {
			return nil, err
		}
	}
	s.counted(func(at *Progress) { at.Done -= int64(len(points)) })
	return points, nil
}

// put answers into the results, and compare those that came twice.
func (s *Sweep) put(ctx context.Context, all []*arrival) error {
	rows := make([]studyfile.Row, len(all))
	for i, a := range all {
		rows[i] = a.row
	}
	fresh, err := s.Results.Put(ctx, rows)
	if err != nil {
		return err
	}
	s.count(all, fresh)
	for i, a := range all {
		if !fresh[i] && a.by != "" {
			if err := s.twice(ctx, a); err != nil {
				return err
			}
		}
	}
	return nil
}

// twice: an answer came to a question that has one. The same again does no harm; of two that differ this machine says which
// is right; one to a question that was given up is the answer after all.
func (s *Sweep) twice(ctx context.Context, a *arrival) error {
	was, err := s.Results.Row(ctx, a.row.Index)
	switch {
	case err != nil || was == nil || was.Worker == a.row.Worker && !was.Dead:
		return err
	case was.Dead:
		err := s.Results.Replace(ctx, a.row)
		s.counted(func(at *Progress) { at.Dead-- })
		return err
	case bytes.Equal(was.Answer, a.row.Answer):
		s.counted(func(at *Progress) { at.Repeated++ })
		return nil
	}
	own, err := s.compute(ctx, a.point)
	if err == nil {
		err = s.sound(ctx, a.point, own)
	}
	if err != nil {
		return err
	}
	if !bytes.Equal(a.row.Answer, own) {
		s.found(a.by, a.row.Worker, a.row.Index)
	}
	if bytes.Equal(was.Answer, own) {
		return nil
	}
	s.found(idIn(was.Worker), was.Worker, a.row.Index)
	if err := a.ours(s, own); err != nil {
		return err
	}
	return s.Results.Replace(ctx, a.row)
}

// mostAgain is how often a question is asked again of others, before it is computed here.
const mostAgain = 2

// askAgain what has no answer that is believed.
func (s *Sweep) askAgain(ctx context.Context, points []int64) error {
	var queue, here []*arrival
	for _, i := range points {
		if missing, err := s.Results.Missing(ctx, i, i+1); err != nil || len(missing) == 0 {
			if err != nil {
				return err
			}
			continue
		}
		p := s.Study.At(i, s.Tables)
		a := &arrival{point: p, row: studyfile.Row{Index: i, Key: p.Key.String()}}
		if s.tried(i) > mostAgain {
			here = append(here, a)
		} else {
			queue = append(queue, a)
		}
	}
	each(fetching, queue, func(a *arrival) { a.err = s.requeue(ctx, a.row.Index) })
	each(runtime.NumCPU(), here, func(a *arrival) {
		own, err := s.compute(ctx, a.point)
		if err == nil {
			err = a.ours(s, own)
		}
		a.err = err
	})
	for _, a := range append(queue, here...) {
		if a.err != nil {
			return a.err
		}
	}
	return s.put(ctx, here)
}

// tried notes that a question is asked again, and gives how often it was.
func (s *Sweep) tried(index int64) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at.AskedAgain++
	s.again[index]++
	return s.again[index]
}

// requeue a task in place of the one that may still be with who is not believed.
func (s *Sweep) requeue(ctx context.Context, index int64) error {
	if err := s.Farm.purge(ctx, s.task(index).subject()); err != nil {
		return err
	}
	return s.queue(ctx, index)
}

// fewSaid is how many complaints of a kind are said one by one.
const fewSaid = 5

// complain of something that may come as often as somebody likes.
func (s *Sweep) complain(kind, what string) {
	s.mu.Lock()
	s.complaints[kind]++
	n := s.complaints[kind]
	s.mu.Unlock()
	switch {
	case n <= fewSaid:
		s.Farm.say(what)
	case n == fewSaid+1:
		s.Farm.say("more " + kind + ": they are counted")
	}
}

// complained says how many there were of what was only counted.
func (s *Sweep) complained() {
	for _, kind := range slices.Sorted(maps.Keys(s.complaints)) {
		if n := s.complaints[kind]; n > fewSaid {
			s.Farm.say(fmt.Sprintf("%s: %d in all", kind, n))
		}
	}
}
