package planner

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/planner/change"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/internal/stable"
	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/model/family"
	"github.com/memwall/memwall/score"
)

// If hardware holds a model slowly or not at all, practitioners suggest a smaller model beside larger hardware: one of the same
// line, or a newer one of another line if it is better and the line has none as good.

// mostSiblings is the most models that are sized, best score first.
const mostSiblings = 6

// siblings returns at most one smaller model, the best by score, that the same plan holds at reading speed. It returns none if a
// change to the plan itself does as well.
func siblings(q *question.Question, a *api.Answer) []api.Sibling {
	if a.Verdict != api.DoesNotFit || q.Resolved.Spec == nil || slices.ContainsFunc(a.Suggestions, atEase) || starts(a.KV) {
		return nil
	}
	e, err := catalog.Find(q.Resolved.ID)
	if err != nil {
		return nil
	}
	u := useOfModel(q, e)
	u.wait(q.Job.Machine)
	asked := scoreOf(e.ID, &u)
	out := firstHeld(q, smallerOfLine(q, e, &u), &u)
	elsewhere := func(least float64) bool {
		better := firstHeld(q, betterElsewhere(q, e, least, allScored(&u), &u), &u)
		if better != nil {
			out = better
		}
		return better != nil
	}
	worse := len(out) == 0 || Points(out[0].Score) < Points(asked)
	if found := worse && asked != nil && elsewhere(asked.Value); !found && len(out) > 0 {
		elsewhere(muchBetter * max(0, Points(out[0].Score)))
	}
	for i := range out {
		out[i].ScoreOfAsked = asked
	}
	return out
}

// muchBetter is the ratio of scores from which a model of another line replaces the best of the same line.
const muchBetter = 1.5

// firstHeld returns the first of the models that the plan holds; those after it are never built.
func firstHeld(q *question.Question, among iter.Seq[listedModel], u *use) []api.Sibling {
	env, p, sized := q.Env.Remembering().Silently(), pickerOf(q, u), 0
	for l := range among {
		if !p.mayFitAtAll(&l) {
			continue
		}
		if sized++; sized > mostSiblings {
			break
		}
		if s, ok := siblingPlan(env, q, &l, u); ok {
			s.Score = l.score
			return []api.Sibling{s}
		}
	}
	return nil
}

// betterElsewhere returns newer models of other lines with no lower score, best first.
func betterElsewhere(q *question.Question, asked *catalog.Entry, least float64, among []listedScore, u *use) iter.Seq[listedModel] {
	return func(yield func(listedModel) bool) {
		for _, s := range among {
			if s.Value < least {
				return
			}
			if catalog.Released(s.id) <= asked.Released || lineOf(s.id) == lineOf(asked.ID) {
				continue
			}
			if n, ok := takenUp(q, s.id, u); ok && !yield(listedModel{n, n.Model.Params(), s.PickScore}) {
				return
			}
		}
	}
}

// takenUp returns a catalog model with the same use that accepts the same inputs.
func takenUp(q *question.Question, id string, u *use) (*catalog.Network, bool) {
	n, err := catalog.Built(id)
	if err != nil || !u.takes(n) {
		return nil, false
	}
	return n, n.Model.Context == 0 || n.Model.Context >= q.Job.Load().Context
}

// pickerOf returns a picker for the machine and engine of a question.
func pickerOf(q *question.Question, u *use) *picker {
	p := &picker{env: q.Env, use: *u, machine: *q.Job.Machine}
	p.asked.Engine = q.Engine.Name()
	return p
}

// mayFitAtAll reports whether the weights in the smallest usual format are smaller than the memory of all devices.
func (p *picker) mayFitAtAll(l *listedModel) bool {
	formats := p.formats(l.Entry)
	return p.mayFit(l, formats[len(formats)-1])
}

// listedScore is a model of the catalog with its score.
type listedScore struct {
	id string
	*api.PickScore
}

// scored keeps allScored by use: what is published is the same for all questions.
var scored sync.Map

// allScored returns the catalog models that have a score, best first.
func allScored(u *use) []listedScore {
	known, ok := scored.Load(u.Name)
	if !ok {
		known, _ = scored.LoadOrStore(u.Name, ranked(u))
	}
	return known.([]listedScore)
}

// ranked scores the catalog's models.
func ranked(u *use) (out []listedScore) {
	for _, id := range catalog.IDs() {
		if s := scoreOf(id, u); s != nil {
			out = append(out, listedScore{id, s})
		}
	}
	stable.Sort(out, func(a, b listedScore) int {
		return cmp.Or(-cmp.Compare(a.Value, b.Value), -cmp.Compare(catalog.Released(a.id), catalog.Released(b.id)))
	})
	return out
}

