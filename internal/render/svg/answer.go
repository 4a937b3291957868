package svg

import "github.com/memwall/memwall"

// Answer draws what an answer is about: a load that was played, the phases of a step, fleets on their front, or the ledger. An
// answer of which there is no picture is an error.
func Answer(a *memwall.Answer) ([]byte, error) {
	switch {
	case a.Simulated != nil:
		return Sim(a), nil
	case a.Ask == "train":
		return Phases(a), nil
	case a.Plan != nil && a.Plan.Goal != nil && a.Plan.Workload != nil:
		return PlanFront(a), nil
	case len(a.Devices) > 0:
		return Ledger(a), nil
	}
	return nil, &memwall.Error{Code: memwall.Unsupported, Message: "this answer has no picture", Hint: "its table or its JSON"}
}
