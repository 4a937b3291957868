package training

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/planner/change"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/internal/stable"
)

// rung is a change that was tried, with its price.
type rung struct {
	api.Suggestion
	price float64
	from  change.Setting
}

// trial is a training plan whose changes are asked again and compared with its answer.
type trial struct {
	*Training
	env   *question.Env
	was   *api.Answer
	phase string
}

// singles are the single changes that the framework takes.
func (x *trial) singles() (out []rung) {
	for _, s := range x.rungs() {
		if r, ok := x.apply(&s); ok {
			out = append(out, r)
		}
	}
	return out
}

// apply asks the plan again with a change; ok is false where it is refused.
func (x *trial) apply(s *change.Setting) (out rung, ok bool) {
	r := x.Question.Original
	r.Explain = false
	s.Set(&r)
	b, err := Trained(x.env, &r)
	if err != nil {
		return out, false
	}
	a := b.orSharded().Answer() // as whoever asks with the patch is answered
	out = rung{api.Suggestion{Change: s.Words, Patch: change.PatchOf(x.asCame(), &r), Verdict: a.Verdict,
		Saves:  InPhase(&x.was.Devices[0], x.phase) - InPhase(&a.Devices[0], x.phase),
		Phases: a.Devices[0].Phases}, s.Price, *s}
	if x.was.Step != nil && a.Step != nil {
		out.Speed = question.Rounded(a.Step.PerDevice / x.was.Step.PerDevice)
		out.price += max(0, change.PriceOfDoubling[""]*(1/(*out.Speed)-1))
	}
	return out, true
}

// helps: the change mends the plan, or saves a good part of what it is short of.
func (x *trial) helps(r *rung) bool {
	return r.Saves >= max(1, -x.was.Devices[0].Headroom/20) ||
		question.VerdictSeverity[r.Verdict] < question.VerdictSeverity[x.was.Verdict]
}

// cheapest is the least price of changes with which the verdict is no worse than one; infinite where it is with none.
func cheapest(all []rung, verdict api.Verdict) float64 {
	least := math.Inf(1)
	for i := range all {
		if mends(&all[i], verdict) {
			least = min(least, all[i].price)
		}
	}
	return least
}

// mends: with the change the verdict is no worse than one.
func mends(r *rung, verdict api.Verdict) bool {
	return question.VerdictSeverity[r.Verdict] <= question.VerdictSeverity[verdict]
}

// oneMoreChange is the price of a second thing to change, and of a third.
const oneMoreChange = 3

// mostTogether are as many changes as anybody makes at once.
const mostTogether = 3

// allOf several settings, one after the other.
func allOf(list []change.Setting) change.Setting {
	var words []string
	price := -float64(oneMoreChange)
	for i := range list {
		words = append(words, list[i].Words)
		price += list[i].Price + oneMoreChange
	}
	return change.Setting{Words: strings.Join(words, ", "), Price: price, Set: func(r *api.Request) {
		for i := range list {
			list[i].Set(r)
		}
	}}
}

// together are changes with which, all at once, the verdict is no worse than one for less than a price: the cheap ones are made one
// after the other until it is, and those that it does without are taken back.
func (x *trial) together(singles []rung, verdict api.Verdict, below float64) (best rung, ok bool) {
	used, best := x.until(singles, verdict)
	if best.Patch == nil || !mends(&best, verdict) {
		return best, false
	}
	for i := len(used) - 2; i >= 0; i-- {
		fewer := allOf(slices.Delete(slices.Clone(used), i, i+1))
		if r, taken := x.apply(&fewer); taken && mends(&r, verdict) {
			used, best = slices.Delete(used, i, i+1), r
		}
	}
	return best, len(used) > 1 && len(used) <= mostTogether && best.price < below
}

// until makes changes, each of which saves something or leaves it, until the verdict is no worse than one, or none is left.
func (x *trial) until(singles []rung, verdict api.Verdict) (used []change.Setting, last rung) {
	for _, single := range byPrice(singles) {
		with := append(slices.Clone(used), single.from)
		all := allOf(with)
		r, taken := x.apply(&all)
		if !taken || r.Saves < last.Saves {
			continue
		}
		if used, last = with, r; mends(&r, verdict) {
			break
		}
	}
	return used, last
}

// byPrice are single changes, the cheapest first, without those that train on other samples.
func byPrice(singles []rung) []rung {
	list := slices.DeleteFunc(slices.Clone(singles), func(r rung) bool { return r.from.Price == shorterSample })
	stable.Sort(list, func(a, b rung) int { return cmp.Compare(a.price, b.price) })
	return list
}
