package timing

import (
	"slices"
	"strings"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/speed"
	"github.com/memwall/memwall/speed/serving"
)

// prompts is the load of prompts alone, where several answers to each share it: one is computed, and the others find it.
func prompts(q *question.Question, l serving.Load) serving.Load {
	if n := int64(q.Request.Samples); n > 1 && sharesPrompts(q) {
		l.Users = max(1, l.Users/n)
	}
	return l
}

// sharesPrompts: the engine keeps blocks for prompts that begin alike.
func sharesPrompts(q *question.Question) bool {
	s, ok := q.Engine.(interface {
		Schedule(*engine.Job) engine.Schedule
	})
	return ok && s.Schedule(q.Job).PrefixCache
}

// sampled takes the first tokens from the load of prompts; the rest of a loop is that much shorter or longer.
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

// loopFormulas are the formulas of a loop; those of first tokens are of the load of prompts.
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