// starts reports whether the engine holds the model and some users while others wait, in which case nobody switches models.
func starts(k *api.KV) bool {
	return k != nil && k.Blocks > 0 && k.MaxSequences != nil && *k.MaxSequences > 0
}

// atEase reports whether a change holds the whole plan on the existing hardware at reading speed; unknown speed counts as fast.
func atEase(s api.Suggestion) bool {
	return s.Verdict == api.Fits && s.Patch["hardware"] == nil &&
		(s.Decode == nil || *s.Decode >= readAlong || s.Speed != nil && *s.Speed >= 1)
}

// useOfModel returns the use that such a model serves.
func useOfModel(q *question.Question, e *catalog.Entry) use {
	name := score.Chat
	switch special := score.Special(e.ID); {
	case special != "":
		name = special
	case embeds(e.ID), question.Encodes(q.Job.Model):
		name = score.Embedding
	case q.Job.Model.Part(family.PartVision) != nil:
		name = score.Vision
	}
	i := slices.IndexFunc(uses, func(u use) bool { return u.Name == name })
	return uses[max(0, i)]
}

// embeds reports whether a model is an embedding model.
func embeds(id string) bool {
	_, ok := score.Of(id, score.Embedding)
	return ok
}

// lineOf returns the first word of a name without its generation: qwen for qwen3.6-35b-a3b.
func lineOf(id string) string {
	first, _, _ := strings.Cut(id, "-")
	return strings.TrimRight(first, "0123456789.")
}

// yearBefore returns the month, in the form 2026-07, a year before a day: nobody replaces a model by one that much older.
func yearBefore(day string) string {
	year, rest, _ := strings.Cut(day, "-")
	n, err := strconv.Atoi(year)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%04d-%s", n-1, rest)
}

// smallerOfLine yields the models of a line with fewer parameters, best first. Models with equal score and date are built together.
func smallerOfLine(q *question.Question, asked *catalog.Entry, u *use) iter.Seq[listedModel] {
	var line []listedScore
	for _, id := range catalog.IDs() {
		if lineOf(id) == lineOf(asked.ID) && id != asked.ID && catalog.Released(id) >= yearBefore(asked.Released) {
			line = append(line, listedScore{id, scoreOf(id, u)})
		}
	}
	order := func(a, b listedScore) int {
		return cmp.Or(-cmp.Compare(Points(a.PickScore), Points(b.PickScore)), -cmp.Compare(catalog.Released(a.id), catalog.Released(b.id)))
	}
	stable.Sort(line, order)
	return func(yield func(listedModel) bool) {
		for rest := line; len(rest) > 0; {
			n := 1
			for n < len(rest) && order(rest[0], rest[n]) == 0 {
				n++
			}
			for _, l := range builtSmaller(q, rest[:n], u) {
				if !yield(l) {
					return
				}
			}
			rest = rest[n:]
		}
	}
}

// builtSmaller returns those models that have fewer parameters than the question's, best first.
func builtSmaller(q *question.Question, among []listedScore, u *use) (out []listedModel) {
	for _, s := range among {
		if n, ok := takenUp(q, s.id, u); ok && n.Model.Params() < q.Job.Model.Params() {
			out = append(out, listedModel{n, n.Model.Params(), s.PickScore})
		}
	}
	stable.Sort(out, bestFirst)
	return out
}

// siblingPlan returns the requested plan with another model, in the best usual format in which it fits.
func siblingPlan(env *question.Env, q *question.Question, l *listedModel, u *use) (api.Sibling, bool) {
	r := q.Original
	r.Model, r.Explain = l.Entry.ID, false
	r.GPULayers, r.CPUMoE, r.OverrideTensor, r.TensorSplit, r.CPUOffload, r.DraftModel = nil, nil, "", "", 0, ""
	if r.Engine == "" {
		r.Engine = q.Engine.Name()
	}
	p := &picker{env: env, asked: r, machine: *q.Job.Machine}
	p.asked.Weights = ""
	for _, name := range p.formats(l.Entry) {
		if !p.mayFit(l, name) {
			continue
		}
		try := r
		try.Weights = name
		one, ranks, err := env.SizedRanks(&try)
		if err != nil || one.Verdict(ranks) != api.Fits {
			continue
		}
		t := change.TimedAnswer(one, ranks)
		if v := DecodeOf(t.Speed); v > 0 && v < u.Decode {
			continue
		}
		patch := change.PatchOf(&q.Original, &try)
		return api.Sibling{Model: l.Entry.ID, Name: l.Entry.Name, Released: l.Entry.Released, Weights: one.Request.Weights,
			Context:  one.Request.Context,
			Headroom: ranks[0].Usable.Bytes() - ranks[0].Needed().Bytes, Decode: decodeRate(t.Speed), Patch: patch}, true
	}
	return api.Sibling{}, false
}
