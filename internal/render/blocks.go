package render

import (
	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/term"
)

// Parts returns the blocks of an answer to pick, plan, sim or diagnose, without its notes and commands; nil for other answers.
func Parts(a *memwall.Answer) []term.Block {
	p := term.NewPage(term.Style{Width: term.MaxWidth})
	p.Style.Endless = true
	s := &screen{page: p, a: a}
	switch {
	case a.Ask == "diagnose" && a.Diagnosed != nil:
		writeDiagnosed(p, a)
	case a.Ask == "pick":
		s.picked()
	case a.Ask == "sim" && a.Simulated != nil:
		s.played()
	case a.Ask == "plan" && a.Plan.For == "train":
		s.trained(false)
	case a.Ask == "plan" && a.Plan.Goal != nil && a.Plan.Workload != nil:
		s.aimed(false)
	case a.Ask == "plan":
		s.changed(PlanOptions{If: true})
	}
	return p.Blocks
}
