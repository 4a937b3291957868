package timing

import (
	"slices"
	"strings"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/speed"
	"github.com/memwall/memwall/speed/serving"
)

// prompts returns the load of distinct prompts, if several answers share each: one is computed, the others hit the
// prefix cache.
func prompts(q *question.Question, l serving.Load) serving.Load {
	if n := int64(q.Request.Samples); n > 1 && sharesPrompts(q) {
		l.Users = max(1, l.Users/n)
	}
	return l
}

// sharesPrompts reports whether the engine has a prefix cache.
func sharesPrompts(q *question.Question) bool {
	s, ok := q.Engine.(interface {
		Schedule(*engine.Job) engine.Schedule
	})
	return ok && s.Schedule(q.Job).PrefixCache
}

// sampled takes TTFT from the load of distinct prompts and adjusts the rest of the loop.
func sampled(q *question.Question, m *serving.Model, f *serving.Figures, l serving.Load) error {
	alone := prompts(q, l)
	if alone.Users == l.Users {
		return nil
	}
	of, err := closedLoop(q, m, alone)
	if err != nil {
		return err
	}
	rest := float64(l.Output-1) * f.PerToken.Mid
	if before := f.First.Mid + rest; before > 0 && of.First.Known() {
		f.Throughput = f.Throughput.Times(before / (of.First.Mid + rest))
	}
	f.First = of.First
	return nil
}

// loopFormulas returns the formulas of a loop; those of TTFT are of the load of distinct prompts.
func loopFormulas(q *question.Question, m *serving.Model, l serving.Load) []speed.Formula {
	f, alone := formulasOf(q, m, l), prompts(q, l)
	if alone.Users == l.Users {
		return f
	}
	first := func(x speed.Formula) bool { return strings.HasPrefix(x.Part, "ttft") }
	f = slices.DeleteFunc(f, first)
	return append(f, slices.DeleteFunc(formulasOf(q, m, alone), func(x speed.Formula) bool { return !first(x) })...)
}

func formulasOf(q *question.Question, m *serving.Model, l serving.Load) []speed.Formula {
	if p, err := pools(q, m); err == nil && p != nil {
		return p.Formulas(l)
	}
	return m.Formulas(l)
}
