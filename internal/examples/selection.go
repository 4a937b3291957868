package examples

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/unit"
)

// advice is what a document says of hardware for a model: that it fits, or that it does not.
type advice struct {
	doc   int    // number of the document
	model string // as it says: 7B
	says  string // in our words
	// then and now are models that such a name stood for and stands for; now may be empty.
	then, now subject
	on        []spot
	// not marks advice that it does not fit.
	not bool
	why string
}

// subject is a model in a format at a length.
type subject struct {
	name, id, weights, kv string
	ctx, users            int64
}

// spot is hardware that advice names.
type spot struct {
	name, id string
	tp, pp   int64
	engine   string
}

// outcome is one subject in one place.
type outcome struct {
	spot
	answer answer
}

// asks sizes a subject in every place of an advice.
func (a *advice) asks(c *calc, s subject) (out []outcome) {
	for _, p := range a.on {
		out = append(out, outcome{p, c.place(s, p)})
	}
	return out
}

// place asks for a subject on hardware.
func (c *calc) place(s subject, p spot) answer {
	return c.fit(ask{Model: s.id, Weights: s.weights, KV: s.kv, On: p.id, Engine: p.engine, Ctx: s.ctx, Users: max(1, s.users), TP: p.tp,
		PP: p.pp})
}

// holds reports whether an outcome is as the advice says; tight counts as fitting.
func (a *advice) holds(o outcome) bool {
	fits := o.answer.Verdict == memwall.Fits || o.answer.Verdict == memwall.Tight
	return fits != a.not
}

// verdict follows from the outcomes alone: right when all hold, wrong when none does, stale when all held and none
// does now, and else it depends on which model and which device.
func (a *advice) verdict(then, now []outcome) Verdict {
	held, holding := a.count(then), a.count(now)
	switch all := len(then) + len(now); {
	case held+holding == all:
		return Right
	case held+holding == 0:
		return Wrong
	case len(now) > 0 && held == len(then) && holding == 0:
		return Stale
	}
	return Depends
}

func (a *advice) count(found []outcome) (n int) {
	for _, o := range found {
		if a.holds(o) {
			n++
		}
	}
	return n
}

// cell shows outcomes: the need of each device in GiB, and what may be used where it is too much.
func cell(found []outcome) string {
	var parts []string
	for _, o := range found {
		parts = append(parts, o.name+" "+o.answer.brief())
	}
	return strings.Join(parts, ", ")
}

// brief is a verdict with the need behind it.
func (a answer) brief() string {
	d := a.first()
	need := gib(d.Needed)
	switch a.Verdict {
	case memwall.Fits:
		return "✓ " + need
	case memwall.Tight:
		return "~ " + need
	case memwall.DoesNotFit:
		return fmt.Sprintf("✗ %s of %s", need, gib(d.Usable))
	}
	return "?"
}

// gib prints a size in GiB with one decimal.
func gib(b unit.Bytes) string { return fmt.Sprintf("%.1f", float64(b)/(1<<30)) }
